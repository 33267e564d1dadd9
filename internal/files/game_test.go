package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPlacesByName(t *testing.T) {
	env := map[string]string{"HOME": "home", "USERPROFILE": "home"}
	getenv := func(name string) string { return env[name] }
	of := func(name, goos string, previous bool) []string {
		_, places, err := LogsOf(name, goos, getenv, previous)
		require.NoError(t, err)
		return places
	}
	for goos, want := range map[string]string{
		"windows": "home/AppData/LocalLow/Ludeon Studios/RimWorld by Ludeon Studios/Player.log",
		"darwin":  "home/Library/Logs/Ludeon Studios/RimWorld by Ludeon Studios/Player.log",
		"linux":   "home/.config/unity3d/Ludeon Studios/RimWorld by Ludeon Studios/Player.log",
	} {
		want = filepath.FromSlash(want)
		for _, name := range []string{"rimworld", "RimWorld", "Ludeon Studios/RimWorld by Ludeon Studios"} {
			require.Equal(t, want, of(name, goos, false)[0])
		}
		require.Equal(t, filepath.Join(filepath.Dir(want), "Player-prev.log"), of("rimworld", goos, true)[0])
	}
	for _, name := range []string{"chess", "a/", "/b", "../b", "a/..", "a/b/c", `a\b/c`} {
		_, _, err := LogsOf(name, "linux", getenv, false)
		require.ErrorContains(t, err, "COMPANY/PRODUCT", name)
	}
	_, _, err := LogsOf("rimworld", "linux", func(string) string { return "" }, false)
	require.ErrorContains(t, err, "home folder")
	require.Equal(t, []string{"rimworld"}, Games())
	require.Subset(t, of("", "linux", false), of("rimworld", "linux", false), "all known games")
}

// TestNewestByName: of several places the one written last is first.
func TestNewestByName(t *testing.T) {
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	runs, places, err := LogsOf("rimworld", "linux", getenv, false)
	require.NoError(t, err)
	require.Empty(t, runs)
	require.Len(t, places, 4)
	for i, path := range places {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		at := time.Unix(int64(1_000_000+100*(i%3)), 0)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	runs, _, err = LogsOf("rimworld", "linux", getenv, false)
	require.NoError(t, err)
	require.Len(t, runs, 4)
	require.Equal(t, places[2], runs[0].Path)
	require.Equal(t, places[1], runs[1].Path)
	require.Equal(t, places[0], runs[2].Path, "of equals the usual place")
}
