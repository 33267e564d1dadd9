package signature

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/testkit"
)

func newGrouper(tb testing.TB, cfg GrouperConfig) *Grouper {
	tb.Helper()
	g, err := NewGrouper(cfg)
	require.NoError(tb, err)
	return g
}

// groupsOf learns texts in order and returns which of them are in one group:
// for each the index of the first text of its group.
func groupsOf(tb testing.TB, g *Grouper, texts []string) []int {
	tb.Helper()
	n := newDefault(tb)
	sigs := make([]Signature, len(texts))
	for i, text := range texts {
		message, stack, _ := strings.Cut(text, "\n")
		tpl := n.AppendTemplate(nil, message, stack)
		sigs[i] = Of(tpl)
		learn(g, sigs[i], tpl)
	}
	first := map[Signature]int{}
	out := make([]int, len(texts))
	for i, s := range sigs {
		s = g.Group(s)
		if _, ok := first[s]; !ok {
			first[s] = i
		}
		out[i] = first[s]
	}
	return out
}

// spread puts each word into a text with %s.
func spread(text string, words ...string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(text, "%s", w)
	}
	return out
}

func TestGrouperMerges(t *testing.T) {
	names := []string{"Tobin", "Ilsebet", "Радомир", "하윤", "Quillon", "Остап"}
	for name, tc := range map[string]struct {
		texts    []string
		groups   int
		variants int // groups, and variants of a group
	}{
		"names in front":   {spread("%s doing Duty_Guard with no plan.", names...), 1, 1},
		"names inside":     {spread("Could not reserve the bench for %s because it is taken", names...), 1, 1},
		"names at the end": {spread("No path was found for pawn %s", names...), 1, 1},
		"two are enough":   {spread("No path was found for pawn %s", names[:2]...), 1, 1},
		"few other words":  {spread("Lost %s today", names...), 1, 1},
		"three beside one": {spread("Lost %s", names[:3]...), 3, 3},
		"definitions":      {spread("Could not load reference to Acme.Def named %s here", "Bench_Large", "Bench_Small", "StoolOak", "lamp_wall"), 1, 1},
		"accounts":         {spread("no right password came for %s from the gate", "alice", "www", "root", "daemon"), 1, 4},
		"lower case":       {spread("the mill of the %s hills runs on", "red", "blue", "green", "teal", "pink", "gray"), 1, 6},
		"many of them": {spread("the mill of those %s hills runs dry", "red", "blue", "green", "teal", "pink", "gray",
			"black", "white", "brown", "olive", "beige", "coral"), 1, 1},
		"two of them are too few": {spread("the mill of those %s hills runs dry", "red", "blue"), 2, 2},
		"packages":                {spread("service %s could not be reached by anyone", "org.acme.press", "org.acme.lamp", "com.other.mill", "net.iron.Thing"), 1, 1},
		"two columns": {append(
			spread("Pawn %s is too far away from Lamp_Oak to light it", names...),
			spread("Pawn Tobin is too far away from %s to light it", "Lamp_Oak", "Lamp_Elm", "Lamp_Ash", "Lamp_Yew", "Lamp_Fir")...,
		), 1, 1},
		"two names at once": {[]string{
			"Pawn Tobin is too far from Lamp_Oak to light it", "Pawn Ilsebet is too far from Lamp_Elm to light it",
			"Pawn Quillon is too far from Lamp_Ash to light it", "Pawn Ostap is too far from Lamp_Yew to light it",
		}, 1, 1},
		"announced names":  {spread("Could not find a type named %s anywhere", "Acme.Press", "Acme.Lamp", "Works.MillError", "Works.Open"), 1, 2},
		"announced faults": {spread("an exception named %s came up in the night", "KeyError", "ValueError", "TypeError", "OSError"), 1, 4},
		"two words beside names": {append(
			spread("%s doing Duty_Guard with no plan.", names...), spread("%s doing Duty_Sleep with no plan.", names...)...,
		), 1, 1},
		"a masked word joins": {append(spread("No path was found for pawn %s", names...), "No path was found for pawn Human77"), 1, 1},

		"answers":             {spread("the door of the room is now %s again", "open", "closed", "locked", "unlocked", "shut"), 1, 5},
		"participles":         {spread("%s service press of the works", "Started", "Stopped", "Paused", "Resumed", "Reloaded"), 1, 5},
		"words of states":     {spread("%s the mods of the game again", "Loaded", "Lost", "Started", "Merged", "Failed"), 1, 5},
		"severities in front": {spread("[%s] the service press of the works", "Error", "Warning", "Info", "Debug", "Fatal"), 1, 5},
		"severities, colons":  {spread("%s: the service press of the works", "Error", "Warning", "Info", "Debug", "Fatal"), 1, 5},
		"two words":           {spread("you hit the %s at once", "jackal", "ifrit", "cave lion", "sand wraith", "dust mephit"), 5, 5},
		"records": {[]string{
			`{"level":30,"time":17,"pid":4,"host":"a","author":"x","msg":"draft saved"}`,
			`{"level":30,"time":17,"pid":4,"host":"a","job":"x","took":3,"msg":"job done"}`,
			`{"level":30,"time":17,"pid":4,"host":"a","to":"x","template":"y","msg":"mail queued"}`,
			`{"level":30,"time":17,"pid":4,"host":"a","file":"x","bytes":7,"msg":"upload stored"}`,
			`{"level":30,"time":17,"pid":4,"host":"a","index":"x","docs":7,"msg":"search index refreshed"}`,
			`{"level":30,"time":17,"pid":4,"host":"a","job":"x","left":7,"msg":"closing at once"}`,
			`{"level":30,"time":17,"pid":4,"host":"a","story":"x","by":"y","msg":"comment added"}`,
			`{"level":30,"time":17,"pid":4,"host":"a","user":"x","ip":"y","msg":"login went well"}`,
			`{"level":30,"time":17,"pid":4,"host":"a","user":"x","msg":"login went badly"}`,
		}, 9, 9},
		"fields":           {spread("the works pump seven %s=4 was seen there", "level", "weight", "depth", "width", "height"), 5, 5},
		"truth":            {spread("the flag for saving often is %s", "true", "false", "yes", "no", "none"), 1, 5},
		"switches":         {spread("the lamp at the gate was turned %s", "on", "off", "up", "down", "out"), 1, 5},
		"exceptions":       {spread("The press failed with %s in the night", "IOException", "NullReferenceException", "Acme.TimeoutException:", "KeyError", "DiskFault"), 1, 5},
		"methods":          {spread("A call of %s gave up too late", "Press.Tick", "Press.Stop", "Lamp.Tick()", "Lamp.Light()", "Floor::Sweep"), 1, 2},
		"constants":        {spread("the driver gave %s at the end of the day", "DXGI_ERROR_HUNG", "DXGI_STATUS_OCCLUDED", "DXGI_ERROR_RESET"), 1, 3},
		"states of a type": {spread("the lobby came to %s at the end of the day", "EMatch::Waiting", "EMatch::Aborted", "EMatch::Over"), 1, 3},
		"capitals":         {spread("the mill of the north is %s again", "STARTED", "STOPPED", "PAUSED", "RESUMED"), 1, 4},
		"faults, folded":   {spread("The press gave %s in the night", "ioexception", "keyerror", "KeyErrors", "DiskFaults"), 1, 3},
		"before a mask":    {spread("the worker of the press said %s once more", "failed(42)", "error:42", "closed#42", "opened(42)"), 3, 4},
		"verbs":            {spread("the press at the mill %s every night", "starts", "stops", "broke", "froze", "jams"), 1, 5},
		"codes":            {spread("the press could not open it: %s again", "ENOENT", "EACCES", "EPERM", "EBUSY", "EAGAIN"), 1, 5},
		"methods of http":  {spread("a call by %s gave up too late", "GET", "PUT", "POST", "HEAD", "PATCH", "TRACE", "OPTIONS"), 1, 7},
		"calls":            {spread("A call of %s gave up too late", "press.tick()", "press.stop()", "doStart()", "doStop()", "lamp.light(int)"), 1, 1},
		"small namespaces": {spread("A call of %s gave up too late", "works.press.Tick", "works.press.Stop", "works.press.Jam", "works.press.Oil"), 1, 1},
		"compounds":        {spread("the state of the mill is %s again", "state-open", "state-closed", "logged-in", "logged-out", "press.start"), 1, 5},
		"pointers":         {spread("A call of %s gave up too late", "press->tick", "press->stop", "press->jam", "press->oil"), 1, 4},
		"states elsewhere": {spread("Das Werk am Fluss ist jetzt %s", "offen", "zu", "kaputt", "bereit"), 1, 4},
		"severities":       {spread("%s while reading the plan of today", "Error", "Warning", "Critical", "Fatal", "Notice"), 1, 5},
		"other lengths":    {[]string{"No path was found for pawn Tobin", "No path was found for pawn Tobin today", "No path was found for", "No path was found for pawn"}, 1, 3},
		"parts": {[]string{
			"the lamp of the mill went out", "the lamp of the mill went out (after 3 days)",
			"the lamp of the mill went out, seen by Tobin 7", "the lamp of the mill went out for 5 hours",
			"the lamp of the mill went out near gate 7",
		}, 1, 5},
		"parts inside": {[]string{
			"the lamp of the mill went out", "the lamp (near gate 7) of the mill went out", "the lamp of the mill, seen by Tobin 7, went out",
		}, 1, 3},
		"words in place of a name": {spread("Could not read the level %s of the mill", "Old.Quarry", "deep well", "12"), 1, 3},
		"more words after a name":  {spread("the door of %s was opened by force", "Mill 7", "Mill 7 north", "mill.north"), 2, 2},
		"a line that goes on":      {spread("looking for the lamp of %s", "Mill 7", "Mill 7 - no lamp was found"), 2, 2},
		"an aside after a name":    {spread("looking for the lamp of %s", "Mill 7", "Mill 7, at night", "Mill 7 (by boat)"), 1, 3},
		"no aside":                 {spread("looking for the lamp of %s", "Mill 7", "Mill 7 at night"), 2, 2},
		"words past brackets":      {spread("the lamp of mill 7 was sold (%s", "coins: 7) by hand", "grain: 7) at once"), 2, 2},
		"capital after a colon":    {spread("Lamps: Cannot light lamp 7: %s", "no oil", "out of grain"), 1, 2},
		"tags in front":            {spread("[%s] lamp was lit", "north", "mill", "river", "gravel"), 1, 4},
		"first word after a tag":   {spread("[lamp.oak] %s is taking over now", "Setup of mill.north", "Update of mill.north"), 2, 2},
		"capitals with few words":  {spread("Building %s object", "C", "CXX", "ASM"), 1, 3},
		"reasons after a value":    {spread("Lamp 7 of the mill could not be lit (%s)", "no oil", "out of grain at last"), 1, 2},
		"keys before the end":      {spread("lamp=7 oil=7 took=7: %s", "lit", "broken"), 2, 2},
		"two words after three":    {spread("the mill is %s", "lit", "shut"), 2, 2},
		"two words after four":     {spread("the old mill is %s", "lit", "shut"), 1, 2},
		"a word between names":     {[]string{"the lamp of Tobin was taken into mill by Maren", "the lamp of Hob was taken from mill by Ilsebet"}, 1, 2},
		"rests without names":      {spread("the lamp of %s", "Tobin was not lit at dawn", "Maren was not out of oil", "Hob was not there yet", "Ilsebet was not seen today", "Quillon was not sold for coins"), 1, 5},
		"states are no names":      {[]string{"the lamp 7 of the mill", "the lamp 7 failed of the mill"}, 2, 2},
		"first names":              {spread("%s gave up the plan for today (day 3)", "Tobin", "Ilsebet Vale", "Lamp Oil"), 1, 1},
		"first verbs":              {spread("%s the plan for today", "Gave", "Kept"), 2, 2},
		"rests of varied heads":    {spread("mill 7 stops: %s", "no oil", "it is too late", "out of grain", "the wheel broke", "by hand"), 1, 5},
		"three reasons":            {spread("the mill could not open the gate: %s", "it is stuck", "no oil is left", "the wheel broke off"), 1, 3},
		"faults of three types": {spread("the mill could not open the gate: %s",
			"Acme.StuckError: it is stuck", "Acme.OilError: no oil is left", "Acme.WheelError: the wheel broke off"), 3, 3},
		"markup":                 {spread("%s lit the lamp", "Tobin", "<color=#d0a0ffff>Maren Vale</color>", "<b><i>Old Hob</i></b>"), 1, 1},
		"a part without a value": {[]string{"the lamp of the mill went out", "the lamp of the mill never went out"}, 2, 2},
		"names of other lengths": {spread("%s could not reach the lamp", "SkyUI", "More HUD", "Old Hob Jr"), 1, 2},
		"quotations":             {spread("the answer of the mill was %s again", `"the lamp is out of oil"`, `"ask me again some day"`, "`press`"), 1, 1},
		"other frames":           {[]string{"No path was found for Tobin\n  at A.B.C ()", "No path was found for Ilsebet\n  at A.B.D ()", "No path was found for Quillon\n  at A.B.E ()", "No path was found for Ostap\n  at A.B.F ()"}, 4, 4},
		"the same frame":         {[]string{"No path was found for Tobin\n  at A.B.C ()", "No path was found for Ilsebet\n  at A.B.C ()", "No path was found for Quillon\n  at A.B.C ()", "No path was found for Ostap\n  at A.B.C ()"}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range []string{"as they are", "in reverse"} {
				if order == "in reverse" {
					slices.Reverse(tc.texts)
				}
				groups, variants := map[int]bool{}, map[string]bool{}
				grouper := newGrouper(t, GrouperConfig{})
				for i, g := range groupsOf(t, grouper, tc.texts) {
					message, stack, _ := strings.Cut(tc.texts[i], "\n")
					groups[g] = true
					template := newDefault(t).AppendTemplate(nil, message, stack)
					variants[fmt.Sprint(g, string(grouper.AppendVariant(nil, template)))] = true
				}
				require.Equal(t, [2]int{tc.groups, tc.variants}, [2]int{len(groups), len(variants)}, order)
			}
		})
	}
}

