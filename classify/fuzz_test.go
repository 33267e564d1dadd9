package classify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// FuzzClassify: any entry is decided, the second time as the first, and with
// the signature of its text. The enumerations may hold what they should not.
func FuzzClassify(f *testing.F) {
	set := testkit.Must(rules.Compile(append([]rules.File{{Name: "f", Data: []byte(`
version: 1
rules:
  - {id: each, when: 'message contains "a" and (stack contains "b" or split(message, " ")[2] == "c")', disposition: advisory}
  - {id: tag, when: 'operation != ""', continue: true, tags: [named]}
`)}}, rules.Defaults()...)...))
	n := testkit.Must(signature.New(set.Masking()))
	f.Add("Could not load reference to Foo12", "", "Unity", "", byte(0), byte(4), byte(0), false)
	f.Add("a b c", "  at A.B () [0x0] in <0>:0\nb", "", "op", byte(0), byte(0), byte(0), false)
	f.Add("play", "", "", "", byte(2), byte(0), byte(event.StatusPhase), false)
	f.Add("Reached max messages limit. Stopping logging to avoid spam.", "", "", "", byte(0), byte(0), byte(0), true)
	f.Add("\xff\x00\u2028", "\n\n", "s\x1b", "", byte(9), byte(99), byte(200), true)
	f.Add("", "", "game/save", "1", byte(1), byte(0), byte(event.StatusCancelled), true)
	f.Fuzz(func(t *testing.T, message, stack, source, operation string, kind, level, status byte, byCaller bool) {
		c := testkit.Must(classify.New(classify.Config{
			Rules: set, Normalizer: n, Signatures: 2, Decisions: 2, Sources: 1, TemplateBytes: 1000,
		}))
		e := event.Entry{
			Kind: event.Kind(kind), Level: event.Level(level), Status: event.Status(status), ByCaller: byCaller,
			Source: source, Message: message, Stack: stack, OperationID: operation,
		}
		var last classify.Result
		for i := range 4 {
			r := c.Decide(&e)
			require.Equal(t, signature.Of(rules.AppendTemplate(nil, n, &e)), r.Signature)
			require.NotEmpty(t, r.Decision.Rule)
			require.Equal(t, c.Phase(), r.PhaseAfter)
			if i == 3 { // from the third time on, the phase is what this entry makes it
				require.Equal(t, last.Decision.Rule, r.Decision.Rule)
				require.Len(t, r.Decision.Tags, len(last.Decision.Tags))
			}
			last = r
		}
		s := c.Stats()
		require.Equal(t, []uint64{4, 4, 4}, []uint64{
			s.Entries, s.Hits + s.Misses + s.Collisions, s.DecisionHits + s.DecisionMisses + s.Uncached,
		})
	})
}
