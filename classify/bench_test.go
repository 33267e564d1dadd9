package classify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

// texts is how many texts take turns where each should cost its key: far more than
// are known by their bytes.
const texts = 1 << 14

// BenchmarkKnown is the hot path: a text of 85 bytes whose numbers change.
func BenchmarkKnown(b *testing.B) {
	set, err := rules.Compile(rules.Defaults()...)
	if err != nil {
		b.Fatal(err)
	}
	c, err := classify.New(classify.Config{Rules: set})
	if err != nil {
		b.Fatal(err)
	}
	entries := make([]event.Entry, texts)
	for i := range entries {
		m := fmt.Sprintf("Human%05d could not reserve Thing_Bed%07d at (%03d, 0, %03d) for its job, giving up", i, i*7, i%1000, i%1000)
		entries[i] = event.Entry{Message: m, Level: event.LevelError, Source: "Unity"}
	}
	c.Decide(&entries[0])
	b.SetBytes(int64(len(entries[0].Message)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if r := c.Decide(&entries[i&(texts-1)]); !r.Cached {
			b.Fatalf("%+v", r)
		}
		i++
	}
	if s := c.Stats(); s.Signatures != 1 || s.Misses != 1 {
		b.Fatalf("%+v", s)
	}
}

// BenchmarkKnownAmong shows that the time for a known signature does not depend
// on how many are known. 64 of them, evenly spread among all, come in turn: so
// few that they stay in the processor's caches, which a visit to all would
// measure instead. Each line has another number.
func BenchmarkKnownAmong(b *testing.B) {
	set, err := rules.Compile(rules.Defaults()...)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1, 1 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("known=%d", n), func(b *testing.B) {
			c, err := classify.New(classify.Config{Rules: set, Signatures: n, Decisions: n})
			if err != nil {
				b.Fatal(err)
			}
			var names [64]string
			for i := range n {
				// Letters past f, since what may be hexadecimal takes other paths.
				name := strings.Map(func(r rune) rune { return r + r/'a'*('m'-'a') }, letters(i))
				c.Decide(&event.Entry{Message: "Job 31415 of " + name + "is lost", Level: event.LevelError, Source: "Unity"})
				names[i*len(names)/n] = name
			}
			messages := make([]string, texts)
			for i := range messages {
				name := names[i%len(names)]
				if name == "" {
					name = names[0]
				}
				messages[i] = fmt.Sprintf("Job %05d of %sis lost", i, name)
			}
			e := event.Entry{Level: event.LevelError, Source: "Unity"}
			if s := c.Stats(); s.Signatures != n || s.Misses != uint64(n) {
				b.Fatalf("%+v", s)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				e.Message = messages[i&(texts-1)]
				if r := c.Decide(&e); !r.Cached {
					b.Fatalf("%+v", r)
				}
				i++
			}
		})
	}
}

// BenchmarkNew is the slow path: every text is a new signature, for sets of
// which the last rule or none matches.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{10, 200, 1000, 10_000} {
		var text strings.Builder
		text.WriteString("version: 1\nrules:\n")
		for i := range n - 1 {
			fmt.Fprintf(&text, "  - {id: r%d, disposition: blocking, when: 'template contains \"lost part%d\" and phase != \"menu\"'}\n", i, i)
		}
		fmt.Fprintf(&text, "  - {id: last, disposition: advisory, when: 'template startsWith \"known\"'}\n")
		set, err := rules.Compile(rules.File{Name: "f", Data: []byte(text.String())})
		if err != nil {
			b.Fatal(err)
		}
		for _, bc := range []struct{ name, first, want string }{{"last", "known", "last"}, {
			"none", "other",
			"default.log.error",
		}} {
			b.Run(fmt.Sprintf("rules=%d/match=%s", n, bc.name), func(b *testing.B) {
				c, err := classify.New(classify.Config{Rules: set, Signatures: 1024, Decisions: 1024})
				if err != nil {
					b.Fatal(err)
				}
				texts := make([]string, 8192) // more than are remembered
				for i := range texts {
					texts[i] = bc.first + " " + letters(i)
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					e := event.Entry{Message: texts[i&8191], Level: event.LevelError, Source: "Unity"}
					if r := c.Decide(&e); r.Cached || r.Decision.Rule != bc.want {
						b.Fatalf("%+v", r)
					}
					i++
				}
			})
		}
	}
}
