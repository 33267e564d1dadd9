package text

import "strings"

// Advice returns the advice of a rule, which calls no mod at fault if blame has no names.
func Advice(advice string, names ...string) string {
	if len(names) > 0 {
		return advice
	}
	return strings.ReplaceAll(advice, "the mod at fault", "the mod added or updated last")
}

// IsProgram reports whether a family of logs is of programs that are no games.
func IsProgram(family string) bool { return family == "json" || family == "plain" }

// DefaultAdvice returns the advice for entries whose rule has none.
func DefaultAdvice(blocks, program bool) string {
	switch {
	case blocks && program:
		return "Report it to the author of the program, with the log."
	case blocks:
		return "Update the mod at fault; if that does not help, remove it, and report this to its author with the log."
	case program:
		return "Nothing, if the program works; otherwise update it, and report it to its author with the log."
	}
	return "Nothing, if the game works."
}