// TestGrouperDepth: texts in which up to four words vary at once are one group even if no word is in two of them, if each
// varies where the words to its right are equal.
func TestGrouperDepth(t *testing.T) {
	texts := []string{"so it was again"}
	for depth := range 4 {
		var next []string
		for i, text := range texts {
			for j := range 4 {
				next = append(next, fmt.Sprintf("%clamp%c%c%c and %s", 'a'+depth, 'a'+j, 'a'+i%26, 'a'+i/26, text))
			}
		}
		texts = next
		seen := map[int]bool{}
		for _, g := range groupsOf(t, newGrouper(t, GrouperConfig{}), spread("once %s", texts...)) {
			seen[g] = true
		}
		require.Len(t, seen, 1, "%d columns", depth+1)
	}
}

// TestGrouperBounds: what is too short, or too long, to be learned from.
func TestGrouperBounds(t *testing.T) {
	names := []string{"Tobin", "Ilsebet", "Quillon", "Ostap"}
	long := func(words int) []string {
		text := "%s"
		for i := range words - 1 {
			text = fmt.Sprintf("word%c%c %s", 'a'+i%26, 'a'+i/26, text)
		}
		return spread(text, names...)
	}
	for name, tc := range map[string]struct {
		texts []string
		want  []int
	}{
		"single letters are no words": {spread("a b c %s", names...), []int{0, 1, 2, 3}},
		"one word is enough": {
			spread("came %s", append(names, "Hob", "Maren", "Lisbet", "Anton")...), make([]int, 8),
		},
		"96 words": {long(maxTokens), []int{0, 0, 0, 0}},
		"97 words": {long(maxTokens + 1), []int{0, 1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, groupsOf(t, newGrouper(t, GrouperConfig{}), tc.texts))
		})
	}
}

