package gabp

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/loopback"
)

const bridgeToken = "0123456789abcdef0123456789abcdef"

func environ(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// TestBridgeFileText holds what is written for readers of either form, and what an error leaves behind.
func TestBridgeFileText(t *testing.T) {
	now := time.Date(2026, 1, 31, 10, 0, 0, 0, time.FixedZone("", 3600))
	dir := t.TempDir()
	path := filepath.Join(dir, "bridge.json")
	for address, want := range map[string]string{
		"127.0.0.1:4711":   `"port":4711,"transport":{"type":"tcp","address":"4711"}`,
		"unix:/tmp/x.sock": `"transport":{"type":"pipe","address":"/tmp/x.sock"}`,
	} {
		data := Bridge{Address: address, Token: bridgeToken, GameID: "farm", LaunchID: "l"}.File(now)
		require.Equal(t, byte('\n'), data[len(data)-1])
		require.JSONEq(t, fmt.Sprintf(`{%s,"token":"%s","gameId":"farm","metadata":{"pid":%d,"startTime":"2026-01-31T09:00:00Z",`+
			`"launchId":"l"}}`, want, bridgeToken, os.Getpid()), string(data))
	}
	for address, port := range map[string]int{
		"127.0.0.1:65535": 65535, "127.0.0.1:65536": 0, "127.0.0.1:x": 0, "127.0.0.1": 0, "unix:/tmp/a:7": 0, "": 0,
	} {
		at := Bridge{Address: address}
		require.Equal(t, port, at.Port(), address)
	}
	_, err := readBridgeFile(dir)
	require.ErrorContains(t, err, "gabp: bridge file: ")
	text := `{"port":1,"token":"secret-secret"}`
	for size, fits := range map[int]bool{64 << 10: true, 64<<10 + 1: false} {
		require.NoError(t, os.WriteFile(path, append([]byte(text), bytes.Repeat([]byte(" "), size-len(text))...), 0o600))
		_, err := readBridgeFile(path)
		require.Equal(t, fits, err == nil)
	}
	for n, fits := range map[int]bool{maxNameBytes: true, maxNameBytes + 1: false} {
		_, err := bridgePath(environ(map[string]string{"HOME": "/h"}), string(bytes.Repeat([]byte("g"), n)))
		require.Equal(t, fits, err == nil)
		if !fits {
			require.EqualError(t, err, `gabp: game id "`+string(bytes.Repeat([]byte("g"), 59))+`…" cannot be the name of a folder`)
		}
	}
}

func TestReadBridgeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridge.json")
	for text, want := range map[string]string{
		`{"port":4711,"token":"secret-secret","gameId":"farm"}`:                                          "127.0.0.1:4711",
		"\xef\xbb\xbf" + `{"token":"secret-secret","transport":{"type":"tcp","address":"4711"}}`:         "127.0.0.1:4711",
		`{"token":"secret-secret","transport":{"type":"pipe","address":"/tmp/s"},"metadata":{"pid":12}}`: "unix:/tmp/s",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		b, err := readBridgeFile(path)
		require.NoError(t, err)
		require.Equal(t, want, b.Address)
	}
	for _, text := range []string{
		``, `[]`, `{}`, `{"token":"secret-secret"}`, `{"port":4711}`, `{"port":70000,"token":"secret-secret"}`,
		`{"port":-1,"token":"secret-secret"}`,
		`{"token":"secret-secret","transport":{"type":"tcp","address":"evil:1"}}`,
		`{"token":"secret-secret","transport":{"type":"stdio"}}`,
		`{"token":"secret-secret","port":"4711"}`, string(bytes.Repeat([]byte(" "), 100_000)),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := readBridgeFile(path)
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestFindBridge(t *testing.T) {
	home := t.TempDir()
	file := Bridge{Address: "127.0.0.1:4712", Token: bridgeToken, GameID: "farm"}
	gamePath, err := bridgePath(environ(map[string]string{"HOME": home}), "farm")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, ".gabs", "farm", "bridge.json"), gamePath)
	_, err = FindBridge(environ(map[string]string{"HOME": home}), "farm")
	require.ErrorContains(t, err, EnvPort)
	require.NoError(t, os.MkdirAll(filepath.Dir(gamePath), 0o700))
	require.NoError(t, os.WriteFile(gamePath, file.File(time.Time{}), 0o600))

	env := map[string]string{"HOME": home, EnvPort: "4711", EnvToken: bridgeToken, EnvGame: "farm", EnvBridge: gamePath}
	b, err := FindBridge(environ(env), "")
	require.NoError(t, err)
	require.Equal(t, Bridge{Address: "127.0.0.1:4711", Token: bridgeToken, GameID: "farm", Path: gamePath}, b,
		"environment before file")
	require.Equal(t, 4711, b.Port())

	delete(env, EnvPort)
	for _, drop := range []string{"", EnvBridge, EnvGame} {
		delete(env, drop)
		b, err = FindBridge(environ(env), "farm")
		require.NoError(t, err)
		require.Equal(t, "127.0.0.1:4712", b.Address)
	}
	env[EnvPort] = "4711"
	delete(env, EnvToken)
	_, err = FindBridge(environ(env), "")
	require.ErrorContains(t, err, EnvToken, "half an environment is a mistake, and not passed over")
	env[EnvToken] = "abc"
	_, err = FindBridge(environ(env), "")
	require.ErrorContains(t, err, EnvToken+" has 3 bytes")
	_, found, err := BridgeFromEnv(environ(map[string]string{EnvPort: "1", EnvToken: "abc"}))
	require.ErrorContains(t, err, "want at least 32")
	require.False(t, found)
	for _, port := range []string{"0", "-1", "65536", "x", "1e3"} {
		_, found, err := BridgeFromEnv(environ(map[string]string{EnvPort: port, EnvToken: bridgeToken}))
		require.ErrorContains(t, err, EnvPort, port)
		require.False(t, found)
	}
}

