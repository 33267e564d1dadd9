package settings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/cmd/internal/cli"
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

// parse reads a file of settings. Paths are taken from the file's directory, or, if
// they begin with ~/, from the folder home.
func parse(file string, data []byte, keys []Key, home string) (values []Value, wrong []Error) {
	top, problems := language.Read(data)
	for _, p := range problems[:min(len(problems), maxWrong)] {
		wrong = append(wrong, Error{place(file, p.Line, p.Column), strings.TrimSuffix(p.Msg+": "+p.Hint, ": ")})
	}
	if top == nil {
		return nil, wrong
	}
	at := func(n *yaml.Node) string { return place(file, n.Line, n.Column) }
	if top.Kind != yaml.MappingNode {
		if top.Tag == "!!null" {
			return nil, nil
		}
		return nil, []Error{{at(top), "settings are keys with values, such as \"color: never\""}}
	}
	first := map[string]int{}
	for pair := range slices.Chunk(top.Content, 2) {
		if len(wrong) == maxWrong {
			return nil, append(wrong, Error{file, "more is wrong: correct these first"})
		}
		name, value := pair[0], pair[1]
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name.Value })
		switch line := first[name.Value]; {
		case i < 0:
			wrong = append(wrong, Error{at(name), fmt.Sprintf("there is no setting %.64q", name.Value) + hint(name.Value, keys)})
			continue
		case line > 0:
			wrong = append(wrong, Error{at(name), name.Value + fmt.Sprintf(" is set twice, first in line %d: remove one", line)})
			continue
		}
		first[name.Value] = name.Line
		v, at, bad := read(file, value, &keys[i], home)
		if bad != "" {
			wrong = append(wrong, Error{at, bad})
			continue
		}
		values = append(values, v)
	}
	return values, wrong
}

// read reads one value, with its place.
func read(file string, n *yaml.Node, key *Key, home string) (v Value, where, wrong string) {
	at := func(n *yaml.Node) string { return place(file, n.Line, n.Column) }
	v = Value{Key: key, Where: at(n)}
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode && key.Kind.list() {
		nodes = n.Content
	}
	for _, item := range nodes {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return v, at(item), fmt.Sprintf("%s needs %s", key.Name, wants[key.Kind])
		}
		text := item.Value
		if b, err := strconv.ParseBool(text); key.Kind == Bool && item.Tag == "!!bool" && err == nil {
			text = strconv.FormatBool(b) // True
		}
		text, bad := key.item(text, filepath.Dir(file), home)
		if bad != "" {
			return v, at(item), bad
		}
		v.Items = append(v.Items, text)
	}
	return v, v.Where, ""
}

func place(file string, line, column int) string {
	return strings.TrimSuffix(yamlfile.Place(file, line, column), ": ")
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

// hint returns the likely meaning of a name.
func hint(name string, keys []Key) string {
	switch name {
	case "format", "output":
		return ": the format is a flag only, since it depends on the reader of each output"
	case "token":
		return ": a token is a secret, and others may read this file; use token-file to name the file that " +
			"holds it"
	case "metrics-remote":
		return ": opening a port to other machines is a flag only"
	}
	return cmp.Or(cli.Meant(name, names(keys)), `; "config show" lists all`)
}
