package heed

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
)

// history returns what the journal holds of the given kind: status, who, what.
func history(e *Engine, kind event.Kind) []string {
	var out []string
	for _, r := range e.Read(Cursor{}, 1000, Filter{Kinds: []event.Kind{kind}}).Records {
		out = append(out, strings.Join(strings.Fields(r.Status.String()+" "+r.Source+" "+r.Message), " "))
	}
	return out
}

func TestAcknowledgementsAreJournaled(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules)})
	e.Log(event.Log{Message: "Broken press", OperationID: "op-1"})
	e.Log(event.Log{Message: "Broken lamp", OperationID: "op-2"})
	e.Current("ann")
	e.Log(event.Log{Message: "Broken door", OperationID: "op-1"})
	res := e.Ack("ann", "0-1", 0)
	require.True(t, res.Acknowledged)
	require.Equal(t, "0-3", res.Successor)
	require.True(t, e.Ack("bob", "0-1", 0).Already)
	require.False(t, e.Ack("bob", "0-77", 0).Acknowledged)
	require.False(t, e.Ack("bob", "77", 0).Acknowledged)
	again := e.Ack("bob", "1", 0)
	require.True(t, again.Already)
	require.Equal(t, "0-1", again.ID)
	require.Equal(t, []string{"acknowledged ann 0-1 up to 1, with 0-2; continued by 0-3"}, history(e, event.KindHost), "once, and only what was one")
	s := checked(t, e)
	require.EqualValues(t, 1, s.Host)
}

// TestAcked: an acknowledged item may still be true until a rule resolves it, or another run of the game begins.
func TestAcked(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, `version: 1
rules:
  - {id: broken, when: 'template startsWith "Broken"', disposition: blocking}
  - {id: cut, when: 'template startsWith "Cut"', disposition: blocking}
  - {id: mended, when: 'template startsWith "Mended"', disposition: ignore, resolves: [broken]}
`)})
	for _, text := range []string{"Broken press", "Cut wire"} {
		e.Log(event.Log{Message: text})
		current, _ := e.Current("ann")
		require.True(t, e.Ack("ann", current.ID, 0).Acknowledged)
	}
	require.Equal(t, []string{"0-2", "0-1"}, e.Acked())
	e.Log(event.Log{Message: "Mended"})
	require.Equal(t, []string{"0-2"}, e.Acked())
	e.BeginRun(time.Now())
	require.Empty(t, e.Acked())
}

func TestRaise(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules)})
	require.Empty(t, e.Raise(Report{Key: "noise", Message: "all is well"}))
	id := e.Raise(Report{
		Key: "backup\x1b[31m", Disposition: event.Blocking, Severity: event.SeverityError, OperationID: "op-1",
		Summary: "the backup\nfailed", Message: "disk 7 is full",
	})
	require.Equal(t, id, e.Raise(Report{Key: "backup\x1b[31m", Disposition: event.Blocking, Message: "disk 8 is full"}))
	a := known(e.Item(id))
	require.Equal(t, 1, a.Groups, "the text has a signature like any other")
	require.EqualValues(t, 2, a.TotalUrgentEntries)
	require.Equal(t, "op-1", a.CausalOperationID)
	require.NotContains(t, a.Summary, "\n")
	require.Contains(t, a.Summary, "the backup")
	require.NotContains(t, a.Cause.Rule, "\x1b")
	require.Equal(t, "disk 7 is full", a.Sample[0].Message[strings.Index(a.Sample[0].Message, "disk"):])

	byNumber := known(e.Item("1"))
	require.Equal(t, a, byNumber)
	require.True(t, e.Delivered("", "1", 1))
	require.True(t, e.Know("1", "it failed before"))
	require.True(t, e.Clear("1"))
	require.False(t, e.Clear(id))
	require.False(t, e.Clear("0-9"))
	a, _ = e.Item(id)
	require.EqualValues(t, "withdrawn", a.ClearedBy)
	require.NotEqual(t, id, e.Raise(Report{Key: "backup", Disposition: event.Advisory}))
	require.Equal(t, "withdrawn "+id, history(e, event.KindHost)[3])
}

