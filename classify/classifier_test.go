package classify_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

func compile(tb testing.TB, text string) *rules.Set {
	tb.Helper()
	return testkit.Must(rules.Compile(rules.File{Name: "f.yaml", Data: []byte(text)}))
}

// newClassifier returns a classifier with a list of rules.
func newClassifier(tb testing.TB, list string, c classify.Config) *classify.Classifier {
	tb.Helper()
	c.Rules = compile(tb, "version: 1\nrules:"+list)
	return testkit.Must(classify.New(c))
}

func TestConfig(t *testing.T) {
	set := compile(t, "version: 1\n")
	for _, tc := range []struct {
		config classify.Config
		want   string
	}{
		{classify.Config{}, "classify: Config.Rules is nil"},
		{classify.Config{Rules: set, Signatures: -1}, "classify: Config.Signatures is -1, want at least 1 (0 means 65536)"},
		{classify.Config{Rules: set, TemplateBytes: -2}, "classify: Config.TemplateBytes is -2, want at least 1 (0 means 5242880)"},
		{classify.Config{Rules: set, Decisions: -1}, "classify: Config.Decisions is -1, want at least 1 (0 means 65536)"},
		{classify.Config{Rules: set, Sources: -1}, "classify: Config.Sources is -1, want at least 1 (0 means 1024)"},
		{classify.Config{Rules: set, Signatures: 1 << 40}, "classify: Config.Signatures is 1099511627776, want at most 2147483647 (0 means 65536)"},
	} {
		_, err := classify.New(tc.config)
		require.EqualError(t, err, tc.want)
		require.EqualError(t, tc.config.Validate(), tc.want)
	}
	testkit.Must(classify.New(classify.Config{Rules: set}))
}

func TestKnownSignature(t *testing.T) {
	c := newClassifier(t, `
  - {id: x, when: 'template contains "broken"', disposition: blocking}
`, classify.Config{})
	classifyLog := func(l event.Log) classify.Result {
		e := l.Entry()
		return c.Decide(&e)
	}
	first := classifyLog(event.Log{Message: "Thing 12 is broken", Level: event.LevelError})
	require.Equal(t, "x", first.Decision.Rule)
	require.Equal(t, "x", first.Rule.ID)
	require.False(t, first.Cached)
	second := classifyLog(event.Log{Message: "Thing 4711 is broken", Level: event.LevelError})
	require.True(t, second.Cached)
	second.Cached = false
	require.Equal(t, first, second)

	n := testkit.Must(signature.New(signature.Config{}))
	require.Equal(t, n.Signature("Thing 7 is broken", ""), first.Signature)
	template, ok := c.Template(first.Signature)
	require.True(t, ok)
	require.Equal(t, string(n.AppendTemplate(nil, "Thing 7 is broken", "")), template)
	_, ok = c.Template(signature.Signature{ID: first.Signature.ID, Check: first.Signature.Check + 1})
	require.False(t, ok)

	// Another level is another decision about the same signature.
	other := classifyLog(event.Log{Message: "Thing 1 is broken", Level: event.LevelFatal})
	require.False(t, other.Cached)
	require.Equal(t, event.SeverityFatal, other.Decision.Severity)

	s := c.Stats()
	require.Equal(t, 1, s.Groups.Signatures)
	s.Groups = signature.GrouperStats{}
	require.Equal(t, classify.Stats{
		Entries: 3, Hits: 2, Misses: 1, DecisionHits: 1, DecisionMisses: 2,
		Signatures: 1, TemplateBytes: len(template), Decisions: 2,
	}, s)
}

// TestAllocs: nothing is allocated for a known signature.
func TestAllocs(t *testing.T) {
	set := testkit.Must(rules.Compile(rules.Defaults()...))
	c := testkit.Must(classify.New(classify.Config{Rules: set}))
	for _, e := range []event.Entry{
		{Message: "Could not load reference to Verse.ThingDef named Foo12", Level: event.LevelError, Source: "Unity"},
		{Message: "Something else happened at (1, 2, 3)", Stack: "  at Foo.Bar () [0x00012] in <0123456789abcdef0123456789abcdef>:0"},
		{Kind: event.KindOperation, Status: event.StatusFailed, Source: "game/save", Message: "no such pawn: 12"},
		{Kind: event.KindState, Status: event.StatusPhase, Message: "play"},
		{Kind: event.KindNotice, Status: event.StatusHole, Message: "512 bytes", Count: 512},
	} {
		c.Decide(&e)
		c.Decide(&e) // in the phase that the first one left
		if !c.Decide(&e).Cached {
			t.Fatalf("not cached: %+v", e)
		}
		require.Zero(t, testing.AllocsPerRun(100, func() { c.Decide(&e) }), "%+v", e)
	}
}

