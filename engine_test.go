package heed

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

func mustNew(t testing.TB, cfg Config) *Engine {
	t.Helper()
	return testkit.Must(New(cfg))
}

func mustRules(t testing.TB, text string) *rules.Set {
	t.Helper()
	return testkit.Must(rules.Compile(rules.File{Name: "test.yaml", Data: []byte(text)}))
}

// known returns a value that is there.
func known[T any](v T, ok bool) T {
	if !ok {
		panic("it is not known")
	}
	return v
}

// testRules covers every effect that a rule can have.
const testRules = `
version: 1
rules:
  - {id: t.load, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
  - {id: t.play, when: 'template startsWith "Loaded"', disposition: ignore, sets_phase: play}
  - {id: t.limit, when: 'template startsWith "No more logging"', disposition: blocking, blinds: true}
  - {id: t.resumed, when: 'template startsWith "Logging again"', disposition: ignore, resolves: [t.limit]}
  - {id: t.broken, when: 'template startsWith "Broken"', disposition: blocking, invalidates: true, summary: something broke}
  - {id: t.odd, when: 'template startsWith "Odd"', disposition: advisory}
  - {id: t.entry, when: 'message contains "secret 7"', disposition: blocking}
`

func TestEvidenceOfTheCauseSurvivesAStorm(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules), Journal: journal.Config{Entries: 64}})
	for i := range 20 {
		e.Log(event.Log{Message: fmt.Sprint("before ", i)})
	}
	planted := e.Observe(event.Log{Message: "Broken thing 1", Stack: "  at A.B ()"}.Entry())
	for range 20 {
		e.Log(event.Log{Message: "after"})
	}
	odd := e.Observe(event.Log{Message: "Odd 0"}.Entry())
	for i := range 10_000 {
		e.Log(event.Log{Message: fmt.Sprint("Odd ", i)})
	}
	kept := e.Read(Cursor{Seq: odd.Seq - 1}, 1, Filter{})
	require.Equal(t, odd.Seq, kept.Records[0].Seq, "the first of a group")
	a := known(e.Current(""))
	require.Equal(t, planted.AttentionID, a.ID)
	require.Equal(t, planted.Seq, a.Cause.Seq)
	page := e.Read(Cursor{Seq: a.DiagnosticsCursor}, 9, Filter{})
	require.NoError(t, page.Err)
	require.Len(t, page.Records, 9, "the cause and what came after it")
	require.Equal(t, "Broken thing 1", page.Records[0].Message)
	page = e.Read(Cursor{Seq: planted.Seq - 9}, 8, Filter{})
	require.Len(t, page.Records, 8, "what came before it")
	require.Zero(t, page.Lost)
}

// TestEvidenceOfASuccessor holds the journal to keeping the cause of an item
// that an acknowledgement made, though it was never the cause of the item that
// was acknowledged.
func TestEvidenceOfASuccessor(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules), Journal: journal.Config{Entries: 64, FirstsPerBurst: 1}})
	first := e.Observe(event.Log{Message: "Broken thing 1"}.Entry())
	for i := range 2 * neighbors {
		e.Log(event.Log{Message: fmt.Sprint("noise ", i)})
	}
	second := e.Observe(event.Log{Message: "Odd thing 1"}.Entry())
	require.Equal(t, first.AttentionID, second.AttentionID)
	pins := e.Stats().Journal.Pins
	ack := e.Ack("", first.AttentionID, first.Seq)
	require.NotEmpty(t, ack.Successor)
	require.Equal(t, pins+1, e.Stats().Journal.Pins, "at once: the next entry may displace the cause")
	for i := range 200 {
		e.Log(event.Log{Message: fmt.Sprint("noise ", i)})
	}
	a := known(e.Item(ack.Successor))
	require.Equal(t, second.Seq, a.Cause.Seq)
	page := e.Read(Cursor{Seq: a.DiagnosticsCursor}, 1, Filter{})
	require.Equal(t, "Odd thing 1", page.Records[0].Message)
}