// TestGrouperDisplaces fills one set of columns: the column that has shown the most
// contents stays, and of equals the one used last. A column with one content is no loss.
func TestGrouperDisplaces(t *testing.T) {
	g := newGrouper(t, GrouperConfig{Columns: 1})
	key := func(i int) uint64 { return uint64(i)<<1 | 1 }
	for i := range columnWays {
		g.column(key(i))
	}
	g.column(key(3)).N = 2
	g.column(key(0)) // used again
	g.column(key(100))
	require.Nil(t, g.lookup(key(1)), "the one used longest ago of those with the fewest words")
	for _, i := range []int{0, 2, 3, 4, 5, 6, 7, 100} {
		require.NotNil(t, g.lookup(key(i)), i)
	}
	require.Zero(t, g.Stats().ColumnsEvicted, "one content is no loss")
	for i := range columnWays {
		g.column(key(i)).N = 2
	}
	g.column(key(101))
	require.EqualValues(t, 1, g.Stats().ColumnsEvicted)
}

// TestGrouperModel attacks what must hold whatever is learned: no key is lost,
// groups only grow, the merges tell all of it, and memory stays as it was.
func TestGrouperModel(t *testing.T) {
	n := newDefault(t)
	words := []string{"alpha", "bravo", "carrot", "delta", "echo", "started", "on", "x1", "Foo.Bar"}
	rapid.Check(t, func(t *rapid.T) {
		cfg := GrouperConfig{
			Signatures: rapid.SampledFrom([]int{0, 1, 3, 40}).Draw(t, "signatures"),
			Columns:    rapid.SampledFrom([]int{0, 1, 16, 300}).Draw(t, "columns"),
		}
		g, err := NewGrouper(cfg)
		require.NoError(t, err)
		twin, err := NewGrouper(cfg)
		require.NoError(t, err)
		size := g.memory()
		model := map[Signature]Signature{} // to the name of the group, by the merges alone
		var known []Signature
		word := rapid.SampledFrom(words)
		for range rapid.IntRange(1, 150).Draw(t, "n") {
			text := fmt.Sprintf("%s went from %s to the old %s by night", word.Draw(t, "a"), word.Draw(t, "b"),
				word.Draw(t, "c"))
			tpl := n.AppendTemplate(nil, text, "")
			s := Of(tpl)
			got := learn(g, s, tpl)
			require.Equal(t, got, learn(twin, s, tpl), "the same order gives the same groups")
			if _, ok := model[s]; !ok && len(known) < cap(g.nodes) {
				model[s] = s
				known = append(known, s)
			}
			for _, m := range g.Merges(nil) {
				require.NotEqual(t, m.From, m.Into)
				require.Equal(t, m.From, model[m.From], "only a group that is one can join another")
				require.Equal(t, m.Into, model[m.Into])
				for _, k := range known {
					if model[k] == m.From {
						model[k] = m.Into
					}
				}
			}
			members := map[Signature][]ID{}
			for _, k := range known {
				members[model[k]] = append(members[model[k]], k.ID)
			}
			for _, k := range known {
				require.Equal(t, model[k], g.Group(k))
				require.Equal(t, members[model[k]], g.Members(nil, k.ID))
			}
			require.Empty(t, g.Members(nil, s.ID+1))
		}
		stats := g.Stats()
		require.Equal(t, len(known), stats.Signatures)
		names := map[Signature]bool{}
		for _, s := range model {
			names[s] = true
		}
		require.Equal(t, len(names), stats.Groups)
		require.Equal(t, size, g.memory(), "memory is what it was")
	})
}

