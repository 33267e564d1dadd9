package settings

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/cmd/internal/cli"
)

// Kind is what values a key has.
type Kind uint8

// The kinds of keys.
const (
	Bool     Kind = iota // true or false
	Number               // an integer, not negative
	Duration             // as of [time.ParseDuration], not negative
	Word                 // one of Values
	Words                // a list of Values
	Text                 // any text
	Texts                // a list of texts; in a variable, with commas between them
	Path                 // a file or a directory; in a file, from the directory that it stands in; ~/ is the home folder
	Paths                // a list of them; in a variable, separated as in PATH
)

// list reports whether a key of the kind may have several values.
func (k Kind) list() bool { return k == Words || k == Texts || k == Paths }

// The programs that have settings. They share their files.
const (
	Offline = "classify-replay" // the commands that read captured logs
	Live    = "heed"            // these, and those beside a running game
)

// Key is one thing that can be configured.
type Key struct {
	Name    string // of the flag, and in files
	Kind    Kind
	Values  []string // of a Word or of Words; of a Path, words in the place of one
	Default string   // as a flag would show it
	Help    string   // in a few words, with the name of its value, in backquotes, where it has one
	Unset   string   // what is used, in words, where the value is none or 0; "" where that says it
	Live    bool     // of the commands beside a running game: classify-replay does not go by it

	// Effect is how the key changes a run. It decides whether the key counts in a project's file.
	Effect Effect
}

// Effect is how a key changes a run, in words after "it".
type Effect string

// The effects. A project's file, which comes with a folder that others may have made, may have the first two alone:
// they change neither the decision about a log nor the harm that a game can do. The others are for the user: by a flag,
// a variable, the user's file or a file that the user names.
const (
	shows   Effect = "changes how output looks"
	limits  Effect = "limits time or memory"
	accepts Effect = "accepts faults for the user"
	decides Effect = "decides when heed fails"
	forgets Effect = "can turn rules off"
	gates   Effect = "weakens the gate"
	hides   Effect = "hides messages"
	keeps   Effect = "keeps logs that the user reads"
	kills   Effect = "can kill the game before it has saved"
	listens Effect = "opens a port"
	places  Effect = "chooses where heed reads or writes"
)

// userOnly reports whether the key is ignored in a project's file.
func (k *Key) userOnly() bool { return k.Effect != shows && k.Effect != limits }

// Of reports whether a program goes by the key.
func (k *Key) Of(program string) bool { return !k.Live || program == Live }

// program returns the program that alone goes by the key, "" for both.
func (k *Key) program() string { return map[bool]string{true: Live}[k.Live] }

// Variable is the name of the environment variable of a key.
func (k *Key) Variable() string {
	return "HEED_" + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// Keys are all keys, by name: those of every program, since they share their
// files. A command uses those that it has a flag for.
func Keys() []Key {
	keys := []Key{
		{
			Name: "ack", Kind: Word, Values: []string{"never", "auto"}, Default: "never",
			Help: "acknowledge blocking items `WHEN`", Effect: accepts,
		},
		{Name: "color", Kind: Word, Values: cli.Colors(), Default: cli.ColorAuto, Help: "use colors", Effect: shows},
		{
			Name: "fail-on", Kind: Words, Values: []string{"blocking", "advisory", "blind", "new", "never"},
			Help: "exit with 1 on `WHAT`", Effect: decides,
		},
		{Name: "mods", Kind: Paths, Help: "read the names of installed mods from `DIR`", Effect: places},
		{Name: "no-default-rules", Kind: Bool, Help: "leave out the default rules", Effect: forgets},
		{Name: "quiet", Kind: Bool, Help: "print only errors, and no progress", Effect: hides},
		{Name: "rules", Kind: Paths, Help: "read rules from `FILE`, before the default rules", Effect: forgets},
		{Name: "top", Kind: Number, Default: "10", Help: "show `N` rows of each table, 0 for all", Effect: shows},
		{Name: "verbose", Kind: Bool, Help: "print more about what is done", Effect: shows},
		{
			Name: "width", Kind: Number, Default: "0",
			Help: "fill `N` columns of text, 0 for those of the terminal", Unset: "the terminal's", Effect: shows,
		},
	}
	shared := len(keys)
	keys = append(keys, []Key{
		{Name: "addr", Kind: Text, Help: "the `ADDR` on which serve listens", Effect: listens},
		{Name: "allow", Kind: Texts, Help: "never hold back the tool `NAME`", Effect: gates},
		{Name: "fail-open", Kind: Bool, Help: "let calls through while the log cannot be read", Effect: gates},
		{
			Name: "grace", Kind: Duration, Default: "10s",
			Help: "when asked to end, wait `DURATION` for the game, and read the log for as long", Effect: kills,
		},
		{
			Name: "history", Kind: Path, Values: []string{"off"},
			Help: "keep what is remembered in `FILE`", Unset: "the user's data folder", Effect: places,
		},
		{
			Name: "journal", Kind: Number, Default: "24576",
			Help: "keep the last `N` entries for later requests", Effect: limits,
		},
		{
			Name: "linger", Kind: Duration, Default: "3s",
			Help: "keep answering for `DURATION` after the game has failed", Effect: limits,
		},
		{
			Name: "log-level", Kind: Word, Values: []string{"debug", "info", "warn", "error"}, Default: "info",
			Help: "log heed's own messages from `LEVEL` up", Effect: hides,
		},
		{
			Name: "max-message", Kind: Number, Default: "64",
			Help: "pass results of the game of up to `MIB` MiB", Effect: limits,
		},
		{Name: "metrics", Kind: Text, Help: "serve metrics on `ADDR`", Effect: listens},
		{
			Name: "mod-wait", Kind: Duration, Default: "1h0m0s",
			Help: "let a bridge wait up to `DURATION` for the game's mod", Effect: limits,
		},
		{Name: "no-attention", Kind: Bool, Help: "leave attention to the mod", Effect: gates},
		{Name: "observe-only", Kind: Bool, Help: "show attention, but hold no call back", Effect: gates},
		{Name: "remember", Kind: Bool, Help: "remember every log that is read, not only games' own", Effect: keeps},
		{
			Name: "settle", Kind: Duration, Default: "0s",
			Help: "let a call's result wait up to `DURATION` for faults that are logged after it", Effect: limits,
		},
		{Name: "state", Kind: Path, Help: "keep heed's state in `DIR`", Unset: "the user's state folder", Effect: places},
		{Name: "token-file", Kind: Path, Help: "read the token of serve from `FILE`", Effect: places},
		{Name: "web", Kind: Text, Help: "serve a live page on `ADDR`", Effect: listens},
	}...)
	for i := range keys {
		keys[i].Live = i >= shared
		if keys[i].Kind == Bool {
			keys[i].Default = "false"
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
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
