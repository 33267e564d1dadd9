package rimworld

import (
	"strconv"
	"strings"
)

// Ref reads a stack reference: "[Ref 5EED0003]" alone on its line is above the trace that it names, "[Ref 5EED0003]
// Duplicate stacktrace, see ref for original" in place of it. The number is hexadecimal without padding.
func Ref(line string) (ref uint64, duplicate, ok bool) {
	digits, ok := strings.CutPrefix(line, "[Ref ")
	if !ok {
		return 0, false, false // as nearly all lines
	}
	digits, rest, ok := strings.Cut(digits, "]")
	ref, err := strconv.ParseUint(digits, 16, 64)
	rest = strings.TrimLeft(rest, " \t")
	duplicate = strings.HasPrefix(rest, "Duplicate stacktrace")
	if !ok || err != nil || rest != "" && !duplicate {
		return 0, false, false
	}
	return ref, duplicate, true
}

// IsCutRef reports whether a line is the beginning of a reference that lacks its end.
func IsCutRef(line string) bool {
	return strings.HasPrefix(line, "[Ref ") && strings.IndexByte(line, ']') < 0
}
