package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// inEnvironment returns a replay in which a mod broke something, of a log that was
// made there.
func inEnvironment(t *testing.T, c Config, e Environment) *Replay {
	t.Helper()
	c.Blame = func(*event.Entry) []heed.Suspect { return []heed.Suspect{{Mod: "Some Mod", Score: 60}} }
	c.Details = true
	r := newReplay(t, c)
	r.Observe(&capture.Record{Entry: event.Entry{Message: "broken"}, StartLine: 1, EndLine: 1},
		outcome(1, event.Blocking, "some.rule"))
	u := opened("0-1", event.Blocking, 1)
	u.Item.Blame = []string{"Some Mod"}
	single(&u.Item)
	r.Update(u)
	r.End(End{Layout: "plain", Lines: 1, Environment: e})
	return r
}

func TestEnvironmentInEachForm(t *testing.T) {
	e := Environment{
		Facts: capture.Facts{
			Game: "Some Game 1.2.3", Engine: "Some Engine 4", Platform: "Windows", Graphics: "A `card`", CPU: "A processor",
			Arguments: `-save C:\Users\maria\saves`,
		},
		Mods: []capture.ListedMod{
			listed("", "core.one", ""), listed("Some Mod (dev)", "author.thing", ""),
			listed("some-mod", "author.other", "1.2"),
		},
	}
	r := inEnvironment(t, Config{File: "a.log", Scrub: &Scrubber{}}, e)
	require.Contains(t, string(Text(nil, r.Document(0), TextOptions{})),
		"\n  Some Game 1.2.3, 3 mods, Some Engine 4, Windows build, A `card`\n")
	require.Contains(t, string(Text(nil, r.Document(0), TextOptions{Width: 30})), "\n  Some Game 1.2.3, 3 mods, So…\n")
	markdown := string(Markdown(nil, r.Document(0)))
	require.Contains(t, markdown,
		"\n- environment: `Some Game 1.2.3`, 3 mods, `Some Engine 4`, `Windows build`, `A ˋcardˋ`\n")
	require.Contains(t, markdown,
		"<details><summary>3 mods, in load order</summary>\n\n```text\n1 core.one\n2 Some Mod (dev) (author.thing)\n3 "+
			"some-mod (author.other) 1.2\n```\n")
	require.NotContains(t, markdown, "processor")

	var doc struct {
		Summary struct{ Environment map[string]any }
	}
	require.NoError(t, json.Unmarshal(AppendSummary(nil, r.Document(0)), &doc))
	require.Equal(t, "Some Game 1.2.3", doc.Summary.Environment["game"])
	require.Equal(t, `-save C:\Users\<user>\saves`, doc.Summary.Environment["arguments"])
	require.Len(t, doc.Summary.Environment["mods"], 3)
	require.NotContains(t, doc.Summary.Environment, "language")

	says := readable(requireValidPage(t, page(t, r)))
	require.Contains(t, says, "Environment : Some Game 1.2.3 · 3 mods · Some Engine 4 · Windows build · A `card`")
	require.Contains(t, says, "Processor A processor")
	require.Contains(t, says, "3 mods , in load order; listed first: 1 named by the verdict")
	require.Contains(t, says,
		"3 some-mod named by: problem author.other 1.2 1 core.one 2 Some Mod (dev) author.thing")
	require.NotContains(t, says, "maria")
	require.Equal(t, `-save C:\Users\maria\saves`, e.Arguments, "what is given is not changed")
}

// listed returns a mod of a list.
func listed(name, id, versions string) capture.ListedMod {
	return capture.ListedMod{Mod: capture.Mod{Name: name, PackageID: id}, Versions: versions}
}

func TestNoEnvironment(t *testing.T) {
	r := inEnvironment(t, Config{File: "a.log"}, Environment{})
	require.NotContains(t, string(Markdown(nil, r.Document(0))), "environment")
	require.NotContains(t, string(AppendSummary(nil, r.Document(0))), "environment")
	require.NotContains(t, readable(requireValidPage(t, page(t, r))), "Environment")
	r = inEnvironment(t, Config{File: "a.log"}, Environment{MoreMods: 2})
	require.Contains(t, string(Markdown(nil, r.Document(0))), "- environment: 2 mods\n")
	requireValidPage(t, page(t, r))
	r = inEnvironment(t, Config{File: "a.log"}, Environment{Facts: capture.Facts{Game: "Some Game 1.2.3"}})
	require.Contains(t, readable(requireValidPage(t, page(t, r))), "The log lists no mods.")
}

