package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRefTableAgainstModel holds the table to a list that is searched from the
// front.
func TestRefTableAgainstModel(t *testing.T) {
	type entry struct {
		ref   uint64
		trace string
	}
	rapid.Check(t, func(t *rapid.T) {
		slots, bytes := rapid.IntRange(1, 5).Draw(t, "slots"), rapid.IntRange(1, 40).Draw(t, "bytes")
		tab := newRefTable(slots, bytes)
		var model []entry // most recently used first
		use := func(e entry) {
			for i := range model {
				if model[i].ref == e.ref {
					model = append(model[:i], model[i+1:]...)
					break
				}
			}
			model = append([]entry{e}, model...)
		}
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			ref := rapid.Uint64Range(1, 7).Draw(t, "ref")
			if rapid.Bool().Draw(t, "put") {
				trace := strings.Repeat(fmt.Sprint(i%10), rapid.IntRange(0, 45).Draw(t, "length"))
				tab.put(ref, []byte(trace))
				if trace == "" || len(trace) > bytes {
					continue
				}
				use(entry{ref, trace})
				for sum := 1; sum > 0; {
					sum = -bytes
					for _, e := range model {
						sum += len(e.trace)
					}
					if sum > 0 || len(model) > slots {
						model = model[:len(model)-1]
						sum = 1
					}
				}
				continue
			}
			got, ok := tab.get(ref)
			want := ""
			for _, e := range model {
				if e.ref == ref {
					want = e.trace
					use(e)
					break
				}
			}
			if ok != (want != "") || string(got) != want {
				t.Fatalf("get(%d) = %q, want %q", ref, got, want)
			}
		}
	})
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
