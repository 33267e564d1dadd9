package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/yamlfile"
)

// Origin is the kind of source of a value, in words.
type Origin string

// The origins, the weakest first.
const (
	Default     Origin = "default"
	User        Origin = "user file"
	Project     Origin = "project file"
	Named       Origin = "named file" // by --config or HEED_CONFIG
	Environment Origin = "environment"
	Flag        Origin = "flag"
)

// Value is the value of a key and its origin.
type Value struct {
	Key    *Key
	Items  []string // one, or any number for a list
	Origin Origin
	Where  string // a variable, or file:line:column; "" for a default or a flag
}

// String returns the value as a flag would show it.
func (v *Value) String() string { return strings.Join(v.Items, ",") }

// maxFile bounds, in bytes, a file of settings, a long one has a few hundred.
const maxFile = 1 << 20

// ProjectFile is the name of a project's file.
const ProjectFile = ".heed.yaml"

// Sources are the places of settings.
type Sources struct {
	// Dir is the folder in which the search for a project's file begins. "" skips the search.
	Dir string

	// UserDir is the system's folder for the configuration of users, as of
	// [os.UserConfigDir]. "" looks for no user's file.
	UserDir string

	// Home replaces the leading ~ of a path, as of [os.UserHomeDir]. The search from Dir ends at it. With "" such a
	// path is an error.
	Home string

	// File is read in place of the project's file, also if others own it, and each of its keys is used. It must be there.
	// With "" the project's file is searched from Dir.
	File string

	// Getenv reads the environment.
	Getenv func(string) string
}

// settingsFile is a file of settings that was looked for.
type settingsFile struct {
	Path    string  `json:"path" jsonschema:"The file."`
	Origin  Origin  `json:"origin" jsonschema:"Whose it is." enum:"user file,project file,named file"`
	Found   bool    `json:"found" jsonschema:"Whether it exists, and was read."`
	Ignored []Error `json:"ignored,omitempty" jsonschema:"What is ignored of it; all of it if it was not found."`
}

// Settings are the values of all keys.
type Settings struct {
	Files  []settingsFile // the weakest first
	Values []Value        // one for each key, in the order of Keys
}

// Load finds the values of the keys. The error joins an [Error] for each wrong thing, in the order of the sources.
func Load(src Sources) (*Settings, error) {
	keys := Keys()
	s := &Settings{Files: []settingsFile{}}
	for i := range keys {
		s.Values = append(s.Values, Value{Key: &keys[i], Items: split(keys[i].Default), Origin: Default})
	}
	var wrong []Error
	named, bad := (&Key{Name: "config", Kind: Path}).path(src.File, "", src.Home)
	if bad != "" {
		return nil, Error{"--config or HEED_CONFIG", bad}
	}
	if src.UserDir != "" {
		s.Files = append(s.Files, settingsFile{Origin: User, Path: filepath.Join(src.UserDir, "heed", "config.yaml")})
	}
	switch {
	case named != "":
		s.Files = append(s.Files, settingsFile{Origin: Named, Path: named})
	case src.Dir != "":
		s.Files = append(s.Files, projectFile(src.Dir, src.Home))
	}
	for i := range s.Files {
		f := &s.Files[i]
		data, why, err := f.read()
		switch {
		case why != "":
			f.Ignored = []Error{{f.Path, "is ignored: " + why + "; name it with --config if you trust it"}}
			continue
		case errors.Is(err, fs.ErrNotExist) && f.Origin != Named:
			continue
		}
		f.Found = true
		if err != nil {
			if p, ok := errors.AsType[*fs.PathError](err); ok { // whose path the message begins with
				err = p.Err
			}
			wrong = append(wrong, Error{Place: f.Path, Text: "cannot be read: " + err.Error()})
			continue
		}
		values, bad := parse(f.Path, data, keys, src.Home)
		wrong = append(wrong, bad...)
		for _, v := range values {
			if f.Origin == Project && v.Key.userOnly() {
				f.Ignored = append(f.Ignored, Error{v.Where, fmt.Sprintf("%s is ignored in a project's file (it %s): "+
					"use --%[1]s, or name the file with --config if you trust it", v.Key.Name, v.Key.Effect)})
				continue
			}
			v.Origin = f.Origin
			s.set(v)
		}
	}
	for i := range keys {
		text := src.Getenv(keys[i].Variable())
		if text == "" {
			continue
		}
		v, bad := fromVariable(&keys[i], text, src.Home)
		if bad != "" {
			wrong = append(wrong, Error{Place: v.Where, Text: bad})
			continue
		}
		s.set(v)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(yamlfile.Each(wrong)...)
	}
	return s, nil
}

