package files

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// IsGames reports whether a path is where a game made with Unity keeps its own log, or the log of the run before: not a
// copy somewhere else.
func IsGames(path string) bool {
	path, err := filepath.Abs(path)
	if err != nil || !slices.Contains([]string{"Player.log", "Player-prev.log"}, filepath.Base(path)) {
		return false
	}
	parts := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	n := len(parts)
	if n < 4 { // COMPANY/PRODUCT below the folder for all games
		return false
	}
	all := strings.Join(parts[n-4:n-2], "/")
	return strings.HasSuffix(all, "/unity3d") || all == "AppData/LocalLow" || all == "Library/Logs"
}

// History returns the file of the history of sessions: the one that is named, or the user's.
func History(named string, getenv func(string) string) (string, error) {
	if named != "" {
		return named, nil
	}
	dir, err := UserFolder(getenv, "XDG_DATA_HOME", "share")
	if err != nil {
		return "", fmt.Errorf("no folder for history: %w; use --history FILE", err)
	}
	return filepath.Join(dir, "history.db"), nil
}

// UserFolder returns heed's folder of a user, by the conventions of the platform, such as below the folder that the
// variable xdg names, or below ~/.local and a name.
func UserFolder(getenv func(string) string, xdg, local string) (string, error) {
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	switch {
	case runtime.GOOS == "windows" && getenv("LOCALAPPDATA") != "":
		return filepath.Join(getenv("LOCALAPPDATA"), "heed"), nil
	case runtime.GOOS != "windows" && filepath.IsAbs(getenv(xdg)):
		return filepath.Join(getenv(xdg), "heed"), nil
	case home == "":
		return "", errors.New("no variable such as HOME names one")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "heed"), nil
	}
	return filepath.Join(home, ".local", local, "heed"), nil
}
