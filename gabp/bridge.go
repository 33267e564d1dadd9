package gabp

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/internal/text"
)

// The environment variables that bridges set for a game that they start.
const (
	EnvPort   = "GABP_SERVER_PORT"
	EnvToken  = "GABP_TOKEN"
	EnvGame   = "GABS_GAME_ID"
	EnvBridge = "GABS_BRIDGE_PATH" // the bridge file
	envConfig = "GABS_CONFIG_DIR"  // the folder of bridge files, in place of ~/.gabs
)

// Bridge holds the data by which a bridge connects to a game: the address at which the game listens, and the token. Its
// formatted and logged forms have no token.
type Bridge struct {
	Address  string // "127.0.0.1:4711" or "unix:/path", as [Listen] and [Dial] take it
	Token    string `json:"-"`
	GameID   string // "" if unknown
	Path     string // the bridge file from which it was read, or that the environment names
	LaunchID string // "" if unknown
}

// Format writes b without its token, for any verb.
func (b Bridge) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "bridge of game %q at %s", b.GameID, b.Address)
}

// Port returns the port of a TCP address, 0 for another.
func (b Bridge) Port() int {
	_, port, _ := net.SplitHostPort(b.Address)
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		return int(n)
	}
	return 0
}

// NewToken returns a random token: 256 bits in 64 hexadecimal digits.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// FindBridge looks for a bridge in the environment (os.Getenv), in the file that it names, in ~/.gabs/GAME/bridge.json
// (or under $GABS_CONFIG_DIR), and in the bridge file of the protocol. gameID defaults to the environment's. The error
// is about the first place that exists, or names all places.
func FindBridge(getenv func(string) string, gameID string) (Bridge, error) {
	if b, ok, err := BridgeFromEnv(getenv); ok || err != nil {
		return b, err
	}
	var paths []string
	if p := getenv(EnvBridge); p != "" {
		paths = append(paths, p)
	}
	for _, id := range []string{cmp.Or(gameID, getenv(EnvGame)), ""} {
		p, err := bridgePath(getenv, id)
		if err != nil {
			return Bridge{}, err
		}
		paths = append(paths, p)
	}
	for _, p := range paths {
		b, err := readBridgeFile(p)
		if !errors.Is(err, fs.ErrNotExist) {
			return b, err
		}
	}
	return Bridge{}, fmt.Errorf("gabp: no bridge found: %s is not set, and none of these files exists: %s", EnvPort,
		strings.Join(paths, ", "))
}

// BridgeFromEnv reads the environment that a bridge made for the game. It returns false if no port is set. It is an
// error if the token is missing, or if a [Server] would refuse it.
func BridgeFromEnv(getenv func(string) string) (Bridge, bool, error) {
	port := getenv(EnvPort)
	if port == "" {
		return Bridge{}, false, nil
	}
	address, err := portAddress(port)
	if err != nil {
		return Bridge{}, false, fmt.Errorf("gabp: %s: %w", EnvPort, err)
	}
	token := getenv(EnvToken)
	if token == "" {
		return Bridge{}, false, fmt.Errorf("gabp: %s is set and %s is not", EnvPort, EnvToken)
	}
	if len(token) < minToken {
		return Bridge{}, false, fmt.Errorf("gabp: %s has %d bytes, want at least %d", EnvToken, len(token), minToken)
	}
	return Bridge{Address: address, Token: token, GameID: getenv(EnvGame), Path: getenv(EnvBridge)}, true, nil
}

func portAddress(port string) (string, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", fmt.Errorf("port is %.20q, want a number from 1 to 65535", port)
	}
	return "127.0.0.1:" + strconv.FormatUint(n, 10), nil
}

// bridgePath returns the path of the bridge file of a game,
// ~/.gabs/GAME/bridge.json (or under $GABS_CONFIG_DIR). Without a game it is the
// file of the protocol: %APPDATA%\gabp\bridge.json on Windows,
// ~/Library/Application Support/gabp/bridge.json on macOS, and
// ~/.config/gabp/bridge.json elsewhere. A game's id must be a name, not a path.
func bridgePath(getenv func(string) string, gameID string) (string, error) {
	if gameID == "" {
		return protocolPath(runtime.GOOS, getenv)
	}
	if gameID == "." || gameID == ".." || strings.ContainsAny(gameID, "/\\:\x00") || len(gameID) > maxNameBytes {
		return "", fmt.Errorf("gabp: game id %s cannot be the name of a folder", strconv.Quote(text.Safe(gameID, 60)))
	}
	dir := getenv(envConfig)
	if dir == "" {
		home, err := homeDir(getenv)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".gabs")
	}
	return filepath.Join(dir, gameID, "bridge.json"), nil
}