func TestPhase(t *testing.T) {
	c := newClassifier(t, `
  - {id: loading, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
  - {id: loaded, when: 'status == "phase" and message == "menu"', disposition: ignore, sets_phase: menu.rule}
  - {id: x, when: 'template == "x" and phase == "load"', disposition: blocking}
`, classify.Config{InitialPhase: "boot"})
	for i, tc := range []struct {
		e                   event.Entry
		rule, before, after string
	}{
		{log("x"), "default.log.unknown", "boot", "boot"},
		{log("Loading a game"), "loading", "boot", "load"},
		{log("x"), "x", "load", "load"},
		{log("Loading again"), "loading", "load", "load"},
		{phase("play"), "default.state.phase", "load", "play"},
		{log("x"), "default.log.unknown", "play", "play"},
		{phase("menu"), "loaded", "play", "menu.rule"}, // the rule has the last word
		{phase(""), "default.state.phase", "menu.rule", ""},
		{phase(strings.Repeat("ж", 100)), "default.state.phase", "", strings.Repeat("ж", 32)},
		{
			event.Entry{Kind: event.KindState, Status: event.StatusStall, Message: "play"},
			"default.state.stall",
			strings.Repeat("ж", 32), strings.Repeat("ж", 32),
		},
	} {
		got := c.Decide(&tc.e)
		require.Equal(t, []string{tc.rule, tc.before}, []string{got.Decision.Rule, got.PhaseBefore}, i)
		require.Equal(t, []string{tc.after, tc.after}, []string{got.PhaseAfter, c.Phase()}, i)
	}
}

// TestBorrowedStrings: nothing that is kept lies in the memory of an entry.
func TestBorrowedStrings(t *testing.T) {
	c := newClassifier(t, " [{id: x, when: 'message contains \"q\" or source == \"q\"', disposition: ignore}]\n", classify.Config{})
	buf := []byte("phase-name source of the text that is written here")
	borrowed := unsafe.String(&buf[0], len(buf))
	e := event.Entry{Kind: event.KindState, Status: event.StatusPhase, Message: borrowed[:10], Source: borrowed[11:17]}
	sig := c.Decide(&e).Signature
	for i := range 300 { // more phases than have numbers
		e := phase(fmt.Sprintf("p%d", i))
		c.Decide(&e)
	}
	last := phase(borrowed[11:17])
	c.Decide(&last)
	text := log(borrowed[18:])
	textSig := c.Decide(&text).Signature
	for i := range buf {
		buf[i] = '#'
	}
	require.Equal(t, "source", c.Phase())
	back := phase("phase-name")
	require.Equal(t, "phase-name", c.Decide(&back).PhaseAfter)
	template, ok := c.Template(sig)
	require.True(t, ok)
	require.NotContains(t, template, "#")
	template, ok = c.Template(textSig)
	require.True(t, ok)
	require.NotContains(t, template, "#")
}

func TestBlindness(t *testing.T) {
	c := newClassifier(t, `
  - {id: cap, when: 'template == "cap"', disposition: blocking, blinds: true}
  - {id: cut, when: 'template == "cut"', disposition: blocking, blinds: true}
  - {id: swap, when: 'template == "swap"', disposition: blocking, blinds: true, resolves: [cap]}
  - {id: resume, when: 'template == "resume"', disposition: ignore, resolves: [cap]}
  - {id: all, when: 'template == "all"', disposition: ignore, resolves: ["*"]}
`, classify.Config{})
	type flags struct {
		blind bool
		by    string
	}
	for i, tc := range []struct {
		e    event.Entry
		want flags
	}{
		{log("x"), flags{}},
		{log("resume"), flags{}},
		{log("cap"), flags{blind: true, by: "cap"}},
		{log("cap"), flags{blind: true, by: "cap"}},
		{log("x"), flags{blind: true, by: "cap"}},
		{log("cut"), flags{blind: true, by: "cap"}},
		{log("resume"), flags{blind: true, by: "cut"}},
		{log("all"), flags{}},
		{log("all"), flags{}},
		{log("cap"), flags{blind: true, by: "cap"}},
		{log("swap"), flags{blind: true, by: "swap"}},
		{log("resume"), flags{blind: true, by: "swap"}},
		{log("all"), flags{}},
		// A hole is over where it ends.
		{event.Entry{Kind: event.KindNotice, Status: event.StatusHole}, flags{}},
		{log("cut"), flags{blind: true, by: "cut"}},
		{event.Entry{Kind: event.KindNotice, Status: event.StatusHole}, flags{blind: true, by: "cut"}},
	} {
		r := c.Decide(&tc.e)
		blind := c.Blind()
		require.Equal(t, tc.want, flags{r.Blind, append(blind, "")[0]}, i)
		require.Equal(t, r.Blind, len(blind) > 0, i)
	}
	require.EqualValues(t, 2, c.Stats().Holes)
}

