package capture

import (
	"github.com/heedlog/heed/capture/internal/crash"
	"github.com/heedlog/heed/capture/internal/unity"
)

// The beginning of a log may be no evidence: a storm of one message is longer than the part that is
// looked at, and in a log without its first lines it may be all there is. So plain text
// is read as a log of Unity's from the line on that shows that it is one.
// Nothing waits for such a line, and delivered records stay as they are.
//
// In a log of another program's, levels would no longer be read from its lines,
// so nothing that a message of it quotes must count: only lines at the margin that the
// engine or the game alone writes.

// turnAt takes the layout for Unity's if b, the first line of a record, can only be one of Unity's.
func (r *Reader) turnAt(b []byte) {
	if _, ok := versionLayout(b); r.opt.Layout == LayoutAuto && (ok || hasPrefix(b, bannerPath) || isGameLine(b)) {
		r.layout = layoutUnity2022_3 // a banner or a footer decides later
	}
}

// isGameLine reports whether b shows by itself that a log is one of the engine's or the
// game's: a line that they print in every log.
func isGameLine(b []byte) bool {
	return gameLines.begin(b) || isSignOfLife(b) || isCrashStart(b) && !isCrashMark(b) || crash.IsCause(text(b))
}

var gameLines = linesOf(func(l *unity.Lines) []string { return l.Shows })
