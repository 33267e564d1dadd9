package journal

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
)

func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		choose := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "choice") }
		p := newPair(quiet{TB: t, rt: rt}, someConfig(choose))
		p.check()
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			p.step(choose)
		}
		p.checkPages(someFilter(choose))
	})
}

// TestAgainstModelSeeds draws evenly, where rapid prefers small numbers, and so
// gets further into long histories.
func TestAgainstModelSeeds(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			choose := rand.New(rand.NewPCG(seed, 0)).IntN
			p := newPair(t, someConfig(choose))
			for range 60 {
				p.step(choose)
			}
			p.checkPages(someFilter(choose))
		})
	}
}

// quiet reports failures to rapid, which shrinks them, and all else to the
// test.
type quiet struct {
	testing.TB
	rt *rapid.T
}

func (q quiet) Errorf(format string, args ...any) { q.rt.Errorf(format, args...) }
func (q quiet) FailNow()                          { q.rt.FailNow() }
func (q quiet) Helper()                           {}

func FuzzJournal(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("append, append, append: the tail runs over"))
	f.Add([]byte{3, 4, 1, 1, 0, 2, 3, 3, 2, 7, 3, 0, 3, 1, 1, 1, 3, 2, 2, 2, 6, 0, 2, 4, 3, 1, 1, 1, 8, 0, 5, 1, 9, 0, 3})
	f.Add([]byte{
		7, 7, 7, 3, 2, 7, 3, 5, 7, 3, 0, 1, 0, 0, 0, 0, 8, 5, 1, 1, 1, 6, 2, 4, 4, 4, 3, 3, 3, 9, 9, 9, 1, 2, 3,
		4, 5, 6,
	})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 512 {
			t.Skip("long scripts find nothing that short ones do not")
		}
		choose := func(n int) int {
			if len(script) == 0 {
				return 0
			}
			v := int(script[0]) % n
			script = script[1:]
			return v
		}
		p := newPair(t, someConfig(choose))
		for len(script) > 0 {
			p.step(choose)
		}
		p.checkPages(Filter{MinDisposition: event.Advisory})
	})
}
