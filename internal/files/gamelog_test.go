package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireFound fails unless the log of a program in a folder is at want, below that folder, and the reason has how.
func requireFound(t *testing.T, top, goos string, args []string, env map[string]string, want, how string) {
	t.Helper()
	found, ok := FindLog(Game{
		Args: args, Dir: filepath.Join(top, "cwd"), GOOS: goos, Getenv: func(name string) string { return env[name] },
	})
	require.Equal(t, want != "", ok)
	if ok && want != Standard {
		want = filepath.Join(top, filepath.FromSlash(want))
	}
	require.Equal(t, want, found.Path, found.How)
	require.Contains(t, found.How, how)
}

func TestFindLog(t *testing.T) {
	games := t.TempDir()
	info := func(path, text string) {
		file := filepath.Join(games, filepath.FromSlash(path), "app.info")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	info("colony/Colony_Data", "Some Studio\r\nThe Colony\r\n")
	info("mac/Colony.app/Contents/Resources/Data", "Some Studio\nThe Colony")
	info("two/A_Data", "A\nA")
	info("two/B_Data", "B\nB")
	info("evil/Evil_Data", "..\n../../etc")
	info("evil/Slash_Data", "a/b\nc")
	info("short/Short_Data", "only one line")

	const (
		unity   = "home/.config/unity3d/"
		log     = "Some Studio/The Colony/Player.log"
		macLog  = "home/Library/Logs/" + log
		ludeon  = "Ludeon Studios/RimWorld by Ludeon Studios/Player.log"
		windows = "home/AppData/LocalLow/"
	)
	home := filepath.Join(games, "home")
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	xdg := map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(games, "xdg")}
	for _, tc := range []struct {
		name string
		goos string
		env  map[string]string
		args string // the program below games, which GAMES stands for in what follows
		want string // below games, "" for nothing, "-" for the standard output
		how  string
	}{
		{"argument", "linux", env, "colony/Colony -logFile GAMES/my.log", "my.log", "-logFile"},
		{
			"argument in lower case", "windows", env, "colony/Colony.exe -batchmode -logfile GAMES/my.log -x", "my.log",
			"-logFile",
		},
		{"argument with =", "linux", env, "colony/Colony -logFile=GAMES/my.log", "my.log", "-logFile"},
		{
			"argument relative to the working directory", "linux", env, "colony/Colony -logFile my.log", "cwd/my.log",
			"-logFile",
		},
		{"argument -", "linux", env, "colony/Colony -logFile - -x", "-", "-logFile"},
		{"argument without a value", "linux", env, "colony/Colony -logFile", "-", "-logFile"},
		{"argument that is a device of the process", "linux", env, "colony/Colony -logFile /dev/stdout", "-", "-logFile"},
		{"argument before another", "linux", env, "colony/Colony -logFile -x", "-", "-logFile"},
		{"data, Linux", "linux", env, "colony/Colony", unity + log, "app.info"},
		{"data, XDG", "linux", xdg, "colony/Colony", "xdg/unity3d/" + log, "app.info"},
		{"data, Windows", "windows", env, "colony/Colony.exe", windows + log, "app.info"},
		{"data, a script", "linux", env, "colony/start.sh", unity + log, "app.info"},
		{"data, a bundle", "darwin", env, "mac/Colony.app", macLog, "app.info"},
		{"data, a bundle's program", "darwin", env, "mac/Colony.app/Contents/MacOS/Colony", macLog, "app.info"},
		{"a script beside two games", "linux", env, "two/start.sh", "", ""},
		{"one of two games", "linux", env, "two/B", "home/.config/unity3d/B/B/Player.log", "app.info"},
		{"names that are paths", "linux", env, "evil/Evil", "", ""},
		{"names with a slash", "linux", env, "evil/Slash", "", ""},
		{"half an app.info", "linux", env, "short/Short", "", ""},
		{"known by its name", "linux", env, "elsewhere/RimWorldLinux", unity + ludeon, "known"},
		{"known by its name, Windows", "windows", env, `elsewhere\RimWorldWin64.exe`, windows + ludeon, "known"},
		{"unknown", "linux", env, "elsewhere/game", "", ""},
		{"no home", "linux", nil, "colony/Colony", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := strings.Split(tc.args, " ")
			for i := range args { // after the split: its name may hold spaces
				args[i] = strings.ReplaceAll(args[i], "GAMES", games)
			}
			args[0] = filepath.Join(games, args[0])
			requireFound(t, games, tc.goos, args, tc.env, tc.want, tc.how)
		})
	}
	_, ok := FindLog(Game{})
	require.False(t, ok)
}
