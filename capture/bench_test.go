package capture

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// synthetic is a capture in the layout of Unity 2022.3 or, with footers, of
// 2019.4: messages, reports of errors, exceptions with traces and references.
// It returns how many records it holds.
func synthetic(footers bool, rounds int) (string, int) {
	var b strings.Builder
	records := 0
	end := func() {
		if footers {
			b.WriteString(" \r\n" + footer + "\r\n\r\n")
		} else {
			b.WriteString("\r\n")
		}
		records++
	}
	names := []string{"Мира", "은비", "Anselm", "Juno"}
	for i := range rounds {
		name := names[i%len(names)]
		fmt.Fprintf(&b, "[Tools] item %d of %s is ready\r\n", i, name)
		b.WriteString("Fallback handler could not load library C:/games/RimWorld/Mono/data-0000012345678900.dll\r\n")
		records += 2
		fmt.Fprintf(&b, "Could not resolve reference to object with loadID Thing_%d of type Verse.Thing. curParent=%s", i, name)
		end()
		fmt.Fprintf(&b, "Exception ticking Human%d (at (%d, 0, 7)): System.NullReferenceException: Object reference not set to an instance of an object", i, i%250)
		fmt.Fprintf(&b, "\r\n[Ref %X]", 1+i%7)
		if i < 7 {
			for j := range 12 {
				fmt.Fprintf(&b, "\r\n  at Gadget.Panel%d.Draw (System.Int32 x, Verse.Pawn pawn) [0x000%02x] in <0123456789abcdef0123456789abcdef>:0 ", j, j)
			}
		} else {
			b.WriteString(" Duplicate stacktrace, see ref for original")
		}
		end()
		fmt.Fprintf(&b, "%s doing ThinkNode_Duty with no duty.", name)
		end()
	}
	return b.String(), records
}

func BenchmarkReader(b *testing.B) {
	plain, plainRecords := synthetic(false, 2000)
	footed, footedRecords := synthetic(true, 2000)
	storm := strings.Repeat("Mech_Cleansweeper4711 doing ThinkNode_DutyConstant with no duty.\r\n", 20_000)
	json := strings.Repeat(`{"time":"2026-01-02T03:04:05.678Z","level":"warning","source":"world","message":"no road to 초원","tile":4711}`+"\n", 10_000)
	for _, c := range []struct {
		name, text string
		records    int
	}{
		{"unity-2022.3", unity2022_3 + plain, plainRecords + 4},
		{"unity-2019.4", unity2019_4 + footed, footedRecords + 3},
		{"single lines", unity2022_3 + storm, 20_004},
		{"json", json, 10_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := NewReader(strings.NewReader(c.text), Options{})
				require.NoError(b, err)
				var rec Record
				n := 0
				for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
					n++
				}
				if !errors.Is(err, io.EOF) || n != c.records {
					b.Fatalf("%d records, want %d: %v", n, c.records, err)
				}
			}
		})
	}
}
