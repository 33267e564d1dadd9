package yamlfile

import (
	"fmt"
	"strconv"
	"strings"

	texts "github.com/heedlog/heed/internal/text"
)

// maxQuoted bounds the quote of a file in a message, in bytes: enough to recognize it, not enough to drown the message.
const maxQuoted = 80

// Quote returns s in double quotes with everything escaped that could disturb a terminal or a log, cut.
func Quote(s string) string { return strconv.Quote(Clip(s)) }

// DoubleQuoted returns s, which is valid UTF-8, as a whole in double quotes, as both YAML and conditions of rules read
// it. It escapes characters that act on a terminal.
func DoubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case strconv.IsPrint(r) && texts.Safe(string(r), 0) == string(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Clip returns s, cut as [Quote] does.
func Clip(s string) string { return texts.Clip(s, maxQuoted) }

// Clean returns s with every character escaped that could disturb a terminal or a log, cut to three times the length of
// [Quote], for text that already quotes itself.
func Clean(s string) string { return texts.Safe(texts.Clip(s, 3*maxQuoted), 0) }

// ValidName reports whether s may name something: lower-case letters, digits, full stops, _ and -, at most limit bytes.
func ValidName(s string, limit int) bool {
	return s != "" && len(s) <= limit && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// Place returns a place with a colon and a space: "f.yaml:12:9: ". It leaves out "" and 0.
func Place(file string, line, column int) string {
	switch {
	case file == "":
		return ""
	case line == 0:
		return Clean(file) + ": "
	case column == 0:
		return fmt.Sprintf("%s:%d: ", Clean(file), line)
	}
	return fmt.Sprintf("%s:%d:%d: ", Clean(file), line, column)
}

// Each returns the errors one by one, as [errors.Join] has them.
func Each[E error](errs []E) []error {
	out := make([]error, len(errs))
	for i, err := range errs {
		out[i] = err
	}
	return out
}

// MaxListed is how many names a hint lists at most.
const MaxListed = 21

// DidYouMean returns the hint for a name that is none of names: the nearest one, or else, when they are few enough to
// read, all of them.
func DidYouMean(s string, names []string) string {
	if n := texts.Nearest(s, names); n != "" {
		return `did you mean "` + n + `"?`
	}
	if len(names) > 0 && len(names) <= MaxListed {
		return "known: " + strings.Join(names, ", ")
	}
	return ""
}
