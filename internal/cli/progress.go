package cli

import (
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"

	"github.com/heedlog/heed/internal/text"
)

// A bar that comes and goes at once is only a flicker: it is shown for what takes
// longer than progressDelay, and redrawn each progressEvery.
const (
	progressDelay = time.Second
	progressEvery = 150 * time.Millisecond
)

// Progress shows on a terminal how far the reading of an input has come. A nil one
// shows nothing.
type Progress struct {
	screen *Screen
	read   func() int64
	stop   chan struct{}
	done   chan struct{}
}

// Screen keeps a progress bar and what else is written to the same terminal
// apart.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	drawn bool // a bar stands in the last line
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

// draw puts a line in place of the one that stands there. The bar is an
// ornament: where it cannot be drawn nothing is lost. s.mu is held.
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
	p := &Progress{screen: s, read: read, stop: make(chan struct{}), done: make(chan struct{})}
	bar := pb.New64(max(size, 0)).Set(pb.Static, true).Set(pb.Bytes, true).Set("name",
		text.Safe(filepath.Base(name), maxBarName))
	bar.SetTemplateString(barTemplate)
	if size <= 0 {
		bar.SetTemplateString(countTemplate)
	}
	bar.Start()
	go p.run(bar)
	return p
}

// What a bar shows: with the size known, and without.
const (
	barTemplate   = `{{string . "name"}}  {{counters . }} {{bar . "[" "=" ">" " " "]"}} {{percent . "%3.0f%%"}}  {{string . "rate"}}  {{string . "left"}}`
	countTemplate = `{{string . "name"}}  {{counters . }} read  {{string . "rate"}}`

	maxBarName = 24 // characters

	usualColumns = 80 // of a terminal
)

func (p *Progress) run(bar *pb.ProgressBar) {
	defer close(p.done)
	s := p.screen
	next := time.NewTimer(progressDelay) //nolint:forbidigo // a bar on a screen goes by the time of who looks at it
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
			bar.SetWidth(max(columns-1, 1)) // the last column makes some terminals begin a line
			p.rate(bar)
			line = bar.String()
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

// rate sets what a bar shows by what has been read since it was started. It is the average,
// which is right for a file from the first look on: the bar's own rate follows what has
// become of it in half a minute.
func (p *Progress) rate(bar *pb.ProgressBar) {
	n := p.read()
	bar.SetCurrent(n).Set("rate", "…/s").Set("left", "")
	perSecond := float64(n) / time.Since(bar.StartTime()).Seconds() //nolint:forbidigo // as above
	if perSecond < 1 {
		return
	}
	bar.Set("rate", bar.Format(int64(perSecond))+"/s")
	if rest := bar.Total() - n; rest > 0 {
		left := time.Duration(float64(rest) / perSecond * float64(time.Second))
		bar.Set("left", max(left.Round(time.Second), time.Second).String()+" left")
	}
}

// End takes the bar away. Call it once.
func (p *Progress) End() {
	if p == nil {
		return
	}
	close(p.stop)
	<-p.done
}
