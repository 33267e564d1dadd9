package files

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Standard is the path of a log on the game's standard output.
const Standard = "-"

// Game describes how a game is started.
//
// Games made with Unity write to the file of -logFile, or else to a place per platform and user. Its path has the names
// of company and product, from a file app.info next to the game's data. A game without that file is looked up by the
// name of its program in a small table. Other programs may start the program, such as gamemoderun, wine, or the chain
// of Steam and Proton; a program for Windows on another system writes into the prefix of Wine.
type Game struct {
	// Args is the program and its arguments.
	Args []string

	// Dir is the working directory, "" for the directory of this process.
	Dir string

	// Getenv reads the environment that the game gets.
	Getenv func(string) string

	// GOOS is the system; default: the system of this process.
	GOOS string
}

// Found is a log that was found.
type Found struct {
	// Path is the file, or [Standard].
	Path string

	// How is the reason in words; if no log was found, the places that were searched.
	How string
}

// product has the names in the path of a log of Unity.
type product struct{ company, name string }

// Bounds of the search, and of its report to a person.
const (
	maxPrograms = 32 // arguments that could be the game's program
	maxLooked   = 8  // places that are named
)

// FindLog returns where the game is going to log, and false where it is not known.
func FindLog(g Game) (Found, bool) {
	g.GOOS = cmp.Or(g.GOOS, runtime.GOOS)
	if len(g.Args) == 0 {
		return Found{}, false
	}
	programs := g.programs()
	if path, ok := g.byArgument(programs); ok {
		return Found{Path: path, How: "the game's argument -logFile"}, true
	}
	var looked []string
	homeless := false
	for _, program := range programs {
		p, file, ok := g.byData(program, &looked)
		how := fmt.Sprintf("Unity's place for %s of %s, named in %s", p.name, p.company, file)
		if !ok {
			if p, ok = byName(program); !ok {
				continue
			}
			how = "the place known for " + p.name
		}
		if path, in, ok := g.placeOf(p, program); ok {
			return Found{Path: path, How: how + in}, true
		}
		homeless = true
	}
	how := "no log was found: the arguments have no -logFile, "
	if homeless {
		return Found{How: how + "and no environment variable names the home folder"}, false
	}
	if n := len(looked) - maxLooked; n > 0 {
		looked = append(looked[:maxLooked], fmt.Sprintf("%d more places", n))
	}
	return Found{How: how + "there is no app.info of Unity (" + strings.Join(looked, ", ") +
		"), and no program of that name is known"}, false
}

