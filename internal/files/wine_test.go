package files

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
