package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestNestedExceptions holds that an exception stays one record, with all its frames, in each layout: however the
// exception that caused it, or the one that its first line reports, is handed on.
func TestNestedExceptions(t *testing.T) {
	const (
		at     = "  at Gadgets.Press.Turn () [0x00001] in <0123456789abcdef0123456789abcdef>:0 "
		below  = "at Gadgets.Tray.Pull () [0x00002] in <0123456789abcdef0123456789abcdef>:0 "
		footer = "(Filename: C:\\buildslave\\unity\\build\\Runtime/Export/Debug/Debug.bindings.h Line: 39)"
		banner = "Mono path[0] = 'C:/Game/Managed'\nInitialize engine version: "
		upload = "Log uploaded on Monday, January 1, 2031, 1:00:00 PM\nLoaded mods:\nCore(acme.core)[v:1.5]: Core(1.5)\n\n"
		logged = "\nUnityEngine.StackTraceUtility:ExtractStackTrace ()\nVerse.Log:Error (string)\nGadgets.Press:Turn ()\n\n"
	)
	layouts := map[string]struct{ before, after string }{
		"2019.2":  {banner + "2019.2.17f1 (abc)\n", "\n \n" + footer + "\n\n"},
		"2019.4":  {banner + "2019.4.30f1 (abc)\n", " \n" + footer + "\n\n"},
		"2022.3":  {banner + "2022.3.35f1 (abc)\n", "\n"},
		"console": {"Ready\nUnityEngine.StackTraceUtility:ExtractStackTrace ()\nVerse.Log:Message (string)\n\n", logged},
		"upload":  {upload + banner + "2019.4.30f1 (abc)\n", " \n" + footer + "\n\n"},
		"plain":   {"2031-04-05 10:00:00 INFO ready\n", "\n"},
	}
	for name, c := range map[string]struct {
		text   string
		head   string // of the message, where it is not the first line
		frames int
	}{
		"inner exception":          {text: "Error in press: System.Exception: stuck\n" + at + "\nInner exception: System.IO.IOException: no paper\n" + at, frames: 2},
		"inner exception, titled":  {text: "Error in press: System.Exception: stuck\n" + at + "\n--- Inner Exception ---\nSystem.IO.IOException: no paper\n" + at, frames: 2},
		"inner exception, apart":   {text: "Error in press: System.Exception: stuck\n" + at + "\n\nInner exception: System.IO.IOException: no paper\n" + at, frames: 2},
		"inner exception, a field": {text: "Error in press: System.Exception: stuck\n" + at + "\nInnerException: System.IO.IOException: no paper\n" + at, frames: 2},
		"cause":                    {text: "Error in press: System.Exception: stuck\n" + at + "\nCaused by: System.IO.IOException: no paper\n" + at, frames: 2},
		"announced": {
			"Could not turn the press.\nThe exception was: System.Exception: stuck\n" + at,
			"Could not turn the press. The exception was: System.Exception: stuck", 1,
		},
		"announced, apart": {
			"Could not turn the press.\n\nThe exception was: System.Exception: stuck\n" + at,
			"Could not turn the press. The exception was: System.Exception: stuck", 1,
		},
		"announced, on its own line": {
			"Could not turn the press.\nThe exception was:\nSystem.Exception: stuck\n" + at,
			"Could not turn the press. The exception was:", 1,
		},
		"without its type, announced": {
			"Error while turning the press!\nObject reference not set to an instance of an object\n" + at,
			"Error while turning the press! Object reference not set to an instance of an object", 1,
		},
		"without its type, in German": {
			"Error while turning the press!\nDer Objektverweis wurde nicht auf eine Objektinstanz festgelegt.\n" + at,
			"Error while turning the press! Der Objektverweis wurde nicht auf eine Objektinstanz festgelegt.", 1,
		},
		"without its type":           {text: "Object reference not set to an instance of an object\n" + at + "\n" + at, frames: 2},
		"reference, apart":           {text: "Error in press: System.Exception: stuck\n\n[Ref 5EED0003]\n" + at, frames: 1},
		"frames at the margin":       {text: "Error in press: System.Exception: stuck\n" + below + "\nat Gadgets.Press.Turn (System.Int32 n)\nat Gadgets.Press.Turn ()", frames: 3},
		"frames below a fault":       {text: "Press is stuck\nat Gadgets.Press.Turn (System.Int32 n)\nat Gadgets.Press.Turn () in C:\\Press.cs:line 12", frames: 2},
		"frames of old Mono":         {text: "Error in press: System.Exception: stuck\n  at Gadgets.Press.Turn () <0x0001b>\n  at Gadgets.Press (Int32 n) [0x00012] in <filename unknown>:0 ", frames: 2},
		"frames of old Mono, margin": {text: "Error in press: System.Exception: stuck\nat Gadgets.Press.Turn () <0x0001b>\nat (wrapper managed-to-native) Gadgets.Press.Pull () <0xffffffff>\nat Gadgets.Press.Turn () [0x00012] in <filename unknown>:0", frames: 3},
		"rethrown":                   {text: "Error in press: System.Exception: stuck\n" + at + "\nRethrow as TypeInitializationException: no press\n" + at, frames: 3},
	} {
		for layout, l := range layouts {
			t.Run(name+"/"+layout, func(t *testing.T) {
				opt := Options{}
				if layout == "plain" {
					opt.Layout = LayoutPlain
					if strings.Contains(name, "reference") {
						t.Skip("references are the game's")
					}
				}
				in := l.before + c.text + l.after + "next\n"
				recs, _ := read(t, strings.NewReader(in), opt)
				requireCovers(t, in, recs)
				first := strings.Count(l.before, "\n") + 1
				for _, rec := range recs {
					if rec.StartLine != first {
						last := first + strings.Count(c.text, "\n")
						require.False(t, rec.StartLine > first && rec.StartLine <= last, "%d: %q", rec.StartLine, rec.Message)
						continue
					}
					head, _, _ := strings.Cut(rec.Message, "\n")
					if c.head != "" && (layout != "console" || !strings.HasPrefix(name, "without its type")) { // where all lines join
						require.Equal(t, c.head, head)
					}
					frames := strings.Count(rec.Stack, "Gadgets.") - strings.Count(rec.Stack, "Gadgets.Press:")
					require.Equal(t, c.frames, frames+strings.Count(rec.Stack, "Rethrow"), rec.Stack)
					// Without a footer and a type nothing shows the level: rules judge by the frames.
					if name != "frames below a fault" && layout != "plain" && (name != "without its type" || layout != "2022.3") {
						require.Equal(t, event.LevelError, rec.Level)
					}
				}
			})
		}
	}
}

