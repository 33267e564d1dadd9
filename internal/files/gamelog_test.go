package files

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

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

// TestFindLogBehind is the table of games behind programs that start them, and of programs of Windows in a prefix.
func TestFindLogBehind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no Wine on Windows")
	}
	top := t.TempDir()
	dir := func(path string) string {
		path = filepath.Join(top, path)
		require.NoError(t, os.MkdirAll(path, 0o700))
		return path
	}
	info := func(path string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir(path), "app.info"), []byte("Some Studio\nThe Colony\n"), 0o600))
	}
	for _, path := range []string{
		"games/win/Colony_Data", "games/nix/Colony_Data", "wine/drive_c/Games/Colony_Data",
	} {
		info(path)
	}
	dir("home/.wine/drive_c/users/me")
	dir("compat/pfx/drive_c/users/steamuser")
	dir("compat/pfx/dosdevices")
	dir("wine/dosdevices")
	dir("wine/drive_c/users/me/AppData/locallow") // as an installer may have written it
	dir("disk/Logs")
	require.NoError(t, os.Symlink("../drive_c", filepath.Join(top, "wine/dosdevices/c:")))
	require.NoError(t, os.Symlink("/", filepath.Join(top, "wine/dosdevices/z:")))
	require.NoError(t, os.Symlink(filepath.Join(top, "disk"), filepath.Join(top, "wine/dosdevices/d:")))
	dir("steamlike/drive_c/users/steamuser") // a prefix that Proton made, and Wine uses

	const (
		unity   = "/Some Studio/The Colony/Player.log"
		valve   = "drive_c/users/steamuser/AppData/LocalLow" + unity
		proton  = "compat/pfx/" + valve
		usual   = "home/.wine/drive_c/users/me/AppData/LocalLow" + unity
		inWine  = "wine/drive_c/users/me/AppData/locallow" + unity
		nix     = "home/.config/unity3d" + unity
		compat  = "STEAM_COMPAT_DATA_PATH=TOP/compat "
		prefix  = "WINEPREFIX=TOP/wine "
		reaper  = "TOP/steam/ubuntu12_32/reaper SteamLaunch AppId=294100 -- TOP/steam/ubuntu12_32/steam-launch-wrapper -- "
		sniper  = "TOP/steam/SteamLinuxRuntime_sniper/_v2-entry-point --verb=waitforexitandrun -- "
		winGame = "TOP/games/win/Colony.exe"
		inOne   = prefix + "wine " + winGame
		inNew   = "WINEPREFIX=TOP/new wine " + winGame
	)
	backslashed := strings.ReplaceAll(top, "/", `\`)
	for _, tc := range []struct {
		name string
		args string // with variables before it; TOP stands for the folder of all
		want string // below TOP, "" for nothing
		how  string
	}{
		{"Proton", compat + "proton run " + winGame, proton, "STEAM_COMPAT_DATA_PATH"},
		{"Proton by path", compat + "TOP/Proton-9.0/proton waitforexitandrun " + winGame, proton, "STEAM_COMPAT"},
		{
			"Proton of Steam", compat + reaper + sniper + "TOP/Proton-9.0/proton waitforexitandrun " + winGame + " -popupwindow",
			proton, "STEAM_COMPAT",
		},
		{"Proton in a prefix named twice", compat + prefix + "proton run " + winGame, proton, "STEAM_COMPAT"},
		{
			"Proton in a prefix that is not made yet", "STEAM_COMPAT_DATA_PATH=TOP/new proton run " + winGame,
			"new/pfx/" + valve, "STEAM_COMPAT",
		},
		{"Wine", "wine " + winGame, usual, "is the usual one"},
		{"Wine in a prefix", prefix + "wine64 " + winGame, inWine, "WINEPREFIX"},
		{"Wine, relative", prefix + "wine ../games/win/Colony.exe", inWine, "WINEPREFIX"},
		{"Wine, by start", prefix + "wine start /unix " + winGame, inWine, "WINEPREFIX"},
		{"Wine, by start.exe", prefix + `wine C:\windows\command\start.exe /unix ` + winGame, inWine, "WINEPREFIX"},
		{"Wine, on drive C", prefix + `wine C:\Games\Colony.exe`, inWine, "drive_c/Games"},
		{"Wine, in other case", prefix + `wine c:\games\COLONY.exe`, inWine, "drive_c/Games"},
		{"Wine, on drive Z", prefix + `wine Z:` + backslashed + `\games\win\Colony.exe`, inWine, "games/win"},
		{"Wine, a prefix of Proton", "WINEPREFIX=TOP/steamlike wine " + winGame, "steamlike/" + valve, "WINEPREFIX"},
		{"no Wine, by the kernel", prefix + winGame, inWine, "WINEPREFIX"},
		{
			"Wine, known by its name", prefix + "wine RimWorldWin64.exe",
			"wine/drive_c/users/me/AppData/locallow/Ludeon Studios/RimWorld by Ludeon Studios/Player.log", "known",
		},
		{"argument on drive C", inOne + ` -logFile C:\USERS\Me\my.log`, "wine/drive_c/users/me/my.log", "-logFile"},
		{"argument on drive D", inOne + ` -logFile=D:\logs\sub/my.log`, "disk/Logs/sub/my.log", "-logFile"},
		{"argument on drive Z", inOne + ` -logFile Z:` + backslashed + `\my.log`, "my.log", "-logFile"},
		{"argument on drive Z of a new prefix", inNew + ` -logFile z:` + top + `/my.log`, "my.log", "-logFile"},
		{"argument on drive C of a new prefix", inNew + ` -logFile C:\my.log`, "new/drive_c/my.log", "-logFile"},
		{"argument without a drive", inOne + ` -logFile TOP/my.log`, "my.log", "-logFile"},
		{"argument, relative", inOne + ` -logFile logs\my.log`, "cwd/logs/my.log", "-logFile"},
		{"argument that is no path of Windows", `TOP/games/nix/Colony -logFile a\b.log`, `cwd/a\b.log`, "-logFile"},
		{"gamemoderun", "gamemoderun TOP/games/nix/Colony.x86_64 -x", nix, "nix/Colony_Data/app.info"},
		{"env and nice", "env LANG=C nice -n 5 TOP/games/nix/Colony.x86_64", nix, "app.info"},
		{"Steam", compat + reaper + sniper + "TOP/games/nix/Colony.x86_64", nix, "app.info"},
		{"a game that is not there", "gamemoderun TOP/games/none/Colony", "", "games/none/Colony_Data/app.info"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := map[string]string{"HOME": filepath.Join(top, "home"), "USER": "me"}
			args := strings.Split(strings.ReplaceAll(tc.args, "TOP", top), " ")
			for name, value, ok := strings.Cut(args[0], "="); ok; name, value, ok = strings.Cut(args[0], "=") {
				env[name], args = value, args[1:]
			}
			requireFound(t, top, "linux", args, env, tc.want, tc.how)
		})
	}
}

// TestNotFound: what was looked for is named, and not more of it than a person reads.
func TestNotFound(t *testing.T) {
	args := []string{"/games/game"}
	for range 100 {
		args = append(args, "/mods/"+strings.Repeat("m", len(args)))
	}
	found, ok := FindLog(Game{Args: args, GOOS: "linux", Getenv: func(string) string { return "" }})
	require.False(t, ok)
	require.Empty(t, found.Path)
	require.Regexp(t, `^no log was found: the arguments have no -logFile, there is no app\.info of Unity `+
		`\(.games.game_Data.app\.info, .*, \d+ more places\), and no program of that name is known$`, found.How)
	require.Less(t, len(found.How), 1000)
	found, ok = FindLog(Game{Args: []string{"RimWorldLinux"}, GOOS: "linux", Getenv: func(string) string { return "" }})
	require.False(t, ok)
	require.Contains(t, found.How, "no environment variable names the home folder")
}

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
