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

	// UserOnly is the reason why the key is ignored in a project's file, after "it"; "" if it is used there.
	UserOnly string
}

// Reasons why a key is ignored in a project's file, which comes with a folder that others may have made. The
// other keys say how logs read and look, how long heed waits, and how much it holds. A project's rules are used: they
// are the purpose of the file, and an output names the rule that decided.
const (
	gates    = "weakens the gate"
	listens  = "opens a port"
	places   = "chooses where heed reads or writes"
	forgets  = "turns rules off"
	consents = "keeps logs that the user reads"
)

// Of reports whether a program goes by the key.
func (k *Key) Of(program string) bool { return !k.Live || program == Live }

// program returns the program that alone goes by the key, "" for both.
func (k *Key) program() string {
	if k.Live {
		return Live
	}
	return ""
}

// Variable is the name of the environment variable of a key.
func (k *Key) Variable() string {
	return "HEED_" + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// Keys are all keys, by name: those of every program, since they share their
// files. A command uses those that it has a flag for.
func Keys() []Key {
	return []Key{
		{
			Name: "ack", Kind: Word, Values: []string{"never", "auto"}, Default: "never",
			Help: "acknowledge blocking items `WHEN`",
		},
		{Name: "addr", Kind: Text, Help: "the `ADDR` on which serve listens", Live: true, UserOnly: listens},
		{Name: "allow", Kind: Texts, Help: "never hold back the tool `NAME`", Live: true, UserOnly: gates},
		{Name: "color", Kind: Word, Values: cli.Colors(), Default: cli.ColorAuto, Help: "use colors"},
		{
			Name: "fail-on", Kind: Words, Values: []string{"blocking", "advisory", "blind", "new", "never"},
			Help: "exit with 1 on `WHAT`",
		},
		{
			Name: "fail-open", Kind: Bool, Default: "false", Help: "let calls through while the log cannot be read", Live: true,
			UserOnly: gates,
		},
		{
			Name: "grace", Kind: Duration, Default: "10s", Help: "when asked to end, wait `DURATION` for the game, and read the log for as long",
			Live: true,
		},
		{
			Name: "history", Kind: Path, Values: []string{"off"}, Help: "keep what is remembered in `FILE`",
			Unset: "the user's data folder", Live: true, UserOnly: places,
		},
		{Name: "journal", Kind: Number, Default: "24576", Help: "keep the last `N` entries for later requests", Live: true},
		{
			Name: "linger", Kind: Duration, Default: "3s", Help: "keep answering for `DURATION` after the game has failed",
			Live: true,
		},
		{
			Name: "log-level", Kind: Word, Values: []string{"debug", "info", "warn", "error"}, Default: "info",
			Help: "log heed's own messages from `LEVEL` up", Live: true,
		},
		{Name: "max-message", Kind: Number, Default: "64", Help: "pass results of the game of up to `MIB` MiB", Live: true},
		{Name: "metrics", Kind: Text, Help: "serve metrics on `ADDR`", Live: true, UserOnly: listens},
		{
			Name: "mod-wait", Kind: Duration, Default: "1h0m0s", Help: "let a bridge wait up to `DURATION` for the game's mod",
			Live: true,
		},
		{Name: "mods", Kind: Paths, Help: "read the names of installed mods from `DIR`"},
		{Name: "no-attention", Kind: Bool, Default: "false", Help: "leave attention to the mod", Live: true, UserOnly: gates},
		{Name: "no-default-rules", Kind: Bool, Default: "false", Help: "leave out the default rules", UserOnly: forgets},
		{
			Name: "observe-only", Kind: Bool, Default: "false", Help: "show attention, but hold no call back", Live: true,
			UserOnly: gates,
		},
		{Name: "quiet", Kind: Bool, Default: "false", Help: "print only errors, and no progress"},
		{
			Name: "remember", Kind: Bool, Default: "false", Help: "remember every log that is read, not only games' own",
			Live: true, UserOnly: consents,
		},
		{Name: "rules", Kind: Paths, Help: "read rules from `FILE`, before the default rules"},
		{
			Name: "settle", Kind: Duration, Default: "0s",
			Help: "let a call's result wait up to `DURATION` for faults that are logged after it", Live: true,
		},
		{
			Name: "state", Kind: Path, Help: "keep heed's state in `DIR`", Unset: "the user's state folder", Live: true,
			UserOnly: places,
		},
		{Name: "token-file", Kind: Path, Help: "read the token of serve from `FILE`", Live: true, UserOnly: places},
		{Name: "top", Kind: Number, Default: "10", Help: "show `N` rows of each table, 0 for all"},
		{Name: "verbose", Kind: Bool, Default: "false", Help: "print more about what is done"},
		{Name: "web", Kind: Text, Help: "serve a live page on `ADDR`", Live: true, UserOnly: listens},
		{
			Name: "width", Kind: Number, Default: "0", Help: "fill `N` columns of text, 0 for those of the terminal",
			Unset: "the terminal's",
		},
	}
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
