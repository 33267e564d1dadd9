package report

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/event"
)

// TextOptions shapes the text form of a report.
type TextOptions struct {
	// Width is the number of columns to fill, at least [MinWidth]; 0 to cut and wrap
	// nothing.
	Width int
	// Top bounds the rows of each section of the table of signatures, 0 for
	// all that are held.
	Top int

	// Color marks what matters with colors, for a terminal.
	Color bool

	// Rows is the height of the screen that the text goes to, 0 for none: what is
	// longer repeats at its end what matters, which has scrolled out of sight.
	Rows int
}

// What the text form shows before it says how many more there are: the first
// screen has to answer by itself.
const (
	textCauses  = 4  // causes told in full
	textWith    = 3  // rules that came with a cause
	textAlso    = 12 // causes told in a line each
	textUpdates = 20 // rows of the timeline's beginning, and again of its end
)

// labelIndent is the column at which text beside a label begins.
const labelIndent = 12

// AppendText appends the report as text: what deserved attention, the timeline
// of updates, the table of signatures, the accounting.
func (r *Replay) AppendText(dst []byte, o TextOptions) []byte {
	t := textReport{Replay: r, options: o.wideEnough(), out: dst}
	v := r.Verdict()
	t.headline(v)
	if r.end.Lines > 0 {
		t.attention()
		t.updates()
		t.signatures()
		t.accounting()
		t.again(v, len(dst))
	}
	return t.out
}

// MinWidth is the width of the narrowest text, in columns: in fewer nobody reads.
const MinWidth = 20

// wideEnough returns o with a width in which text can be read.
func (o TextOptions) wideEnough() TextOptions {
	if o.Width > 0 {
		o.Width = max(o.Width, MinWidth)
	}
	return o
}

// heading appends the line that begins a part of a text.
func (o *TextOptions) heading(dst []byte, in style, format string, args ...any) []byte {
	if !o.Color {
		in = plain
	}
	dst = append(dst, '\n')
	dst = appendStyled(dst, fit(fmt.Sprintf(format, args...), o.Width), in)
	return append(dst, '\n')
}

// textReport is the state of one rendering.
type textReport struct {
	*Replay
	options TextOptions
	out     []byte
}

func (t *textReport) printf(format string, args ...any) { t.out = fmt.Appendf(t.out, format, args...) }

// styled appends text in a style, where colors are wanted.
func (t *textReport) styled(s string, in style) {
	if !t.options.Color {
		in = plain
	}
	t.out = appendStyled(t.out, s, in)
}

// wrapped appends text, wrapped and indented below itself, in a style.
func (t *textReport) wrapped(s string, indent int, in style) {
	if !t.options.Color || in == plain {
		t.out = appendWrapped(t.out, s, t.options.Width, indent)
		return
	}
	t.out = appendPainted(t.out, appendWrapped(nil, s, t.options.Width, indent), in)
}

// labeled prints text beside a label, wrapped and indented below itself.
func (t *textReport) labeled(label, s string) { t.labeledIn(label, s, plain) }

func (t *textReport) labeledIn(label, s string, in style) { t.wrapped(s, t.label(label), in) }

// label prints a label and returns the column at which the text for it begins.
// Where there is little room that is the next line.
func (t *textReport) label(label string) (indent int) {
	t.printf("  ")
	if t.options.Width == 0 || t.options.Width >= 3*labelIndent {
		t.styled(fmt.Sprintf("%-*s", labelIndent-2, label), faint)
		return labelIndent
	}
	if label != "" {
		t.styled(label, faint)
		t.printf("\n  ")
	}
	t.printf("  ")
	return 4
}

// sentence prints one sentence, indented and wrapped.
func (t *textReport) sentence(in style, format string, args ...any) {
	t.printf("  ")
	t.wrapped(fmt.Sprintf(format, args...), 2, in)
}

// section begins a part of the report.
func (t *textReport) section(in style, format string, args ...any) {
	t.out = t.options.heading(t.out, in, format, args...)
}

func (t *textReport) headline(v *Verdict) {
	file := safe(t.config.File)
	empty := t.end.Lines == 0 && t.unread == "" && !t.end.Interrupted
	about := ": empty, not a single line"
	if !empty {
		about = fmt.Sprintf(": %s, %s, %s", t.end.Layout, count(uint64(t.end.Lines), "line"), count(t.records, "record"))
	}
	if w := t.options.Width; w > 0 {
		file = fitEnd(file, max(w-cells.StringWidth(about), min(w/2, cells.StringWidth(file))))
		about = fit(about, w-cells.StringWidth(file))
	}
	t.styled(file, strong)
	t.printf("%s\n", about)
	if empty {
		return
	}
	if made := t.environment.line(); made != "" {
		t.printf("  ")
		t.styled(fit(made, max(t.options.Width-2, 0)), faint)
		t.printf("\n")
	}
	t.sentence(stateStyles[v.State], "%s", v.lead())
	t.glance(v)
}

// accounting shows that nothing went missing unnoticed.
func (t *textReport) accounting() {
	s := &t.end.Stats
	t.section(strong, "ACCOUNTING")
	kinds := []string{count(s.Logs, "log record")}
	for _, k := range []struct {
		n    uint64
		name string
	}{{s.Operations, "operation event"}, {s.States, "state event"}, {s.Notices, "notice"}} {
		if k.n > 0 {
			kinds = append(kinds, count(k.n, k.name))
		}
	}
	t.labeled("received", fmt.Sprintf("%s: %s", entries(s.Received), strings.Join(kinds, ", ")))
	t.labeled("decided", fmt.Sprintf("%d ignored, %d folded into items: %d advisory, %d blocking",
		s.Ignored, s.Folded, s.Coalesce.ByDisposition[event.Advisory], s.Coalesce.ByDisposition[event.Blocking]))
	t.labeled("items", fmt.Sprintf("%d opened, %d open, %d cleared, %d of them acknowledged; %s",
		s.Coalesce.Opened, s.Coalesce.Open, s.Coalesce.Cleared, s.Coalesce.Acknowledged, count(t.timeline.total, "update")))
	if err := s.Check(); err != nil {
		t.labeledIn("WRONG", "these counts do not add up, which is a bug of heed: "+err.Error(), alarm)
	}
}
