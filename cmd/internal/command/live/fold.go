package live

import (
	"fmt"
	"time"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// fold shows entries for a person, and those in a row that say the same only once: on a terminal the latest of them
// with a count, which changes in place; elsewhere the first, and then a line with how many followed.
type fold struct {
	p       *program
	columns int // of --width, 0: the terminal's
	inPlace bool
	epoch   string // of the entries

	row    sameness     // of the entries in the last line; none if that line has no entries
	latest bridge.Entry // of them
	count  uint64       // how many they are, on a terminal
	unsaid uint64       // how many of them are not shown yet, elsewhere
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

// unsaidFor bounds how long repeats that go on are not shown, elsewhere than on a terminal.
const unsaidFor = 10 * time.Second

func (p *program) newFold(columns int) *fold {
	width, rows := cli.Size(p.Stdout)
	// A line that is wider than the terminal has several rows there.
	return &fold{p: p, columns: columns, inPlace: rows > 0 && columns <= width && p.Getenv("TERM") != "dumb"}
}

// show shows the entries of a page.
func (f *fold) show(page *bridge.Page) error {
	f.epoch = page.Epoch
	g := f.p.page(f.columns)
	for entries := page.Entries; len(entries) > 0; {
		row, n := samenessOf(&entries[0]), 1
		for n < len(entries) && samenessOf(&entries[n]) == row {
			n++
		}
		switch again := row == f.row; {
		case again && !f.inPlace:
			f.unsaid += uint64(n)
		case f.inPlace:
			if again {
				g.buf = append(g.buf, "\x1b[A\x1b[2K"...) // to the line before, and empty it
			} else {
				f.count = 0
			}
			f.count += uint64(n)
			g.entry(&entries[n-1], f.epoch, f.count)
		default:
			f.rest(g)
			g.entry(&entries[0], f.epoch, 1)
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
		g.entry(&f.latest, f.epoch, 1)
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

// entry adds an entry of an epoch, the latest of so many that say the same.
func (g *page) entry(e *bridge.Entry, epoch string, count uint64) {
	what, message := "", e.Message
	switch {
	case e.Kind != event.KindLog:
		if item := session.ShortID(message, epoch); item != message {
			message = "item " + item
		}
		what, message = e.Status.String(), joined(e.Source, message)
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
	times := ""
	if count > 1 {
		times = text.Number(count) + " × "
	}
	g.line(span{faint, place(e)}, span{s, fmt.Sprintf("%-8s", e.Disposition)}, span{plain, fmt.Sprintf("  %-10s ", what)},
		span{strong, times}, span{as, message})
}

// joined returns text after the name that it is about: the tool of an operation.
func joined(name, text string) string {
	if name == "" || text == "" {
		return name + text
	}
	return name + ": " + text
}
