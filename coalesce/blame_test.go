package coalesce

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// accuse folds an entry of a group and says whom it points at.
func accuse(t *testing.T, c *Coalescer, seq uint64, group string, d event.Disposition, names ...string) Folded {
	t.Helper()
	e := event.Entry{Seq: seq, Pos: seq, Message: group}
	f := c.Fold(&Input{Entry: &e, Signature: groupSignature(group), Decision: event.Decision{Rule: "r", Disposition: d}})
	c.Attribute(f.Owner, names)
	return f
}

func TestBlame(t *testing.T) {
	c, err := New(Config{})
	require.NoError(t, err)

	f := accuse(t, c, 1, "lesser", event.Advisory, "Reporter")
	a, _ := c.Item(f.ID)
	require.Equal(t, []string{"Reporter"}, a.Blame)
	require.Contains(t, a.Summary, "(1 entry in 1 group); blame: Reporter")

	accuse(t, c, 2, "cause", event.Blocking, "Some Mod", "Other", "Third")
	a, _ = c.Item(f.ID)
	require.Equal(t, []string{"Some Mod", "Other"}, a.Blame, "the cause's, and no more than two")
	require.Contains(t, a.Summary, `; blame: "Some Mod", Other; first at entry 1; 1 less serious entry`)
	require.Equal(t, []string{"Some Mod", "Other"}, a.Sample[0].Blame)
	require.Equal(t, []string{"Reporter"}, a.Sample[1].Blame)

	accuse(t, c, 3, "cause", event.Blocking, "Late")
	a, _ = c.Item(f.ID)
	require.Equal(t, []string{"Some Mod", "Other"}, a.Blame, "only the first entry of a group is asked")

	a.Blame[0] = "changed"
	again, _ := c.Item(f.ID)
	require.Equal(t, "Some Mod", again.Blame[0], "what is rendered belongs to the caller")

	c.Attribute(99, []string{"Nobody's"})
	c.Attribute(f.Owner, nil)
	again, _ = c.Item(f.ID)
	require.Equal(t, "Some Mod", again.Blame[0])
}

func TestBlameOfNobody(t *testing.T) {
	c, err := New(Config{})
	require.NoError(t, err)
	f := accuse(t, c, 1, "cause", event.Blocking)
	accuse(t, c, 2, "other", event.Blocking, "Other")
	a, _ := c.Item(f.ID)
	require.Empty(t, a.Blame, "what other groups point at is no answer")
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
			c, err := New(Config{})
			require.NoError(t, err)
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
	c, err := New(Config{})
	require.NoError(t, err)
	f := accuse(t, c, 1, "cause", event.Blocking, "x\"; cleared: resolved\x1b[0m\u202e")
	a, _ := c.Item(f.ID)
	require.Contains(t, a.Summary, `; blame: "x\"; cleared: resolved\x1b[0m\u202e"`)
	require.False(t, strings.ContainsAny(a.Summary, "\x1b\u202e"))
}