// protocolPath returns the path of the protocol's own bridge file.
func protocolPath(goos string, getenv func(string) string) (string, error) {
	if dir := getenv("APPDATA"); goos == "windows" && dir != "" {
		return filepath.Join(dir, "gabp", "bridge.json"), nil
	}
	home, err := homeDir(getenv)
	if err != nil {
		return "", err
	}
	dir := map[string]string{"windows": "AppData/Roaming", "darwin": "Library/Application Support"}[goos]
	return filepath.Join(home, filepath.FromSlash(cmp.Or(dir, ".config")), "gabp", "bridge.json"), nil
}

func homeDir(getenv func(string) string) (string, error) {
	if home := cmp.Or(getenv("HOME"), getenv("USERPROFILE")); home != "" {
		return home, nil
	}
	return "", errors.New("gabp: no home folder: HOME is not set")
}

// bridgeFile has the members of both forms of a bridge file: the form of the bridge in the field (port, token, gameId),
// and the protocol's (token, transport, metadata). Both are written, for readers of either.
type bridgeFile struct {
	Port      int             `json:"port,omitempty"`
	Token     string          `json:"token"`
	GameID    string          `json:"gameId,omitempty"`
	Transport bridgeTransport `json:"transport,omitzero"`
	Metadata  bridgeMetadata  `json:"metadata,omitzero"`
}

type bridgeTransport struct {
	Type    string `json:"type"`
	Address string `json:"address,omitempty"`
}

type bridgeMetadata struct {
	PID       int       `json:"pid,omitempty"`
	StartTime time.Time `json:"startTime,omitzero"`
	LaunchID  string    `json:"launchId,omitempty"`
}

// maxBridgeFile bounds the size of a bridge file; real ones have 200 bytes.
const maxBridgeFile = 64 << 10

// readBridgeFile reads a bridge file of either form. Errors never hold its token.
func readBridgeFile(path string) (Bridge, error) {
	f, err := os.Open(path)
	if err != nil {
		return Bridge{}, fmt.Errorf("gabp: bridge file: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was read only
	data, err := io.ReadAll(io.LimitReader(f, maxBridgeFile+1))
	if err != nil {
		return Bridge{}, fmt.Errorf("gabp: bridge file: %w", err)
	}
	if len(data) > maxBridgeFile {
		return Bridge{}, fmt.Errorf("gabp: %s: more than %d bytes", path, maxBridgeFile)
	}
	var file bridgeFile
	if err := json.Unmarshal(bytes.TrimPrefix(data, utf8BOM), &file); err != nil {
		return Bridge{}, fmt.Errorf("gabp: %s: %w", path, err)
	}
	b := Bridge{Token: file.Token, GameID: file.GameID, Path: path, LaunchID: file.Metadata.LaunchID}
	if b.Address, err = file.address(); err != nil {
		return Bridge{}, fmt.Errorf("gabp: %s: %w", path, err)
	}
	if b.Token == "" {
		return Bridge{}, fmt.Errorf("gabp: %s: \"token\" is missing", path)
	}
	return b, nil
}

func (f *bridgeFile) address() (string, error) {
	switch {
	case f.Port != 0:
		return portAddress(strconv.Itoa(f.Port))
	case f.Transport == (bridgeTransport{}):
		return "", errors.New(`"port" is missing`)
	case f.Transport.Type == "tcp":
		return portAddress(f.Transport.Address)
	case f.Transport.Type == "pipe" && f.Transport.Address != "":
		return "unix:" + f.Transport.Address, nil
	}
	return "", fmt.Errorf("transport.type is %.20q, want tcp or pipe with an address", f.Transport.Type)
}

// File returns a bridge file for the game that this process serves or starts, which only its owner may read. now is the
// start time in the file.
func (b Bridge) File(now time.Time) []byte {
	file := bridgeFile{
		Port: b.Port(), Token: b.Token, GameID: b.GameID,
		Metadata: bridgeMetadata{PID: os.Getpid(), StartTime: now.UTC(), LaunchID: b.LaunchID},
	}
	if path, unix := strings.CutPrefix(b.Address, "unix:"); unix {
		file.Transport = bridgeTransport{Type: "pipe", Address: path}
	} else {
		file.Transport = bridgeTransport{Type: "tcp", Address: strconv.Itoa(file.Port)}
	}
	data, _ := json.MarshalIndent(file, "", "  ") // plain data
	return append(data, '\n')
}
