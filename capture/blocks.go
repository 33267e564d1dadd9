package capture

import "bytes"

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
