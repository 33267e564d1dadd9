package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
