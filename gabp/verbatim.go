package gabp

import (
	"regexp"
	"slices"
)

// Verbatim is an answer to a call that violates the protocol: text that is not UTF-8, an
// error without a message, both a result and an error, anything in which the id of the
// call can be found. It is the error of [Client.CallRaw], and unwraps to the violation. A
// handler of a [Mux] that returns it as its error passes the answer on as it was received, byte for
// byte but for the id: peers of a proxy may accept what this package does not.
type Verbatim struct {
	Err *Error

	// Failed reports whether the answer has an error, as far as it can be read.
	Failed bool

	text       []byte // of the message
	start, end int    // of the id in it, with its quotes
}

// Error returns the violation.
func (v *Verbatim) Error() string { return "answer not accepted: " + v.Err.Error() }

// Unwrap returns the violation, an [*Error].
func (v *Verbatim) Unwrap() error { return v.Err }

// append appends the answer as one to a request with another id.
func (v *Verbatim) append(dst []byte, id string) []byte {
	return slices.Concat(dst, v.text[:v.start], quote(id), v.text[v.end:])
}

// findID returns the first wanted value of a member "id", at any depth, and its place in the text with its quotes. Ids
// are random, so that no other text equals one. The text around it need not be JSON.
func findID(text []byte, wanted func(id string) bool) (id string, start, end int) {
	for from := 0; ; { // one by one: a text may have millions
		at := idMember.FindSubmatchIndex(text[from:])
		if at == nil {
			return "", 0, 0
		}
		start, end = from+at[2], from+at[3]
		if id := string(text[start:end]); wanted(id) {
			return id, start - 1, end + 1
		}
		from = end
	}
}

// idMember is a member "id" with a value of at most maxIDBytes.
var idMember = regexp.MustCompile(`"id"[ \t\r\n]*:[ \t\r\n]*"([^"]{1,256})"`)
