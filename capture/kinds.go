package capture

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/heedlog/heed/capture/internal/crash"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/internal/frame"
	"github.com/heedlog/heed/internal/logline"
)

// kinds are the answers to questions about a line that its text alone decides.
type kinds uint32

// By the words with which it begins: most lines begin with no words that are known.
const (
	ofBanner    kinds = 1 << iota // of the engine's first lines, or of the header of an upload; it ends an open record
	ofEngine                      // the engine and the game print it in every log, at the start and between levels
	ofOpening                     // it opens a record in any place, so that no list or section before it can claim it
	ofBelow                       // the game or the engine writes it below another line only
	ofParagraph                   // the same, also below a blank line
	ofLife                        // a process that has crashed does not write it
	ofCrash                       // it opens the report of a native crash; see crashStarts
	ofCrashMark                   // the same, in words that a message may have, too
	ofCause                       // it names the cause of a crash
	ofRest                        // it opens the part of a crash report below the trace
	ofGame                        // it shows by itself that a log is the engine's or the game's
	ofMemory                      // it belongs to the statistics of memory, or is indented
	ofFaultWord                   // its first word opens reports of faults
	ofComplete                    // a report that mentions errors and is complete
	ofNested                      // it hands on another exception; see joinsNested
	ofDetail                      // a further line of an exception's message, as .NET and Mono write them below the first
	ofDump                        // Go prints it when it panics; see joinsDump
	ofFooter                      // Unity 2019 writes it under warnings and errors; see unity.Footer
	ofRef                         // a stack reference; see rimworld.Ref

	byBeginning = 1<<iota - 1
)

// By its form, from the first word on.
const (
	ofFrame     kinds = (byBeginning + 1) << iota // see frameKinds
	ofCall                                        // the same
	ofThrown                                      // it begins with the type of an exception,
	ofQualified                                   // with the namespace of the type,
	ofReport                                      // and a message: the engine prints an uncaught exception so
	ofType                                        // it is a type, alone or with a message; see typeKinds
	ofErrorType                                   // and by its name the type of an exception
	ofGoCall                                      // the function of a frame of Go's; see isGoCall
	ofException                                   // it has the word
	ofNaming                                      // the type of an exception is anywhere in it; see namesException
	ofFault                                       // it has a word with which a failure is reported
	ofHead                                        // not an answer: the head of a logger was read

	byForm = ofFrame | ofCall | ofThrown | ofQualified | ofReport
	byType = ofType | ofErrorType | ofGoCall
	byName = ofException | ofNaming
)

// look has the answers about one text. Those that one search finds are found together, when the first of them is asked
// for.
type look struct {
	kinds, known kinds
	head         logline.Head // if known has ofHead
	hash         uint64       // of the text; 0: the answers are for this text alone
}

// looks are the answers about late lines, since a log repeats most of its lines. They depend on the text alone, so that
// nothing but the time shows whether a line was among them. A hash has a seed that no input knows.
type looks struct {
	seed  maphash.Seed
	slots [1 << 9]look
}

// recall gives ln the answers about its text that are known.
func (s *looks) recall(ln *line) {
	hash := maphash.Bytes(s.seed, ln.text)
	if known := &s.slots[hash%uint64(len(s.slots))]; known.hash == hash {
		ln.look = *known
	}
	ln.hash = hash
}

// keep keeps answers in place of the answers about another text.
func (s *looks) keep(l *look) {
	if l.hash != 0 {
		s.slots[l.hash%uint64(len(s.slots))] = *l
	}
}

// when returns k if a condition holds, else no kind.
func (k kinds) when(holds bool) kinds {
	if holds {
		return k
	}
	return 0
}

