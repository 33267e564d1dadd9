package blame_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/testkit"
)

// TestNeighbors holds which records next to a fault name its mod: a trace, with few records in between, of one mod that
// a list or a folder gives, no statement of less weight. The mod has the number of the fault before it.
func TestNeighbors(t *testing.T) {
	const (
		fault  = "[10:00:00 ERROR]: Broken: the server does not respond"
		config = "loaded the settings from res://mods-unpacked/acme-Loom/main.gd:140"
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
		{"0 Loom", [][]string{{fault, "[10:00:00 ERROR]: trace: res://mods-unpacked/acme-Loom/main.gd:140 (_ready)"}}},
		{"0 Loom", [][]string{{fault, "backtrace: res://mods-unpacked/acme-Loom/main.gd:140 (_ready)"}}},
		{"0 Press", [][]string{{fault, "[Callstack] 0x0 Game-Press-Win64.dll!Turn() []"}}},
		{"", [][]string{{fault, chat, error, frame}}},
		{"0 Press", [][]string{{fault, "[10:00:01] LogPress: Error: ", error, frame}}},
		{"", [][]string{{frame, chat, fault}}},
		{"", [][]string{{fault, "[10:00:00 ERROR]: at com.other.turn.Roller.turn(Roller.java:57)"}}},
		{"", [][]string{{fault, "loading mod Press from mods/press"}}},
		{"", [][]string{{fault, "[10:00:01 INFO]: " + config}}},
		{"", [][]string{{"[10:00:01 INFO]: " + config, fault}}},
		{"", [][]string{{fault, config}}},
		{"", [][]string{{fault, "[10:00:01 INFO]: see res://mods-unpacked/acme-Loom/main.gd:140 (_ready)"}}},
		{"0 Press", [][]string{{fault, "[10:00:01 INFO]: at com.acme.press.Roller.turn(Roller.java:57)"}}},
		{"0 Press", [][]string{{"@0 " + fault, "@9 " + frame}}},
		{"", [][]string{{"@0 " + fault, "@11 " + frame}}},
		{"", [][]string{{"@0 " + frame, "@11 " + fault}}},
		{"", [][]string{{fault, "[10:00:01 ERROR]:" + strings.Repeat(" ", 5000) + config}}},
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
				var at time.Time
				if rest, ok := strings.CutPrefix(text, "@"); ok {
					var seconds string
					seconds, text, _ = strings.Cut(rest, " ")
					at = time.Unix(testkit.Must(strconv.ParseInt(seconds, 10, 64)), 0)
				}
				r := blame.Record{
					Seq: seq, Time: at, Message: text, IsError: strings.Contains(text, "ERROR"),
					IsFault: strings.Contains(text, "Broken"), IsNamed: text == named, IsOther: text == other,
				}
				if r.IsFault && !r.IsNamed {
					if names := n.Before(f, at); len(names) > 0 {
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