// memory returns how many bytes the tables hold.
func (g *Grouper) memory() uintptr {
	return uintptr(cap(g.nodes))*unsafe.Sizeof(groupNode{}) +
		uintptr(cap(g.slots)+cap(g.said)+cap(g.groups))*unsafe.Sizeof(uint32(0)) +
		uintptr(cap(g.cols))*(unsafe.Sizeof(column{})+8) +
		uintptr(cap(g.outlines.kept))*(unsafe.Sizeof(outline{})+8)
}

func TestGrouperMemory(t *testing.T) {
	require.LessOrEqual(t, newGrouper(t, GrouperConfig{}).memory(), uintptr(6<<20))
}

func TestGrouperWhenFull(t *testing.T) {
	g := newGrouper(t, GrouperConfig{Signatures: 5})
	names := spread("No path was found for pawn %s", "Tobin", "Ilsebet", "Quillon", "Ostap", "Hob", "Maren")
	first := groupsOf(t, g, names[:5])
	require.Equal(t, []int{0, 0, 0, 0, 0}, first)
	n := newDefault(t)
	tpl := n.AppendTemplate(nil, names[5], "")
	require.Equal(t, n.Signature(names[0], ""), learn(g, Of(tpl), tpl), "it joins what is there")
	other := n.AppendTemplate(nil, "Something else went wrong with the lamp", "")
	require.Equal(t, Of(other), learn(g, Of(other), other))
	stats := g.Stats()
	require.EqualValues(t, 2, stats.Unlearned)
	require.Equal(t, 5, stats.Signatures)
}

