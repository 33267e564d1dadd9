package text

import "strings"

// Words returns the set of the words of s, between spaces and line ends.
func Words(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		set[w] = true
	}
	return set
}
