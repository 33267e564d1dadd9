package capture

import (
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/event"
)

// level returns the level of the record and its evidence, from the hardest
// to the softest. RimWorld gives a footer to warnings and errors alone, so that both a footer and the lack of
// it show a level there, and in a log without its banner. In other games on Unity, where all that managed code logs
// has one, neither does.
func (a *assembly) level(r *Reader) (event.Level, Evidence) {
	if own := r.format.Level; own != nil {
		if l, ok := own(text(a.head())); ok {
			return l, evidenceTag
		}
	}
	if r.layout == LayoutPlain || r.layout == LayoutJSON {
		switch h := a.logger(); {
		case h.Leveled && h.Len >= len(a.message) && h.Level > event.LevelInfo && len(a.stack) == 0:
			return event.LevelInfo, evidenceTag // it reports nothing
		case h.Leveled:
			return h.Level, evidenceTag
		case h.Sure && hasPrefix(a.message[h.Len:], "panic: ") && !a.dump && r.goesOn():
			return event.LevelError, evidenceException // a logger wrote the word, and no runtime
		}
	}
	switch h := a.logger(); {
	case a.block == blockCrash, a.block == blockReport:
		return event.LevelFatal, evidenceCrash
	case a.byConsole:
		return a.console, evidenceConsole
	case h.Sure && h.Leveled && h.Level == event.LevelDebug:
		return h.Level, evidenceTag // its logger got the exception from code that caught it
	case (a.frames > 0 || a.refState != "" || a.footer) && a.isException():
		return event.LevelError, evidenceException
	case a.is(ofReport):
		return event.LevelError, evidenceException
	}
	return a.footerLevel(r)
}

// goesOn reports whether the line below the record shows that the program lives: it has a text that heads no stack.
func (r *Reader) goesOn() bool {
	next := &r.cur
	return r.have && next.logger().Len < len(next.text) && !isGoroutine(next.text[next.head.Len:])
}

// footerLevel is level by the head of a logger in the text, by a footer and by the lack of one.
func (a *assembly) footerLevel(r *Reader) (event.Level, Evidence) {
	leveled := r.format == &rimworld.Format || !r.banner.seen
	head := a.logger() // of a mod, perhaps
	tag, tagged := head.Level, head.Sure && head.Leveled
	switch {
	case a.footer && tagged && tag > event.LevelWarning:
		return tag, evidenceTag
	case a.footer && a.lines == 1 && is(a.message, ofFooter):
		// The text above the footer is missing.
	case a.footer && leveled:
		return event.LevelWarning, evidenceFooter
	case tagged:
		return tag, evidenceTag
	case leveled && r.footers > 0 && !a.footer && (r.layout == layoutUnity2019_2 || r.layout == layoutUnity2019_4) &&
		a.frames == 0 && a.refState == "" && a.split != evidenceHole && !a.opensFault():
		return event.LevelInfo, evidenceNoFooter
	case head.Leveled && tag == event.LevelWarning:
		return tag, evidenceTag // "Warning: …"
	}
	return event.LevelUnknown, evidenceNone
}

// opensFault reports whether the text of the record opens as the engine's and
// the game's own reports of faults do, or names an exception. The engine's reports
// may lack a footer, and of a report whose end was not recognized only the last
// line has one; so the lack of it is no evidence there.
func (a *assembly) opensFault() bool {
	return a.is(ofFaultWord) || a.lines == 1 && a.is(ofNaming) || a.lines > 1 && namesException(a.message)
}