func TestBridgePath(t *testing.T) {
	home := environ(map[string]string{"HOME": "/h", "APPDATA": `C:\A`})
	for goos, want := range map[string]string{
		"windows": filepath.Join(`C:\A`, "gabp", "bridge.json"),
		"darwin":  filepath.Join("/h", "Library", "Application Support", "gabp", "bridge.json"),
		"linux":   filepath.Join("/h", ".config", "gabp", "bridge.json"),
	} {
		path, err := protocolPath(goos, home)
		require.NoError(t, err)
		require.Equal(t, want, path)
	}
	path, err := protocolPath("windows", environ(map[string]string{"USERPROFILE": "/h"}))
	require.NoError(t, err)
	require.Equal(t, filepath.Join("/h", "AppData", "Roaming", "gabp", "bridge.json"), path)
	path, err = bridgePath(environ(map[string]string{envConfig: "/c"}), "farm")
	require.NoError(t, err)
	require.Equal(t, filepath.Join("/c", "farm", "bridge.json"), path)
	for _, id := range []string{"..", ".", "a/b", `a\b`, "C:", "a\x00"} {
		_, err := bridgePath(home, id)
		require.Error(t, err, id)
	}
	_, err = bridgePath(environ(nil), "farm")
	require.ErrorContains(t, err, "HOME")
}

// TestTokensAreNotShown: what prints a Bridge does not print its token.
func TestTokensAreNotShown(t *testing.T) {
	var out bytes.Buffer
	b := Bridge{Address: "127.0.0.1:1", Token: bridgeToken}
	fmt.Fprintf(&out, "%v %+v %#v %s", b, b, b, b)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "bridge", b)
	require.NotContains(t, out.String(), bridgeToken)
}

func TestIsLoopback(t *testing.T) {
	for _, host := range []string{
		"localhost", "LOCALHOST:80", "127.0.0.1", "127.8.9.1:0", "::1", "[::1]", "[::1]:80", "::ffff:127.0.0.1",
	} {
		require.True(t, loopback.Is(host), host)
	}
	for _, host := range []string{
		"", ":80", "0.0.0.0", "0.0.0.0:80", "[::]:80", "10.0.0.1:80", "localhost.example", "127.0.0.1.example:80", "127.1",
	} {
		require.False(t, loopback.Is(host), host)
	}
}