// programs returns the arguments that could be the game's program: the first argument, and all paths. If a system other
// than Windows has arguments for Windows, it returns these alone.
func (g *Game) programs() []string {
	all, windows := g.Args[:1:1], []string(nil)
	for i, arg := range g.Args[:min(len(g.Args), maxPrograms)] {
		switch {
		case g.emulated(arg):
			windows = append(windows, arg)
		case i > 0 && !strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, `/\`):
			all = append(all, arg)
		}
	}
	if len(windows) > 0 {
		return windows
	}
	return all
}

// byName returns the product of a program that is known by its name.
func byName(program string) (product, bool) {
	name := strings.TrimPrefix(strings.ToLower(base(program)), "start_") // the script that starts it on Linux
	for begins, t := range titles {
		if strings.HasPrefix(name, begins) {
			return t.product, true
		}
	}
	return product{}, false
}

// byArgument reads Unity's argument, which is not case sensitive. "-" is standard
// output, as is the argument without a value.
func (g *Game) byArgument(programs []string) (string, bool) {
	for i, arg := range g.Args[1:] {
		name, value, joined := strings.Cut(arg, "=")
		if !strings.EqualFold(name, "-logFile") {
			continue
		}
		if rest := g.Args[i+2:]; !joined && len(rest) > 0 && (rest[0] == Standard || !strings.HasPrefix(rest[0], "-")) {
			value = rest[0]
		}
		switch value {
		case "", Standard, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1": // of the game, and not of this process
			return Standard, true
		}
		if g.emulated(programs[0]) {
			value = g.unixPath(value)
		}
		return g.abs(value), true
	}
	return "", false
}

func (g *Game) abs(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(g.Dir, path)
	}
	full, _ := filepath.Abs(path) // fails only without a working folder
	return full
}

// byData finds app.info: next to the program of that name, in a macOS bundle, or, for a launching script, the only
// app.info near it. It appends the searched places.
func (g *Game) byData(program string, looked *[]string) (product, string, bool) {
	if g.emulated(program) {
		program = g.unixPath(program)
	}
	program = g.abs(program)
	dir := filepath.Dir(program)
	name := base(program)
	if ext := filepath.Ext(name); strings.EqualFold(ext, ".exe") || ext == ".x86_64" || ext == ".x86" {
		name = strings.TrimSuffix(name, ext)
	}
	candidates := []string{
		filepath.Join(dir, name+"_Data", "app.info"),
		filepath.Join(program, "Contents", "Resources", "Data", "app.info"), // an .app itself
		filepath.Join(dir, "..", "Resources", "Data", "app.info"),           // its program
		filepath.Join(dir, strings.TrimSuffix(name, "Linux")+"_Data", "app.info"),
	}
	only := filepath.Join(dir, "*_Data", "app.info")
	if beside, _ := fs.Glob(os.DirFS(dir), "*_Data/app.info"); len(beside) == 1 { // the pattern is valid
		only = filepath.Join(dir, beside[0])
	}
	for _, file := range append(candidates, only) {
		if p, ok := readAppInfo(file); ok {
			return p, file, true
		}
		if !slices.Contains(*looked, file) {
			*looked = append(*looked, file)
		}
	}
	return product{}, "", false
}

// readAppInfo reads company and product: two lines.
func readAppInfo(file string) (product, bool) {
	data, err := os.ReadFile(file)
	if err != nil || len(data) > 4096 {
		return product{}, false
	}
	company, name, _ := strings.Cut(strings.ReplaceAll(string(data), "\r", ""), "\n")
	name, _, _ = strings.Cut(name, "\n")
	p := product{strings.TrimSpace(company), strings.TrimSpace(name)}
	return p, p.valid()
}

// valid reports whether both names can be parts of a path, and no more.
func (p product) valid() bool {
	return p.company != "" && p.name != "" && !strings.ContainsAny(p.company+p.name, `/\`) && p.company != ".." && p.name != ".."
}

// log returns the log of the product below the folder of all products.
func (p product) log(folder ...string) string {
	return filepath.Join(append(folder, p.company, p.name, "Player.log")...)
}

// placeOf returns where Unity logs for a product, and in which prefix of Wine, in words.
func (g *Game) placeOf(p product, program string) (path, in string, ok bool) {
	if !g.emulated(program) {
		path, ok = g.place(p)
		return path, "", ok
	}
	prefix, by := g.prefix()
	if prefix == "" {
		return "", "", false
	}
	parts := []string{"AppData", "LocalLow", p.company, p.name, "Player.log"}
	return inWine(g.userFolder(prefix), parts), ", in the prefix of Wine that " + by, true
}

// place is where Unity logs for a product.
func (g *Game) place(p product) (string, bool) {
	home := g.Getenv("HOME")
	if g.GOOS == "windows" {
		home = g.Getenv("USERPROFILE")
	}
	if home == "" {
		return "", false
	}
	switch g.GOOS {
	case "windows":
		return p.log(home, "AppData", "LocalLow"), true
	case "darwin":
		return p.log(home, "Library", "Logs"), true
	default:
		return p.log(cmp.Or(g.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "unity3d"), true
	}
}

// base is the last part of a path with slashes of either kind.
func base(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// emulated reports whether a program of Windows runs on another system.
func (g *Game) emulated(program string) bool {
	return g.GOOS != "windows" && strings.HasSuffix(strings.ToLower(program), ".exe")
}

// prefix returns the folder in which Wine or Proton keeps drives and users, and its origin; "" if there is none.
func (g *Game) prefix() (dir, by string) {
	proton, wine, home := g.Getenv("STEAM_COMPAT_DATA_PATH"), g.Getenv("WINEPREFIX"), g.Getenv("HOME")
	byProton := slices.ContainsFunc(g.Args, func(arg string) bool { return base(arg) == "proton" })
	switch {
	case proton != "" && (wine == "" || byProton):
		return filepath.Join(g.abs(proton), "pfx"), "STEAM_COMPAT_DATA_PATH names"
	case wine != "":
		return g.abs(wine), "WINEPREFIX names"
	case home != "":
		return filepath.Join(home, ".wine"), "is the usual one"
	}
	return "", ""
}

// userFolder returns the folder of the user in a prefix. Wine names it as the user is named, Proton steamuser.
func (g *Game) userFolder(prefix string) string {
	users := filepath.Join(prefix, "drive_c", "users")
	names := []string{g.Getenv("USER"), "steamuser"}
	if filepath.Base(prefix) == "pfx" || names[0] == "" {
		names[0], names[1] = names[1], names[0]
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(users, name)); name != "" && err == nil && info.IsDir() {
			return filepath.Join(users, name)
		}
	}
	return filepath.Join(users, names[0]) // it is about to be made
}

// unixPath returns the file that a path of Windows names in the prefix. Another path is as it was, with slashes.
func (g *Game) unixPath(path string) string {
	slashed := strings.ReplaceAll(path, `\`, "/")
	if len(slashed) < 2 || slashed[1] != ':' {
		return slashed
	}
	letter := strings.ToLower(slashed[:1])
	prefix, _ := g.prefix()
	if letter < "a" || letter > "z" || prefix == "" {
		return slashed
	}
	drive := filepath.Join(prefix, "dosdevices", letter+":")
	if target, err := filepath.EvalSymlinks(drive); err == nil {
		drive = target
	} else if letter == "c" { // where a prefix that is about to be made has them
		drive = filepath.Join(prefix, "drive_c")
	} else if letter == "z" {
		drive = "/"
	}
	return inWine(drive, strings.Split(slashed[2:], "/"))
}

// inWine joins a path whose parts are found in any case, as Windows does.
func inWine(dir string, parts []string) string {
	for _, part := range parts {
		next := filepath.Join(dir, part)
		if _, err := os.Lstat(next); err != nil {
			entries, _ := os.ReadDir(dir) // an error leaves the entries so far
			for _, e := range entries {
				if strings.EqualFold(e.Name(), part) {
					next = filepath.Join(dir, e.Name())
				}
			}
		}
		dir = next
	}
	return dir
}

// titles are games by the name that people call them, with which the name of the program begins, in lower case.
var titles = map[string]struct {
	product product
	steam   string // the game's number in the folder of Proton
}{
	"rimworld": {product{"Ludeon Studios", "RimWorld by Ludeon Studios"}, "294100"},
}

// Games returns the names of the games that [LogsOf] knows, sorted.
func Games() []string { return slices.Sorted(maps.Keys(titles)) }

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
	known, ok := titles[strings.ToLower(name)]
	p := known.product
	if !ok {
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
	if known.steam != "" {
		for _, at := range []string{home, flatpak} {
			places = append(places, p.log(at, ".local", "share", "Steam", "steamapps", "compatdata", known.steam,
				"pfx", "drive_c", "users", "steamuser", "AppData", "LocalLow"))
		}
	}
	return places, nil
}
