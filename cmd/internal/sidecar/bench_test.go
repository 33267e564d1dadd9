package sidecar

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/heedlog/heed/event"
)

// storm writes n lines as frames: a tenth are exceptions with a stack, a fifth warnings, a tenth texts of words that never
// come again, in calls; the rest says what the game does.
func storm(w io.Writer, n int) error {
	word := func(n int) (b []byte) {
		for n = n * 2654435761 & 0xffffffff; n > 0; n /= 26 {
			b = append(b, byte('a'+n%26))
		}
		return b
	}
	buf := sent(nil, typeHello, &hello{Phase: "play"})
	start := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
	for i := range n {
		l := line{number: uint64(i + 1), thread: 1, time: start.Add(time.Duration(i) * time.Microsecond)}
		switch i % 10 {
		case 0:
			l.level = event.LevelError
			l.message = fmt.Appendf(nil, "Exception ticking Widget%d (at (%d, 0, %d)): System.NullReferenceException: no widget", i,
				i%250, i%200)
			l.stack = []byte("  at Farm.Barn.Tick () [0x00001] in <0123456789abcdef0123456789abcdef>:0\n" +
				"  at Verse.TickManager.DoSingleTick ()")
		case 1, 2:
			l.level = event.LevelWarning
			l.message = fmt.Appendf(nil, "Could not find widget %d of kind %x in cache", i, i*7919)
		case 3:
			l.level = event.LevelError
			l.message = fmt.Appendf(nil, "%s %s exploded at %s", word(i*31+7), word(i*17+3), word(i/10))
			l.operation = fmt.Appendf(nil, "op-%d", i/1000)
		default:
			l.level = event.LevelInfo
			l.message = fmt.Appendf(nil, "Pawn %d started job Haul on thing %d, of which there are %d, with a text of 120 characters",
				i, i*3, i%9)
		}
		if buf = sent(buf, typeLog, &l); len(buf) > 64<<10 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	_, err := w.Write(buf)
	return err
}

// BenchmarkServe is what a line costs from its frame to its decision.
func BenchmarkServe(b *testing.B) {
	in, w := io.Pipe()
	go func() { _ = w.CloseWithError(storm(w, b.N)) }()
	b.ReportAllocs()
	if err := Serve(in, io.Discard, Config{Epoch: "e"}); err != nil {
		b.Fatal(err)
	}
}
