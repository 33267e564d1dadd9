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
	Path                 // a file or a directory; in a file, relative to its directory; ~/ is the home folder
	Paths                // a list of them; in a variable, separated as in PATH
)

// list reports whether a key of the kind may have several values.
func (k Kind) list() bool { return k == Words || k == Texts || k == Paths }

// The programs that have settings. They share their files.
const (
	Offline = "classify-replay" // the commands that read captured logs
	Live    = "heed"            // all commands
)

// Key is one thing that can be configured.
type Key struct {
	Name    string // of the flag, and in files
	Kind    Kind
	Values  []string // of a Word or of Words; of a Path, words in the place of one
	Default string   // as a flag would show it
	Help    string   // in a few words, with the name of its value, in backquotes, if it has one
	Unset   string   // words for an empty value or 0; "" if that is clear
	Program string   // the name of the program, if only one reads the key

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
func (k *Key) Of(program string) bool { return k.Program == "" || program == k.Program }

// Variable is the name of the environment variable of a key.
func (k *Key) Variable() string {
	return "HEED_" + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// Keys are all keys, by name, of every program, since programs share their files. A command uses the keys for which it
// has a flag.
func Keys() []Key {
	program := ""
	key := func(name string, kind Kind, effect Effect, value, help string, values ...string) Key {
		return Key{
			Name: name, Kind: kind, Values: values, Default: value, Help: help, Unset: unset[name], Program: program,
			Effect: effect,
		}
	}
	keys := []Key{
		key("ack", Word, accepts, "never", "acknowledge blocking items `WHEN`", "never", "auto"),
		key("color", Word, shows, cli.ColorAuto, "use colors", cli.Colors()...),
		key("fail-on", Words, decides, "", "exit with 1 on `WHAT`", "blocking", "advisory", "blind", "new", "never"),
		key("last-line", Text, decides, "", "count a log as cut if no line of its last run contains `TEXT`"),
		key("mods", Paths, places, "", "read the names of installed mods from `DIR`"),
		key("no-default-rules", Bool, forgets, "false", "leave out the default rules"),
		key("quiet", Bool, hides, "false", "print only errors, and no progress"),
		key("rules", Paths, forgets, "", "read rules from `FILE`, before the default rules"),
		key("top", Number, shows, "10", "show `N` rows of each table, 0 for all"),
		key("verbose", Bool, shows, "false", "print more about what is done"),
		key("width", Number, shows, "0", "fill `N` columns of text, 0 for those of the terminal"),
	}
	program = Live
	keys = append(keys,
		key("addr", Text, listens, "", "the `ADDR` on which serve listens"),
		key("allow", Texts, gates, "", "never hold back the tool `NAME`"),
		key("fail-open", Bool, gates, "false", "let calls through while the log cannot be read"),
		key("grace", Duration, kills, "10s", "when asked to end, wait `DURATION` for the game, and read the log for as long"),
		key("history", Path, places, "", "keep what is remembered in `FILE`", "off"),
		key("journal", Number, limits, "24576", "keep the last `N` entries for later requests"),
		key("linger", Duration, limits, "3s", "keep answering for `DURATION` after the game has failed"),
		key("log-level", Word, hides, "info", "log heed's own messages from `LEVEL` up", "debug", "info", "warn", "error"),
		key("max-message", Number, limits, "64", "pass results of the game of up to `MIB` MiB"),
		key("metrics", Text, listens, "", "serve metrics on `ADDR`"),
		key("mod-wait", Duration, limits, "1h0m0s", "let a bridge wait up to `DURATION` for the game's mod"),
		key("no-attention", Bool, gates, "false", "leave attention to the mod"),
		key("observe-only", Bool, gates, "false", "show attention, but hold no call back"),
		key("remember", Bool, keeps, "false", "remember every log that is read, not only games' own"),
		key("settle", Duration, limits, "0s",
			"let a call's result wait up to `DURATION` for faults that are logged after it"),
		key("state", Path, places, "", "keep heed's state in `DIR`"),
		key("token-file", Path, places, "", "read the token of serve from `FILE`"),
		key("web", Text, listens, "", "serve a live page on `ADDR`"),
	)
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return keys
}

// unset has words for an empty value or 0 of a key, unless that is clear.
var unset = map[string]string{
	"width": "the terminal's", "history": "the user's data folder", "state": "the user's state folder",
}

// names returns the names of keys.
func names(keys []Key) []string {
	all := make([]string, len(keys))
	for i := range keys {
		all[i] = keys[i].Name
	}
	return all
}
