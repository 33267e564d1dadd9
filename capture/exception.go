package capture

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/heedlog/heed/capture/internal/begins"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/internal/frame"
	"github.com/heedlog/heed/internal/logline"
)

// namesException reports whether an exception type is written anywhere in b, as
// in "Error in LordToil.Init(): System.NullReferenceException: …": a type, not the word at the start of a sentence.
func namesException(b []byte) bool {
	const word = "Exception"
	for i := 0; ; i += len(word) {
		n := bytes.Index(b[i:], []byte(word))
		if i += n; n < 0 {
			return false
		}
		rest := b[i+len(word):]
		if i > 0 && (isName(b[i-1]) || b[i-1] == '.') &&
			(len(rest) == 0 || rest[0] == ':' || hasPrefix(rest, " --->") || blank(rest)) {
			return true
		}
	}
}

// opensException reports whether ln, at the margin, is an exception or names
// one, as in "Exception filling window: System.Exception: …", so that it must not
// vanish in a record that another line opened. Harmony's lists of patches name
// methods, which may be called after exceptions.
func (ln *line) opensException() bool {
	return ln.is(ofException) && ln.is(ofThrown|ofNaming) && bytes.Contains(ln.text, []byte("Exception")) &&
		!rimworld.IsPatched(text(ln.text))
}

// announcesException reports whether the first line of the record leads one
// to expect an exception on the next: it ends in a colon, or mentions an
// exception or error without giving it. Two reports of the game's mention errors,
// and are complete.
func (a *assembly) announcesException() bool {
	return announcesList(a.head()) || a.is(ofFault) && !a.is(ofNaming|ofComplete)
}

// speaksOfTrouble reports whether b, the first line of a record that ends in a colon, may
// announce an exception: besides the words of a failure it has those with which people
// report that something did not go as it should.
func speaksOfTrouble(b []byte) bool {
	return is(b, ofFault|ofFaultWord|ofNaming) || begins.Has(text(b),
		"ould not", "ouldn't", "annot", "an't", "nable to", "nexpected", "nvalid", "wrong", "roblem", "ailure", "aught",
		"rash", "arning", "ERR", "EXC", "FAIL", "WARN")
}

// headsTrace reports whether ln, a line at the margin, is nothing but the type of an exception that the record lacks,
// or one or two words and a colon, below a record that names an exception or ends in a colon, more words below one that
// speaks of an exception; below a title of plain text any line without the head of a logger. Where frames come next it
// heads them, also across blank lines. more reports that such a line was held before it: then an exception may come.
func (a *assembly) headsTrace(ln *line, more bool) bool {
	if a.sealed || a.engine || a.block != blockNone || isIndented(ln.text) {
		return false
	}
	b := trimRight(ln.text)
	heads := string(b) == "Technical details" || a.titled && a.frames == 0 && b[0] != '[' && !ln.logger().Sure
	if title, ok := bytes.CutSuffix(b, []byte(":")); ok && len(title) < maxHeading {
		first, second, _ := bytes.Cut(title, []byte(" "))
		heads = isWord(first) && (isWord(second) || a.frames == 0 && a.is(ofException))
	}
	if !heads && a.frames == 0 && ln.is(ofThrown) {
		n, _ := frame.Throwable(text(b))
		heads = n == len(b) || more
	}
	return heads && (more || a.titled || a.frames == 0 && a.is(ofException) || announcesList(a.message) ||
		a.isException())
}

// isDrawn reports whether b is a title with a line drawn on both sides: "---- Press Report ----".
func isDrawn(b []byte) bool {
	b = trimRight(b)
	return strings.IndexByte("-=#*~", b[len(b)-1]) >= 0 && drawn.Match(b[logline.Parse(text(b)).Len:])
}

var drawn = regexp.MustCompile(
	`^(?:-{3}-*[^-].*-{3}|={3}=*[^=].*={3}|#{3}#*[^#].*#{3}|\*{3}\**[^*].*\*{3}|~{3}~*[^~].*~{3})$`)

// maxHeading is how many bytes the heading of a trace has at most.
const maxHeading = 40

// isTraceHead reports whether message, all that a record holds besides frames,
// is the head under which Mono prints the managed trace before the line by which
// a crash is known. A mod's message may be the same, so alone it is no crash.
func isTraceHead(message []byte) bool { return string(trimRight(message)) == "Stacktrace:" }

// isRule reports whether b is a line drawn with one character, as frames the
// headings of Mono's crash report.
func isRule(b []byte) bool {
	b = trimRight(b)
	return len(b) >= 20 && (b[0] == '=' || b[0] == '-') && bytes.Count(b, b[:1]) == len(b)
}

// isInnerException reports whether b opens a further exception of an
// AggregateException, which a blank line separates.
func isInnerException(b []byte) bool { return hasPrefix(b, "---> (Inner Exception #") }

const (
	nestedCause = "Caused by: "
	wrappedBy   = "Wrapped by: " // the same, from the innermost exception on
)

// headsCause reports whether b, below the frames of an exception of Java, heads the frames of its cause, or of an
// exception that was thrown while the other one was on its way; or as Node says where an error passed.
func headsCause(b []byte) bool {
	t := trimLeft(b)
	return hasPrefix(t, nestedCause) || hasPrefix(t, wrappedBy) || hasPrefix(b, "Emitted '") ||
		len(t) < len(b) && hasPrefix(t, "Suppressed: ")
}

// joinsNested decides about a line that gives another exception: the cause of an exception of the record, or the
// exception that the first line reports without its type. No record begins so. It adds an exception that the first line
// lacks to that line: a record is known by its exception.
func (a *assembly) joinsNested(ln *line) verdict {
	if a.engine || !ln.is(ofNested) {
		return verdict{}
	}
	if cause := bytes.TrimLeft(ln.text, "-= "); hasPrefix(cause, nestedCause) && a.frames == 0 && !a.isException() {
		return verdict{}
	}
	to := partMessage
	if a.lines == 1 && a.frames == 0 && !a.isException() {
		to = partHead
	}
	a.exception, a.list = true, listNone
	return verdict{to, evidenceForm}
}

// joinsTitled reports whether b is the exception that a line handed on as a title: "Inner exception:".
func (a *assembly) joinsTitled(b []byte) bool {
	if !a.inner || a.blanks > 0 {
		return false
	}
	t := trimRight(a.message)
	return strings.IndexByte(":-=", t[len(t)-1]) >= 0 && is(b, ofThrown)
}
