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
