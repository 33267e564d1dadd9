package compare_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report/compare"
)

// TestPeople holds that a fault of another colonist is known, though each log has one text of it, and that other words
// with a capital still make a fault of their own.
func TestPeople(t *testing.T) {
	const boris = "meals for Boris"
	for name, test := range map[string]struct {
		known, found, rest string // rest is another line of the new log
		mod                string
		news               bool
	}{
		"another colonist":       {known: "Anna could not eat", found: "Boris could not eat", rest: boris},
		"named in the known log": {known: "Error: meals of Anna are gone", found: "Error: meals of Boris are gone"},
		"the owner of a thing":   {known: "Anna's needs are broken", found: "Boris's needs are broken"},
		"two names":              {known: "Anna Li is very stuck", found: "Boris is very stuck", rest: boris},
		"another sentence":       {known: "Anna could not eat", found: "Boris could not move", rest: boris, news: true},
		"a word of the language": {known: "Started at the same time", found: "Failed at the same time", news: true},
		"also written small": {
			known: "Valve is not there", found: "Pump is not there", rest: "the Pump is a pump", news: true,
		},
		"the name of a mod": {
			known: "Weaver did not load", found: "Harmony did not load", rest: "the Harmony", mod: "Harmony", news: true,
		},
		"part of a type": {known: "Anna.Tick is not there", found: "Boris.Tick is not there", rest: boris, news: true},
		"too few words":  {known: "Error: Anna failed", found: "Error: Boris failed", rest: boris, news: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := written(t, "2026-01-01", nil, append(session(9), "!"+test.known)).Baseline
			c := compare.Collect(compare.Config{})
			feed(c, compare.New, "new.log", append(session(9), "!"+test.found, "the "+test.rest))
			mod := capture.ListedMod{}
			mod.Name = test.mod
			c.Mods(compare.New, []capture.ListedMod{mod})
			require.Equal(t, test.news, len(c.Check(b, on("2026-01-02")).Added) > 0)
		})
	}
}