func TestPhasesBeyondTheBound(t *testing.T) {
	c := newClassifier(t, ` [{id: x, when: 'phase == "p300" and template == "x"', disposition: blocking}]
`, classify.Config{})
	for i := range 400 {
		e := phase(fmt.Sprintf("p%d", i))
		c.Decide(&e)
		x := log("x")
		require.Equal(t, i == 300, c.Decide(&x).Rule != nil)
	}
	require.Equal(t, 256, c.Stats().Phases)
}

func TestLargeTemplates(t *testing.T) {
	c := newClassifier(t, ` [{id: x, when: 'template endsWith "end"', disposition: blocking}]
`, classify.Config{TemplateBytes: 100})
	word := func(r rune) string { return strings.Repeat(string(r), 30) }
	small, big := log(word('g')+" end"), log(strings.Repeat(word('h')+" ", 5)+"end")
	for range 2 {
		require.Equal(t, "x", c.Decide(&small).Decision.Rule)
		r := c.Decide(&big)
		require.Equal(t, "x", r.Decision.Rule)
		require.False(t, r.Cached)
		_, ok := c.Template(r.Signature)
		require.False(t, ok)
	}
	require.EqualValues(t, 2, c.Stats().Oversize)
	for r := 'i'; r < 's'; r++ {
		e := log(word(r))
		c.Decide(&e)
		require.LessOrEqual(t, c.Stats().TemplateBytes, 100)
	}
	require.Positive(t, c.Stats().SignaturesEvicted)
}

func TestEvaluationErrors(t *testing.T) {
	c := newClassifier(t, ` [{id: bad, when: 'split(message, " ")[3] == "x"', disposition: blocking}]
`, classify.Config{})
	e := log("a b")
	for range 3 {
		require.Equal(t, "default.log.unknown", c.Decide(&e).Decision.Rule)
	}
	require.EqualValues(t, 3, c.Stats().EvaluationErrors)
}

func log(message string) event.Entry { return event.Entry{Message: message} }

func phase(p string) event.Entry {
	return event.Entry{Kind: event.KindState, Status: event.StatusPhase, Message: p}
}

// model decides without remembering anything but phase and blindness.
type model struct {
	n     *signature.Normalizer
	g     *signature.Grouper
	ev    *rules.Evaluator
	phase string
	blind []string
}

// templateOf returns the template of an entry without a head.
func templateOf(n *signature.Normalizer, e *event.Entry) string {
	t := string(n.AppendTemplate(nil, e.Message, e.Stack))
	if e.Kind == event.KindLog && e.Source != "" {
		t += "\nfrom " + regexp.MustCompile(`\d+`).ReplaceAllString(e.Source, signature.Mask)
	}
	return t
}

func (m *model) classify(e *event.Entry) classify.Result {
	template := templateOf(m.n, e)
	head, frames, _ := strings.Cut(string(m.n.AppendTemplate(nil, e.Message, e.Stack)), "\n")
	out := m.ev.Evaluate(&rules.Input{
		Template: head, Frames: frames, Level: e.Level, Kind: e.Kind, Status: e.Status, Source: e.Source, Phase: m.phase,
		ByCaller: e.ByCaller, Message: e.Message, Stack: e.Stack, Operation: e.OperationID,
	})
	r := classify.Result{Outcome: out, Signature: signature.Of([]byte(template)), PhaseBefore: m.phase}
	r.Group = m.g.GroupAt(m.g.Learn(r.Signature, []byte(template)), r.Signature)
	if out.Decision.Disposition.Urgent() {
		r.Variant = string(m.g.AppendFirstVariant(nil, []byte(template), r.Signature))
	}
	if e.Kind == event.KindState && e.Status == event.StatusPhase {
		m.phase = e.Message
	}
	m.phase = cmp.Or(out.SetsPhase, m.phase)
	if out.Rule != nil {
		m.blind = slices.DeleteFunc(m.blind, func(b string) bool { return slices.Contains(out.Rule.Resolves, b) })
		if out.Rule.Blinds && !slices.Contains(m.blind, out.Rule.ID) {
			m.blind = append(m.blind, out.Rule.ID)
		}
	}
	r.PhaseAfter, r.Blind = m.phase, len(m.blind) > 0
	return r
}