// TestKnow holds that what a host knows of an item is quoted in its summary, and kept with it.
func TestKnow(t *testing.T) {
	cfg := Config{Rules: mustRules(t, testRules)}
	e := mustNew(t, cfg)
	e.Log(event.Log{Message: "Broken press"})
	e.Updates(nil)
	require.False(t, e.Know("0-7", "x"))
	require.True(t, e.Know("0-1", "new since \"yesterday\"\nignore it\x1b[31m"+strings.Repeat("x", 500)))
	require.Empty(t, e.Updates(nil))
	a, _ := e.Item("0-1")
	require.Contains(t, a.Summary, `; history: "new since \"yesterday\"\nignore it\x1b[31mxxx`)
	require.NotContains(t, a.Summary, "\n")
	require.Less(t, len(a.Known), 300)
	again := testkit.Must(Restore(cfg, e.Snapshot(nil)))
	b, _ := again.Item("0-1")
	require.Equal(t, a, b)
	require.True(t, e.Know("0-1", ""))
	a, _ = e.Item("0-1")
	require.NotContains(t, a.Summary, "history")
}

func TestAttach(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules), LoadPhase: "loading"})
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Empty(t, e.Attach("ann", now), "nothing to tell")
	e.Detach("ann")
	e.Log(event.Log{Message: "Odd lamp"})
	broken := e.Observe(event.Log{Message: "Broken press"}.Entry()).AttentionID
	require.Empty(t, e.Attach("ann", now), "what is invalid holds, in the same item")
	e.Detach("ann")
	e.Observe(event.State{Status: event.StatusPhase, Phase: "loading"}.Entry())
	digest := e.Attach("ann", now)
	a := known(e.Current(""))
	require.Equal(t, digest, a.ID)
	require.False(t, a.Blocking)
	require.Contains(t, a.Summary, "before you connected: 1 item with 2 entries (something broke)")
	page := e.Read(Cursor{Epoch: "0", Seq: a.DiagnosticsCursor}, 10, Filter{MinDisposition: event.Advisory})
	require.Equal(t, "Odd lamp", page.Records[0].Message)
	old, _ := e.Item(broken)
	require.EqualValues(t, "attached", old.ClearedBy)
	require.Equal(t, []string{"attached ann", "attached ann", "attached ann"}, history(e, event.KindHost))
}

// TestBeginRun: nothing that a game left stands in the next one, whatever was delivered to whom, and no call of the one
// before runs on.
func TestBeginRun(t *testing.T) {
	cfg := Config{Rules: mustRules(t, testRules)}
	e := mustNew(t, cfg)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	e.Attach("ann", now)
	e.Observe(event.Operation{ID: "call", Method: "build", Status: event.StatusStarted}.Entry())
	e.Log(event.Log{Message: "Broken press"})
	e.Current("ann")
	e = testkit.Must(Restore(cfg, e.Snapshot(nil)))
	e.BeginRun(now)
	require.EqualValues(t, 1, e.Stats().Coalesce.OperationsAbandoned)
	require.Equal(t, []string{"restarted the game was started again"}, history(e, event.KindNotice))
	digest := e.Attach("ann", now)
	a := known(e.Current("ann"))
	require.Equal(t, digest, a.ID)
	require.False(t, a.Blocking)
	e.Log(event.Log{Message: "Broken press"})
	open := e.Open(nil)
	require.True(t, open[0].Blocking, "it broke in this run, too")
	require.Empty(t, open[0].AfterOperation)
	checked(t, e)
}

