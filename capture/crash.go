package capture

// isCrashStart reports whether b opens the report of a native crash. Such a
// report is the last thing a run writes, so it lasts to the end of the input or
// to the banner of another run:
//
//	Crash!!!                                              Windows
//	Got a SIGSEGV while executing native code. …          Linux, macOS (Mono)
//	Caught fatal signal - signo:11 code:1 …               Linux, macOS (Unity)
func isCrashStart(b []byte) bool {
	switch b[0] {
	case 'C':
		return hasPrefix(b, "Crash!!!") || hasPrefix(b, "Caught fatal signal - signo:")
	case 'G':
		return isGotSignal(b)
	case 'R':
		return hasPrefix(b, "Received signal SIG") || hasPrefix(b, "Receiving unhandled NULL exception")
	case ' ', '\t', 'N':
		return hasPrefix(trimLeft(b), "Native Crash Reporting")
	}
	return false
}

// isGotSignal reports whether b is "Got a SIG… while executing native code".
func isGotSignal(b []byte) bool {
	const got = "Got a SIG"
	if !hasPrefix(b, got) {
		return false
	}
	n := len(got)
	for n < len(b) && isLetter(b[n]) {
		n++
	}
	return hasPrefix(b[n:], " while executing native code")
}

// isRule reports whether b is a line drawn with one character, as frames the
// headings of Mono's crash report.
func isRule(b []byte) bool {
	b = trimRight(b)
	if len(b) < 20 || b[0] != '=' && b[0] != '-' {
		return false
	}
	for _, c := range b {
		if c != b[0] {
			return false
		}
	}
	return true
}