// TestEvidenceOfTheOpenComesFirst fills the budget of pinned entries, and that
// of firsts, with the evidence of cleared items, and expects that of a new item
// to find room.
func TestEvidenceOfTheOpenComesFirst(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules), Journal: journal.Config{
		Entries: 64, Pinned: 40,
		Firsts: 20, FirstsPerBurst: 4,
	}, Coalesce: coalesce.Config{QuietTime: coalesce.Window{Entries: 1}}})
	for i := range 30 {
		e.Observe(event.State{Status: event.StatusPhase, Phase: fmt.Sprint("phase ", i)}.Entry())
		for range 20 {
			e.Log(event.Log{Message: "noise"})
		}
		out := e.Observe(event.Log{Message: fmt.Sprintf("Broken %c", 'a'+i)}.Entry())
		for j := range 5 {
			e.Log(event.Log{Message: fmt.Sprintf("Odd %c%c", 'a'+i, 'a'+j)})
		}
		for range 200 {
			e.Log(event.Log{Message: "noise"})
		}
		a := known(e.Current(""))
		require.Equal(t, out.AttentionID, a.ID)
		page := e.Read(Cursor{Seq: a.DiagnosticsCursor - 8}, 17, Filter{})
		require.Zero(t, page.Lost, "item %d", i)
		require.Equal(t, out.Seq, page.Records[8].Seq)
		require.True(t, e.Ack("", a.ID, 0).Acknowledged)
	}
	s := checked(t, e)
	require.Zero(t, s.Journal.Firsts.Refused)
}

// TestEvidenceOfTheForgottenGoes lets items be forgotten, and expects that
// nothing is kept for them.
func TestEvidenceOfTheForgottenGoes(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules), Coalesce: coalesce.Config{
		MaxOpen: 1, MaxRemembered: 1, QuietTime: coalesce.Window{Entries: 1},
	}})
	for i := range 26 {
		out := e.Observe(event.Log{Message: fmt.Sprintf("Broken %c", 'a'+i)}.Entry())
		require.True(t, e.Ack("", out.AttentionID, 0).Acknowledged)
	}
	s := e.Stats()
	require.EqualValues(t, 26, s.Coalesce.Opened)
	require.Equal(t, 2, s.Journal.Pins)
}

func TestPhaseAndBlindness(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules), InitialPhase: "boot"})
	require.Equal(t, "boot", e.Observe(event.Log{Message: "Loading"}.Entry()).Phase, "an entry sees the phase before it")
	require.Equal(t, "load", e.Observe(event.Log{Message: "x"}.Entry()).Phase)
	require.True(t, e.Observe(event.Log{Message: "No more logging"}.Entry()).Blind)
	s := e.Stats()
	require.True(t, s.Blind)
	require.Equal(t, "t.limit", s.BlindRule)
	require.False(t, e.Observe(event.Log{Message: "Logging again"}.Entry()).Blind)
	updates := e.Updates(nil)
	require.Len(t, updates, 1)
	require.Equal(t, coalesce.ReasonResolved, updates[0].Reason)

	before := e.Observe(event.Log{Message: "Odd one"}.Entry()).AttentionID
	require.Equal(t, before, e.Observe(event.Log{Message: "Odd two"}.Entry()).AttentionID)
	e.Log(event.Log{Message: "Loaded"})
	require.Equal(t, before, e.Observe(event.Log{Message: "Odd one"}.Entry()).AttentionID,
		"another phase, another episode, but what an open item holds is in it")
}

func TestLogAllocatesNothing(t *testing.T) {
	e := mustNew(t, Config{})
	for name, r := range map[string]event.Log{
		"ignored":  {Message: "Unloading 17 Unused Serialized files (Serialized files now loaded: 8)"},
		"urgent":   {Level: event.LevelError, Message: "Could not do the thing with Muffalo49213 at (166, 0, 143)", Stack: "  at A.B.C () [0x00012] in <24d25868955f4df08b02c73b55f389fe>:0"},
		"advisory": {Level: event.LevelWarning, Message: "Something odd about Thing_Wall1234", Source: "mod"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				e.Log(r)
			}
			require.Zero(t, testing.AllocsPerRun(1000, func() { e.Log(r) }))
		})
	}
}

