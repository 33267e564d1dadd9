package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/width"
)

// A short bar is only a flicker: a bar is shown after progressDelay, and redrawn each progressEvery.
const (
	progressDelay = time.Second
	progressEvery = 150 * time.Millisecond
)

// Progress shows on a terminal how far the reading of an input has come. A nil one
// shows nothing.
type Progress struct {
	screen *Screen
	name   string
	size   int64 // not positive: not known
	read   func() int64
	began  time.Time
	stop   chan struct{}
	done   chan struct{}
}

// Screen separates a progress bar from other output to the same terminal.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	drawn bool // the last line is a bar
}

// NewScreen returns the screen of the terminal that w is, and nil where it is
// none, or too dumb to take a line back: there a bar would be noise.
func NewScreen(w io.Writer, getenv func(string) string) *Screen {
	f, ok := terminal(w)
	if !ok || getenv("TERM") == "dumb" || !enableEscapes(f) {
		return nil
	}
	return &Screen{w: w}
}

// Over returns a writer that takes the bar away while w, which writes to the
// same terminal, is written to. A writer to anything else is returned as it is.
func (s *Screen) Over(w io.Writer) io.Writer {
	if s == nil || !IsTerminal(w) {
		return w
	}
	return &over{s, w}
}

type over struct {
	screen *Screen
	w      io.Writer
}

func (o *over) Write(b []byte) (int, error) {
	o.screen.mu.Lock()
	defer o.screen.mu.Unlock()
	o.screen.draw("")
	return o.w.Write(b)
}

// draw replaces the bar with a line. An error is ignored, since the bar is an ornament. s.mu is held.
func (s *Screen) draw(line string) {
	if !s.drawn && line == "" {
		return
	}
	_, _ = io.WriteString(s.w, "\r\x1b[K"+line)
	s.drawn = line != ""
}

// Progress begins to show how much of an input has been read: of size bytes, or,
// where size is not positive, of an unknown number. read returns how many bytes have been
// read, and is called by another goroutine. Call [Progress.End] when the input is read.
func (s *Screen) Progress(name string, size int64, read func() int64) *Progress {
	if s == nil {
		return nil
	}
	p := &Progress{
		screen: s, name: text.Safe(filepath.Base(name), maxBarName), size: size, read: read,
		began: time.Now(),
		stop:  make(chan struct{}), done: make(chan struct{}),
	}
	go p.run()
	return p
}

const (
	maxBarName = 24 // characters

	minBar       = 3  // columns of a bar, with its ends
	usualColumns = 80 // of a terminal
)

func (p *Progress) run() {
	defer close(p.done)
	s := p.screen
	next := time.NewTimer(progressDelay)
	defer next.Stop()
	for {
		line := ""
		select {
		case <-p.stop:
		case <-next.C:
			columns, _ := Size(s.w)
			if columns == 0 { // not known
				columns = usualColumns
			}
			took := time.Since(p.began)
			line = p.line(p.read(), took, max(columns-1, 1)) // the last column makes some terminals begin a line
		}
		s.mu.Lock()
		s.draw(line)
		s.mu.Unlock()
		if line == "" {
			return
		}
		next.Reset(progressEvery)
	}
}

// line returns the bar after n bytes, in at most so many columns. The rate is the average.
func (p *Progress) line(n int64, took time.Duration, columns int) string {
	var cells width.Measure
	rate, left := "…/s", ""
	if perSecond := float64(n) / took.Seconds(); perSecond >= 1 {
		rate = Bytes(perSecond) + "/s"
		if rest := p.size - n; rest > 0 {
			seconds := time.Duration(float64(rest) / perSecond * float64(time.Second)).Round(time.Second)
			left = max(seconds, time.Second).String() + " left"
		}
	}
	if p.size <= 0 {
		return cells.Truncate(fmt.Sprintf("%s  %s read  %s", p.name, Bytes(float64(n)), rate), columns, "")
	}
	share := min(1, float64(n)/float64(p.size))
	head := fmt.Sprintf("%s  %s / %s ", p.name, Bytes(float64(n)), Bytes(float64(p.size)))
	tail := fmt.Sprintf(" %3.0f%%  %s  %s", 100*share, rate, left)
	inner := max(minBar, columns-cells.StringWidth(head+tail)) - 2
	done := strings.Repeat("=", int(share*float64(inner)))
	if len(done) < inner {
		done += ">"
	}
	return cells.Truncate(fmt.Sprintf("%s[%-*s]%s", head, inner, done, tail), columns, "")
}

// End takes the bar away. Call it once.
func (p *Progress) End() {
	if p == nil {
		return
	}
	close(p.stop)
	<-p.done
}
