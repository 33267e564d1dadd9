package capture

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
)

// origin is the evidence in the beginning of a capture: whether a program
// that keeps a log wrote it, and whether it begins where that program did.
type origin struct {
	records  int  // of the log itself
	logged   bool // something shows that it is a log
	engine   bool // the engine has written a line that only comes after its banner
	begun    bool // the banner of the engine or the game came where a log begins
	headless bool // the first record, or a banner that came late, shows that lines before it are missing
}

// Recognized reports whether something in the capture shows that a game wrote it, or
// a logger: a layout other than plain text, a fact, a level, a time or a tag where
// loggers have them. Prose and tables have none. It is about the records looked at.
func (e *Environment) Recognized() bool { return e.origin.logged || e.start.Facts != Facts{} }

// Headless reports whether the beginning of the capture is missing, so that what
// broke first may be, too. True is certain, false is not:
// people paste parts of logs that show nothing of that. Two things show it.
//
//   - The first line continues something: it is a frame, a footer, or a reference
//     to a stack.
//   - The engine wrote what only its own log has, footers for instance, and its banner
//     did not come, or came late. A copy of the console has no banner, and an upload
//     one below its header.
func (e *Environment) Headless() bool {
	o := &e.origin
	return o.headless || o.engine && !o.begun
}

func (o *origin) observe(rec *Record) {
	if !rec.IsLog() {
		o.begun = o.begun || rec.Context
		o.logged = o.logged || rec.Context || rec.Kind != event.KindLog && rec.Kind != event.KindNotice
		return
	}
	o.records++
	if o.logged && (o.headless || o.begun && o.records > 1) { // nothing more can change it
		return
	}
	head, _, _ := strings.Cut(rec.Message, "\n")
	b := raw(cmp.Or(head, " "))
	o.logged = o.logged || rec.Layout.unity() || rec.LevelBy != evidenceNone || rec.Mods != nil ||
		formatOf(rec.Family).Detect != nil || looksLogged(b)
	isSetIn := b[0] == ' ' || b[0] == '\t'
	if o.records == 1 && (is(b, ofFooter|ofRef) || is(b, ofFrame) && (rec.Layout.unity() || isSetIn)) {
		o.headless = true // the first line continues something that began before it
	}
	if o.headless || o.begun || rec.Layout == layoutConsole || rec.Layout == LayoutJSON {
		return
	}
	o.observeEngine(rec, b)
}

// observeEngine looks for the banner of the engine, and for lines that only come after it, in the first line of rec.
func (o *origin) observeEngine(rec *Record, b []byte) {
	late := o.records > quietStart
	switch {
	case !rec.Layout.unity():
		o.engine = o.engine || hasPrefix(b, "[ALLOC_")
	case is(b, ofBanner): // perhaps below lines of a launcher or a shell
		o.begun = !o.engine || !late
		o.headless = !o.begun
	case b[0] == 'R' && is(b, ofEngine): // the game prints its version before anything else that is its own
		o.begun, o.headless = !late, late
	case rec.LevelBy == evidenceCrash:
		o.engine = o.engine || o.records > 1 // people paste a crash by itself
	case rec.LevelBy == evidenceFooter, rec.Split == evidenceFooter, rec.Ref > 0, unity.IsUnloading(text(b)):
		o.engine = true
	}
}

// looksLogged reports whether b begins as the lines of loggers do: with a time, with
// a tag in brackets, or with the seconds since the start.
func looksLogged(b []byte) bool { return stamped.Match(b) || isElapsed(b) }

var stamped = regexp.MustCompile(`^(?:[ \t]*\[[^\]]+\]|.{0,24}\d\d:\d\d:\d\d)`)
