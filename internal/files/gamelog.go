package files

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Standard is the path that stands for the game's standard output.
const Standard = "-"

// Game is what is known of a game before it starts.
//
// Games made with Unity write to the file of -logFile, or else to a place per
// platform and user that is made of the names of company and product, which stand
// in a file app.info beside the game's data. A game without that file is looked
// up by the name of its program in a small table.
type Game struct {
	// Args is the program and its arguments.
	Args []string

	// Dir is the working directory, "" for that of this process.
	Dir string

	// Getenv reads the environment that the game gets.
	Getenv func(string) string

	// GOOS is the system; default that of this process.
	GOOS string
}

// Found is a log that was found.
type Found struct {
	// Path is the file, or [Standard].
	Path string

	// How is the reason in words.
	How string
}

// product is what Unity makes the place of a log of.
type product struct{ company, name string }

// known are products by the beginning of their program's name, in lower case, for
// games whose data are not where Unity puts them.
var known = []struct {
	program string
	product product
}{
	{"rimworld", product{"Ludeon Studios", "RimWorld by Ludeon Studios"}},
	{"start_rimworld", product{"Ludeon Studios", "RimWorld by Ludeon Studios"}},
}

// FindLog returns where the game is going to log, and false where it is not known.
func FindLog(g Game) (Found, bool) {
	if g.GOOS == "" {
		g.GOOS = runtime.GOOS
	}
	if len(g.Args) == 0 {
		return Found{}, false
	}
	if path, ok := g.byArgument(); ok {
		return Found{Path: path, How: "the game's argument -logFile"}, true
	}
	if p, file, ok := g.byData(); ok {
		if path, ok := g.place(p); ok {
			return Found{Path: path, How: fmt.Sprintf("Unity's place for %s of %s, named in %s", p.name, p.company, file)}, true
		}
	}
	program := strings.ToLower(base(g.Args[0]))
	for _, k := range known {
		if strings.HasPrefix(program, k.program) {
			if path, ok := g.place(k.product); ok {
				return Found{Path: path, How: "the place known for " + k.product.name}, true
			}
		}
	}
	return Found{}, false
}

// byArgument reads Unity's argument, which is not case sensitive. "-" is standard
// output, as is the argument without a value.
func (g *Game) byArgument() (string, bool) {
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
		return g.abs(value), true
	}
	return "", false
}

func (g *Game) abs(path string) string {
	if g.Dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(g.Dir, path)
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// byData finds app.info: beside the program of that name, in a macOS bundle, or,
// for a launching script, the only one there is beside it.
func (g *Game) byData() (product, string, bool) {
	program := g.abs(g.Args[0])
	dir := filepath.Dir(program)
	name := strings.TrimSuffix(base(program), ".exe")
	candidates := []string{
		filepath.Join(dir, name+"_Data", "app.info"),
		filepath.Join(program, "Contents", "Resources", "Data", "app.info"), // an .app itself
		filepath.Join(dir, "..", "Resources", "Data", "app.info"),           // its program
		filepath.Join(dir, strings.TrimSuffix(name, "Linux")+"_Data", "app.info"),
	}
	if beside, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*_Data", "app.info")); err == nil && len(beside) == 1 {
		candidates = append(candidates, beside[0])
	}
	for _, file := range candidates {
		if p, ok := readAppInfo(file); ok {
			return p, file, true
		}
	}
	return product{}, "", false
}

// escapeGlob keeps the letters of a path from being a pattern.
func escapeGlob(path string) string {
	if filepath.Separator == '\\' {
		return path // no escapes on Windows; a path with brackets finds nothing
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
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
	// They become parts of a path, and must not be more.
	if p.company == "" || p.name == "" || strings.ContainsAny(p.company+p.name, `/\`) || p.company == ".." || p.name == ".." {
		return product{}, false
	}
	return p, true
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
		return filepath.Join(home, "AppData", "LocalLow", p.company, p.name, "Player.log"), true
	case "darwin":
		return filepath.Join(home, "Library", "Logs", p.company, p.name, "Player.log"), true
	default:
		config := g.Getenv("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(home, ".config")
		}
		return filepath.Join(config, "unity3d", p.company, p.name, "Player.log"), true
	}
}

// base is the last part of a path with slashes of either kind.
func base(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
