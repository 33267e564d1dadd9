package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestPlainExceptions holds that what was thrown is told together with the line that
// reports it, in the forms of Java, Python, .NET and loaders of mods.
func TestPlainExceptions(t *testing.T) {
	const frame = "\tat acme.Press.turn(Press.java:57) ~[press-2.3.jar:?]\n"
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"Java": {
			"[10:00:00] [main/ERROR]: Press is stuck\nacme.class_148: no paper\n" + frame + "\t... 5 more\nCaused by: java.lang.Error: empty\n" + frame + "[10:00:01] [main/INFO]: on\n",
			[]string{"1-6 error", "7-7 info"},
		},
		"Java, below what is no fault":     {"[10:00:00] [main/INFO]: on\njava.lang.Error: empty\n[10:00:00] [main/DEBUG]: on\njava.lang.Error: empty\n", []string{"1-1 info", "2-2 error", "3-3 debug", "4-4 error"}},
		"Java, below a detail":             {"[10:00:00] [main/DEBUG]: no lamp, made anew\njava.io.IOException: empty\n" + frame, []string{"1-3 debug"}},
		"a tick, in any language":          {"  12.3 Info a.cpp:1: on\n  12.345 Error MainLoop.cpp:14: Exception at tick 7: Die Mod Press (1.0) ist schuld.\n\nFehler in press::on_tick\n__press__/control.lua:12: nil\nstack traceback:\n\t__press__/control.lua:12: in function\n  12.400 Info b.cpp:1: on\n", []string{"1-1 info", "2-7 error", "8-8 info"}},
		"Caused by without a trace":        {"2031 ERROR x\nCaused by: rain\n", []string{"1-1 error", "2-2 unknown"}},
		".NET":                             {"[10:00:00 ERROR Gadgets] Press is stuck: \nSystem.Exception: x\n   at Gadgets.Press.Turn()\n", []string{"1-3 error"}},
		"a loader":                         {"[Error  : Unity Log] Exception: x\nStack trace:\nGadgets.Press.Turn () (at <00112233445566778899aabbccddeeff>:0)\n\n[Info   : Unity Log] on\n", []string{"1-3 error", "5-5 info"}},
		"Python":                           {"2031 ERROR job failed\nTraceback (most recent call last):\n  File \"a.py\", line 4, in run\n    self.go()\nKeyError: 'x'\n2031 INFO on\n", []string{"1-5 error", "6-6 info"}},
		"Node, the end":                    {"TypeError: x\n    at run (a.js:1:2)\n    at node:internal/main:3:4\n\nNode.js v22.1.0\nnext\n", []string{"1-5 unknown", "6-6 unknown"}},
		"Node, a version":                  {"on\n\nNode.js v22.1.0 is there\n", []string{"1-1 unknown", "3-3 unknown"}},
		"Python, alone":                    {"Traceback (most recent call last):\n  File \"a.py\", line 4, in run\nKeyError: 'x'\nnext\n", []string{"1-3 unknown", "4-4 unknown"}},
		"Python, below a line of another":  {"While turning the press:\n  File \"game/press.rpy\", line 4, in script\n    go()\nNameError: 'x'\nnext\n", []string{"1-4 unknown", "5-5 unknown"}},
		"Python, below a report":           {"An uncaught exception occurred.\n\nWhile turning the press:\n  File \"game/press.rpy\", line 4, in script call\n    go()\nNameError: 'x'\nnext\n", []string{"1-6 unknown", "7-7 unknown"}},
		"JavaScript":                       {"ERROR: press.js line 12\nTypeError: x is undefined\n  Press.prototype.turn@scripts/Press.js:12:31\nnext\n", []string{"1-3 error", "4-4 unknown"}},
		"a title, and lines set in":        {"[01/02/2031 - 10:00:00AM] Error: stuck\nstack:\n\t[PressQuest (1E000D62)].PressQuest.OnUpdate() - \"PressQuest.psc\" Line 41\n[01/02/2031 - 10:00:01AM] on\n", []string{"1-3 error", "4-4 unknown"}},
		"a title, and places":              {"[00:02:41]: [string \"mods/press.lua\"]:63: kein Gang\nLUA ERROR stack traceback:\nmods/press.lua:63 in (method) OnUpdate (Lua) <58-71>\nscripts/update.lua:253 in () ? (Lua) <224-298>\n[00:02:42]: on\n", []string{"1-4 unknown", "5-5 unknown"}},
		"below a title":                    {"---- Press Report ----\n// Oh.\n\nTime: 4/5/31\nWhat: turning\n\njava.lang.Error: stuck\n" + frame + "\nDetails\n", []string{"1-8 error", "10-10 unknown"}},
		"a title alone":                    {"==== Press ====\nTime: 4/5/31\nall is well\n", []string{"1-1 unknown", "2-2 unknown", "3-3 unknown"}},
		"a title and records":              {"==== Press ====\n[Press] on\njava.lang.Error: stuck\n" + frame, []string{"1-1 unknown", "2-2 unknown", "3-4 error"}},
		"Ruby":                             {"2031 ERROR stuck\npress.rb:4:in 'turn': stuck (PressError)\n\tfrom press.rb:3:in 'run'\n\tfrom press.rb:1:in '<main>'\n2031 INFO on\n", []string{"1-1 error", "2-4 unknown", "5-5 info"}},
		"Python, below what is no fault":   {"2031 INFO on\nTraceback (most recent call last):\n  File \"a.py\"\nKeyError\n", []string{"1-1 info", "2-4 unknown"}},
		"a word below an error":            {"2031 ERROR job failed\nretrying\n", []string{"1-1 error", "2-2 unknown"}},
		"an error below another":           {"2031 ERROR job failed\nError: no paper\n2031 INFO on\n", []string{"1-1 error", "2-2 error", "3-3 info"}},
		"words below an error":             {"2031 ERROR no files\npress/acme.dll\ntray/acme.cfg\n2031 INFO on\n", []string{"1-1 error", "2-2 unknown", "3-3 unknown", "4-4 info"}},
		"Go, a panic that is only a word":  {"2031/04/05 10:00:00 panic: no oil\n2031/04/05 10:00:01 on\n", []string{"1-1 error", "2-2 unknown"}},
		"Go, a panic, and the end":         {"2031/04/05 10:00:00 panic: no oil\n", []string{"1-1 unknown"}},
		"Go, a panic with heads":           {"2031/04/05 10:00:00 panic: no oil\n2031/04/05 10:00:00 goroutine 1 [running]:\n", []string{"1-1 unknown", "2-2 unknown"}},
		"Go, a panic of the runtime":       {"2031/04/05 10:00:00 on\npanic: no oil\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/a.go:2 +0x1d\n2031/04/05 10:00:02 on\n", []string{"1-1 unknown", "2-6 unknown", "7-7 unknown"}},
		"a printed stack of Go":            {"2031 INFO on\ngoroutine 1 [running]:\nmain.turn(...)\n\t/src/main.go:7 +0x1d\nstuck\n2031 INFO on\n", []string{"1-1 info", "2-4 unknown", "5-5 unknown", "6-6 info"}},
		"a level in its column":            {"[10:00:00] INFO     on\n           ERROR    stuck\n           CRITICAL no paper\n             in the tray\n           INFO     off\n", []string{"1-1 info", "2-2 error", "3-4 fatal", "5-5 info"}},
		"a level set in elsewhere":         {"[10:00:00] ERROR    stuck\n    ERROR    in the tray\n", []string{"1-2 error"}},
		"two lines of java.util.logging":   {"Apr 05, 2031 10:00:00 AM acme.Press turn\nINFO: on\nApr 05, 2031 10:00:00 AM acme.Press <init>\nSEVERE: stuck\n", []string{"1-2 info", "3-4 error"}},
		"faults of one time and tag":       {"[10:00:00] [P] ERROR: could not turn\n[10:00:00] [P] FATAL: heap\n[10:00:00] [P] Exception: oil\n[10:00:00] [P] Exception: oil\n", []string{"1-1 error", "2-2 fatal", "3-3 unknown", "4-4 unknown"}},
		"a report with a head each line":   {"[10:00:00] [P] Exception: x\n[10:00:00] [P] Blaming: a.smx\n[10:00:00] [P]   [0] Turn\n[10:00:00] [P] on\n[10:00:01] [P]   off\n", []string{"1-3 unknown", "4-4 unknown", "5-5 unknown"}},
		"a crash report, each line headed": {"[2031.01.02-03.04.05:678][  7]LogPress: Error: === Critical error: ===\n[2031.01.02-03.04.05:678][  7]LogPress: Error: \n[2031.01.02-03.04.05:678][  7]LogPress: Error: Fatal\n[2031.01.02-03.04.05:678][  7]LogPress: Error: [Callstack] 0x00007ffd0a1f3c4e Press.dll!Turn\n[2031.01.02-03.04.05:678][  7]LogPress: off\n", []string{"1-2 error", "3-4 error", "5-5 unknown"}},
		"a field below an exception":       {"[10:00:00] [P] Exception: x\n[10:00:00] [P] Retries: 3\n[10:00:00] [P] on\n[10:00:00] [P] Exception: x\n[10:00:00] [P] Retries: 3\n", []string{"1-1 unknown", "2-2 unknown", "3-3 unknown", "4-4 unknown", "5-5 unknown"}},
		"a line that ends in brackets":     {"E44 press: stuck: idx[1]\nE44 press: stuck: idx[1]\n", []string{"1-1 unknown", "2-2 unknown"}},
		"a frame with a head":              {"[10:00:00] [P] no oil\n[10:00:00] [P] \n[10:00:00] [P] *FUNCTION [Turn()] /ai/press.nut line [41]\n[10:00:00] [P] *FUNCTION\n", []string{"1-3 unknown", "4-4 unknown"}},
		"a level below two words":          {"10:00:00 press turned\nERROR: stuck\n", []string{"1-1 unknown", "2-2 error"}},
		"errors below a count of errors":   {"saved { errors: 0 }\nfailed Error: x\n    at turn (press.js:12:3)\n", []string{"1-1 unknown", "2-3 unknown"}},
		"a colon below an error":           {"2031 ERROR job failed\n:\n[]\n", []string{"1-1 error", "2-2 unknown", "3-3 unknown"}},
		"a host below an error":            {"2031 ERROR job failed\n10.0.0.1: gone\n", []string{"1-1 error", "2-2 unknown"}},
		"seconds below a title":            {"   0.950 Info a.cpp:1: on\nstack traceback:\n   1.020 Info b.cpp:1: on\n  20.100 Info c.cpp:1: on\n", []string{"1-2 info", "3-3 info", "4-4 info"}},
		"seconds, flush right":             {"   0.000 starting\n   0.101 Error Press.cpp:1: stuck\n  in the tray\n 131.421 Info Press.cpp:2: on\n", []string{"1-1 unknown", "2-3 error", "4-4 info"}},
	} {
		t.Run(name, func(t *testing.T) {
			recs, _ := read(t, strings.NewReader(c.in), Options{Layout: LayoutPlain})
			requireCovers(t, c.in, recs)
			var got []string
			for _, rec := range recs {
				got = append(got, fmt.Sprintf("%d-%d %s", rec.StartLine, rec.EndLine, rec.Level))
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestBelowHead holds that a line without a head continues a report of a fault where all records have heads, and no
// other record.
func TestBelowHead(t *testing.T) {
	const on, fault, off = "[10:00:00] [main/INFO]: on\n", "[10:00:01] [main/ERROR]: turn failed\n", "[10:00:02] [main/INFO]: off\n"
	for in, want := range map[string]string{
		fault + "No oil.\n" + off:              "1-1 2-2 3-3", // no other record has a head so far
		on + fault + "No oil.\n" + off:         "1-1 2-3 4-4",
		on + fault + "No oil.\n":               "1-1 2-3",
		on + fault + "No oil.\n\nNo paper.\n":  "1-1 2-3 5-5",
		on + "No oil.\n" + fault + "No oil.\n": "1-1 2-2 3-3 4-4",
		on + fault + "A cure is known:\n\t- Pour oil.\nDetails:\n\t- The 'press' has no oil\n\tat acme.Press.turn(Press.java:57)\n" +
			off: "1-1 2-7 8-8",
		on + "[10:00:01] [main/WARN]: The trays are:\n- one\n- two\nNo oil.\n" + off: "1-1 2-5 6-6",
		on + fault + "---- Press report ----\n" + off:                                "1-1 2-2 3-3 4-4",
		on + fault + "Fatal error!\n" + off:                                          "1-1 2-2 3-3 4-4",
		on + fault + "(press:7) no oil\n" + off:                                      "1-1 2-2 3-3 4-4",
		on + "[10:00:01] [main/INFO]: no error\nNo oil.\n" + off:                     "1-1 2-2 3-3 4-4",
		on + fault + "# The machine is on fire:\n" + off:                             "1-1 2-2 3-3 4-4",
		on + fault + "thread 'main' panicked at press.rs:7:5:\nno oil\n" + off:       "1-1 2-2 3-4 5-5",
		on + fault + "panic: no oil\n" + off:                                         "1-1 2-2 3-3 4-4",
		on + fault + strings.Repeat("No oil.\n", 70):                                 "1-1 2-65 66-66 67-67 68-68 69-69 70-70 71-71 72-72",
	} {
		var got []string
		for _, rec := range covered(t, in) {
			got = append(got, fmt.Sprintf("%d-%d", rec.StartLine, rec.EndLine))
		}
		require.Equal(t, want, strings.Join(got, " "), in)
	}
}

// TestColors holds that the codes of colors are no part of a record, and hide no level.
func TestColors(t *testing.T) {
	in := "10:00:00 \x1b[31mERROR\x1b[0m press \x1b[1;33mstuck\x1b[0m\x1b[K\n\x1b[32mINFO: \x1b[0mready\n\x1b[0m\n\x1b]0;title\x07 on\n"
	recs, _ := read(t, strings.NewReader(in), Options{Layout: LayoutPlain})
	require.Equal(t, []string{"10:00:00 ERROR press stuck error", "INFO: ready info", "\x1b]0;title\x07 on unknown"}, []string{
		recs[0].Message + " " + recs[0].Level.String(), recs[1].Message + " " + recs[1].Level.String(),
		recs[2].Message + " " + recs[2].Level.String(),
	})
}

// TestCutBelowBreak holds that a message may be cut below the end of any of its lines.
func TestCutBelowBreak(t *testing.T) {
	for limit := range 64 {
		in := "10:00:00 ERROR a\n" + strings.Repeat("  b\n", 99) + "at the margin\n"
		_, r := read(t, strings.NewReader(in), Options{Layout: LayoutPlain, maxRecordText: 256 + limit})
		require.Equal(t, uint64(len(in)), r.At().Bytes)
	}
}

// TestPage: the console of a browser is read as the page wrote it.
func TestPage(t *testing.T) {
	const head = "[1:2:0405/100000.123:INFO:CONSOLE(7)] "
	for message, want := range map[string]string{
		head + `"stuck\n    at turn (press.js:7:3)", source: press.js (7)`: head + "stuck\n    at turn (press.js:7:3)",
		head + `stuck`: head + "stuck",
		`[1:2:0405/100000.123:INFO:CONSOLE(x)] "stuck", source: press.js (7)`: `[1:2:0405/100000.123:INFO:CONSOLE(x)] ` +
			`"stuck", source: press.js (7)`,
		`[CONSOLE] "stuck", source: press.js (7)`: `[CONSOLE] "stuck", source: press.js (7)`,
	} {
		rec := Record{}
		rec.Message, rec.Level = message, event.LevelInfo
		rec.unquote()
		require.Equal(t, want, rec.Message)
		require.Equal(t, want != message, rec.Level == event.LevelUnknown)
	}
}
