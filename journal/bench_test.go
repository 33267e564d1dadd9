package journal

import (
	"fmt"
	"strings"
	"testing"

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

func BenchmarkKeepFirst(b *testing.B) {
	j := newJournal(b, Config{}, 0)
	e := event.Entry{Message: strings.Repeat("m", 85)}
	b.ReportAllocs()
	for b.Loop() {
		e.Seq++
		j.Append(&e, signature.Signature{}, event.Decision{})
		if !j.KeepFirst(e.Seq / defaultFirstsPerBurst) {
			b.Fatal("refused")
		}
		if e.Seq%defaultFirstsPerBurst == 0 {
			j.Release(e.Seq/defaultFirstsPerBurst - 1)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	j := newJournal(b, Config{}, 0)
	e := event.Entry{Message: strings.Repeat("m", 85)}
	for range 2 * defaultEntries {
		e.Seq++
		d := event.Decision{Rule: "default.log.unknown"}
		if e.Seq%1000 == 0 {
			d.Disposition = event.Blocking
		}
		j.Append(&e, signature.Signature{}, d)
	}
	for _, c := range []struct {
		name string
		f    Filter
		want int
	}{
		{"page", Filter{}, defaultLimit},
		{"urgent", Filter{MinDisposition: event.Advisory}, 4},
		{"contains", Filter{Contains: "absent"}, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p := j.Read(Cursor{Seq: defaultEntries}, 0, c.f); len(p.Records) != c.want {
					b.Fatalf("%d records", len(p.Records))
				}
			}
		})
	}
}

func BenchmarkSince(b *testing.B) {
	j := newJournal(b, Config{FirstsPerBurst: defaultFirsts}, 0)
	for range defaultFirsts {
		write(j, 50)
		j.KeepFirst(1)
	}
	b.ReportAllocs()
	for b.Loop() {
		held, lost, err := j.Since(Cursor{Seq: 25})
		if err != nil || held+lost != 50*defaultFirsts-25 || lost == 0 {
			b.Fatal(held, lost, err)
		}
	}
}