// TestGrouperComparesChecks: signatures that share an id by chance stay apart.
func TestGrouperComparesChecks(t *testing.T) {
	g := newGrouper(t, GrouperConfig{})
	a, b := Signature{ID: 7, Check: 1}, Signature{ID: 7, Check: 2}
	learn(g, a, []byte("No path was found for pawn Tobin"))
	require.Equal(t, b, g.Group(b))
	require.Equal(t, b, learn(g, b, []byte("Something else went wrong with the lamp")))
	require.Equal(t, a, g.Group(a))
	require.Equal(t, 2, g.Stats().Groups)
}

func TestNewGrouperRefuses(t *testing.T) {
	for want, cfg := range map[string]GrouperConfig{
		"Signatures is -1": {Signatures: -1}, "Columns is -1": {Columns: -1},
		"Signatures is 1073741825": {Signatures: 1<<30 + 1}, "Columns is 268435457": {Columns: 1<<28 + 1},
	} {
		_, err := NewGrouper(cfg)
		require.ErrorContains(t, err, "GrouperConfig."+want)
	}
}

func TestGrouperAllocatesNothing(t *testing.T) {
	g := newGrouper(t, GrouperConfig{})
	n := newDefault(t)
	texts := spread("Nothing at all came of %s in that year", "Tobin", "Ilsebet", "Quillon", "Ostap", "Hob", "Maren", "Radomir")
	var tpls [][]byte
	for i := range 2000 {
		tpls = append(tpls, n.AppendTemplate(nil, fmt.Sprintf("%s and %c%c%c", texts[i%len(texts)], 'a'+i%26,
			'a'+i/26%26, 'k'+i/676), ""))
	}
	i := 0
	require.Zero(t, testing.AllocsPerRun(len(tpls)-2, func() {
		learn(g, Of(tpls[i]), tpls[i])
		g.merges = g.merges[:0]
		i++
	}), "new")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		learn(g, Of(tpls[0]), tpls[0])
		g.Group(Of(tpls[1]))
	}), "known")
}

