package coalesce

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// accuse folds an entry of a group and says whom it points at.
func accuse(t *testing.T, c *Coalescer, seq uint64, group string, d event.Disposition, names ...string) Folded {
	t.Helper()
	return accuseIn(t, c, "", seq, group, d, names...)
}

func accuseIn(
	t *testing.T, c *Coalescer, call string, seq uint64, group string, d event.Disposition, names ...string,
) Folded {
	t.Helper()
	e := event.Entry{Seq: seq, Pos: seq, Message: group, OperationID: call}
	return c.Fold(&Input{
		Entry: &e, Signature: groupSignature(group), Decision: event.Decision{Rule: d.String(), Disposition: d}, Blame: names,
	})
}

func TestBlame(t *testing.T) {
	c := testkit.Must(New(Config{}))

	f := accuse(t, c, 1, "lesser", event.Advisory, "Reporter")
	a, _ := c.Item(f.ID)
	require.Equal(t, []string{"Reporter"}, a.Blame)
	require.Contains(t, a.Summary, "(1 entry in 1 group); blame: Reporter")

	accuse(t, c, 2, "cause", event.Blocking, "Some Mod", "Other", "Third")
	a, _ = c.Item(f.ID)
	require.Equal(t, []string{"Some Mod", "Other"}, a.Blame, "those of what blocks, and no more than two")
	require.Contains(t, a.Summary, `; blame: "Some Mod", Other; first at entry 1; 1 less serious entry`)
	require.Equal(t, []string{"Some Mod", "Other"}, a.Sample[0].Blame)
	require.Equal(t, []string{"Reporter"}, a.Sample[1].Blame)

	a.Blame[0] = "changed"
	again, _ := c.Item(f.ID)
	require.Equal(t, "Some Mod", again.Blame[0], "what is rendered belongs to the caller")
}

// TestOneSuspect: blocking entries outside of calls are one item if they point at one mod; or at none, by one rule; or
// one of them at none, just after the first of the item. Lesser entries join the latest.
func TestOneSuspect(t *testing.T) {
	c := testkit.Must(New(Config{}))
	fold := func(seq uint64, group, rule string, mods ...string) string {
		e := event.Entry{Seq: seq, Pos: seq, Message: group}
		return group + " " + c.Fold(&Input{
			Entry: &e, Signature: groupSignature(group), Blame: mods,
			Decision: event.Decision{Rule: rule, Disposition: event.Blocking},
		}).ID
	}
	require.Equal(t, []string{
		"spawn 0-1", "tick 0-1", "trace 0-1", "draw 0-1", "other 0-2", "paint 0-3", "trace 0-1", "save 0-3", "write 0-2",
		"late 0-2", "read 0-4", "again 0-1", "send 0-4",
	}, []string{
		fold(1, "spawn", "thrown", "A"),
		fold(3, "tick", "thrown", "code: a", "B"),
		fold(5, "trace", "thrown"),
		fold(6, "draw", "thrown", "B"),
		fold(7, "other", "refused"),
		fold(12, "paint", "thrown", "C"),
		fold(13, "trace", "thrown"),
		fold(30, "save", "refused", "C", "D"),
		fold(31, "write", "refused"),
		fold(60, "late", "refused"),
		fold(61, "read", "logged"),
		fold(62, "again", "thrown", "A"),
		fold(63, "send", "thrown", "E"),
	})
	got := accuseIn(t, c, "", 64, "word", event.Advisory, "A").ID
	require.Equal(t, "0-4", got, "the latest")
	first, _ := c.Item("0-1")
	require.Equal(t, []string{"A"}, first.Blame)
	require.Equal(t, []string{"B"}, first.Perhaps)
	c.Ack("", "0-3", 0)
	require.Equal(t, "0-6", accuseIn(t, c, "", 70, "sing", event.Blocking, "F").ID, "a fault of another mod")
	for i := range 2 * maxFaults {
		accuseIn(t, c, "", uint64(80+i), fmt.Sprint("fault ", i), event.Blocking, fmt.Sprint("mod ", i))
	}
	require.Equal(t, maxFaults, c.Stats().Open)
}

