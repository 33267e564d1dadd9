// Command notices writes the licenses of the modules in the programs, as these require for copies:
//
//	go -C tools run ./notices linux/amd64 windows/arm64 > THIRD_PARTY_NOTICES.txt
//
// "go list" names the linked packages, for the named platforms together, so that the text always fits the module
// versions of this tree. It is made for a release, and not kept in the repository. A license covers its folder and all
// below, so that code which a module took from elsewhere has its own license; a license next to an embedded file covers
// that file. A module without a license is an error. Go's own library counts as a module.
//
// Modules must be in the module cache or within reach. It was weighed against
// google/go-licenses, which classifies texts, but knows one platform at a time and
// no embedded files.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout, "..", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// listed has the fields of a package from "go list -json".
type listed struct {
	Dir        string
	EmbedFiles []string // from Dir, with slashes
	Standard   bool
	Module     *module
}

type module struct {
	Path, Version, Dir string
	Main               bool
}

// run writes the notices of the programs of the module in root, with all that they import, on any of the platforms.
func run(w io.Writer, root string, platforms []string) error {
	if len(platforms) == 0 {
		return errors.New("name the platforms: notices linux/amd64 windows/amd64")
	}
	standard := module{Path: "Go"}
	for name, value := range map[string]*string{"GOROOT": &standard.Dir, "GOVERSION": &standard.Version} {
		output, err := command(root, nil, "env", name)
		if err != nil {
			return err
		}
		*value = strings.TrimSpace(string(output))
	}
	found := licenses{}
	for _, platform := range platforms {
		goos, goarch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("platform %q: want GOOS/GOARCH, such as linux/amd64", platform)
		}
		output, err := command(root, []string{"GOOS=" + goos, "GOARCH=" + goarch, "CGO_ENABLED=0"},
			"list", "-deps", "-json=Dir,EmbedFiles,Standard,Module", "./cmd/classify-replay", "./cmd/heed...")
		if err != nil {
			return err
		}
		decoder := json.NewDecoder(bytes.NewReader(output))
		for decoder.More() {
			var pkg listed
			if err := decoder.Decode(&pkg); err != nil {
				return fmt.Errorf("go list: %w", err)
			}
			if pkg.Standard {
				pkg.Module = &standard
			}
			if err := found.collect(pkg); err != nil {
				return err
			}
		}
	}
	return found.write(w)
}

// command returns the output of the go command, run in dir with some more environment.
func command(dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return output, nil
}

// licenses holds the files of each module, from the module's root with slashes.
type licenses map[module]map[string]bool

// collect adds the licenses of a package: files in its folder, in the folders of its embedded files, and in all folders
// above, up to the root of its module. It leaves out the main module's root, since heed is no third party to itself.
func (l licenses) collect(pkg listed) error {
	if pkg.Module == nil {
		return fmt.Errorf("%s is in no module: vendor folders and GOFLAGS=-mod=vendor are not provided for", pkg.Dir)
	}
	m := *pkg.Module
	if l[m] == nil {
		l[m] = map[string]bool{}
	}
	dirs := []string{pkg.Dir}
	for _, file := range pkg.EmbedFiles {
		dirs = append(dirs, filepath.Join(pkg.Dir, filepath.FromSlash(path.Dir(file))))
	}
	for _, dir := range dirs {
		for {
			rel, err := filepath.Rel(m.Dir, dir)
			if err != nil || !filepath.IsLocal(rel) || m.Main && rel == "." {
				break
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if !e.IsDir() && isLicense(e.Name()) {
					l[m][path.Join(filepath.ToSlash(rel), e.Name())] = true
				}
			}
			dir = filepath.Dir(dir)
		}
	}
	return nil
}

var (
	licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]es?|copying|notices?)([-_.].*)?$`)
	sourceName  = regexp.MustCompile(`(?i)\.(go|s|c|h|js|css|html|ya?ml|json)$`)
)

// isLicense knows a license by its name, such as LICENSE, LICENCE.md, LICENSE-MIT,
// NOTICE, COPYING.txt. Source code may be called so, too.
func isLicense(name string) bool {
	return licenseName.MatchString(name) && !sourceName.MatchString(name)
}

// write prints each text once, below the names of all that it speaks for.
func (l licenses) write(w io.Writer) error {
	heads := map[string][]string{} // by text
	for m, files := range l {
		if len(files) == 0 && !m.Main {
			return fmt.Errorf("%s %s: no license in %s, so that nobody may pass it on", m.Path, m.Version, m.Dir)
		}
		for file := range files {
			data, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(file)))
			if err != nil {
				return err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
			heads[text] = append(heads[text], strings.Join(strings.Fields(m.Path+" "+m.Version+" "+file), " "))
		}
	}
	var texts []string
	for text, of := range heads {
		slices.Sort(of)
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return strings.Compare(heads[a][0], heads[b][0]) })

	out := []byte("Code of others in these programs, with its licenses.\n")
	rule := strings.Repeat("=", 80)
	for _, text := range texts {
		out = fmt.Appendf(out, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(heads[text], "\n"), rule, text)
	}
	_, err := w.Write(out)
	return err
}
