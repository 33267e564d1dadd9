package heedsource

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/rules"
)

// shown returns fragments as text.
func shown(fragments []briefing.Fragment) string {
	var b strings.Builder
	for _, f := range fragments {
		fmt.Fprintf(&b, "[%s %s] %s\n", f.Source, f.SourceID, f.Title)
		for _, l := range f.Lines {
			if l.Data {
				b.WriteString("> ")
			}
			b.WriteString(l.Text + "\n")
		}
	}
	return b.String()
}

// known returns the sources of a small game.
func known(t *testing.T) briefing.Config {
	t.Helper()
	set, err := rules.Compile(testRules)
	require.NoError(t, err)
	return Sources(Config{
		Engine: played(t), Rules: func() *rules.Set { return set },
		Mods: func() []capture.ListedMod {
			return []capture.ListedMod{
				{Mod: heed.Mod{Name: "Printing Press", PackageID: "acme.press", WorkshopID: "123"}, Versions: "[mv:1.2.0]"},
				{Mod: heed.Mod{PackageID: "acme.loom"}},
			}
		},
	})
}

func TestRegistries(t *testing.T) {
	sources := known(t)
	by := func(filter, value string) map[string]string { return map[string]string{filter: value} }
	for name, c := range map[string]struct {
		query briefing.RegistryQuery
		want  string
	}{
		"mods": {
			briefing.RegistryQuery{Registry: registryMods},
			`[registry mods/acme.press] mod "Printing Press", package acme.press, workshop 123, number 1 of 2 in load order
> [mv:1.2.0]
[registry mods/acme.loom] mod acme.loom, number 2 of 2 in load order
`,
		},
		"a mod by its package": {
			briefing.RegistryQuery{Registry: registryMods, Filters: by("mod", "Acme.Loom")},
			"[registry mods/acme.loom] mod acme.loom, number 2 of 2 in load order\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := sources.Registries[c.query.Registry].Rows(t.Context(), &briefing.Input{}, &c.query)
			require.NoError(t, err)
			require.Equal(t, c.want, shown(found.Fragments))
		})
	}
	typo := &briefing.RegistryQuery{Filters: by("nam", "x")}
	_, err := sources.Registries[registryMods].Rows(t.Context(), &briefing.Input{}, typo)
	require.ErrorContains(t, err, "there is no filter nam: use mod")
}
