package scrub

import (
	"strings"

	"github.com/heedlog/heed/internal/text"
)

var (
	// frameLine matches a frame of a stack, up to the place of its source: with parameters, or of a class alone.
	frameLine = text.Lazy("^\\s*at (?:\\(wrapper [a-z-]+\\) )?(?:[\\w$<>`+|\\[\\],.:]*[A-Z][\\w`+]*[.:]{1,2}[\\w$<>`+|]+$|" +
		"[\\w$<>`+|\\[\\],]+(?:[.:]{1,2}[\\w$<>`+|\\[\\],]+)+ ?\\([\\w$<>`+|\\[\\],.:&* ]*\\)(?: ?[(\\[<][\\w.:]*[)\\]>](?: in <[0-9a-f]+>)?(?::\\d+)?)?)")
	quoted = text.Lazy("\\S*(?:\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|“[^”]*(?:”|$)|«[^»]*(?:»|$)|„[^“]*(?:“|$))\\S*")

	versionWord = text.Lazy(`^v?\d+(?:\.\d+){1,2}(?:[abfp]\d+)?$`)
	typeWord    = text.Lazy(`^(?:[A-Z]\w*\.)*[A-Z][A-Za-z]*(?:Exception|Error)$`)
	markWord    = text.Lazy(`^(?:<\*>|` + mark + `|[[:punct:]…])+$`)
	spokenBy    = text.Lazy(`(<user>\W{0,3}(?::|>|»|->)).*`)
)

// cut replaces the words that Strict removes.
const cut = "…"

// Strict returns s, which is scrubbed, with nothing that a person may have typed: of its words, only common ones in
// lower case, versions, types of errors and frames of stacks. All that is in quotes, in a path or an address, or that a
// user said goes, and so do all numbers.
func Strict(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strictLine(line)
	}
	return strings.Join(lines, "\n")
}

func strictLine(line string) string {
	if frame := frameLine().FindString(line); frame != "" {
		return frame
	}
	line = quoted().ReplaceAllString(spokenBy().ReplaceAllString(line, "$1 "+cut), cut)
	var kept []string
	for i, word := range strings.Fields(line) {
		if !isSafe(word, i) {
			word = cut
		}
		if word != cut || len(kept) == 0 || kept[len(kept)-1] != cut {
			kept = append(kept, word)
		}
	}
	return line[:len(line)-len(strings.TrimLeft(line, spaces))] + strings.Join(kept, " ")
}

// isSafe reports whether the word at index i of a line may stay in strict text.
func isSafe(word string, i int) bool {
	if markWord().MatchString(word) {
		return true
	}
	core := strings.Trim(word, "[](){}.,:;!?<>*-'…")
	if versionWord().MatchString(core) || typeWord().MatchString(core) {
		return true
	}
	lower := strings.ToLower(core)
	if lower != core && (i > 2 || core[1:] != lower[1:] && strings.ToUpper(core) != core) {
		return false
	}
	for part := range strings.SplitSeq(lower, "-") {
		if !vocabulary()[part] {
			return false
		}
	}
	return true
}