func FuzzGrouper(f *testing.F) {
	f.Add("Tobin is far\nHob is far\nMaren is far\nOstap is far", uint8(3))
	for _, c := range headCases {
		f.Add(c.text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		n := newDefault(t)
		g := newGrouper(t, GrouperConfig{Signatures: int(size) + 1, Columns: int(size)})
		before := g.memory()
		var sigs []Signature
		for line := range strings.SplitSeq(text, "\n") {
			tpl := n.AppendTemplate(nil, line+" was not there when it had to be", "")
			s := Of(tpl)
			require.Equal(t, learn(g, s, tpl), learn(g, s, tpl))
			sigs = append(sigs, s)
		}
		for _, s := range sigs {
			name := g.Group(s)
			require.Equal(t, name, g.Group(name), "a group is named by one of its own")
		}
		require.Equal(t, before, g.memory())
	})
}

// grouped returns GA and FGA of the groups that a Grouper makes of rows of
// labeled lines, in their order.
func grouped(tb testing.TB, g *Grouper, rows []string) (ga, fga float64) {
	tb.Helper()
	n := newDefault(tb)
	sigs := make([]Signature, len(rows))
	labels := make([]string, len(rows))
	for i, row := range rows {
		fields := strings.SplitN(row, "\t", 3)
		labels[i] = fields[1]
		tpl := n.AppendTemplate(nil, fields[2], "")
		sigs[i] = Of(tpl)
		learn(g, sigs[i], tpl)
	}
	type pair struct {
		label string
		group Signature
	}
	both, truth, found := map[pair]int{}, map[string]int{}, map[Signature]int{}
	for i, s := range sigs {
		s = g.Group(s)
		both[pair{labels[i], s}]++
		truth[labels[i]]++
		found[s]++
	}
	lines, groups := 0, 0
	for p, k := range both {
		if k == truth[p.label] && k == found[p.group] {
			lines += k
			groups++
		}
	}
	return float64(lines) / float64(len(rows)), 2 * float64(groups) / float64(len(truth)+len(found))
}

