package capture

import "github.com/heedlog/heed/capture/internal/unity"

// The beginning of a log may be no evidence: a storm of one message is longer than the part that is
// looked at, and in a log without its first lines it may be all there is. So plain text
// is read as a log of Unity's from the line on that shows that it is one.
// Nothing waits for such a line, and delivered records stay as they are.
//
// In a log of another program's, levels would no longer be read from its lines,
// so nothing that a message of it quotes must count: only lines at the margin that the
// engine or the game alone writes.

// showsUnity reports whether ln, the first line of a record, can only be one of Unity's.
func showsUnity(ln *line) bool {
	_, ok := versionLayout(ln.text)
	return ok || ln.is(gameLine) || hasPrefix(ln.text, unity.BannerPath)
}
