package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestUntil: a rule holds up to its day and no longer; an override gives way to the rule that it changed.
func TestUntil(t *testing.T) {
	own := `version: 1
rules:
  - {id: own.noise, when: 'message contains "noise"', disposition: ignore, until: 2026-11-28}
  - {id: base.fault, override: true, disposition: advisory, until: "2026-11-28"}
  - {id: own.other, when: 'message contains "other"', disposition: advisory, resolves: [own.noise]}
`
	base := `version: 1
rules:
  - {id: base.fault, when: 'message contains "fault"', disposition: blocking}
`
	decided := func(set *Set, message string) string {
		o := set.NewEvaluator().Evaluate(&Input{Kind: event.KindLog, Template: message, Message: message})
		return o.Decision.Rule + " " + o.Decision.Disposition.String()
	}
	hashes := map[uint64]bool{}
	for _, c := range []struct {
		today, noise, fault string
		ended               []string
	}{
		{"", "own.noise ignore", "base.fault advisory", nil},
		{"2026-11-28", "own.noise ignore", "base.fault advisory", nil},
		{"2026-11-29", "default.log.unknown ignore", "base.fault blocking", []string{
			"own.yaml:3: rule own.noise ended on 2026-11-28 and is not used: remove it, or give it another day",
			"own.yaml:4: rule base.fault ended on 2026-11-28 and is not used: remove it, or give it another day",
		}},
	} {
		set, err := Compile(File{Name: "own.yaml", Data: []byte(own), Today: c.today},
			File{Name: "base.yaml", Data: []byte(base)})
		require.NoError(t, err)
		hashes[set.Hash()] = true
		require.Equal(t, c.ended, set.Ended())
		for _, family := range []string{"", "rimworld"} {
			set := testkit.Must(set.For(family))
			require.Equal(t, c.noise, decided(set, "noise"), c.today)
			require.Equal(t, c.fault, decided(set, "fault"), c.today)
		}
	}
	require.Len(t, hashes, 2)
	_, err := Compile(File{Name: "own.yaml", Data: []byte("version: 1\nrules:\n  - {id: a.b, when: 'true', disposition: ignore, until: soon}\n")})
	require.ErrorContains(t, err, "must be a day")
	_, err = Compile(File{Name: "own.yaml", Data: []byte(own), Today: "28.11.2026"})
	require.EqualError(t, err, `rules: own.yaml: File.Today: "28.11.2026" is no day (write it as 2026-01-31)`)
}
