package heed

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// FuzzAgain drives two engines alike, of which one takes what comes again the way
// of all others: nothing that a host sees differs, nor what they journal.
func FuzzAgain(f *testing.F) {
	for stream := range uint64(20) {
		rng := rand.New(rand.NewPCG(stream, 5))
		calls := make([]byte, 200+rng.IntN(1000))
		for i := range calls {
			calls[i] = byte(rng.Uint32())
		}
		f.Add(calls)
	}
	cfg := snapshotConfig(mustRules(f, testRules))
	f.Fuzz(func(t *testing.T, calls []byte) {
		if len(calls) > 2000 {
			t.Skip("long scripts find nothing that short ones do not")
		}
		m := &caller{intn: func(n int) int {
			if len(calls) == 0 {
				return 0
			}
			b := calls[0]
			calls = calls[1:]
			return int(b) % n
		}}
		if m.intn(2) == 0 {
			m.now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		quick, thorough := mustNew(t, cfg), mustNew(t, cfg)
		took := func(do call) {
			thorough.plain = 0
			require.Equal(t, do(thorough), do(quick))
		}
		for len(calls) > 0 {
			took(m.next())
			l := event.Log{
				Level: event.Level(m.intn(2) * 4), Source: m.one("", "x"), OperationID: m.one("", "", "", "a"),
				Message: fmt.Sprintf(m.one("Broken thing %d", "Loaded %d", "Odd Thing_%d in the place of that", "text %d"), m.intn(3)),
			}
			for range m.intn(4) * m.intn(10) {
				l.Time, l.Pos = m.now, l.Pos+1
				if m.intn(10) == 0 {
					l.OperationID = m.one("", "a")
				}
				took(func(e *Engine) any { return e.Observe(l.Entry()) })
				if !m.now.IsZero() {
					m.now = m.now.Add(time.Duration(m.intn(300)-20) * time.Millisecond)
				}
				if m.intn(20) == 0 {
					took(m.next())
				}
			}
		}
		require.Equal(t, thorough.Read(Cursor{}, 100, Filter{}), quick.Read(Cursor{}, 100, Filter{}))
		require.Equal(t, thorough.Stats(), quick.Stats())
		require.Equal(t, thorough.Open(nil), quick.Open(nil))
		require.Equal(t, thorough.Snapshot(nil), quick.Snapshot(nil))
	})
}

// TestPart holds what becomes of a record that comes again as a whole: it is the record that was observed, unless
// another rule decides about it, or another record was observed meanwhile.
func TestPart(t *testing.T) {
	const late = "version: 1\nrules:\n  - {id: late, when: 'source == \"continuation\"', disposition: ignore}\n"
	log := func(pos uint64, part event.Part, message string) event.Entry {
		e := event.Log{Level: event.LevelError, Message: message, Pos: pos}.Entry()
		e.Part = part
		return e
	}
	begun, again := log(7, event.Whole, "Broken th"), log(7, event.Again, "Broken thing")
	for name, c := range map[string]struct {
		before []event.Entry
		again  event.Entry
		kept   event.Part // with a rule that ignores rests
		plain  bool       // ingested without such a rule
	}{
		"the same": {[]event.Entry{begun}, again, event.Rest, false},
		"twice": {
			[]event.Entry{log(7, event.Whole, "Broken"), log(7, event.Again, "Broken th")}, again, event.Rest, false,
		},
		"another place":    {[]event.Entry{begun}, log(8, event.Again, "Broken thing"), event.Again, true},
		"another rule":     {[]event.Entry{log(7, event.Whole, "Odd th")}, again, event.Again, true},
		"another between":  {[]event.Entry{begun, log(8, event.Whole, "Broken")}, again, event.Again, true},
		"one of no log":    {[]event.Entry{begun, log(0, event.Whole, "Broken")}, again, event.Rest, false},
		"without a before": {nil, again, event.Again, true},
	} {
		for _, rules := range []string{testRules, strings.Replace(testRules, "\nversion: 1\nrules:\n", late, 1)} {
			e := mustNew(t, Config{Rules: mustRules(t, rules)})
			for _, entry := range c.before {
				e.Observe(entry)
			}
			received := e.Stats().Received
			o := e.Observe(c.again)
			if rules == testRules && !c.plain {
				require.Zero(t, o, name)
				require.Equal(t, received, e.Stats().Received, name)
				continue
			}
			require.Equal(t, received+1, o.Seq, name)
			if rules != testRules {
				require.Equal(t, c.kept, o.Part, name)
				require.Equal(t, c.kept == event.Rest, o.Decision.Rule == "late", name)
			}
		}
	}
}
