package files

import (
	"cmp"
	"errors"
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

// History returns the default file of the history of sessions, by the conventions of the platform.
func History(getenv func(string) string) (string, error) {
	const base = "history.db"
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	switch {
	case runtime.GOOS == "windows" && getenv("LOCALAPPDATA") != "":
		return filepath.Join(getenv("LOCALAPPDATA"), "heed", base), nil
	case runtime.GOOS != "windows" && filepath.IsAbs(getenv("XDG_DATA_HOME")):
		return filepath.Join(getenv("XDG_DATA_HOME"), "heed", base), nil
	case home == "":
		return "", errors.New("no folder for history: no variable such as HOME names one; use --history FILE")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "heed", base), nil
	}
	return filepath.Join(home, ".local", "share", "heed", base), nil
}
