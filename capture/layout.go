package capture

import (
	"bytes"
	"fmt"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/internal/logline"
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

// evidence counts the lines of a window by what they show.
type evidence struct {
	detection
	json, heads, frames, anyFooters, gaps, mono, game, lines int

	banner, begun bool
	reportHead    bool   // a line that begins the report of a crash
	notReport     bool   // it is none
	prev          []byte // the line above
	bare          bool   // that was a footer with no space above it
	loose         int    // how many such had no blank line below
}

// detect recognizes the layout from window, the beginning of the input.
func detect(window []byte) detection {
	var e evidence
	for raw := range bytes.SplitSeq(window, []byte("\n")) {
		b := bytes.TrimRight(raw, "\r")
		if !blank(b) {
			e.observe(b)
			if e.isReport(b) {
				return detection{layout: layoutCrash}
			}
		}
		e.prev = b
	}
	if e.anyFooters == 1 && e.loose == 1 && e.lines > quietStart { // quoted
		e.anyFooters, e.footers = 0, 0
	}
	switch {
	case e.json > 0 && 2*e.json >= e.lines:
		return detection{layout: LayoutJSON}
	case e.frames > 0 && 2*e.heads > e.lines: // a loader wrote its own log, with traces of the engine
		return detection{layout: LayoutPlain}
	case e.frames > 0:
		e.layout, e.pure = layoutConsole, !e.banner && e.anyFooters == 0
	case e.layout != LayoutAuto:
	case e.anyFooters > 0 && 2*e.gaps > e.anyFooters:
		e.layout = layoutUnity2019_2
	case e.anyFooters > 0:
		e.layout = layoutUnity2019_4
	case e.banner || e.header || e.mono > 0 || e.game > 0:
		e.layout = layoutUnity2022_3
	default:
		e.layout = LayoutPlain
	}
	return e.detection
}

// observe counts b, a line that is not blank.
func (e *evidence) observe(b []byte) {
	e.lines++
	if e.bare && !blank(e.prev) {
		e.loose++
	}
	e.bare = false
	if e.lines == 1 {
		e.header, e.begun = isContextStart(b), hasPrefix(b, rimworld.UploadStart)
	} else if e.lines == 2 && e.begun {
		e.header = opensContext(b)
	}
	ln := line{text: b}
	switch {
	case b[0] == ' ' && e.mono > 0: // a further frame says nothing new
	case b[0] == '{':
		e.json++
	case b[0] == '[' && logline.Parse(text(b)).Sure:
		e.heads++
	case ln.is(ofFooter):
		e.anyFooters++
		if unity.IsManaged(text(b)) {
			e.footers++
		}
		if blank(e.prev) {
			e.gaps++
		} else {
			e.bare = e.prev[len(e.prev)-1] != ' '
		}
	case hasPrefix(b, unity.BannerPath), hasPrefix(b, unity.BannerVersion):
		e.banner = true
		if l, ok := versionLayout(b); ok {
			e.layout = l
		}
	case hasPrefix(b, unity.ConsoleMark):
		e.frames++
	case ln.is(gameLine | ofRef):
		e.game++
	case bytes.Contains(b, []byte("] in <")) && ln.is(ofFrame):
		e.mono++
	default:
		if _, ok := consoleLevel(b); ok {
			e.frames++
		}
	}
}
