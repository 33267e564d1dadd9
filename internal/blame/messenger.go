package blame

import (
	"strings"

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
	for _, word := range part().FindAllString(name, -1) {
		word = strings.ToLower(word)
		if messengerWords[word] || messengerThings[before] && messengerActs[word] ||
			messengerActs[before] && messengerThings[word] {
			return true
		}
		before = word
	}
	return false
}

// part matches a word of a name, separated by signs or capitals: Mod, Error and Checker of ModErrorChecker.
var part = texts.Lazy(`\p{Lu}+[\p{Ll}\p{Lt}\p{Lm}\p{Lo}]*|[\p{Ll}\p{Lt}\p{Lm}\p{Lo}]+`)
