//go:build !js

// Command heed-web builds the page on which a player drops a log: a folder of files for any web server.
//
//	heed-web FOLDER
//
// It runs the Go compiler in the source tree of heed, and compiles this package for browsers. The page reads the log
// in the browser and sends nothing. The exit status is 0 for a folder that was written, 1 for an error and 2 for wrong
// usage.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
)

//go:embed static
var static embed.FS

// program is the file with the compiled program. The page unpacks it: with this name no server lets the browser do it.
const program = "heed.bin"

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: heed-web FOLDER\n\nwrites the files of the page to FOLDER")
		os.Exit(2)
	}
	if err := build(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "heed-web:", err)
		os.Exit(1)
	}
}

// build writes the page to a folder.
func build(folder string) error {
	pages := pageFiles()
	service := pages["service.js"] // whose beginning depends on the others
	delete(pages, "service.js")
	var err error
	if pages["wasm_exec.js"], err = support(); err != nil {
		return err
	}
	if pages[program], err = compile(); err != nil {
		return err
	}
	names, sum := slices.Sorted(maps.Keys(pages)), sha256.New()
	for _, name := range names {
		sum.Write(append([]byte(name+"\n"), pages[name]...))
	}
	// A browser that has the page in store takes another one where these bytes differ.
	begin := fmt.Sprintf("'use strict';\nconst version = %q;\nconst files = %q.split(' ');\n",
		hex.EncodeToString(sum.Sum(nil)[:8]), strings.Join(append(names, "./"), " "))
	pages["service.js"] = append([]byte(begin), service...)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // for a web server to read
		return err
	}
	for name, data := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil { //nolint:gosec // the same
			return err
		}
	}
	return nil
}

// place is where the games that are known by name write their logs on one system.
type place struct{ Game, System, Path string }

// pageFiles returns the files of the page that need no compiler.
func pageFiles() map[string][]byte {
	pages := map[string][]byte{}
	entries, _ := static.ReadDir("static") // which is embedded, with its files
	for _, e := range entries {
		pages[e.Name()], _ = static.ReadFile("static/" + e.Name())
	}
	var index bytes.Buffer
	err := template.Must(template.New("index").Parse(string(pages["index.html"]))).
		Execute(&index, map[string]any{"Policy": policy(), "Places": logPlaces()})
	if err != nil {
		panic("BUG: heed-web: " + err.Error())
	}
	pages["index.html"] = index.Bytes()
	return pages
}

// policy returns the Content-Security-Policy of the page. It allows the files of the page, the style and script of a
// report, which a frame of the page shows, and no connection to another host.
func policy() string {
	script, style := report.PageSources()
	return "default-src 'none'; base-uri 'none'; form-action 'none'; connect-src 'self'; img-src 'self' data:; " +
		"manifest-src 'self'; worker-src 'self' blob:; frame-src 'self'; " +
		"script-src 'self' 'wasm-unsafe-eval' " + script + "; style-src 'self' " + style
}

// logPlaces lists where games write their logs, for people who look for one.
func logPlaces() (out []place) {
	for _, game := range files.Games() {
		for _, system := range []struct{ goos, name, home string }{
			{"windows", "Windows", `%USERPROFILE%`}, {"darwin", "macOS", "~"}, {"linux", "Linux", "~"},
		} {
			_, found, _ := files.LogsOf(game, system.goos, func(name string) string {
				if name == "HOME" || name == "USERPROFILE" {
					return system.home
				}
				return ""
			}, false) // the game is known
			if len(found) > 0 {
				out = append(out, place{game, system.name, found[0]})
			}
		}
	}
	return out
}

// support returns the file with which Go starts programs in browsers.
func support() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
}

// compile compiles this package for browsers, and packs the program with gzip.
func compile() ([]byte, error) {
	dir, err := os.MkdirTemp("", "heed-web")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	out := filepath.Join(dir, "heed.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, "github.com/heedlog/heed/cmd/heed-web")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build for browsers, in a clone of heed: %w", err)
	}
	data, err := os.ReadFile(out) //nolint:gosec // written above
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, err = w.Write(data)
	return packed.Bytes(), errors.Join(err, w.Close())
}