// TestGrouperOnLabeledLogs holds both stages together, with one setting for all
// data, to what they reached: in the order of the logs, shuffled, and with one
// Grouper for all logs in turn.
func TestGrouperOnLabeledLogs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Dir(t, "loghub"), "*.tsv"))
	require.NoError(t, err)
	rnd := rand.New(rand.NewPCG(1, 2))
	one := newGrouper(t, GrouperConfig{})
	var sum [3][2]float64
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		rows := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		shuffled := append([]string(nil), rows...)
		rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		line := fmt.Sprintf("%-15s", filepath.Base(file))
		for i, run := range []func() (float64, float64){
			func() (float64, float64) { return grouped(t, newGrouper(t, GrouperConfig{}), rows) },
			func() (float64, float64) { return grouped(t, newGrouper(t, GrouperConfig{}), shuffled) },
			func() (float64, float64) { return grouped(t, one, rows) },
		} {
			ga, fga := run()
			sum[i][0] += ga / float64(len(files))
			sum[i][1] += fga / float64(len(files))
			line += fmt.Sprintf(" %s GA %.3f FGA %.3f", []string{"in order", "| shuffled", "| one for all"}[i], ga, fga)
		}
		t.Log(line)
	}
	t.Logf("average %.3f", sum)
	for i := range sum {
		require.Greater(t, sum[i][0], 0.95)
		require.Greater(t, sum[i][1], 0.95)
		require.InDelta(t, sum[0][0], sum[i][0], 0.01)
		require.InDelta(t, sum[0][1], sum[i][1], 0.01)
	}
}

func ExampleGrouper() {
	n, err := New(Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := NewGrouper(GrouperConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	const text = "the lamp at the gate is out of reach of "
	names := []string{"Anna", "Boris", "Chloe"}
	for _, name := range names {
		template := n.AppendTemplate(nil, text+name, "")
		learn(g, Of(template), template)
	}
	for _, name := range names {
		fmt.Println(name, g.Group(n.Signature(text+name, "")).ID)
	}
	// Output:
	// Anna cb931bde6192f1d5
	// Boris cb931bde6192f1d5
	// Chloe cb931bde6192f1d5
}

// TestGroupAt: the place that Join returns leads to the group that Learn names,
// also after groups have merged, and of signatures that came too late to be known.
func TestGroupAt(t *testing.T) {
	var texts []string
	for i, name := range []string{"Tobin", "Marla", "Quint", "Bendo", "Orsin", "Pelka"} {
		texts = append(texts,
			"the lamp of "+name+" went out at night",
			"nobody found "+name+" by the old mill",
			fmt.Sprintf("a line of its own, number %c", 'p'+i))
	}
	for _, room := range []int{len(texts), 9, 4, 1} {
		joins, err := NewGrouper(GrouperConfig{Signatures: room, Columns: 64})
		require.NoError(t, err)
		learns, err := NewGrouper(GrouperConfig{Signatures: room, Columns: 64})
		require.NoError(t, err)
		places := map[string]Place{}
		for _, text := range append(texts, texts...) {
			sig := Of([]byte(text))
			learned := learn(learns, sig, []byte(text))
			places[text] = joins.Learn(sig, []byte(text))
			require.Equal(t, learned, joins.GroupAt(places[text], sig))
			require.Equal(t, learns.Merges(nil), joins.Merges(nil))
			for known, place := range places {
				sig := Of([]byte(known))
				_, ok := joins.find(sig)
				switch got := joins.GroupAt(place, sig); {
				case ok:
					require.Equal(t, joins.Group(sig), got)
				case place == nowhere:
					require.Equal(t, sig, got)
				default:
					require.Equal(t, joins.Group(got), got, "a group that is there")
				}
			}
		}
		require.Equal(t, learns.Stats(), joins.Stats())
	}
}