// TestBlameByCount: a mod is named if half of the dominant entries point at it, and perhaps if a quarter does.
func TestBlameByCount(t *testing.T) {
	for _, step := range []struct {
		others         int // entries that point at none, besides 4 that point at the mod
		blame, perhaps bool
		summary        string
	}{
		{0, true, false, "; blame: Mod"},
		{4, true, false, "; blame: Mod"},
		{5, false, true, "; perhaps Mod"},
		{12, false, true, "; perhaps Mod"},
		{13, false, false, ""},
	} {
		c := testkit.Must(New(Config{}))
		var f Folded
		for i := range 4 {
			f = accuseIn(t, c, "call", uint64(1+i), "a", event.Blocking, "Mod")
		}
		for i := range step.others {
			f = accuseIn(t, c, "call", uint64(5+i), "b", event.Blocking)
		}
		a, _ := c.Item(f.ID)
		require.Equal(t, step.blame, len(a.Blame) == 1, "%d: %v", step.others, a.Blame)
		require.Equal(t, step.perhaps, len(a.Perhaps) == 1, "%d: %v", step.others, a.Perhaps)
		named := strings.Contains(a.Summary, step.summary) && strings.Contains(a.Summary, "Mod")
		require.Equal(t, step.summary != "", named, a.Summary)
	}
}

// TestBlameWithoutMemory: if memory ran out, the mods whose code was running are not at fault, whether the record says
// so or a crash follows it.
func TestBlameWithoutMemory(t *testing.T) {
	c := testkit.Must(New(Config{}))
	fold := func(seq uint64, run bool, tags ...string) (Folded, string) {
		e := event.Entry{Seq: seq, Pos: seq, Message: strings.Join(tags, " ")}
		f := c.Fold(&Input{
			Entry: &e, Signature: groupSignature(e.Message), Blame: []string{"Mod"}, NewRun: run,
			Decision: event.Decision{
				Rule: strings.Join(tags, "."), Disposition: event.Blocking, Severity: event.Severity(seq), Tags: tags,
			},
		})
		a, _ := c.Item(f.ID)
		if len(a.Blame) > 0 {
			require.Contains(t, a.Summary, "; blame: Mod")
			return f, "blame"
		}
		require.Empty(t, a.Sample[0].Blame)
		require.Contains(t, a.Summary, "; was running: Mod")
		return f, "running"
	}
	for i, step := range []struct {
		tags string
		run  bool
		want string
	}{
		{"crash", false, "blame"},
		{"memory", true, "running"},
		{"crash", false, "running"},
		{"crash", true, "blame"},
		{"crash memory", true, "running"},
	} {
		f, got := fold(uint64(1+i), step.run, strings.Fields(step.tags)...)
		require.Equal(t, step.want, got, "%d %v", i, step)
		if i == 1 {
			c.Ack("", f.ID, uint64(1+i)) // what was acknowledged still explains
		}
	}
}

// TestCauseComesFirst: a crash is the first item, but after the lack of memory, or the fault directly before, that
// explains it.
func TestCauseComesFirst(t *testing.T) {
	for tags, want := range map[string][]string{
		"memory":       {"0-2", "0-3", "0-1"},
		"graphics":     {"0-2", "0-3", "0-1"},
		"crash memory": {"0-2", "0-3", "0-1"},
	} {
		c := testkit.Must(New(Config{}))
		for i, tags := range []string{"other", tags, "crash"} {
			e := event.Entry{Seq: uint64(1 + i), Pos: uint64(1 + i), Message: tags}
			c.Fold(&Input{
				Entry: &e, Signature: groupSignature(tags), Blame: []string{tags}, Decision: event.Decision{
					Rule: tags, Disposition: event.Blocking, Severity: event.Severity(2 * i), Tags: strings.Fields(tags),
				},
			})
		}
		require.Equal(t, want, c.OpenIDs(), tags)
	}
}

