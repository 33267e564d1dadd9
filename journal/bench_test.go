package journal

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{85, 1024} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			j := newJournal(b, Config{}, 0)
			e := event.Entry{Message: strings.Repeat("m", size)}
			d := event.Decision{Rule: "default.log.unknown"}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				e.Seq++
				j.Append(&e, signature.Signature{ID: 1, Check: 2}, d)
			}
			b.StopTimer()
			if r, ok := j.get(e.Seq); !ok || r.Message != e.Message || r.Rule != d.Rule {
				b.Fatalf("the last entry reads %+v", r)
			}
			if s := j.Stats(); s.Held+s.Lost != e.Seq {
				b.Fatalf("%+v", s)
			}
		})
	}
}

func TestWritingDoesNotAllocate(t *testing.T) {
	j := newJournal(t, Config{Entries: 64, Bytes: 40_000}, 0)
	entries := []event.Entry{
		{Message: strings.Repeat("m", 85)},
		{Message: strings.Repeat("m", 900), Stack: strings.Repeat("s", 3000), Source: "ui", OperationID: "op"},
		{Message: strings.Repeat("벽", 16<<10)},
		{},
	}
	d := event.Decision{Rule: "default.log.error", Disposition: event.Blocking, Tags: []string{"a", "b"}}
	n := 0
	one := func(also func(seq uint64)) func() {
		return func() {
			e := entries[n%len(entries)]
			n++
			e.Seq = j.Latest() + 1
			j.Append(&e, signature.Signature{ID: 1}, d)
			also(e.Seq)
		}
	}
	for _, c := range []struct {
		name string
		also func(seq uint64)
	}{
		{"Append", func(uint64) {}},
		{"Since", func(uint64) { _, _, _ = j.Since(Cursor{}) }},
		{"Stats", func(uint64) { _ = j.Stats() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Zero(t, testing.AllocsPerRun(1000, one(c.also)))
			require.NoError(t, j.valid())
		})
	}
}

func TestReadAllocatesThePage(t *testing.T) {
	j := newJournal(t, Config{}, 1000)
	const scan = 3 // the Scan, and its room for headers and for text
	page := func(after uint64, f Filter) func() {
		return func() { j.Read(Cursor{Seq: after}, 50, f) }
	}
	require.Equal(t, float64(scan), testing.AllocsPerRun(100, page(0, Filter{MinDisposition: event.Blocking})))
	require.Equal(t, float64(scan+1+20), testing.AllocsPerRun(100, page(j.Latest()-20, Filter{})),
		"the records, and a string for each")
	require.Equal(t, float64(scan+2+1+50), testing.AllocsPerRun(100, page(100, Filter{})), "and more room")
}

func TestHeaderSize(t *testing.T) {
	require.Equal(t, uintptr(72), unsafe.Sizeof(header{}), "the package documentation says so")
}
