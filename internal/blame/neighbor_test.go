package blame_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
)

// TestNeighbors holds which records next to a fault name its mod: a trace, with few records in between, of one mod that
// a list or a folder gives. The mod has the number of the fault before it.
func TestNeighbors(t *testing.T) {
	const (
		fault  = "Broken: the server does not respond"
		frame  = "[10:00:00 ERROR]: \t\tpress-1.2.jar//com.acme.turn.Roller.turn(Roller.java:57)"
		script = "function: x -- file: a.lua line # 3 | MOD: Press"
		chat   = "[10:00:01 INFO]: hello"
		error  = "[10:00:02 ERROR]: another report"
		other  = "Other: trouble at res://mods-unpacked/acme-Loom/main.gd:140"
		named  = "Broken: mod 'Loom'"
	)
	many := func(n int, record string) []string { return strings.Split(strings.Repeat(record+"\n", n), "\n")[:n] }
	for _, test := range []struct {
		want    string
		records [][]string
	}{
		{"0 Press", [][]string{{fault, frame}}},
		{"0 Press", [][]string{{frame, fault}}},
		{"0 Press", [][]string{{fault, script}}},
		{"0 Press", [][]string{{fault}, many(6, chat), {script}}},
		{"", [][]string{{fault}, many(7, chat), {script}}},
		{"1 Press", [][]string{{fault, fault}, many(15, error), {frame}}},
		{"", [][]string{{fault, fault}, many(16, error), {frame}}},
		{"0 Loom", [][]string{{fault, "trace: res://mods-unpacked/acme-Loom/main.gd:140 (_ready)"}}},
		{"0 Press", [][]string{{fault, "[Callstack] 0x0 Game-Press-Win64.dll!Turn() []"}}},
		{"", [][]string{{fault, chat, error, frame}}},
		{"0 Press", [][]string{{fault, "[10:00:01] LogPress: Error: ", error, frame}}},
		{"", [][]string{{frame, chat, fault}}},
		{"", [][]string{{fault, "[10:00:00 ERROR]: at com.other.turn.Roller.turn(Roller.java:57)"}}},
		{"", [][]string{{fault, "loading mod Press from mods/press"}}},
		{"", [][]string{{fault, other}}},
		{"", [][]string{{fault, named, frame}}},
		{"0 Press", [][]string{{fault, script + "\nfunction: y -- file: b.lua line # 4 | MOD: Press"}}},
		{"", [][]string{{fault, script + "\nfunction: y -- file: b.lua line # 4 | MOD: Loom"}}},
	} {
		f := finder(t, blame.Mod{Name: "Press"}, blame.Mod{Name: "Loom"})
		var n blame.Neighbors
		var got []string
		seq := uint64(100)
		for _, records := range test.records {
			for _, text := range records {
				r := blame.Record{
					Seq: seq, Message: text, IsError: strings.Contains(text, "ERROR"), IsFault: strings.HasPrefix(text, "Broken"),
					IsNamed: text == named, IsOther: text == other,
				}
				if r.IsFault && !r.IsNamed {
					if names := n.Before(f); len(names) > 0 {
						got = append(got, "0 "+names[0])
					}
				}
				if names, fault := n.Next(f, &r); len(names) > 0 {
					got = append(got, string('0'+rune(fault-100))+" "+names[0])
				}
				seq++
			}
		}
		require.Equal(t, test.want, strings.Join(got, ", "), "%q", test.records)
	}
}