// find answers the unknown kinds among some, about b, the text, with one search for each group of kinds.
func (l *look) find(b []byte, some kinds) {
	unknown := some &^ l.known
	if unknown&byBeginning != 0 {
		l.known |= byBeginning
		l.kinds |= beginningKinds(b)
	}
	if unknown&byForm != 0 {
		l.known |= byForm
		l.kinds |= formKinds(b)
	}
	if unknown&byType != 0 {
		l.known |= byType
		l.kinds |= typeKinds(b)
	}
	if unknown&(byName|ofFault) != 0 && l.known&byName == 0 {
		l.known |= byName
		if bytes.Contains(b, []byte("xception")) {
			l.kinds |= ofException | ofNaming.when(namesException(b))
		}
	}
	if unknown&ofFault != 0 {
		l.known |= ofFault
		l.kinds |= ofFault.when(l.kinds&ofException != 0 ||
			around(b, "thre", 'w', " ") || around(b, "rr", 'o', "r") || around(b, "ai", 'l', "ed"))
	}
}

// logger returns the head that a logger wrote in front of b, the text.
func (l *look) logger(b []byte) *logline.Head {
	if l.known&ofHead == 0 {
		l.known |= ofHead
		l.head = logline.Parse(text(b))
	}
	return &l.head
}

// is reports whether b is of one of the kinds; for texts that are asked about often see look.
func is(b []byte, k kinds) bool {
	var l look
	l.find(b, k)
	return l.kinds&k != 0
}

// is reports whether the line is of one of the kinds.
func (ln *line) is(k kinds) bool {
	if k&^ln.known != 0 {
		ln.find(ln.text, k)
	}
	return ln.kinds&k != 0
}

func (ln *line) logger() *logline.Head { return ln.look.logger(ln.text) }

// A line of crashStarts opens the report of a native crash. Such a report is the last thing a run writes, so it lasts
// to the end of the input, to the banner of another run, or to a line that shows the process to be alive:
//
//	Crash!!!                                              Windows
//	A crash has been intercepted by the crash handler. …   Windows, where another process reports
//	========== OUTPUTTING STACK TRACE ==================   Windows, where a copy begins; one T before 2018
//	Got a SIGSEGV while executing native code. …          Mono, Linux and macOS; "a UNKNOWN" on Windows
//	Native stacktrace:                                    Mono before 2018
//	* Assertion at mini.c:42, condition `…' not met       Mono, which aborts
//	Caught fatal signal - signo:11 code:1 …               Unity, Linux
//	Receiving unhandled NULL exception                    Unity, macOS
//
// A line of ownRecord begins a record, and of gameLine shows that a log is Unity's.
const (
	crashStarts = ofCrash | ofCrashMark
	ownRecord   = ofOpening | ofEngine | crashStarts | ofCause
	gameLine    = ofGame | ofLife | ofCrash | ofCause
)

// beginning is a text that lines of a kind begin with.
type beginning struct {
	kind kinds
	text string
}

// place returns the place in the table for texts with two first bytes: few have the place of another pair.
func place(first, second byte) byte { return first + 31*second }

// beginnings are the texts by their places.
var beginnings = func() (t [256][]beginning) {
	add := func(kind kinds, texts ...string) {
		for _, s := range texts {
			at := place(s[0], s[1])
			t[at] = append(t[at], beginning{kind, s})
		}
	}
	for _, own := range [...]*unity.Lines{&unity.Engine, &rimworld.Lines} {
		add(ofEngine, own.Own...)
		add(ofOpening, own.Opens...)
		add(ofBelow, own.Below...)
		add(ofParagraph, own.Apart...)
		add(ofLife, own.Alive...)
		add(ofCrash, own.Crash...)
		add(ofGame, own.Shows...)
		add(ofMemory, own.Memory...)
		add(ofFaultWord, own.Faults...)
	}
	add(ofCrashMark, unity.CrashMark)
	add(ofBanner, unity.BannerPath, unity.BannerVersion, rimworld.UploadStart)
	add(ofComplete, rimworld.Reports...)
	add(ofRest, crash.Rest[:]...)
	add(ofDump, "goroutine ", "runtime stack:", "[signal ", "runtime: ", "fatal error: ")
	add(ofNested, "Inner exception", "Inner Exception", "InnerException", "The inner exception", nestedCause,
		"The exception was", "The error was: ", "Exception was:", "Exception details:", "Exception Details:",
		"Exception message: ")
	add(ofDetail, "Parameter name: ", "Actual value was ", "File name: '", "Fusion log", "Object name: ",
		"Could not load file or assembly ", "Could not resolve type with token ", "Could not load type of field ", "---> ",
		"<---", "=> ")
	return t
}()