// TestBeginRunUnseen: a fault that no agent has seen outlives the game, also where the agent has no name.
func TestBeginRunUnseen(t *testing.T) {
	cfg := Config{Rules: mustRules(t, testRules)}
	e := mustNew(t, cfg)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	broken := e.Observe(event.Log{Message: "Broken press"}.Entry()).AttentionID
	for range 2 {
		e = testkit.Must(Restore(cfg, e.Snapshot(nil)))
		e.BeginRun(now)
		require.Equal(t, broken, e.Open(nil)[0].ID)
	}
	require.Equal(t, e.Attach("", now), known(e.Current("")).ID, "in the summary of the runs before")
	checked(t, e)
}

// TestBeginRunDigest: the summary of a run before comes once, but again as long as no agent has seen it.
func TestBeginRunDigest(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules)})
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	e.Log(event.Log{Message: "Broken press"})
	e.Attach("ann", now)
	e.BeginRun(now)
	require.NotEmpty(t, e.Attach("ann", now), "it was not shown")
	e.Updates(nil)
	e.BeginRun(now)
	require.NotEmpty(t, e.Attach("ann", now), "the host alone has seen it")
	known(e.Current("ann"))
	e.BeginRun(now)
	require.Empty(t, e.Open(nil))
	require.Empty(t, e.Attach("ann", now))
	checked(t, e)
}

func TestHeartbeat(t *testing.T) {
	e := mustNew(t, Config{})
	at := func(s int) time.Time { return time.Date(2030, 1, 1, 0, 0, s, 0, time.UTC) }
	e.Advance(at(0))
	e.Expect(at(0), at(5))
	e.Advance(at(4))
	require.Empty(t, history(e, event.KindState))
	e.Advance(at(5))
	e.Advance(at(6))
	a := known(e.Current(""))
	require.True(t, a.Blocking)
	require.Len(t, history(e, event.KindState), 1, "one stall")
	e.Expect(at(7), at(9))
	_, ok := e.Current("")
	require.False(t, ok, "it recovered")
	require.Len(t, history(e, event.KindState), 2)

	e.Observe(event.State{Time: at(8), Status: event.StatusLongEvent}.Entry())
	e.Advance(at(20))
	require.Len(t, history(e, event.KindState), 3, "nothing is expected while the game is busy")
	e.Observe(event.State{Time: at(21), Status: event.StatusLongEventEnd}.Entry())
	e.Advance(at(22))
	require.Len(t, history(e, event.KindState), 4, "what was expected before it is no more")
	e.Expect(at(22), at(23))
	require.Len(t, history(e, event.KindState), 4, "it recovered once")
	e.Advance(at(23))
	require.Len(t, history(e, event.KindState), 5)
	e.Observe(event.State{Time: at(22), Status: event.StatusExited}.Entry())
	e.Advance(at(99))
	require.Len(t, history(e, event.KindState), 6, "nobody is left to answer")
	e.Expect(at(100), time.Time{})
	e.Advance(at(200))
	require.Len(t, history(e, event.KindState), 6, "a zero time expects nothing")
	e.Expect(at(200), at(201))
	e.Observe(event.State{Time: at(200), Status: event.StatusDisconnected}.Entry())
	e.Advance(at(300))
	require.Len(t, history(e, event.KindState), 7, "no connection is left to answer by")
}

// TestAcknowledgementKeepsNeighbors: what is around the cause of a successor is
// kept before the acknowledgement's own entry takes its place in the tail.
func TestAcknowledgementKeepsNeighbors(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules), Journal: journal.Config{Entries: 2}})
	e.Log(event.Log{Message: "Broken press"})
	e.Current("ann")
	for range neighbors + 2 { // more than are kept around the first cause
		e.Log(event.Log{Message: "quiet"})
	}
	lamp := e.Observe(event.Log{Message: "Broken lamp"}.Entry()).Seq
	res := e.Ack("ann", "0-1", 0)
	a := known(e.Item(res.Successor))
	require.Equal(t, lamp, a.Cause.Seq)
	page := e.Read(Cursor{Seq: lamp - 2}, 1, Filter{})
	require.Equal(t, lamp-1, page.Records[0].Seq)
}

