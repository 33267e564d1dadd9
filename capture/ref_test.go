package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
