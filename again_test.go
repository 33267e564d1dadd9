package heed

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestPart holds that a record that comes again as a whole is the record that was observed, unless
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
