package settings

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/yamlfile"
)

// Error is one thing that is wrong with a source of settings, or is ignored in it.
type Error struct {
	Place string `json:"place" jsonschema:"The file, with line and column if it is about a key."` // or a variable's name
	Text  string `json:"text" jsonschema:"What is ignored, why, and what to do."`                 // or the error
}

// Error implements error.
func (e Error) Error() string { return e.Place + ": " + e.Text }

// maxWrong bounds the errors that are reported of a file.
const maxWrong = 20

var language = yamlfile.Language{
	Name: "a settings file", Instead: "write the value where it is needed", MaxBytes: maxFile, MaxDepth: 8,
}

// parsed has the values of a file, and its errors.
type parsed struct {
	file   string
	values []Value
	wrong  []Error
}

// Report implements [yamlfile.Owner].
func (p *parsed) Report(_ string, w yamlfile.Problem) {
	switch n := len(p.wrong); {
	case n < maxWrong:
		at := strings.TrimSuffix(yamlfile.Place(p.file, w.Line, w.Column), ": ")
		p.wrong = append(p.wrong, Error{at, strings.TrimSuffix(w.Msg+": "+w.Hint, ": ")})
	case n == maxWrong:
		p.wrong = append(p.wrong, Error{p.file, "more is wrong: correct these first"})
	}
}

// parse reads a file of settings. Paths are taken from the file's directory, or, if
// they begin with ~/, from the folder home.
func parse(file string, data []byte, keys []Key, home string) ([]Value, []Error) {
	p := &parsed{file: file}
	top, ok := language.Open(data, p)
	if !ok || top.Tag == "!!null" {
		return nil, p.wrong
	}
	for e := range top.Mapping(nil) {
		name := e.Key.Value
		if i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name }); i >= 0 {
			p.read(e.Value, &keys[i], home)
		} else if len(p.wrong) <= maxWrong {
			e.Key.Fail("", "there is no setting %.64q%s", name,
				cmp.Or(cli.Meant(name, names(keys)), `; "config show" lists all, and others are flags alone`))
		}
	}
	return p.values, p.wrong
}

// read reads one value.
func (p *parsed) read(n yamlfile.Value, key *Key, home string) {
	v := Value{Key: key, Where: strings.TrimSuffix(yamlfile.Place(p.file, n.Line, n.Column), ": ")}
	items := []yamlfile.Value{n}
	if n.Kind == yaml.SequenceNode && key.Kind.list() {
		items = n.Items()
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			item.Fail("", "%s needs %s", key.Name, wants[key.Kind])
			return
		}
		text := item.Value
		if b, err := strconv.ParseBool(text); key.Kind == Bool && item.Tag == "!!bool" && err == nil {
			text = strconv.FormatBool(b) // True
		}
		text, bad := key.item(text, filepath.Dir(p.file), home)
		if bad != "" {
			item.Fail("", "%s", bad)
			return
		}
		v.Items = append(v.Items, text)
	}
	p.values = append(p.values, v)
}

var wants = map[Kind]string{
	Bool:     "true or false",
	Number:   "a whole number from 0 on",
	Duration: "a duration from 0 on, such as 500ms, 20s or 1m30s",
	Word:     "one word",
	Words:    "a word or a list of words",
	Text:     "a text",
	Texts:    "a text or a list of texts",
	Path:     "a path",
	Paths:    "a path or a list of paths",
}

// read returns the content of the file, or the reason to ignore it unless it is named: another account than the user's
// and root's can change the file, the link to it or the folder of either, where it could exchange them. A file in a
// folder that the user may not search, such as the home folder of another account, is no file.
func (f *settingsFile) read() (data []byte, why string, err error) {
	link, err := os.Lstat(f.Path)
	if f.Origin != Named {
		if err != nil {
			return nil, "", fs.ErrNotExist
		}
		user := os.Geteuid()
		target, _ := filepath.EvalSymlinks(f.Path)
		file, _ := os.Stat(target) // nil for a link that leads nowhere
		folder, _ := os.Stat(filepath.Dir(f.Path))
		folderOfTarget, _ := os.Stat(filepath.Dir(cmp.Or(target, f.Path)))
		why = cmp.Or(others(user, "it", link), others(user, "it", file), others(user, "its folder", folder),
			others(user, "the folder of the linked file", folderOfTarget))
		if why != "" {
			return nil, why, nil
		}
	}
	data, err = files.ReadRegular(f.Path, maxFile)
	return data, "", err
}

// others returns how another account than user and root can change a file or folder, which the reason calls it, or "".
// In a folder with the sticky bit, such as /tmp, accounts change only their own files. A group with the number
// of its owner is the owner's alone, by the custom of systems whose new files the group may write (umask 002); the
// group of root may have members. Windows has no such numbers: there every file is trusted.
func others(user int, it string, info fs.FileInfo) string {
	if info == nil {
		return ""
	}
	mode := info.Mode()
	switch uid, gid := owner(info); {
	case uid != user && uid != 0:
		return it + " belongs to another user"
	case uid < 0, mode&fs.ModeSymlink != 0, mode.IsDir() && mode&fs.ModeSticky != 0: // a link's mode says nothing
	case mode&0o002 != 0, mode&0o020 != 0 && (gid != uid || uid == 0):
		return "other users can write " + it
	}
	return ""
}