// TestTinyTablesEqualTheModel: however small the tables, every result is that
// of a classifier which remembers nothing.
func TestTinyTablesEqualTheModel(t *testing.T) {
	set := compile(t, `
version: 1
lists: {quiet: [s1]}
rules:
  - {id: tag, when: 'template contains "a"', continue: true, tags: [a]}
  - {id: late, when: 'message endsWith "9"', continue: true, tags: [nine]}
  - {id: played, when: 'frames contains "C.D"', continue: true, sets_phase: played}
  - {id: in_play, when: 'phase == "played" and message contains "b"', disposition: blocking}
  - {id: quiet, when: 'source in quiet and message contains "c"', disposition: ignore}
  - {id: op, when: 'operation == "op" and level == "error"', disposition: blocking, blinds: true}
  - {id: loading, when: 'template startsWith "load"', disposition: ignore, sets_phase: load, resolves: ["*"]}
  - {id: in_load, when: 'phase == "load" and template contains "b"', disposition: blocking, invalidates: true, blinds: true}
  - {id: stacked, when: 'frames contains "at A.B"', disposition: advisory, sets_phase: play}
  - {id: over, when: 'phase == "play" and template contains "c"', disposition: advisory, resolves: [in_load]}
  - {id: fails, when: 'split(template, " ")[2] == "d"', disposition: advisory}
  - {id: method, when: 'method == "s2" and status == "failed"', disposition: ignore}
`)
	n := testkit.Must(signature.New(signature.Config{}))
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.IntRange(1, 4)
		c := testkit.Must(classify.New(classify.Config{
			Rules: set, Normalizer: n, InitialPhase: "boot",
			Signatures: small.Draw(t, "signatures"), Decisions: small.Draw(t, "decisions"), Sources: small.Draw(t, "sources"),
			TemplateBytes: rapid.SampledFrom([]int{0, 10, 40}).Draw(t, "template bytes"),
		}))
		g := testkit.Must(signature.NewGrouper(signature.GrouperConfig{}))
		m := &model{n: n, g: g, ev: set.NewEvaluator(), phase: "boot"}
		word := rapid.SampledFrom([]string{"", "a", "b", "load", "c d d", "a 17", "b 19", "b b c", "c 9", "nothing here"})
		for range rapid.IntRange(1, 40).Draw(t, "entries") {
			e := event.Entry{
				Message:     word.Draw(t, "message"),
				Stack:       rapid.SampledFrom([]string{"", "", "  at A.B () [0x00001] in <0>:0", "  at C.D () [0x00001] in <0>:0"}).Draw(t, "stack"),
				Source:      rapid.SampledFrom([]string{"", "s1", "s2", "s3", "s4", "s5"}).Draw(t, "source"),
				OperationID: rapid.SampledFrom([]string{"", "op"}).Draw(t, "operation"),
				ByCaller:    rapid.Bool().Draw(t, "by caller"),
				Status:      event.Status(rapid.IntRange(0, int(event.StatusRestarted)).Draw(t, "status")),
			}
			if rapid.Bool().Draw(t, "log") {
				e.Status, e.Level = 0, event.Level(rapid.IntRange(0, 5).Draw(t, "level"))
			}
			e.Kind = e.Status.Kind()
			want, got := m.classify(&e), c.Decide(&e)
			got.Cached = false
			require.Equal(t, want, got, "%+v", e)
			require.Equal(t, m.phase, c.Phase())
			if template, ok := c.Template(got.Signature); ok {
				require.Equal(t, templateOf(n, &e), template)
			}
		}
		s := c.Stats()
		require.Equal(t, s.Entries, s.Hits+s.Misses+s.Collisions)
		require.Equal(t, s.Entries, s.DecisionHits+s.DecisionMisses+s.Uncached)
	})
}

// TestNewSignatureAllocates: a new signature allocates its template and its variant, which
// are kept in one piece, and a few bytes for the text that its conditions read.
func TestNewSignatureAllocates(t *testing.T) {
	set := testkit.Must(rules.Compile(rules.Defaults()...))
	c := testkit.Must(classify.New(classify.Config{Rules: set}))
	var messages []string
	for i := range 2100 {
		messages = append(messages, fmt.Sprintf("the %c%c%c lamp of the mill went out at night", 'a'+i%26, 'a'+i/26%26,
			'a'+i/676))
	}
	e := event.Entry{Level: event.LevelError}
	i := 0
	classify := func() {
		e.Message = messages[i]
		c.Decide(&e)
		i++
	}
	for range 50 {
		classify()
	}
	require.Equal(t, 2.0, testing.AllocsPerRun(2000, classify))
	require.EqualValues(t, i, c.Stats().Misses)
}