// formKinds returns the kinds of a line by its first word, of a frame or the type of an exception.
func formKinds(b []byte) kinds {
	n := frame.TypeLen(text(b))
	k := frameKinds(b, n)
	if n >= len("Error") && strings.IndexByte("nre", b[n-1]) >= 0 { // else no word for an exception is its end
		n, qualified := frame.Throwable(text(b))
		k |= ofThrown.when(n > 0) | ofQualified.when(qualified) | ofReport.when(n > 0 && n < len(b) && b[n] == ':')
	}
	return k
}

// typeKinds returns the kinds of a line that may be a type: of an exception, alone or with its message, as in
// "java.lang.Error: stuck" and "KeyError: 'x'", or the function of a frame of Go's.
func typeKinds(b []byte) kinds {
	n := frame.TypeLen(text(b))
	name, rest := b[:n], b[n:]
	if n == 0 || len(rest) > 1 && rest[0] == ' ' && isLetter(rest[1]) {
		return ofGoCall.when(hasPrefix(b, "created by ")) // as most lines
	}
	k := ofGoCall.when(isGoCall(b))
	if isDigit(b[0]) || b[n-1] == '.' || !blank(rest) && !hasPrefix(rest, ": ") && !hasPrefix(rest, " --->") {
		return k
	}
	word, _, ok := bytes.Cut(b, []byte(": "))
	return k | ofType | ofErrorType.when(bytes.IndexByte(name, '.') >= 0 ||
		ok && b[0]-'A' < 26 && len(word) > len("Error") && (hasSuffix(word, "Error") || hasSuffix(word, "Exception")))
}

// beginningKinds returns the kinds of a line by its first words.
func beginningKinds(b []byte) (k kinds) {
	if len(b) < 2 {
		return 0
	}
	for _, s := range beginnings[place(b[0], b[1])] {
		if hasPrefix(b, s.text) && s.ends(b) {
			k |= s.kind
		}
	}
	first := b[0]
	switch first {
	case '(':
		k |= ofFooter.when(unity.IsFooter(text(b)))
	case '[':
		_, _, ref := rimworld.Ref(text(b))
		k |= ofOpening.when(bytes.IndexByte(b, ']') > 1) | ofRef.when(ref)
	case 'U':
		k |= ofLife.when(unity.IsUnloading(text(b)))
	case 'T':
		k |= ofBelow.when(unity.IsTotal(text(b)))
	case '-', '=':
		k |= beginningKinds(bytes.TrimLeft(b, "-= ")) & ofNested
	case ' ', '\t':
		k |= ofMemory
		if t := trimLeft(b); len(t) > 0 {
			first = t[0]
		}
	}
	return k | ofCrash.when((first == 'G' || first == 'N') && unity.IsSignal(text(b))) |
		ofCause.when((b[0] == 'E' || b[len(b)-1] == ')') && crash.IsCause(text(b)))
}

// ends reports whether the text ends with a word of b, which begins with it, where that is needed.
func (s beginning) ends(b []byte) bool {
	switch n := len(s.text); {
	case n == len(b):
		return true
	case s.kind == ofFaultWord:
		return b[n] == ' '
	case s.kind == ofNested:
		return b[n-1] == ' ' || !isLetter(b[n])
	}
	return true
}