// TestNothingPendingAllocatesNothing: hosts ask after every entry.
func TestNothingPendingAllocatesNothing(t *testing.T) {
	e := mustNew(t, Config{})
	e.Log(event.Log{Level: event.LevelError, Message: "Could not do the thing with Muffalo49213"})
	require.NotEmpty(t, e.Updates(nil))
	var updates []Update
	require.Zero(t, testing.AllocsPerRun(1000, func() { updates = e.Updates(updates[:0]) }))
	require.Empty(t, updates)
}

// TestPending has updates drained only where an outcome says so, and misses none.
func TestPending(t *testing.T) {
	e := mustNew(t, Config{})
	said := 0
	for i := range 300 {
		o := e.Observe(event.Log{Level: event.Level(i % 5 * 4), Message: strings.Repeat("Broken ", i%7+1) + "thing"}.Entry())
		if o.Pending {
			said++
			require.NotEmpty(t, e.Updates(nil), "entry %d", o.Seq)
		}
		require.Empty(t, e.Updates(nil), "entry %d", o.Seq)
	}
	require.Positive(t, said)
	require.Less(t, said, 300)
}

// TestObserveInto: nothing of what an outcome was before is left.
func TestObserveInto(t *testing.T) {
	a, b := mustNew(t, Config{}), mustNew(t, Config{})
	var o Outcome
	for i := range 100 {
		in := event.Entry{Level: event.Level(i % 5 * 4), Source: "x", Message: strings.Repeat("Broken ",
			i%7+1) + "thing", Pos: uint64(i)}
		o = Outcome{
			Seq: 99, Signature: signature.Signature{ID: 1, Check: 1}, Group: signature.Signature{ID: 2, Check: 2},
			Decision: event.Decision{
				Rule: "old", Disposition: event.Blocking, Severity: event.SeverityFatal,
				Invalidates: true, Tags: []string{"old"},
			},
			Escalated: true, Phase: "old", Blind: true, AttentionID: "old", Pending: true,
		}
		b.ObserveInto(&o, &in)
		require.Equal(t, a.Observe(in), o)
	}
	in := event.Entry{Message: "the same"}
	require.Zero(t, testing.AllocsPerRun(1000, func() { b.ObserveInto(&o, &in) }))
	require.Zero(t, testing.AllocsPerRun(1000, func() { b.Observe(in) }))
	in.Kind = event.KindHost
	b.ObserveInto(&o, &in)
	require.Zero(t, o)
	stats := checked(t, b)
	require.Zero(t, stats.Host)
}

// TestResultsAreWhole: an outcome does not show anything of the entry before it.
func TestResultsAreWhole(t *testing.T) {
	records := []event.Log{
		{Message: "Broken 1"},
		{Message: "Odd one"},
		{Message: "Loading"},
		{Message: "No more logging"},
		{Message: "quiet"},
		{Message: "Logging again"},
		{Message: "Broken 2", OperationID: "op"},
		{Message: "x", Level: event.LevelError},
	}
	cfg := snapshotConfig(mustRules(t, testRules))
	for i := range records {
		for k := range records {
			fresh, used := mustNew(t, cfg), mustNew(t, cfg)
			fresh.Log(records[i])
			used.Log(records[i])
			fresh.result, fresh.input = nil, coalesce.Input{}
			require.Equal(t, fresh.Observe(records[k].Entry()), used.Observe(records[k].Entry()))
			fresh.input.Entry, used.input.Entry = nil, nil
			require.Equal(t, fresh.input, used.input)
			require.Equal(t, fresh.result, used.result)
		}
	}
}

