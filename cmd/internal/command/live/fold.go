package live

import (
	"fmt"
	"time"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// fold shows entries for a person, and the first of those in a row that say the same; a line with how many followed
// comes after it.
type fold struct {
	p       *program
	columns int    // of --width, 0: the terminal's
	epoch   string // of the entries

	row    sameness     // of the entries in the last line; none if that line has no entries
	latest bridge.Entry // of them
	unsaid uint64       // how many of them are not shown yet
	said   time.Time    // when something was shown
}

// sameness is equal for entries with the same message and decision. No entry has the zero value.
type sameness [10]any

func samenessOf(e *bridge.Entry) sameness {
	message := e.Message
	if e.Kind == event.KindLog && e.Signature != 0 {
		message = ""
	}
	return sameness{
		e.Kind, e.Level, e.Status, e.Disposition, e.Severity, e.Invalidates, e.Rule, e.Source, e.Signature, message,
	}
}

// unsaidFor bounds how long repeats that go on are not shown.
const unsaidFor = 10 * time.Second

// show shows the entries of a page.
func (f *fold) show(page *bridge.Page) error {
	f.epoch = page.Epoch
	g := f.p.page(f.columns)
	for entries := page.Entries; len(entries) > 0; {
		row, n := samenessOf(&entries[0]), 1
		for n < len(entries) && samenessOf(&entries[n]) == row {
			n++
		}
		if row == f.row {
			f.unsaid += uint64(n)
		} else {
			f.rest(g)
			g.entry(&entries[0], f.epoch)
			f.unsaid, f.said = uint64(n-1), f.p.Now()
		}
		f.row, f.latest = row, entries[n-1]
		entries = entries[n:]
	}
	if page.TimedOut || f.p.Now().Sub(f.said) >= unsaidFor {
		f.rest(g)
	}
	return f.p.write(g)
}

// end shows the waiting entries; the next entry begins a line.
func (f *fold) end() error {
	g := f.p.page(f.columns)
	f.rest(g)
	f.row = sameness{}
	return f.p.write(g)
}

// rest adds the number of entries that followed the line before, or the entry if it is one.
func (f *fold) rest(g *page) {
	switch f.unsaid {
	case 0:
		return
	case 1:
		g.entry(&f.latest, f.epoch)
	default:
		g.line(span{faint, place(&f.latest)}, span{plain, fmt.Sprintf("… repeated %s times", text.Number(f.unsaid))})
	}
	f.unsaid, f.said = 0, f.p.Now()
}

// place is where and when an entry was.
func place(e *bridge.Entry) string {
	at := "        "
	if !e.Time.IsZero() {
		at = e.Time.Local().Format(time.TimeOnly)
	}
	return fmt.Sprintf("%8d  %s  ", e.Seq, at)
}

// entry adds an entry of an epoch.
func (g *page) entry(e *bridge.Entry, epoch string) {
	what, message := "", e.Message
	switch {
	case e.Kind != event.KindLog:
		if item := session.ShortID(message, epoch); item != message {
			message = "item " + item
		}
		if e.Source != "" && message != "" { // the tool of an operation
			message = ": " + message
		}
		what, message = e.Status.String(), e.Source+message
	case e.Level != event.LevelUnknown:
		what = e.Level.String()
	}
	s, as := faint, faint
	switch e.Disposition {
	case event.Blocking:
		s, as = red, strong
	case event.Advisory:
		s, as = yellow, plain
	}
	g.line(span{faint, place(e)}, span{s, fmt.Sprintf("%-8s", e.Disposition)}, span{plain, fmt.Sprintf("  %-10s ", what)},
		span{as, message})
}
