package blame

import (
	"strings"
	"unicode"
	"unicode/utf8"

	texts "github.com/heedlog/heed/internal/text"
)

// Words in the names of messengers: mods that read, check, measure or report the work of other mods. They are in
// many traces and before many texts, and at fault in few.
var (
	// One of these is enough.
	messengerWords = texts.Words(`
		profiler profiling analyzer analyser watchdog debugger diagnostics linter logger logging stacktrace
		telemetry
	`)

	// One of the faults or things and one of the acts next to it: ErrorChecker, Mod Manager, CheckErrors.
	messengerThings = texts.Words(`
		error errors exception exceptions crash crashes bug log logs stack trace mod mods harmony patch patches save
		assembly assemblies performance
	`)
	messengerActs = texts.Words(`
		check checks checker report reports reporter log logger view viewer visual visualizer visualiser analysis
		catcher catch handler watcher monitor tracer inspector validator verifier manager finder fixer cleaner
		scanner filter better debug publisher guard
	`)
)

// messenger reports whether the name of a mod says that it reads, checks, measures or reports the
// work of others.
func messenger(name string) bool {
	before := ""
	for word := range wordsOf(name) {
		if messengerWords[word] || messengerThings[before] && messengerActs[word] ||
			messengerActs[before] && messengerThings[word] {
			return true
		}
		before = word
	}
	return false
}

// wordsOf yields the words of a name in lower case, separated by signs or capitals: mod, error and
// checker of ModErrorChecker and of mod_error-checker.
func wordsOf(name string) func(func(string) bool) {
	return func(yield func(string) bool) {
		from, lower := 0, false
		word := func(to int) bool {
			return from == to || yield(strings.ToLower(name[from:to]))
		}
		for i := 0; i < len(name); {
			r, size := utf8.DecodeRuneInString(name[i:])
			letter := unicode.IsLetter(r)
			if !letter || lower && unicode.IsUpper(r) {
				if !word(i) {
					return
				}
				from = i
				if !letter {
					from += size
				}
			}
			lower = letter && !unicode.IsUpper(r)
			i += size
		}
		word(len(name))
	}
}