func TestNewNamesTheFieldAtFault(t *testing.T) {
	for want, cfg := range map[string]Config{
		"Config.Signatures is -1,":        {Signatures: -1},
		"Config.Groups.Signatures is -1,": {Groups: signature.GrouperConfig{Signatures: -1}},
		"Config.Journal.Entries is -1,":   {Journal: journal.Config{Entries: -1}},
		"Config.Coalesce.MaxOpen is -1,":  {Coalesce: coalesce.Config{MaxOpen: -1}},
		"Config.Coalesce.Linger.Duration is -1s": {
			Coalesce: coalesce.Config{Linger: coalesce.Window{Duration: -time.Second}},
		},
		"Config.Epoch holds ' ' at":     {Epoch: "a b"},
		"Config.MaxText is 32767, want": {MaxText: 32767},
		"Config.MaxText is 65536, want": {MaxText: 65536, Journal: journal.Config{MaxText: 65536}},
	} {
		cfg.Rules = mustRules(t, testRules)
		e, err := New(cfg)
		require.Nil(t, e)
		require.ErrorContains(t, err, "heed: "+want)
	}
}

// TestMaxText holds that text beyond the bound has no part in anything, in whichever field it is, and that the journal
// knows that it was left out.
func TestMaxText(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules+`
  - id: t.late
    when: message contains "too late" or stack contains "too late" or source contains "too late"
    disposition: blocking
`)})
	long := strings.Repeat("é b1 ", 1<<16/6+1)
	for _, of := range []func(text string) event.Entry{
		func(text string) event.Entry { return event.Log{Message: text}.Entry() },
		func(text string) event.Entry { return event.Log{Message: "Odd", Stack: text}.Entry() },
		func(text string) event.Entry { return event.Log{Source: text}.Entry() },
		func(text string) event.Entry {
			return event.Operation{ID: "op-1", Status: event.StatusFailed, Error: text}.Entry()
		},
	} {
		short, whole := of(long), of(long+"too late")
		o := e.Observe(whole)
		require.NotEqual(t, "t.late", o.Decision.Rule)
		require.Equal(t, e.Observe(short).Signature, o.Signature)
		require.Empty(t, e.Blame(new(of(long+"\n  at Some.Mod.Thing.Act () [0x00000] in <0123456789abcdef>:0 "))))
	}
	require.Equal(t, "default.log.unknown", e.Log(event.Log{Message: long + "too late"}).Rule)
	e.Raise(Report{Message: long + "too late"})
	e.Raise(Report{Message: long})
	page := e.Read(Cursor{}, 100, Filter{})
	last := page.Records[len(page.Records)-2:]
	require.Equal(t, last[1].Signature, last[0].Signature)
	for _, r := range page.Records {
		require.True(t, r.Truncated)
	}
}

// TestGroupsInAnItem: texts that differ in a name are groups of their own until
// enough names were seen; then they are one group, with all that they counted.
func TestGroupsInAnItem(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules)})
	names := []string{"Anna", "Boris", "Chloe", "Dmitri", "Eun", "Farid"}
	for i, name := range names {
		out := e.Observe(event.Log{Message: "Broken plan of the pawn called " + name + " in the north"}.Entry())
		a := known(e.Item(out.AttentionID))
		if i < 1 {
			require.Equal(t, i+1, a.Groups)
		} else {
			require.Equal(t, 1, a.Groups, name)
			require.EqualValues(t, i+1, a.Sample[0].RepeatCount)
		}
		require.EqualValues(t, i+1, a.TotalUrgentEntries)
		checked(t, e)
	}
	page := e.Read(Cursor{}, 10, Filter{})
	require.Len(t, page.Records, len(names))
	for _, r := range page.Records {
		require.Equal(t, page.Records[0].Signature, e.Group(r.Signature))
		require.Equal(t, page.Records, e.Read(Cursor{}, 10, Filter{Signature: r.Signature.ID}).Records)
	}
}

