package classify_test

import (
	"testing"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// FuzzClassify: any entry is decided, the second time as the first, and with
// the signature of its text. The enumerations may hold what they should not.
func FuzzClassify(f *testing.F) {
	set, err := rules.Compile(append([]rules.File{{Name: "f", Data: []byte(`
version: 1
rules:
  - {id: each, when: 'message contains "a" and (stack contains "b" or split(message, " ")[2] == "c")', disposition: advisory}
  - {id: tag, when: 'operation != ""', continue: true, tags: [named]}
`)}}, rules.Defaults()...)...)
	if err != nil {
		f.Fatal(err)
	}
	n, err := signature.New(set.Masking())
	if err != nil {
		f.Fatal(err)
	}
	f.Add("Could not load reference to Foo12", "", "Unity", "", byte(0), byte(4), byte(0), false)
	f.Add("a b c", "  at A.B () [0x0] in <0>:0\nb", "", "op", byte(0), byte(0), byte(0), false)
	f.Add("play", "", "", "", byte(2), byte(0), byte(event.StatusPhase), false)
	f.Add("Reached max messages limit. Stopping logging to avoid spam.", "", "", "", byte(0), byte(0), byte(0), true)
	f.Add("\xff\x00\u2028", "\n\n", "s\x1b", "", byte(9), byte(99), byte(200), true)
	f.Add("", "", "game/save", "1", byte(1), byte(0), byte(event.StatusCancelled), true)
	f.Fuzz(func(t *testing.T, message, stack, source, operation string, kind, level, status byte, byCaller bool) {
		c, err := classify.New(classify.Config{
			Rules: set, Normalizer: n, Signatures: 2, Decisions: 2, Sources: 1,
			TemplateBytes: 1000,
		})
		if err != nil {
			t.Fatal(err)
		}
		e := event.Entry{
			Kind: event.Kind(kind), Level: event.Level(level), Status: event.Status(status), ByCaller: byCaller,
			Source: source, Message: message, Stack: stack, OperationID: operation,
		}
		var last classify.Result
		for i := range 4 {
			r := c.Decide(&e)
			if r.Signature != n.Signature(message, stack) {
				t.Fatalf("signature %v", r.Signature)
			}
			if r.Decision.Rule == "" || r.PhaseAfter != c.Phase() {
				t.Fatalf("%+v", r)
			}
			// From the third time on, the phase is what this entry makes it.
			if i == 3 && (r.Decision.Rule != last.Decision.Rule || len(r.Decision.Tags) != len(last.Decision.Tags)) {
				t.Fatalf("%+v after %+v", r, last)
			}
			last = r
		}
		if s := c.Stats(); s.Entries != 4 || s.Hits+s.Misses+s.Collisions != 4 ||
			s.DecisionHits+s.DecisionMisses+s.Uncached != 4 {
			t.Fatalf("%+v", s)
		}
	})
}
