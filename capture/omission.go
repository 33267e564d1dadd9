package capture

import (
	"strconv"
	"strings"
)

// Loggers that fold repeats, or limit their rate, report that in a sentence: a number, a word for messages and one for
// their loss are close to each other.
//
//	last message repeated 12 times
//	Suppressed 1843 messages from press.service
//	net_ratelimit: 9 callbacks suppressed
//	imjournal: 345 messages lost due to rate-limiting

// maxOmission is the length of the longest sentence that is looked at.
const maxOmission = 160

// omission returns the number of messages that the text of a record reports as left out, 0 for none.
func omission(message string) uint64 {
	if b := raw(message); len(b) > maxOmission || !around(b, "essa", 'g', "e") && !around(b, "allbac", 'k', "s") {
		return 0 // as nearly all texts
	}
	var count, noun, verb, at int
	n := uint64(0)
	for word := range strings.FieldsSeq(message) {
		at++
		switch word = strings.Trim(word, ".,:;()[]*-\""); strings.ToLower(word) {
		case "message", "messages", "callbacks":
			noun = at
		case "repeated", "suppressed", "dropped", "lost", "missed", "discarded", "omitted", "throttled":
			verb = at
		default:
			if i, err := strconv.ParseUint(word, 10, 32); err == nil {
				n, count = i, at
			}
		}
		if noun > 0 && verb > 0 && count > 0 && max(noun, verb, count)-min(noun, verb, count) <= 4 {
			return n
		}
	}
	return 0
}
