package capture

import (
	"github.com/heedlog/heed/capture/internal/crash"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
)

// The beginning of a log may be no evidence: a storm of one message is longer than what is
// looked at, and in a log without its first lines it may be all there is. So text that was
// taken for plain is read as a log of Unity's from the line on that shows that it is one.
// Nothing waits for such a line, and what was delivered before stays as it was.
//
// In a log of another program's, levels would no longer be read from its lines,
// so nothing that a message of it quotes must count: only lines at the margin that the
// engine or the game alone writes, and of a footer more than its text.

// turnBelow takes the layout for Unity's if ln, below the open record, can only belong to
// one of Unity's: a stack reference, a footer with what stands above or below those, or
// the second line of an upload's header, which shows that the first was one.
func (r *Reader) turnBelow(ln *line) {
	a, b := &r.asm, ln.text
	if a.lines == 1 && a.blanks > 0 && a.message[0] == '(' && unity.IsFooter(text(a.message)) {
		r.footer = true
	}
	switch b[0] {
	case '(':
		if unity.IsFooter(text(b)) && (r.footer || a.isSetOff()) {
			r.turn()
		}
	case '[':
		if ref, duplicate, ok := rimworld.Ref(text(b)); ok && (duplicate || ref > 0xffff) { // "[Ref 7]" is a footnote
			r.turn()
		}
	case 'L':
		if a.lines == 1 && opensContext(b) && hasPrefix(a.message, rimworld.UploadStart) && r.turn() {
			r.openHeader(text(a.message))
		}
	}
}

// turnAt does so if b, the first line of a record, can only be one of Unity's.
func (r *Reader) turnAt(b []byte) {
	if _, ok := versionLayout(b); ok || hasPrefix(b, bannerPath) || isGameLine(b) {
		r.turn()
	}
}

func (r *Reader) turn() bool {
	if r.opt.Layout != LayoutAuto {
		return false
	}
	r.layout = layoutUnity2022_3 // a banner or a footer decides later
	return true
}

// isSetOff reports whether the record ends as Unity 2019 sets off a footer: with a space
// behind the text, or with a line of one space. Quotations have neither.
func (a *assembly) isSetOff() bool {
	if a.blanks > 0 {
		return a.gap && a.blanks == 1
	}
	return hasSuffix(*a.lastText(), " ")
}

// isGameLine reports whether b shows by itself that a log is one of the engine's or the
// game's: a line that they print for everybody.
func isGameLine(b []byte) bool {
	return gameLines.begin(b) || isSignOfLife(b) || isCrashStart(b) && !isCrashMark(b) || crash.IsCause(text(b))
}

var gameLines = linesOf(func(l *unity.Lines) []string { return l.Shows })
