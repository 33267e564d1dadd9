package capture

import (
	"bytes"
	"fmt"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
)

// Layout is the way in which a log is laid out.
type Layout uint8

// Layouts.
const (
	LayoutAuto Layout = iota // recognize it

	// LayoutPlain is text of no known program: a record per line, to which
	// indented lines, stack frames and exceptions below it belong.
	LayoutPlain
	// LayoutJSON is JSON lines; see doc.go for the fields.
	LayoutJSON
	// layoutUnity2019_2 is Unity 2019.2 and before (RimWorld 1.1, 1.2):
	// warnings and errors end with a line of one space and a footer.
	layoutUnity2019_2
	// layoutUnity2019_4 is Unity 2019.4 (RimWorld 1.3 to 1.5): warnings and
	// errors end with a space and, on the next line, a footer.
	layoutUnity2019_4
	// layoutUnity2022_3 is Unity 2022.3 (RimWorld 1.6): no footers.
	layoutUnity2022_3
	// layoutConsole is a copy of the game's console: text, frames in Unity's
	// form, a blank line.
	layoutConsole
	// layoutHugsLib is an upload by HugsLib: a header, then a log in one of the
	// Unity layouts or as a console copy. Only the header's record carries it.
	layoutHugsLib
	// layoutCrash is the report of a crash, as a file of its own; see crashreport.go.
	layoutCrash

	layoutCount
)

var layoutNames = [layoutCount]string{
	"auto", "plain", "json", "unity-2019.2", "unity-2019.4", "unity-2022.3", "console", "hugslib", "crash-report",
}

// String returns the lower-case name of l.
func (l Layout) String() string {
	if l < layoutCount {
		return layoutNames[l]
	}
	return fmt.Sprintf("layout(%d)", uint8(l))
}

// unity reports whether l is a layout of Unity's or the game's.
func (l Layout) unity() bool { return l >= layoutUnity2019_2 && l <= layoutConsole }

// detection is the evidence in the beginning of an input.
type detection struct {
	layout Layout // of the log itself, below a header
	header bool   // the input opens with a HugsLib header

	footers int // of managed code

	// pure reports that the log is a copy of the console and nothing of a player's
	// log: every record ends with frames, so that lines before them belong
	// together.
	pure bool
}

// detect recognizes the layout from window, the beginning of the input.
func detect(window []byte) detection {
	if isCrashReport(window) {
		return detection{layout: layoutCrash}
	}
	var d detection
	var json, frames, footers, gaps, mono, game int
	banner, begun, lines := false, false, 0
	var prev []byte
	bare, loose := false, 0 // a footer with no space above it; such with no blank line below
	for len(window) > 0 {
		raw := window
		if i := bytes.IndexByte(window, '\n'); i >= 0 {
			raw, window = window[:i], window[i+1:]
		} else {
			window = nil
		}
		b := bytes.TrimRight(raw, "\r")
		if blank(b) {
			prev = b
			continue
		}
		lines++
		if bare && !blank(prev) {
			loose++
		}
		bare = false
		switch {
		case lines == 1:
			d.header = isContextStart(b)
			begun = hasPrefix(b, rimworld.UploadStart)
		case lines == 2 && begun:
			d.header = opensContext(b)
		}
		switch {
		case b[0] == ' ' && mono > 0: // a further frame says nothing new
		case b[0] == '{':
			json++
		case unity.IsFooter(text(b)):
			footers++
			bare = !blank(prev) && prev[len(prev)-1] != ' '
			if unity.IsManaged(text(b)) {
				d.footers++
			}
			if blank(prev) {
				gaps++
			}
		case hasPrefix(b, bannerPath), hasPrefix(b, bannerVersion):
			banner = true
			if l, ok := versionLayout(b); ok {
				d.layout = l
			}
		case hasPrefix(b, unity.ConsoleMark):
			frames++
		case isGameLine(b):
			game++
		case bytes.Contains(b, []byte("] in <")) && isFrame(b):
			mono++
		default:
			if _, _, ok := rimworld.Ref(text(b)); ok {
				game++
			} else if _, ok := consoleLevel(b); ok {
				frames++
			}
		}
		prev = b
	}
	if footers == 1 && loose == 1 && lines > quietStart { // quoted
		footers, d.footers = 0, 0
	}
	switch {
	case json > 0 && 2*json >= lines:
		return detection{layout: LayoutJSON}
	case frames > 0:
		d.layout, d.pure = layoutConsole, !banner && footers == 0
	case d.layout != LayoutAuto:
	case footers > 0 && 2*gaps > footers:
		d.layout = layoutUnity2019_2
	case footers > 0:
		d.layout = layoutUnity2019_4
	case banner || d.header || mono > 0 || game > 0:
		d.layout = layoutUnity2022_3
	default:
		d.layout = LayoutPlain
	}
	return d
}