// readOf returns the numbers of the entries that name an operation or a part of it.
func readOf(e *Engine, id string) (seqs []uint64) {
	for _, r := range e.Read(Cursor{}, 100, Filter{Operation: id}).Records {
		seqs = append(seqs, r.Seq)
	}
	return seqs
}

// TestReadWithParts: a filter by an operation chooses the entries that name it or a part
// of it, whenever that was linked, as a map of parents has it.
func TestReadWithParts(t *testing.T) {
	cfg := snapshotConfig(mustRules(t, testRules))
	cfg.Coalesce.MaxOperations = 0
	rapid.Check(t, func(t *rapid.T) {
		e := testkit.Must(New(cfg))
		ids := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f"})
		parent := map[string]string{}
		within := func(id, whole string) bool {
			for ; id != "" && id != whole; id = parent[id] {
			}
			return id == whole
		}
		var named []string
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			id, up := ids.Draw(t, "id"), ids.Draw(t, "parent")
			if rapid.Bool().Draw(t, "event") {
				e.Observe(event.Operation{ID: id, Parent: up}.Entry())
				if id != "" && up != "" && parent[id] == "" && !within(up, id) {
					parent[id] = up
				}
			} else {
				e.Log(event.Log{Message: "Loaded", OperationID: id})
			}
			named = append(named, id)
		}
		for _, whole := range []string{"a", "b", "c", "none"} {
			var want []uint64
			for i, id := range named {
				if id != "" && within(id, whole) {
					want = append(want, uint64(i+1))
				}
			}
			require.Equal(t, want, readOf(e, whole), "%s of %v", whole, parent)
		}
	})
}

// TestReadWithEvictedParts: a part that was evicted is found by its own id alone, and so
// are its parts; those of a root that was evicted are still found with it.
func TestReadWithEvictedParts(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules), Coalesce: coalesce.Config{MaxOperations: 4}})
	for _, o := range []event.Operation{
		{ID: "root", Method: "m"},
		{ID: "part", Parent: "root"},
		{ID: "deep", Parent: "part"},
		{ID: "part", Status: event.StatusCompleted},
		{ID: "root", Status: event.StatusCompleted},
		{ID: "late", Parent: "root"},
	} {
		e.Observe(o.Entry())
	}
	require.Equal(t, []uint64{1, 2, 3, 4, 5, 6}, readOf(e, "root"))
	e.Observe(event.Operation{ID: "x"}.Entry()) // evicts the root, which has ended
	require.Equal(t, []uint64{1, 2, 3, 4, 5, 6}, readOf(e, "root"))
	e.Observe(event.Operation{ID: "y"}.Entry()) // and this one the part
	require.Equal(t, []uint64{1, 5, 6}, readOf(e, "root"))
	require.Equal(t, []uint64{2, 3, 4}, readOf(e, "part"))
}

