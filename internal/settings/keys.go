package settings

import (
	"slices"
	"strings"
)

// Kind is what values a key has.
type Kind uint8

// The kinds of keys.
const (
	Bool   Kind = iota // true or false
	Number             // an integer, not negative
	Word               // one of Values
	Words              // a list of Values
	Paths              // a list of files and directories; in a file, from the directory that it stands in
)

// Key is one thing that can be configured.
type Key struct {
	Name    string // of the flag, and in files
	Kind    Kind
	Values  []string // of a Word or of Words
	Default string   // as a flag would show it
	Help    string   // in a few words
}

// Variable is the name of the environment variable of a key.
func (k *Key) Variable() string {
	return "HEED_" + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// Keys are all keys, by name: those of every program, since they share their
// files. A program uses those that it has a flag for.
func Keys() []Key {
	keys := []Key{
		{Name: "ack", Kind: Word, Values: []string{"never", "auto"}, Default: "never", Help: "acknowledge blocking items"},
		{Name: "color", Kind: Word, Values: []string{"auto", "always", "never"}, Default: "auto", Help: "use colors"},
		{Name: "fail-on", Kind: Words, Values: []string{"blocking", "advisory", "blind"}, Help: "exit with 1 on these"},
		{Name: "no-default-rules", Kind: Bool, Default: "false", Help: "leave out the embedded rules"},
		{Name: "quiet", Kind: Bool, Default: "false", Help: "no messages but errors, no progress"},
		{Name: "rules", Kind: Paths, Help: "rule files, before the embedded ones"},
		{Name: "top", Kind: Number, Default: "10", Help: "rows of each table, 0 for all"},
		{Name: "verbose", Kind: Bool, Default: "false", Help: "say what is read, and from where"},
		{Name: "width", Kind: Number, Default: "0", Help: "columns of text, 0 for those of the terminal"},
	}
	return keys
}

// find returns the key of a name.
func find(keys []Key, name string) *Key {
	if i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// names returns the names of keys.
func names(keys []Key) []string {
	all := make([]string, len(keys))
	for i := range keys {
		all[i] = keys[i].Name
	}
	return all
}
