package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/cmd/internal/statefile"
	"github.com/heedlog/heed/internal/files"
)

// stateDir is the folder of the run files of running heeds.
type stateDir string

// stateIn returns the folder that is named, or else the user's.
func stateIn(named string, getenv func(string) string) (stateDir, error) {
	if named != "" {
		return stateDir(named), nil
	}
	dir, err := files.UserFolder(getenv, "XDG_STATE_HOME", "state")
	if err != nil {
		return "", fmt.Errorf("no folder for heed's state: %w; use --state DIR", err)
	}
	return stateDir(dir), nil
}

// open makes the folder, for its owner alone.
func (d stateDir) open() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

func (d stateDir) path(name string) string { return filepath.Join(string(d), name) }

// runFile has how to connect to a running heed. It holds a token, and has mode 0600.
type runFile struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"`
	Game    string    `json:"game,omitempty"`
	Address string    `json:"address"`
	Token   string    `json:"token"`
	Log     string    `json:"log,omitempty"`
	Name    string    `json:"name,omitempty"`    // of its files in the folder
	Web     string    `json:"web,omitempty"`     // address of the live page
	Project string    `json:"project,omitempty"` // its file and the keys that it sets, in words
	Started time.Time `json:"started"`
}

// String names the run by the flag that chooses it.
func (r *runFile) String() string { return fmt.Sprintf("--pid %d (%s)", r.PID, r.label()) }

// label names the run by its command and its game.
func (r *runFile) label() string {
	if r.Game == "" {
		return r.Command
	}
	return r.Command + " of " + r.Game
}

// holder returns which running heed has files by a name.
func (d stateDir) holder(name string) string {
	runs, _ := d.running() // without it the message is less precise
	for i := range runs {
		if runs[i].Name == name {
			return runs[i].String()
		}
	}
	return "one that is starting, or does not serve bridges" // such as heed follow
}

const (
	runPrefix = "run-"
	runSuffix = ".json"

	lockSuffix = ".lock" // of a file that a running heed locks
)

func (d stateDir) runPath(pid int) string { return d.path(runPrefix + strconv.Itoa(pid) + runSuffix) }

// write writes a run file.
func (d stateDir) write(r runFile) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = statefile.WriteFile(d.runPath(r.PID), append(data, '\n')) // with mode 0600
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// running returns the run files of running heeds, by process id, and removes the files of ended ones. Unreadable files
// are left out.
func (d stateDir) running() ([]runFile, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("state: %w", err)
	}
	var runs []runFile
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), runPrefix) || !strings.HasSuffix(e.Name(), runSuffix) {
			continue
		}
		path := d.path(e.Name())
		if lock, err := statefile.Lock(path + lockSuffix); err == nil { // the kernel has released it: the process has ended
			_, _, _ = os.Remove(path), lock.Close(), os.Remove(path+lockSuffix)
			continue
		}
		data, err := os.ReadFile(path)
		var r runFile
		if err == nil && json.Unmarshal(data, &r) == nil && r.Address != "" {
			runs = append(runs, r)
		}
	}
	return runs, nil
}