// fromVariable reads the text of a key's variable, and returns its error in words.
func fromVariable(key *Key, text, home string) (v Value, wrong string) {
	v = Value{Key: key, Origin: Environment, Where: key.Variable(), Items: []string{text}}
	switch key.Kind {
	case Words, Texts:
		v.Items = split(text)
	case Paths:
		v.Items = filepath.SplitList(text)
	}
	for i := range v.Items {
		if v.Items[i], wrong = key.item(v.Items[i], "", home); wrong != "" {
			return v, wrong
		}
	}
	return v, ""
}

// Value returns the value of a known key.
func (s *Settings) Value(name string) *Value {
	return &s.Values[slices.IndexFunc(s.Values, func(v Value) bool { return v.Key.Name == name })]
}

// set replaces a value by one of a stronger origin.
func (s *Settings) set(v Value) { *s.Value(v.Key.Name) = v }

// projectFile finds the file of the project in a directory or the nearest above it; without a file, it is the path in
// the directory.
func projectFile(dir, home string) settingsFile {
	own := settingsFile{Origin: Project, Path: filepath.Join(dir, ProjectFile)}
	for ; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ProjectFile)
		if _, err := os.Lstat(path); err == nil {
			return settingsFile{Origin: Project, Path: path}
		}
		if endsSearch(dir, home) {
			return own
		}
	}
}

// endsSearch reports whether the search for a project's file ends in a folder: the folder is the home folder, or the
// root of a repository or of the file system, or the folder above has another owner.
func endsSearch(dir, home string) bool {
	here, err := os.Stat(dir)
	above, errAbove := os.Stat(filepath.Dir(dir))
	if err != nil || errAbove != nil {
		return true
	}
	atHome, _ := os.Stat(home) // nil, the same as no folder, if there is none
	_, noRepository := os.Lstat(filepath.Join(dir, ".git"))
	uid, _ := owner(here)
	uidAbove, _ := owner(above)
	return noRepository == nil || uid != uidAbove || os.SameFile(here, above) || os.SameFile(here, atHome)
}

// path returns an item of a key that has paths as a full path: after ~/ it is below the folder home, another relative
// path is below dir, unless that is "". wrong is the error of an impossible path.
func (k *Key) path(item, dir, home string) (path, wrong string) {
	if k.Kind != Path && k.Kind != Paths || item == "" || slices.Contains(k.Values, item) {
		return item, ""
	}
	path = filepath.FromSlash(item)
	switch below, inHome := strings.CutPrefix(path, "~"+string(filepath.Separator)); {
	case inHome && home == "":
		return "", fmt.Sprintf("%s is %q, but the home folder is not known: write the full path", k.Name, item)
	case inHome:
		return filepath.Join(home, below), ""
	case dir != "" && !filepath.IsAbs(path):
		return filepath.Join(dir, path), ""
	}
	return item, ""
}

// item returns an item of a key as a command takes it, see path. wrong is the error of an impossible item.
func (k *Key) item(text, dir, home string) (item, wrong string) {
	bad, use := false, wants[k.Kind]
	switch k.Kind {
	case Bool:
		bad = text != "true" && text != "false"
	case Number:
		n, err := strconv.Atoi(text)
		bad = err != nil || n < 0
	case Duration:
		d, err := time.ParseDuration(text)
		bad = err != nil || d < 0
	case Word, Words:
		bad = !slices.Contains(k.Values, text)
		use = "one of " + strings.Join(k.Values, ", ") + cli.Meant(text, k.Values)
		if k.Kind == Words {
			use = "any number, each " + use
		}
	default:
		if text == "" {
			return "", k.Name + " is empty: leave it out"
		}
	}
	if bad {
		return "", fmt.Sprintf("%s is %.64q: use %s", k.Name, text, use)
	}
	return k.path(text, dir, home)
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
