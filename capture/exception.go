package capture

import "bytes"

// exceptionType returns the length of the exception type that b begins with, 0
// if it begins with none, and whether the type is written with its namespace:
// "System.NullReferenceException: …", "NullReferenceException: …".
func exceptionType(b []byte) (n int, qualified bool) {
	for n < len(b) && typeBytes[b[n]] {
		n++
	}
	if n < len("Exception") || !hasSuffix(b[:n], "Exception") || !isName(b[0]) {
		return 0, false
	}
	rest := b[n:]
	if len(rest) == 0 || rest[0] == ':' || hasPrefix(rest, " --->") || hasPrefix(rest, " (") || blank(rest) {
		return n, bytes.IndexByte(b[:n], '.') >= 0
	}
	return 0, false
}

// typeBytes are those that the name of a type may have.
var typeBytes = func() (t [256]bool) {
	t = names
	t['.'], t['+'], t['`'] = true, true, true
	return t
}()

// beginsException reports whether b, the text of a record, is nothing but an
// exception and its message, as the engine prints an uncaught one.
func beginsException(b []byte) bool {
	n, _ := exceptionType(b)
	return n > 0 && n < len(b) && b[n] == ':'
}

// namesException reports whether an exception type is written anywhere in b, as
// in "Error in LordToil.Init(): System.NullReferenceException: …".
func namesException(b []byte) bool {
	const word = "Exception"
	for {
		i := bytes.Index(b, []byte(word))
		if i < 0 {
			return false
		}
		rest := b[i+len(word):]
		// A type, not the word at the start of a sentence.
		if i > 0 && (isName(b[i-1]) || b[i-1] == '.') &&
			(len(rest) == 0 || rest[0] == ':' || hasPrefix(rest, " --->") || blank(rest)) {
			return true
		}
		b = rest
	}
}

// opensException reports whether b, a line at the margin, is an exception or names
// one, as in "Exception filling window: System.Exception: …", so that it must not
// vanish in a record that another line opened. Harmony's lists of patches name
// methods, which may be called after exceptions.
func opensException(b []byte) bool {
	if !bytes.Contains(b, []byte("Exception")) {
		return false
	}
	n, _ := exceptionType(b)
	return (n > 0 || namesException(b)) && !isPatched(b)
}

// announcesException reports whether b, the first line of a record, leads one
// to expect an exception on the next: it ends in a colon, or mentions an
// exception or error without giving it. Two reports of the game's mention errors,
// and are complete.
func announcesException(b []byte) bool {
	if announcesList(b) {
		return true
	}
	if namesException(b) || hasPrefix(b, "Translation data for language ") || hasPrefix(b, "Config error in ") {
		return false
	}
	return speaksOfFault(b)
}

// speaksOfFault reports whether b has one of the words with which a failure is
// reported.
func speaksOfFault(b []byte) bool {
	for _, word := range []string{"xception", "rror", "ailed", "threw "} {
		if bytes.Contains(b, []byte(word)) {
			return true
		}
	}
	return false
}

// speaksOfTrouble reports whether b, the first line of a record that ends in a colon, may
// announce an exception: besides the words of a failure it has those with which people
// report that something did not go as it should.
func speaksOfTrouble(b []byte) bool {
	if speaksOfFault(b) || opensFault(b) {
		return true
	}
	for _, word := range []string{
		"ould not", "ouldn't", "annot", "an't", "nable to", "nexpected", "nvalid", "wrong", "roblem", "ailure", "aught",
		"rash", "arning", "ERR", "EXC", "FAIL", "WARN",
	} {
		if bytes.Contains(b, []byte(word)) {
			return true
		}
	}
	return false
}

// loaderErrors reports whether b, the first line of a record, names the
// exception that lists, below its trace, one exception per type that could not
// be loaded.
func loaderErrors(b []byte) bool { return bytes.Contains(b, []byte("ReflectionTypeLoadException")) }

// isInnerException reports whether b opens a further exception of an
// AggregateException, which stands apart by a blank line.
func isInnerException(b []byte) bool { return hasPrefix(b, "---> (Inner Exception #") }

// isExceptionDetail reports whether b is a further line of an exception's
// message, as .NET and Mono write them below the first.
func isExceptionDetail(b []byte) bool {
	switch b[0] {
	case 'P':
		return hasPrefix(b, "Parameter name: ")
	case 'A':
		return hasPrefix(b, "Actual value was ")
	case 'F':
		return hasPrefix(b, "File name: '") || hasPrefix(b, "Fusion log")
	case 'O':
		return hasPrefix(b, "Object name: ")
	case 'C':
		return hasPrefix(b, "Could not load file or assembly ") || hasPrefix(b, "Could not resolve type with token ") ||
			hasPrefix(b, "Could not load type of field ")
	case '-':
		return hasPrefix(b, "---> ")
	case '<':
		return hasPrefix(b, "<---")
	case '=':
		return hasPrefix(b, "=> ")
	}
	return false
}
