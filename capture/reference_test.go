package capture

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// referenceCaptures are the reference captures, by their names.
func referenceCaptures(tb testing.TB) map[string][]byte {
	tb.Helper()
	dir := testkit.Dir(tb, "rimworld")
	all := files(tb, filepath.Join(dir, "*.log"))
	maps.Copy(all, files(tb, filepath.Join(dir, "*.txt")))
	if len(all) == 0 {
		tb.Skipf("reference data: no captures in %s", dir)
	}
	return all
}

func TestReferenceCapturesAreCovered(t *testing.T) {
	for name, data := range referenceCaptures(t) {
		t.Run(name, func(t *testing.T) {
			recs, r := read(t, bytes.NewReader(data), Options{})
			requireCovers(t, string(data), recs)
			require.True(t, r.At().Layout.unity() || r.At().Layout == layoutHugsLib, "%v", r.At().Layout)
			for i := range recs {
				require.NotEqual(t, refUnresolved, recs[i].RefState, "line %d", recs[i].StartLine)
			}
			again, _ := read(t, iotest.HalfReader(bytes.NewReader(data)), Options{})
			require.Equal(t, recs, again)
		})
	}
}

// TestReferenceLabels holds the splitting to what annotators saw as one record.
func TestReferenceLabels(t *testing.T) {
	dir := testkit.Dir(t, "rimworld")
	f, err := os.Open(filepath.Join(dir, "labels.csv"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("reference data: %v", err)
	}
	require.NoError(t, err)
	rows := testkit.Must(csv.NewReader(f).ReadAll())
	require.NoError(t, f.Close())
	type score struct{ begin, both, total int }
	scores, ends := map[string]*score{}, map[string]map[int]int{}
	var all score
	for _, row := range rows[1:] {
		name := row[0]
		if scores[name] == nil {
			data := testkit.Must(os.ReadFile(filepath.Join(dir, name)))
			recs, _ := read(t, bytes.NewReader(data), Options{})
			scores[name], ends[name] = &score{}, map[int]int{}
			for _, r := range recs {
				ends[name][r.StartLine] = r.EndLine
			}
		}
		start := testkit.Must(strconv.Atoi(row[1]))
		end := testkit.Must(strconv.Atoi(row[2]))
		for _, s := range []*score{scores[name], &all} {
			s.total++
			if got, ok := ends[name][start]; ok {
				s.begin++
				if got == end {
					s.both++
				}
			}
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	for name, s := range scores {
		t.Logf("%-40s %.4f begin and %.4f begin and end alike, of %d", name, share(s.begin, s.total), share(s.both,
			s.total), s.total)
		require.GreaterOrEqual(t, share(s.begin, s.total), 0.98, name)
		require.GreaterOrEqual(t, share(s.both, s.total), 0.95, name)
	}
	require.GreaterOrEqual(t, share(all.begin, all.total), 0.995)
	require.GreaterOrEqual(t, share(all.both, all.total), 0.98)
}

// TestRefTable holds the bounds of the table: an evicted trace is the least recently used.
func TestRefTable(t *testing.T) {
	tab := newRefTable(3, 10)
	for ref, trace := range []string{"", "aaaa", "bbbb", "cc", "longer than all"} {
		tab.put(uint64(ref), []byte(trace))
	}
	get := func(ref uint64) string {
		trace, _ := tab.get(ref)
		return string(trace)
	}
	require.Equal(t, []string{"", "aaaa", "bbbb", "cc", ""}, []string{get(0), get(1), get(2), get(3), get(4)})
	tab.put(5, []byte("d"))
	require.Equal(t, []string{"", "bbbb", "cc", "d"}, []string{get(1), get(2), get(3), get(5)}, "by number")
	tab.put(2, []byte("bbbbbbbb"))
	require.Equal(t, []string{"bbbbbbbb", "", "d"}, []string{get(2), get(3), get(5)}, "by bytes")
	tab.put(5, []byte("dd"))
	require.Equal(t, []string{"bbbbbbbb", "dd"}, []string{get(2), get(5)}, "in place of itself")
}

func TestRefEviction(t *testing.T) {
	const all = maxRefs + 2
	var b strings.Builder
	b.WriteString(unity2022_3)
	for i := 1; i <= all; i++ {
		fmt.Fprintf(&b, "oh: System.Exception: x\n[Ref %X]\n  at Gadget.M%d () [0x0] in <1>:0 \n", i, i)
	}
	for i := 1; i <= all; i++ {
		fmt.Fprintf(&b, "oh: System.Exception: x\n[Ref %X] Duplicate stacktrace, see ref for original\n", i)
	}
	recs := records(t, b.String())
	for i, r := range recs[len(recs)-all:] {
		if i < 2 {
			require.Equal(t, refUnresolved, r.RefState)
			require.Contains(t, r.Message, "Duplicate stacktrace", "it stays visible")
			require.Empty(t, r.Stack)
			continue
		}
		require.Equal(t, refResolved, r.RefState)
		require.Equal(t, fmt.Sprintf("  at Gadget.M%d () [0x0] in <1>:0 ", i+1), r.Stack)
		require.Equal(t, "oh: System.Exception: x", r.Message)
	}
}

// TestRefBelowFrameWithSpace holds that the space before a footer, which ends a trace, is none of the reference's.
func TestRefBelowFrameWithSpace(t *testing.T) {
	for _, frame := range []string{"  at Gadget.M1 () [0x0] in <1>:0 ", "Gadget:M1 () "} {
		recs := records(t, unity2019_4+"oh: System.Exception: x\n"+frame+"\n[Ref A1]\n(Filename: a Line: 1)\n\non\n")
		require.NotEmpty(t, recs)
	}
}

// TestLookAtTextOfLines holds that lines in one text of a container are not taken for the first of them.
func TestLookAtTextOfLines(t *testing.T) {
	recs := records(t, strings.Repeat(`{"log":"Gadget.Mill:Turn ()\n\nStarted 10 jobs jobList=","stream":"stdout"}`+"\n", 3))
	require.Len(t, recs, 3)
	require.Empty(t, recs[2].Stack)
}

func TestOmission(t *testing.T) {
	for message, want := range map[string]uint64{
		"last message repeated 12 times":                                     12,
		"message repeated 3 times: [ no paper ]":                             3,
		"Previous message repeated 4 times.":                                 4,
		"Suppressed 1843 messages from press.service":                        1843,
		"net_ratelimit: 9 callbacks suppressed":                              9,
		"press: 12 printk messages dropped":                                  12,
		"** 12 printk messages dropped **":                                   12,
		"imjournal: 345 messages lost due to rate-limiting":                  345,
		"Missed 5 kernel messages":                                           5,
		"[Lamps] 7 similar messages were suppressed":                         7,
		"The message of the press was lost":                                  0,
		"3 messages are read":                                                0,
		"Player 7 sent a message, and the press of the east wing dropped it": 0,
		"Dropped 3 lamps":                                                    0,
	} {
		assert.Equal(t, want, omission(message), message)
	}
	in := doc("Apr  5 10:00:00 lamp press[1]: no paper", "Apr  5 10:00:02 lamp last message repeated 12 times",
		"Apr  5 10:00:03 lamp press[1]: on")
	recs := records(t, in)
	require.Len(t, recs, 4)
	want := event.Notice{Status: event.StatusRunCut, Count: 12, Pos: 2, Detail: recs[2].Message}
	require.Equal(t, want.Entry(), recs[2].Entry)
}

// TestFooterEverywhere reads logs in which all that managed code logs has a footer, and logs in which it does not.
func TestFooterEverywhere(t *testing.T) {
	for _, c := range []struct {
		name, banner, between string
		want                  event.Level
	}{
		{"another game", "Lamps", "", event.LevelUnknown},
		{"the game", "RimWorld", "", event.LevelWarning},
		{"lines without a footer", "RimWorld", "Lamp %d is lit\nLamp %[1]d is dark\n", event.LevelWarning},
	} {
		var log strings.Builder
		fmt.Fprintf(&log, "Mono path[0] = 'C:/%s_Data/Managed'\nInitialize engine version: 2019.4.20f1 (6dd1c08eedfa)\n", c.banner)
		for i := range 40 {
			fmt.Fprintf(&log, "Lamp %d burns \n%s\n\n", i, footer)
			if c.between != "" {
				fmt.Fprintf(&log, c.between, i)
			}
		}
		records := records(t, log.String())
		last := records[len(records)-1]
		if c.between != "" {
			assert.Equal(t, event.LevelInfo, last.Level, c.name)
			last = records[len(records)-3]
		}
		assert.Equal(t, c.want, last.Level, "%s: %s", c.name, last.Message)
	}
}

// TestHeadsInUnity reads levels in the heads that mods write in a log of Unity's.
func TestHeadsInUnity(t *testing.T) {
	for line, want := range map[string]event.Level{
		"2031-04-05 10:00:00 ERROR no lamp": event.LevelError,
		"*** WARNING *** no lamp":           event.LevelWarning,
		"Error: no lamp":                    event.LevelUnknown,
		"No lamp (ERROR)":                   event.LevelUnknown,
	} {
		recs := records(t, doc("Mono path[0] = '/opt/x'", line))
		assert.Equal(t, want, recs[1].Level, line)
	}
}