func TestNamedMods(t *testing.T) {
	e := &Environment{Mods: []capture.ListedMod{
		listed("", "a.core", ""),
		listed("", "b.core", ""),
		listed("", "c.riverboats", ""),
		listed("Stone Gardens", "d.x", ""),
		listed("Stone Gardens", "e.x", ""),
	}}
	named := func(v verdict) (places []int) {
		s := &section{Document: &Document{Summary: Summary{Environment: e, Verdict: &v}}}
		s.mods(9, 0)
		for _, m := range s.Mods {
			if m.Named != "" {
				require.Equal(t, "named elsewhere", m.Named)
				places = append(places, m.Place-1)
			}
		}
		return places
	}
	for name, want := range map[string][]int{
		"core": nil, "b.core": {1}, "C.Riverboats": {2}, "stone-gardens": {3, 4}, "e.x": {4}, "x": nil, "": nil, "gardens": nil,
	} {
		require.Equal(t, want, named(verdict{Mods: []verdictMod{{Name: name}}}), name)
	}
	// The engine knows the mod by the last part of its package id.
	require.Equal(t, []int{2}, named(verdict{Mods: []verdictMod{{Name: "River Boats", PackageID: "c.riverboats"}}}))
}

func TestManyMods(t *testing.T) {
	for _, text := range []string{"plain", strings.Repeat("<\u202e&", 100)} {
		var e Environment
		for i := range 4096 {
			e.Mods = append(e.Mods, listed(fmt.Sprint("Mod ", i, text), fmt.Sprint("author.", i, text), text))
		}
		e.Mods[4000].Name = "Some Mod"
		e.MoreMods = 5
		r := inEnvironment(t, Config{File: "a.log"}, e)
		out := HTML(nil, r.Document(0))
		require.LessOrEqual(t, len(out), maxPage)
		says := readable(requireValidPage(t, string(out)))
		require.Contains(t, says, "4101 mods , in load order; listed first: 1 named by the verdict")
		require.Contains(t, says, "4001 Some Mod named by: problem")
		require.Contains(t, says, "3,101 more are not listed here.")
		markdown := string(Markdown(nil, r.Document(0)))
		require.Contains(t, markdown, "- environment: 4101 mods\n")
		require.NotContains(t, markdown, "in load order")

		e.MoreMods, e.Mods = 0, e.Mods[:1000]
		markdown = string(Markdown(nil, inEnvironment(t, Config{File: "a.log"}, e).Document(0)))
		require.Less(t, utf8.RuneCountInString(markdown), 65_536)
		require.Equal(t, text == "plain", strings.Contains(markdown, "1000 mods, in load order"))
		require.Equal(t, 0, strings.Count(markdown, "```")%2)
	}
}

// TestFamilies holds groups to what people found to be one family of entries in real captures. Precision is the share
// of pairs of entries in one group that are of one family, recall the share of pairs of one family that are in one
// group.
func TestFamilies(t *testing.T) {
	dir := testkit.Dir(t, "rimworld")
	n := testkit.Must(signature.New(testkit.Must(rules.Compile(rules.Defaults()...)).Masking()))
	g := testkit.Must(signature.NewGrouper(signature.GrouperConfig{}))
	type entry struct {
		family string
		group  signature.Signature
	}
	labels := testkit.Must(os.Open(filepath.Join(dir, "labels.csv")))
	rows := testkit.Must(csv.NewReader(labels).ReadAll())
	require.NoError(t, labels.Close())
	starts := map[string]map[int]string{} // the families of records, by file and line
	for _, row := range rows[1:] {
		if starts[row[0]] == nil {
			starts[row[0]] = map[int]string{}
		}
		starts[row[0]][testkit.Must(strconv.Atoi(row[1]))] = row[4]
	}
	var entries []entry
	for file, starts := range starts {
		f := testkit.Must(os.Open(filepath.Join(dir, file)))
		r := testkit.Must(capture.NewReader(f, capture.Options{}))
		for {
			var rec capture.Record
			if err := r.Next(&rec); errors.Is(err, io.EOF) {
				break
			}
			template := n.AppendTemplate(nil, rec.Message, rec.Stack)
			s := signature.Of(template)
			g.Learn(s, template)
			if family, ok := starts[rec.StartLine]; ok {
				entries = append(entries, entry{family, s})
			}
		}
		require.NoError(t, f.Close())
	}
	both, groups, families := map[any]int{}, map[any]int{}, map[any]int{}
	for _, e := range entries {
		e.group = g.Group(e.group)
		both[e]++
		groups[e.group]++
		families[e.family]++
	}
	pairs := func(counts map[any]int) (all float64) {
		for _, n := range counts {
			all += float64(n * (n - 1) / 2)
		}
		return all
	}
	precision, recall := pairs(both)/pairs(groups), pairs(both)/pairs(families)
	t.Logf("%d entries of %d families: precision %.4f, recall %.4f", len(entries), len(families), precision, recall)
	require.InDelta(t, 1, precision, 0.0005)
	require.Greater(t, recall, 0.80)
}

// TestModsByName: of a list that is too long with ids, Markdown has the names.
func TestModsByName(t *testing.T) {
	var e Environment
	for i := range 800 {
		e.Mods = append(e.Mods, listed(fmt.Sprint("Mod ", i), "author."+strings.Repeat("x", 90), ""))
	}
	markdown := string(Markdown(nil, inEnvironment(t, Config{File: "a.log"}, e).Document(0)))
	require.Contains(t, markdown, "\n800 Mod 799\n")
}