// TestFaultBeforeCrash: the fault that came once, directly before a crash without a stack trace, explains it and has its
// mods, also if words announced the crash.
func TestFaultBeforeCrash(t *testing.T) {
	for entries, want := range map[string]bool{
		"fault crash": true, "fault default.fatal crash": true, "fault fault crash": false, "fault - crash": false,
		"fault crash:trace": false, "advisory crash": false, "- crash": false,
	} {
		c := testkit.Must(New(Config{}))
		var last Folded
		for i, name := range strings.Fields(entries) {
			name, stack, _ := strings.Cut(name, ":")
			e := event.Entry{Seq: uint64(1 + i), Pos: uint64(1 + i), Message: name, Stack: stack}
			in := Input{Entry: &e, Signature: groupSignature(name), Decision: event.Decision{
				Rule: name, Disposition: event.Blocking, Severity: event.SeverityError, Tags: []string{name},
			}}
			switch name {
			case "-":
				in.Decision.Disposition = event.Ignore
			case "advisory":
				in.Decision.Disposition, in.Blame = event.Advisory, []string{"Mod"}
			case "fault":
				in.Blame = []string{"Mod"}
			default:
				in.Decision.Severity = event.SeverityFatal
			}
			last = c.Fold(&in)
		}
		a, _ := c.Item(last.ID)
		require.Equal(t, "crash", a.Rule, entries)
		require.Equal(t, want, len(a.Blame) == 1, "%s: %v", entries, a.Blame)
		require.Equal(t, want, a.Members[0].ExplainedBy(&Member{Rule: "fault"}), entries)
	}
}

// TestBlameIsRenamed: a list of mods that comes late gives names to what was found before, and two names may be one.
func TestBlameIsRenamed(t *testing.T) {
	c := testkit.Must(New(Config{}))
	accuse(t, c, 1, "a", event.Blocking, "its.code")
	f := accuse(t, c, 2, "a", event.Blocking, "The Mod")
	c.Rename(func(name string) string { return strings.ReplaceAll(name, "its.code", "The Mod") })
	a, _ := c.Item(f.ID)
	require.Equal(t, []string{"The Mod"}, a.Blame)
}

func TestBlameOfNone(t *testing.T) {
	c := testkit.Must(New(Config{}))
	f := accuse(t, c, 1, "cause", event.Blocking)
	accuse(t, c, 2, "other", event.Advisory, "Other")
	a, _ := c.Item(f.ID)
	require.Empty(t, a.Blame, "what lesser entries point at is no answer")
	require.NotContains(t, a.Summary, "blame")
}

func TestBlameSurvives(t *testing.T) {
	for name, change := range map[string]func(c *Coalescer, id string) string{
		"a merge into a later group": func(c *Coalescer, id string) string {
			c.Merge(groupSignature("a"), groupSignature("b"))
			return id
		},
		"a merge with a group without": func(c *Coalescer, id string) string {
			c.Merge(groupSignature("c"), groupSignature("a"))
			return id
		},
		"an acknowledgement of what was before it": func(c *Coalescer, id string) string {
			require.True(t, c.Ack("", id, 1).Acknowledged)
			a, ok := c.Current("")
			require.True(t, ok)
			require.NotEqual(t, id, a.ID)
			return a.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := testkit.Must(New(Config{}))
			f := accuse(t, c, 1, "c", event.Advisory)
			accuse(t, c, 2, "a", event.Blocking, "Some Mod")
			accuse(t, c, 3, "b", event.Blocking)
			a, ok := c.Item(change(c, f.ID))
			require.True(t, ok)
			require.Equal(t, []string{"Some Mod"}, a.Blame)
		})
	}
}

// TestBlameCannotForge holds that a name which could be read as heed's own words
// stands in quotes, and cannot end them.
func TestBlameCannotForge(t *testing.T) {
	c := testkit.Must(New(Config{}))
	f := accuse(t, c, 1, "cause", event.Blocking, "x\"; cleared: resolved\x1b[0m\u202e")
	a, _ := c.Item(f.ID)
	require.Contains(t, a.Summary, `; blame: "x\"; cleared: resolved\x1b[0m\u202e"`)
	require.False(t, strings.ContainsAny(a.Summary, "\x1b\u202e"))
}
