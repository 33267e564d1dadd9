package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
)

// TestCauseInStack holds that a trace of Java's keeps the order of its causes in the stack, so that the last cause is
// blamed and a suppressed exception is not.
func TestCauseInStack(t *testing.T) {
	const (
		outer      = "\tat org.acme.outerpress.Turn.run(Turn.java:9)\n"
		suppressed = "\tSuppressed: java.io.IOException: closed\n\t\tat org.acme.outerpress.File.close(File.java:9)\n"
		cause      = "Caused by: java.lang.NullPointerException: no lamp\n\tat org.acme.innerlamp.Lamp.tick(Lamp.java:44)\n"
	)
	for _, trace := range []string{outer + cause, suppressed + cause} {
		in := "2031-04-05 10:00:00 ERROR stuck\njava.lang.RuntimeException: turning\n\tat net.minecraft.Level.tick(Level.java:5)\n" + trace
		recs := records(t, in)
		require.Len(t, recs, 1)
		require.Contains(t, recs[0].Message, "Caused by: ")
		f := blame.New([]string{"net.minecraft"})
		suspects := f.Find(nil, recs[0].Message, recs[0].Stack)
		require.NotEmpty(t, suspects)
		require.Contains(t, suspects[0].Mod, "innerlamp", recs[0].Stack)
	}
}

// TestStacksOfLoggers reads the trace among the attributes of OpenTelemetry, and the one that Laravel writes below a
// line of Monolog.
func TestStacksOfLoggers(t *testing.T) {
	for want, in := range map[string]string{
		"acme.Error: \"x\"\n\tat acme.Press.turn(Press.java:1)": `{"severityText":"ERROR","body":{"stringValue":"stuck"},` +
			`"attributes":[{"key":"a"},` +
			`{"value":{"stringValue":"acme.Error: \"x\"\n\tat acme.Press.turn(Press.java:1)"},"key":"exception.stacktrace"}]}`,
		"#0 /b.php(12): Press->turn()\n#1 {main}": "[2031-04-05 10:00:02] production.ERROR: no oil " +
			"{\"exception\":\"[object] (Stuck(code: 0): no oil at /a.php:4)\n" +
			"[stacktrace]\n#0 /b.php(12): Press->turn()\n#1 {main}",
	} {
		recs := records(t, in+"\n")
		require.Len(t, recs, 1)
		require.Equal(t, want, recs[0].Stack)
		require.Equal(t, event.LevelError, recs[0].Level)
	}
}

// TestElapsed holds that below a fault all lines up to the next one with the seconds since the start belong to it.
func TestElapsed(t *testing.T) {
	for first, want := range map[string]int{
		"  90.001 Error Loop.cpp:12: Ausnahme bei Tick 9: Press hakt": 2,
		"  90.001 Error Net.cpp:12: failed: \"Press hakt":             2,
		"  90.001 Info Net.cpp:12: Press läuft":                       3,
	} {
		recs := records(t, first+"\nBitte melden.\n\n  91.001 Info Net.cpp:12: ready\n")
		require.Len(t, recs, want, first)
	}
}

// TestPrefixes holds that traces are whole whose lines have a prefix of a container or of the journal.
func TestPrefixes(t *testing.T) {
	const java = "acme.StuckException: no lamp\n\tat acme.Press.turn(Press.java:1)\n\tat acme.Main.run(Main.java:2)\n" +
		"Caused by: java.io.IOException: no oil\n\tat acme.Oil.pour(Oil.java:3)\n\t... 2 more\n"
	const python = "Traceback (most recent call last):\n  File \"/a.py\", line 1, in turn\n    pour()\nOSError: no oil\n"
	const dump = "panic: no oil\n\ngoroutine 1 [running]:\nmain.turn(...)\n\t/a.go:4\nmain.main()\n\t/a.go:2 +0x1d\n"
	for _, prefix := range []string{"web-1  | ", "some_press_1 | ", "Apr 05 10:00:02 lamp press[12]: ", "févr. 05 10:00:02 lamp press@1[12]: "} {
		for _, trace := range []string{java, python, dump} {
			in := prefix + "ready\n" + prefix + strings.ReplaceAll(strings.TrimSuffix(trace, "\n"), "\n", "\n"+prefix) + "\n"
			recs := records(t, in)
			require.Len(t, recs, 2, in)
			require.NotContains(t, recs[1].Stack, strings.TrimRight(prefix, " |"))
		}
	}
	for _, rec := range records(t, "web-1  | "+strings.ReplaceAll(unity2022_3+"ready\n", "\n", "\nweb-1  | ")) {
		require.NotContains(t, rec.Message, "web-1", "below the banner of the engine, too")
	}
	for _, in := range []string{"a table-1 | b\n", "12 | 3\n", "Apr 05 10:00:02 lamp press[12]: ready\n"} {
		recs := records(t, in)
		require.Equal(t, strings.TrimRight(in, "\n"), recs[0].Message)
	}
}

// TestHeadsInTraces holds that the traces of scripts are whole, also where a logger writes its head before each line.
func TestHeadsInTraces(t *testing.T) {
	const begin, ends = "2031-04-05 10:00:00 INFO begin\n", "2031-04-05 10:00:09 INFO go on\n"
	for name, trace := range map[string]string{
		"Python": "[2031-04-05 10:00:01] [ERROR] Traceback (most recent call last):\n" +
			"[2031-04-05 10:00:01] [ERROR]   File \"/srv/gears/press.py\", line 12, in turn\n" +
			"[2031-04-05 10:00:01] [ERROR]     roll()\n[2031-04-05 10:00:01] [ERROR] KeyError: 'gear'\n",
		"Python behind a tag": "[10:00:01] [Gears] Traceback (most recent call last):\n" +
			"  File \"/srv/gears/press.py\", line 12, in turn\n    roll()\nKeyError: 'gear'\n",
		"Python below": "2031-04-05 10:00:01 ERROR turn failed\n2031-04-05 10:00:01 ERROR Traceback (most recent call last):\n" +
			"2031-04-05 10:00:01 ERROR   File \"/srv/gears/press.py\", line 12, in turn\n2031-04-05 10:00:01 ERROR KeyError\n",
		"Lua": "2031-04-05 10:00:01 ERROR gears/press.lua:12: kein Gang\n2031-04-05 10:00:01 ERROR stack traceback:\n" +
			"2031-04-05 10:00:01 ERROR \tgears/press.lua:12: in function 'turn'\n" +
			"2031-04-05 10:00:01 ERROR \tgears/roll.lua:9: in main chunk\n",
		"Lua below a colon":   "2031-04-05 10:00:01 ERROR The gears stopped:\n[gears \"dir/press.lua\"]:12: kein Gang\n",
		"Lua without a level": "gears/press.lua:12: kein Gang\nstack traceback:\n\tgears/press.lua:12: in function 'turn'\n",
		"Java": "2031-04-05 10:00:01 ERROR acme.PressException: none\n" +
			"2031-04-05 10:00:01 ERROR \tat com.acme.Press.turn(Press.java:57)\n",
		"JavaScript": "TypeError: gear is undefined\nturn@gears/press.js:12:3\n@gears/roll.js:9:7\n",
	} {
		recs := records(t, begin+trace+ends)
		require.Len(t, recs, 3, name)
	}
	apart := "2031-04-05 10:00:01 ERROR turn failed\n2031-04-05 10:00:01 ERROR   Gears in front of the press:\n"
	recs := records(t, begin+apart+ends)
	require.Len(t, recs, 4)
}
