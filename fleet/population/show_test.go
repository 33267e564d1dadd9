package population

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestHostilePage holds that what logs and paths hold is text on the page.
func TestHostilePage(t *testing.T) {
	const evil = `<script>alert(1)</script>"'` + "\u202e"
	r := Sum(crowd(5, func(_ int, log *Log) {
		log.Game, log.Version, log.Mods[0].Name = evil, evil, evil
		g := fault(1)
		g.Template, g.Sample, g.Blame, g.Rule = evil, evil, []string{evil}, evil
		log.Groups, log.State = []LoggedGroup{g}, evil
	}), []Failure{{Path: evil, Error: evil}}, 5)
	require.NotEmpty(t, r.Groups[0].First, "k players have the version")
	page := string(r.HTML())
	require.NotContains(t, page, "<script")
	require.GreaterOrEqual(t, strings.Count(page, "&lt;script"), 8)
	require.Contains(t, page, "default-src &#39;none&#39;")
}

func TestVersions(t *testing.T) {
	require.Equal(t, []int{-1, -1, -1}, []int{
		compareVersions("Press 1.9", "Press 1.10"), compareVersions("v1.9", "1.10"), compareVersions("1", "a"),
	})
	require.Equal(t, 1, compareVersions("v1.10", "1.9"))
	require.Equal(t, Neither, PartOf("Press", "1.0"))
	for _, c := range []struct {
		game, split string
		want        int
	}{
		{"Press 1.5.9 rev3", "v1.6", Before},
		{"Press 1.6.0", "v1.6", After},
		{"Press 1.6", "v1.6", After},
		{"Press 1.6", "1.6.1", Before},
		{"Euro Truck 2 v1.49", "1.49", After},
		{"Euro Truck 2 v1.48", "1.49", Before},
		{"Press 1.6.4566 rev607", "1.6.4566", After},
		{"Press 1.6.4566 rev607", "1.6.4566 rev607", After},
		{"Press 1.5", "Press 1.6", Before},
		{"Press v1.6", "Press v1.6", After},
		{"Mill 1.5", "Press 1.6", Neither},
		{"Press 1.9", "1.09", After},
	} {
		require.Equal(t, c.want, PartOf(c.game, c.split), c)
	}
}

// TestSchema holds schema.json to the types; HEED_UPDATE=1 writes it.
func TestSchema(t *testing.T) {
	text := testkit.Must(schema.For(reflect.TypeFor[Report](), false))
	var indented any
	require.NoError(t, json.Unmarshal(text, &indented))
	text = testkit.Must(json.MarshalIndent(indented, "", " "))
	text = append(text, '\n')
	if os.Getenv("HEED_UPDATE") != "" {
		require.NoError(t, os.WriteFile("schema.json", text, 0o644))
	}
	want := testkit.Must(os.ReadFile("schema.json"))
	require.Equal(t, string(want), string(text))
}

