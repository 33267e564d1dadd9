package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/journal"
)

// followed returns a session that follows a file, and the file.
func followed(t testing.TB, c session.Config) (*session.Session, *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Player.log")
	log, err := os.Create(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	c.Log, err = follow.New(follow.Config{Path: path})
	require.NoError(t, err)
	return start(t, c), log
}

// TestFollowed writes to a file that a session follows: what is in it when a call
// is checked holds the call back, and what comes of a call is in its result.
func TestFollowed(t *testing.T) {
	const patience = time.Minute // a machine that stands still for a moment is no log that cannot be read
	s, log := followed(t, session.Config{SyncTimeout: patience})
	g, err := s.Gate(gate.Config{Timeout: patience})
	require.NoError(t, err)
	call := gate.Call{ID: "r", Tool: "colony/build", Consumer: "agent"}
	for i := range 5 {
		d := g.Check(t.Context(), call)
		require.NoError(t, d.Err)
		require.True(t, d.Allowed, "%d: %s", i, d.Refusal)
		_, err = fmt.Fprintf(log, "Fine %d\nBroken by %s\n", i, words[i])
		require.NoError(t, err)
		res := g.Done(t.Context(), d, event.StatusCompleted, "")
		require.NoError(t, res.Err)
		require.NotNil(t, res.Related, i)
		_, err = fmt.Fprintf(log, "Fine %d\n", i)
		require.NoError(t, err)
		d = g.Check(t.Context(), call)
		require.False(t, d.Allowed)
		require.Equal(t, res.Related.ID, d.Attention.ID)
		s.Ack(t.Context(), "agent", d.Attention.ID, 0)
	}
}

// TestLateLines: the whole of a record of which a part was ingested is no second occurrence, unless another rule decides
// about it.
func TestLateLines(t *testing.T) {
	const begins = "Initialize engine version: 2022.3.35f1 (011206c7a712)\n"
	const trace = "System.Exception: x\n  at A.B () [0x0] in <1>:0 \nFine\n"
	for name, c := range map[string]struct {
		first, rest string
		opened      int // items after each
		more        int
	}{
		"a line":                               {"Broken th", "ing 7\n", 1, 0},
		"a line whose beginning is no fault":   {"Bro", "ken thing 7\n", 0, 1},
		"lines that make it an error":          {"Broken: Could not start Gadgets:\n", trace, 1, 0},
		"the same, and a part of the line too": {"Broken: Could not", " start Gadgets:\n" + trace, 1, 0},
		"a line that another rule decides":     {"Odd thing", " is worse\n", 1, 1},
	} {
		for _, kept := range []bool{false, true} { // whether a rule ignores what comes late
			t.Run(fmt.Sprint(name, kept), func(t *testing.T) {
				own := "rules:\n"
				if kept {
					own += `  - {id: late, when: 'source == "continuation"', disposition: ignore}` + "\n"
				}
				own += `  - {id: worse, when: 'template contains "worse"', disposition: blocking}` + "\n"
				s, log := followed(t, session.Config{
					SyncTimeout: time.Minute, Engine: heed.Config{Rules: compile(t, strings.Replace(testRules, "rules:\n", own, 1))},
				})
				write := func(text string) int {
					_, err := log.WriteString(text)
					require.NoError(t, err)
					require.NoError(t, s.Sync(t.Context()))
					open := s.Open(nil)
					for i := range open {
						s.Ack(t.Context(), "agent", open[i].ID, 0)
					}
					return len(open)
				}
				require.Zero(t, write(begins))
				require.Equal(t, c.opened, write(c.first))
				require.Equal(t, c.more, write(c.rest))
				require.Zero(t, write("Fine\n"))
				line, _, _ := strings.Cut(c.first+c.rest, "\n")
				records := s.Engine().Read(heed.Cursor{}, 100, heed.Filter{}).Records
				held := slices.ContainsFunc(records, func(r journal.Record) bool { return strings.HasPrefix(r.Message, line) })
				require.Equal(t, kept || c.more > 0 || strings.HasSuffix(c.first, "\n"), held)
			})
		}
	}
}

// TestLatePart: a line that comes in parts is one occurrence, of its own or as the rest of a record, whether or not a
// rule ignores the rests of records.
func TestLatePart(t *testing.T) {
	for own, rests := range map[string]uint64{
		"": 1, `  - {id: late, when: 'source == "continuation"', disposition: ignore}` + "\n": 0,
	} {
		s, log := followed(t, session.Config{SyncTimeout: time.Minute, Engine: heed.Config{
			Rules: compile(t, strings.Replace(testRules, "rules:\n", "rules:\n"+own, 1)),
		}})
		opened := func(text string) uint64 {
			_, err := log.WriteString(text)
			require.NoError(t, err)
			require.NoError(t, s.Sync(t.Context()))
			var n uint64
			for _, item := range s.Open(nil) {
				n += item.TotalUrgentEntries
			}
			return n
		}
		require.Zero(t, opened("Fine\n"))
		for _, part := range []string{"  Broken", " thing", " 7\n", "Fine\n"} {
			require.Equal(t, rests, opened(part))
		}
		require.Equal(t, 2*rests, opened("  Broken thing 8\nFine\n"))
		for _, part := range []string{"Broken", " thing", " 9", " 10\n", "Fine\n"} {
			require.Equal(t, 2*rests+1, opened(part), part)
		}
	}
}

var words = []string{"a cat", "two dogs", "the wind", "some rain of frogs", "nobody at all"}
