package session_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

// BenchmarkLog is what the shell adds to an entry.
func BenchmarkLog(b *testing.B) {
	s := start(b, session.Config{})
	l := event.Log{Message: "Fine and known"}
	b.ReportAllocs()
	for b.Loop() {
		s.Observe(l.Entry())
	}
}

// BenchmarkSink is from a line to the sink that is told of an item, with the item's
// acknowledgement; with snapshots, what is told is on disk.
func BenchmarkSink(b *testing.B) {
	for name, file := range map[string]string{"memory": "", "disk": "state"} {
		b.Run(name, func(b *testing.B) {
			if file != "" {
				file = filepath.Join(b.TempDir(), file)
			}
			s := start(b, session.Config{Snapshot: file})
			told := make(chan string, 16)
			s.OnUpdates(func(us []heed.Update) {
				for i := range us {
					if us[i].Kind == "opened" {
						told <- us[i].Item.ID
					}
				}
			})
			for b.Loop() {
				id := s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "m"})
				if got := <-told; got != id {
					b.Fatal(got, id)
				}
				b.StopTimer()
				s.Clear(id)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkClose is from a line to a call that is refused because of it.
func BenchmarkClose(b *testing.B) {
	for name, file := range map[string]string{"memory": "", "disk": "state"} {
		b.Run(name, func(b *testing.B) {
			if file != "" {
				file = filepath.Join(b.TempDir(), file)
			}
			s := start(b, session.Config{Snapshot: file})
			g, err := s.Gate(gate.Config{})
			require.NoError(b, err)
			call := gate.Call{ID: "1", Tool: "colony/build", Consumer: "agent"}
			for b.Loop() {
				s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "m"})
				d := g.Check(b.Context(), call)
				if d.Allowed {
					b.Fatal("open")
				}
				b.StopTimer()
				s.Clear(d.Attention.ID)
				b.StartTimer()
			}
		})
	}
}
