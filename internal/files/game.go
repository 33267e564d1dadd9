package files

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// titles are games by the name that people call them, with which the name of the program begins, in lower case.
var titles = []struct {
	name    string
	product product
	steam   string // the game's number in the folder of Proton
}{
	{"rimworld", product{"Ludeon Studios", "RimWorld by Ludeon Studios"}, "294100"},
}

// Games returns the names of the games that [LogsOf] knows, sorted.
func Games() []string {
	all := make([]string, len(titles))
	for i, t := range titles {
		all[i] = t.name
	}
	slices.Sort(all)
	return all
}

// Run is a log that a game has written.
type Run struct {
	Path string
	Time time.Time // of the last write
}

// LogsOf returns the logs that a game has left on this machine, of its last runs, the newest first, and the searched
// places. A game is one of [Games], "" for all of them, or COMPANY/PRODUCT as in its file app.info, for any other that
// is made with Unity. On Linux it also searches where the Windows version writes under Proton, and in the folders of
// Steam as a Flatpak. goos "" is the system of this process.
//
// previous selects the logs of the runs before instead: Unity keeps one, next to the last.
func LogsOf(name, goos string, getenv func(string) string, previous bool) (runs []Run, places []string, err error) {
	goos = cmp.Or(goos, runtime.GOOS)
	names := []string{name}
	if name == "" {
		names = Games()
	}
	for _, name := range names {
		of, err := placesOf(name, goos, getenv)
		if err != nil {
			return nil, nil, err
		}
		places = append(places, of...)
	}
	if previous {
		for i, path := range places {
			places[i] = Previous(path)
		}
	}
	for _, path := range places {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			runs = append(runs, Run{path, info.ModTime()})
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return cmp.Compare(b.Time.UnixNano(), a.Time.UnixNano()) })
	return runs, places, nil
}

// Previous returns where Unity keeps the log of the run before a Player.log: in the same folder.
func Previous(log string) string { return filepath.Join(filepath.Dir(log), "Player-prev.log") }

// placesOf returns where a game logs, the usual place first.
func placesOf(name, goos string, getenv func(string) string) ([]string, error) {
	var p product
	steam := ""
	for _, t := range titles {
		if strings.EqualFold(name, t.name) {
			p, steam = t.product, t.steam
		}
	}
	if p.name == "" {
		p.company, p.name, _ = strings.Cut(name, "/")
		if !p.valid() {
			return nil, fmt.Errorf("unknown game %q: use %s, or COMPANY/PRODUCT as in the file app.info of a game made "+
				"with Unity", name, strings.Join(Games(), ", "))
		}
	}
	g := &Game{Getenv: getenv, GOOS: goos}
	usual, ok := g.place(p)
	if !ok {
		return nil, fmt.Errorf("the logs of %s cannot be found: no environment variable names your home folder; "+
			"name the file", name)
	}
	places := []string{usual}
	if goos == "windows" || goos == "darwin" {
		return places, nil
	}
	home := getenv("HOME")
	flatpak := filepath.Join(home, ".var", "app", "com.valvesoftware.Steam")
	places = append(places, p.log(flatpak, ".config", "unity3d"))
	if steam != "" {
		for _, at := range []string{home, flatpak} {
			places = append(places, p.log(at, ".local", "share", "Steam", "steamapps", "compatdata", steam,
				"pfx", "drive_c", "users", "steamuser", "AppData", "LocalLow"))
		}
	}
	return places, nil
}