func TestEscalation(t *testing.T) {
	set := mustRules(t, `version: 1
rules:
  - id: t.path
    when: 'template startsWith "No path"'
    disposition: ignore
    escalate: {after: 3, within: {duration: 10s, entries: 6}, to: blocking, severity: error}
`)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		gaps []int // before each occurrence: seconds, or with a negative number other entries
		want string
	}{
		"within the window":       {[]int{0, 4, 5, 9, 1}, "iibii"},
		"just too far apart":      {[]int{0, 5, 5, 4}, "iiib"},
		"by entries":              {[]int{-1, -1, -1, -3, -3, -1, -1}, "iibbibb"},
		"a burst after a silence": {[]int{0, 100, 1, 1, 1}, "iiibb"},
	} {
		t.Run(name, func(t *testing.T) {
			e := mustNew(t, Config{Rules: set})
			var now time.Time
			got := ""
			for _, gap := range tc.gaps {
				if gap >= 0 {
					now = at.Add(time.Duration(gap) * time.Second)
					at = now
				}
				for range -gap - 1 {
					e.Log(event.Log{Message: "other"})
				}
				o := e.Observe(event.Log{Time: now, Message: "No path to the lamp"}.Entry())
				require.Equal(t, "t.path", o.Decision.Rule)
				require.Equal(t, o.Decision.Disposition == event.Blocking, o.Escalated)
				got += o.Decision.Disposition.String()[:1]
			}
			require.Equal(t, tc.want, got)
			checked(t, e)
			escalated := e.Read(Cursor{}, 100, Filter{MinDisposition: event.Blocking}).Records
			require.Len(t, escalated, strings.Count(got, "b"), "the journal knows what was decided")
			for _, r := range escalated {
				require.Equal(t, event.SeverityError, r.Severity)
			}
		})
	}

	// What was acknowledged, and goes on at the same rate, stays so.
	e := mustNew(t, Config{Rules: set})
	for i := range 3 {
		e.Log(event.Log{Time: at.Add(time.Duration(i) * time.Second), Message: "No path to the lamp"})
	}
	a := known(e.Current(""))
	require.True(t, a.Blocking)
	require.EqualValues(t, 1, a.TotalUrgentEntries)
	e.Ack("", a.ID, 0)
	for i := range 50 {
		e.Log(event.Log{Time: at.Add(time.Duration(i+3) * time.Second), Message: "No path to the lamp"})
	}
	_, ok := e.Current("")
	require.False(t, ok)
}

// TestDecide: what a classifier would decide is what it decides, and to ask changes nothing.
func TestDecide(t *testing.T) {
	asked, silent := mustNew(t, Config{}), mustNew(t, Config{})
	for _, message := range []string{
		"all is well", "Loading game from file colony", "NullReferenceException: Object reference not set to an instance",
		"NullReferenceException: Object reference not set to an instance", "Could not load reference to Verse.ThingDef named Brick7",
	} {
		e := event.Entry{Kind: event.KindLog, Level: event.LevelError, Message: message}
		decision := asked.classifier.Decision(&e)
		o := asked.Observe(e)
		require.Equal(t, o.Decision, decision, message)
		require.Equal(t, silent.Observe(e), o)
	}
	require.Equal(t, silent.Snapshot(nil), asked.Snapshot(nil))
}

// TestNewCodeInCall: a fault that comes by itself, and is known, comes in a call with a code that it never had: that is
// charged to the call.
func TestNewCodeInCall(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, `
version: 1
rules:
  - {id: pump, when: 'template startsWith "the pump"', disposition: blocking, severity: error}
`)})
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	pump := func(code int) Outcome {
		now = now.Add(20 * time.Second)
		text := fmt.Sprintf("the pump %d of the mill failed, status: %d", now.Unix(), code)
		return e.Observe(event.Log{Time: now, Message: text}.Entry())
	}
	call := func(id string, status event.Status) {
		e.Observe(event.Operation{Time: now, ID: id, Method: "build", Status: status}.Entry())
	}
	e.Ack("", pump(200).AttentionID, 0)
	for range 5 {
		pump(200)
	}
	require.Empty(t, e.Open(nil), "the background")
	call("a", event.StatusStarted)
	pump(200)
	call("a", event.StatusCompleted)
	require.Equal(t, coalesce.ReasonBackground, e.Verdict("a").Reason)
	now = now.Add(time.Minute)
	call("b", event.StatusStarted)
	pump(500)
	call("b", event.StatusCompleted)
	v := e.Verdict("b")
	require.Equal(t, coalesce.Affected, v.Outcome)
	require.Len(t, e.Open(nil), 1)
	e.Ack("", v.AttentionID, 0)
	now = now.Add(time.Minute)
	call("c", event.StatusStarted)
	pump(500)
	require.Equal(t, coalesce.Affected, e.Verdict("c").Outcome, "what came outside of calls was another variant")
}

// checked returns the figures of an engine, which add up.
func checked(t require.TestingT, e *Engine) Stats {
	s := e.Stats()
	require.NoError(t, s.Check())
	return s
}