// TestAnchors holds that each link of the page leads to a group that it shows.
func TestAnchors(t *testing.T) {
	r := Sum(crowd(80, func(i int, log *Log) {
		log.Game, log.Part = []string{"Press", "Mill"}[i/40], 1+i%2
		for id := range signature.ID(150) {
			if i%2 == 0 || id >= 40 {
				log.Groups = append(log.Groups, fault(id+1))
			}
		}
	}), nil, 1)
	page := string(r.HTML())
	ids, links := map[string]bool{}, 0
	for _, m := range regexp.MustCompile(`id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.False(t, ids[m[1]])
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.True(t, ids[m[1]], m[1])
		links++
	}
	require.Len(t, ids, pageGroups)
	require.Positive(t, links)
	require.Contains(t, page, "<td><code>fault 0000000000000001</code></td><td>Mill</td>")
}

// TestPathsAreUnknown holds that a log has nothing of its path and its player's name that is found without the salt.
func TestPathsAreUnknown(t *testing.T) {
	const path, player = "/players/maria/Player.log", "maria"
	logs := map[string]bool{}
	for _, salt := range []string{"a", "b"} {
		l := NewLog(Pseudonym([]byte(salt), path), Pseudonym([]byte(salt), player), Neither, &summary.Session{}, nil)
		data := testkit.Must(json.Marshal(l))
		require.NotContains(t, string(data), player)
		require.NotContains(t, string(data), fmt.Sprint(xxhash.Sum64String(path)))
		logs[string(data)] = true
	}
	require.Len(t, logs, 2)
}

// TestHeadline holds that the first sentence says how many players crashed, and why.
func TestHeadline(t *testing.T) {
	for want, reasons := range map[string][]string{
		"0 of 10 players crashed.":                                                       {},
		"1 of 10 players crashed, out of memory.":                                        {"out_of_memory"},
		"2 of 10 players crashed, all out of memory.":                                    {"out_of_memory", "out_of_memory"},
		"2 of 10 players crashed, all for an unknown reason.":                            {"", ""},
		"3 of 10 players crashed: 2 out of memory, 1 for an unknown reason.":             {"out_of_memory", "", "out_of_memory"},
		"3 of 10 players crashed: 1 for an unknown reason, 1 graphics, 1 native module.": {"graphics", "native_module", ""},
	} {
		r := Sum(crowd(10, func(i int, log *Log) {
			if log.Crashed = i < len(reasons); log.Crashed {
				log.Reason = reasons[i]
			}
		}), nil, 5)
		require.Equal(t, want, r.Headline)
		require.Contains(t, string(r.HTML()), "<h1>"+want+"</h1>")
	}
}

// TestBreaksPlayFirst holds that the page lists what breaks play first, whatever more players have.
func TestBreaksPlayFirst(t *testing.T) {
	r := Sum(crowd(10, func(i int, log *Log) {
		rare, common := fault(1), fault(2)
		rare.Breaks = i < 3
		if i < 6 {
			log.Groups = append(log.Groups, rare)
		}
		log.Groups = append(log.Groups, common)
	}), nil, 5)
	require.Equal(t, "fault 0000000000000002", r.Groups[0].Template)
	page := string(r.HTML())
	breaks, other := strings.Index(page, "<h2>Breaks play</h2>"), strings.Index(page, "<h2>Other problems</h2>")
	at := func(text string) int { return strings.Index(page, text) }
	require.Less(t, breaks, at("fault 0000000000000001"))
	require.Less(t, at("fault 0000000000000001"), other)
	require.Less(t, other, at("fault 0000000000000002"))
	require.Contains(t, page, "for 3 of the 6 who have it, ")
}

// TestOneIsNoPlural holds that the page counts one thing as one.
func TestOneIsNoPlural(t *testing.T) {
	one := Sum(crowd(1, func(_ int, log *Log) { log.Groups = append(log.Groups, fault(1)) }), nil, 1)
	one.OtherGames, one.OtherVersions, one.OtherMods, one.OtherLogs, one.OtherClusters = 1, 1, 1, 1, 1
	one.Copies, one.LeftOut, one.MoreGroups, one.MoreEntries, one.K = 1, 1, 1, 1, 5
	require.Empty(t, regexp.MustCompile(`\b1 (further )?\w+[^s]s\b`).FindAllString(string(one.HTML()), -1))
}

// TestBreaks holds that a group breaks play by its rule or its number, in a log whose game did not go on.
func TestBreaks(t *testing.T) {
	set := testkit.Must(rules.Compile(rules.File{Name: "x.yaml", Data: []byte(`version: 1
rules:
  - {id: x.crash, when: 'true', disposition: blocking, tags: [crash]}
`)}))
	group := func(rule string, n uint64) summary.Group {
		return summary.Group{Rule: rule, Count: n, Disposition: event.Blocking, Signature: signature.ID(n)}
	}
	for want, s := range map[string]summary.Session{
		"[true false true false]": {State: "crashed"}, "[false false false false]": {State: "wrong"},
	} {
		s.Groups = []summary.Group{
			group("x.crash", 1), group("default.exception.error", 2), group("default.exception.error", 10),
			group("default.log.error", 11),
		}
		var got []bool
		for _, g := range NewLog(1, 1, Neither, &s, set).Groups {
			got = append(got, g.Breaks)
		}
		require.Equal(t, want, fmt.Sprint(got))
	}
}

// TestNothingToCompare holds that a comparison without players on one side is none.
func TestNothingToCompare(t *testing.T) {
	r := Sum(crowd(10, func(_ int, log *Log) { log.Part, log.Groups = After, []LoggedGroup{fault(1)} }), nil, 5)
	require.Empty(t, r.Compared.Changes)
	require.Contains(t, string(r.HTML()), "Nothing to compare")
}