// TestNestedProse holds that text which only begins like that stays apart.
func TestNestedProse(t *testing.T) {
	in := strings.Join([]string{
		"Mono path[0] = 'C:/Game/Managed'", "Initialize engine version: 2022.3.35f1 (abc)",
		"Press is ready", "Caused by: rain", "Press is on", "Inner exceptional tray found", "The exceptions were few",
		"Error count is 0", "The given keys fit", "at noon the press turns (twice)", "at Home (pop 12)", "end", "",
	}, "\n")
	recs := records(t, in)
	require.Equal(t, "1-1\n2-2\n3-3\n4-4\n5-5\n6-6\n7-7\n8-8\n9-9\n10-10\n", extents(recs, 2))
}

// TestTracesOfOtherRuntimes holds that what other runtimes print of one fault is one record.
func TestTracesOfOtherRuntimes(t *testing.T) {
	const py = "Traceback (most recent call last):\n  File \"a.py\", line 4, in run\n    self.go()\nKeyError: 'x'"
	for name, text := range map[string]string{
		"Python, in handling":            "2031-04-05 10:00:00 ERROR job failed\n" + py + "\n\nDuring handling of the above exception, another exception occurred:\n\n" + py,
		"Python, by cause":               py + "\n\nThe above exception was the direct cause of the following exception:\n\n" + py,
		"Python, a group":                "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 1, in <module>\n  | ExceptionGroup: e (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | ValueError: x",
		"Go":                             "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.f(0x1, {0xc000, 0x3})\n\t/src/main.go:7 +0x1d\ncreated by main.main in goroutine 2\n\t/src/main.go:12 +0x25\n\ngoroutine 2 [select]:\nmain.main()\n\t/src/main.go:12 +0x25\nexit status 2",
		"Go, a signal":                   "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x45]\n\ngoroutine 1 [running]:\nmain.(*T).f(...)\n\t/src/main.go:7 +0x1d",
		"Go, recovered":                  "panic: a [recovered]\n\tpanic: b\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x1d",
		"Go, without arguments":          "2031-04-05 10:00:00 ERROR press.go:12 stuck\nmain.(*press).turn\n\t/src/main.go:7\nmain.main\n\t/src/main.go:12",
		"Go, served":                     "2031/04/05 10:00:00 http: panic serving 127.0.0.1:1: stuck\ngoroutine 5 [running]:\nnet/http.(*conn).serve.func1()\n\t/src/server.go:9 +0xbd\npanic({0x71efa0?, 0xa44bc0?})\n\t/src/panic.go:8 +0x13a\ncreated by net/http.(*Server).Serve in goroutine 2\n\t/src/server.go:3 +0x4",
		"Go, overflow":                   "runtime: goroutine stack exceeds 1000000000-byte limit\nruntime: sp=0x1 stack=[0x1, 0x2]\nfatal error: stack overflow\n\nruntime stack:\nruntime.throw({0x1?, 0x2?})\n\t/src/panic.go:9 +0x4\n\ngoroutine 1 gp=0x3 m=0 mp=0x5 [running]:\nmain.f(0x1?)\n\t/src/main.go:7 +0x1d",
		"Python, loguru":                 "2031-04-05 10:00:00 | ERROR    | a:b:1 - failed\nTraceback (most recent call last):\n\n> File \"a.py\", line 4, in run\n    self.go()\n    └ <Press>\n\n  File \"a.py\", line 9, in go\n    x\n\nKeyError: 'x'\n\n\nDuring handling of the above exception, another exception occurred:\n\n\nTraceback (most recent call last):\n\n  File \"a.py\", line 4, in run\n\nValueError: x",
		"Python, rich":                   "[10:00:00] ERROR    failed\n           ╭── Traceback (most recent call last) ──╮\n           │ /src/a.py:4 in run                    │\n           ╰───────────────────────────────────────╯\n           KeyError: 'x'\n           \n           During handling of the above exception, another exception occurred:\n           \n           ╭── Traceback (most recent call last) ──╮\n           ╰───────────────────────────────────────╯\n           ValueError: x",
		"Node, below a line of a logger": "2031-04-05T10:00:00Z [error]: failed: x\nError: x\n    at turn (/src/press.js:12:3)",
		"Node, below a level":            "2031-04-05T10:00:00Z ERROR stuck\nError: x\n    at turn (/src/press.js:12:3)",
		"Node, and an object":            "turning failed Error: x\n    at turn (/src/press.js:12:3) {\n  code: 'E'\n} { tray: 2 }",
		"Java, root cause first":         "2031-04-05 10:00:00 ERROR failed\njava.lang.Error: x\n\t... 2 common frames omitted\nWrapped by: java.io.IOException: y\n\tat a.b.C.d(C.java:1)\n\tWrapped by: a.b.W: z\n\t\t... 2 common frames omitted",
		"Java, on two lines":             "Apr 05, 2031 10:00:00 AM acme.Press turn\nSEVERE: failed\njava.lang.Error: x\n\tat a.b.C.d(C.java:1)",
		"Rust":                           "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds: the len is 3 but the index is 5\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/1/library/std/src/panicking.rs:1:5\nnote: Some details are omitted.",
		"Rust, without frames":           "thread 'main' panicked at 'boom', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1` to display a backtrace",
		"Node":                           "TypeError: x\n    at foo (/a/b.js:1:2) {\n  code: 'E',\n  [cause]: Error: y\n      at baz (/a/c.js:1:2)\n}",
		"Java":                           "2031-04-05 10:00:00 ERROR failed\njava.lang.Error: x\n\tat a.b.C.d(C.java:1)\n\tSuppressed: java.io.IOException: y\n\t\tat a.b.C.d(C.java:1)\nCaused by: java.lang.Error: z\n\tat a.b.C.d(C.java:1)\n\t... 12 more\nCaused by: a.b.W\n\t... 3 common frames omitted",
		".NET":                           "Unhandled exception. System.InvalidOperationException: x\n ---> System.Exception: y\n   at A.B() in C:\\a.cs:line 1\n   --- End of inner exception stack trace ---\n   at A.C() in C:\\a.cs:line 1",
		".NET's console":                 "fail: Acme.Press[12]\n      stuck\n      System.Exception: x\n         at A.B() in C:\\a.cs:line 1",
		"Lua":                            "2031-04-05 10:00:00 ERROR main.lua:5: attempt to index nil\nstack traceback:\n\t[C]: in function 'error'",
	} {
		t.Run(name, func(t *testing.T) {
			in := "2031-04-05 10:00:00 INFO ready\n" + text + "\n2031-04-05 10:00:01 INFO next\n"
			recs, _ := read(t, strings.NewReader(in), Options{Layout: LayoutPlain})
			requireCovers(t, in, recs)
			require.Len(t, recs, 3, render(recs))
			require.Equal(t, 2, recs[1].StartLine)
		})
	}
}

// TestTraceBelowInfo: a trace belongs to a record below a warning that speaks of a fault, and to no other.
func TestTraceBelowInfo(t *testing.T) {
	const trace = "java.lang.IllegalStateException: no paper\n\tat acme.Press.turn(Press.java:57)\n"
	for head, joins := range map[string]bool{
		"2031-04-05 10:00:01 INFO the run before ended so:": true,
		"2031-04-05 10:00:01 DEBUG could not read the tray": true,
		"2031-04-05 10:00:01 INFO ready":                    false,
	} {
		records := records(t, "2031-04-05 10:00:00 INFO ready\n"+head+"\n"+trace)
		require.Len(t, records, map[bool]int{true: 2, false: 3}[joins], head)
	}
}
