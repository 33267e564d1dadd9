package files

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// IsGames reports whether a path is where a game made with Unity keeps its own log, or that of the run before: not a
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

// History returns where the history of sessions is kept where nobody says where: in the user's folder for data.
func History(getenv func(string) string) (string, error) {
	var dir string
	switch runtime.GOOS {
	case "windows":
		if dir = getenv("LocalAppData"); dir == "" {
			return "", fmt.Errorf("%%LocalAppData%% is not set: name a file with --history")
		}
	case "darwin":
		if dir = getenv("HOME"); dir != "" {
			dir = filepath.Join(dir, "Library", "Application Support")
		}
	default:
		if dir = getenv("XDG_DATA_HOME"); dir == "" && getenv("HOME") != "" {
			dir = filepath.Join(getenv("HOME"), ".local", "share")
		}
	}
	if dir == "" {
		return "", fmt.Errorf("$HOME is not set: name a file with --history")
	}
	return filepath.Join(dir, "heed", "history.db"), nil
}