// TestRaiseKnownID: the id of an item that the engine knows is not given again.
func TestRaiseKnownID(t *testing.T) {
	e := mustNew(t, Config{})
	first := e.Raise(Report{Key: "a", Message: "one", Disposition: event.Blocking})
	require.NotEqual(t, first, e.Raise(Report{Key: "b", Message: "two", Disposition: event.Blocking, ID: first}))
	_, err := Restore(Config{}, e.Snapshot(nil))
	require.NoError(t, err)
}

// TestCallersKeepTheirStrings overwrites each string that a host passed: the engine has copies of those that it needs.
func TestCallersKeepTheirStrings(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	given := make([][]byte, 0, 8)
	s := func(text string) string {
		given = append(given, []byte(text))
		return unsafe.String(&given[len(given)-1][0], len(text))
	}
	for name, act := range map[string]func(e *Engine, id string){
		"Log": func(e *Engine, _ string) {
			e.Log(event.Log{
				Time: now, Level: event.LevelFatal, Source: s("logger"), Message: s("Broken 'lamp' at lamps.lua:3"),
				Stack: s("at Acme.Lamp.Turn ()"), OperationID: s("op-1"),
			})
		},
		"Observe": func(e *Engine, _ string) {
			for _, status := range []event.Status{event.StatusStarted, event.StatusTimedOut} {
				e.Observe(event.Operation{
					Time: now, ID: s("op-1"), Parent: s("op-0"), Method: s("turn"), Status: status, Error: s("too late"),
				}.Entry())
			}
			e.Observe(event.State{Time: now, Status: event.StatusPhase, Phase: s("load")}.Entry())
			e.Observe(event.Notice{Time: now, Status: event.StatusHole, Detail: s("a hole")}.Entry())
		},
		"Raise": func(e *Engine, _ string) {
			e.Raise(Report{
				Time: now, Key: s("disk"), Disposition: event.Blocking, Summary: s("the disk is full"), Message: s("no room"),
				OperationID: s("op-1"), ID: s("e1-1"),
			})
		},
		"Know":      func(e *Engine, id string) { e.Know(s(id), s("seen in two runs")) },
		"Current":   func(e *Engine, _ string) { e.Current(s("ann")) },
		"Delivered": func(e *Engine, id string) { e.Delivered(s("ann"), s(id), 9) },
		"Ack":       func(e *Engine, id string) { e.Ack(s("ann"), s(id), 0) },
		"Clear":     func(e *Engine, id string) { e.Clear(s(id)) },
		"Attach":    func(e *Engine, _ string) { e.Attach(s("ann"), now) },
		"Detach":    func(e *Engine, _ string) { e.Detach(s("ann")) },
		"LearnMods": func(e *Engine, _ string) { e.LearnMods([]Mod{{Name: s("Lamps"), PackageID: s("acme.lamps")}}) },
		"LearnGame": func(e *Engine, _ string) { e.LearnGame(s("Lamps.exe")) },
		"SetFamily": func(e *Engine, _ string) { _ = e.SetFamily(s("plain")) },
	} {
		e := mustNew(t, Config{Rules: mustRules(t, testRules), Epoch: "e1"})
		e.Observe(event.Entry{Message: "Broken press"})
		id := e.Raise(Report{Disposition: event.Blocking, Message: "x"})
		act(e, id)
		look := func() string {
			mods := e.Blame(&event.Entry{Level: event.LevelError, Message: "[Lamps] broke"})
			return fmt.Sprint(mods, e.Open(nil), string(e.Snapshot(nil)))
		}
		kept := look()
		for _, b := range given {
			copy(b, strings.Repeat("#", len(b)))
		}
		require.True(t, kept == look(), name)
	}
}
