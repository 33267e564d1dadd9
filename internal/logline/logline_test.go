package logline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/heedlog/heed/event"
)

// heads are lines of loggers, each with its text and its level.
var heads = []struct {
	line, text string
	level      event.Level
	leveled    bool
}{
	{"2031-04-05T10:00:00.001Z WARN  queue is long", "queue is long", event.LevelWarning, true},
	{"2031-04-05 10:00:00,001 CRITICAL worker: gone", "worker: gone", event.LevelFatal, true},
	{"2031-04-05 10:00:00,123 ERROR [main] out of paper", "out of paper", event.LevelError, true},
	{"10:00:00.001 [main] ERROR c.a.Press - stuck", "stuck", event.LevelError, true},
	{"[2031.04.05-10.00.00:001][  7]LogPress: Error: stuck", "stuck", event.LevelError, true},
	{"[2031.04.05-10.00.00:001][  7]LogPress: Display: turning", "turning", event.LevelInfo, true},
	{"LogPress: Error: stuck", "stuck", event.LevelError, true},
	{"·E 0:01:02.123456 {PPU} stuck", "{PPU} stuck", event.LevelError, true},
	{"·! 0:01:02.123456 {PPU} stuck", "{PPU} stuck", 0, false},
	{"42:10:123 Press.cpp:12 E[OIL]: stuck", "stuck", event.LevelError, true},
	{"LogPress: stuck", "LogPress: stuck", 0, false},
	{"[2031.04.05-10.00.00:001][  7]LogPress: x", "LogPress: x", 0, false},
	{" 131.421 Error Press.cpp:12: stuck", "Error Press.cpp:12: stuck", event.LevelError, true},
	{"time=2031-04-05T10:00:00Z level=warn msg=stuck", "msg=stuck", event.LevelWarning, true},
	{`ts=1 level="error" msg=stuck`, "msg=stuck", event.LevelError, true},
	{`level="critical" msg="is stuck"`, `msg="is stuck"`, event.LevelFatal, true},
	{"2031-04-05T10:00:00Z\terror\tpress stuck", "press stuck", event.LevelError, true},
	{"2031-04-05 10:00:00,001 - acme.press - ERROR - stuck", "stuck", event.LevelError, true},
	{"10:00:00 worker-1 ERROR stuck", "stuck", event.LevelError, true},
	{"[05Apr2031 10:00:00.001] [main/FATAL] [acme.Press/]: stuck", "stuck", event.LevelFatal, true},
	{"[10:00:00] [Server thread/ERROR]: [Gadgets] stuck", "[Gadgets] stuck", event.LevelError, true},
	{"[10:00:00] [Gadgets] stuck", "[Gadgets] stuck", 0, false},
	{"[10:00:00][Gadgets][ERR] stuck", "[Gadgets][ERR] stuck", event.LevelError, true},
	{"2031/04/05 10:00:00 [emerg] 1#1: no paper", "1#1: no paper", event.LevelFatal, true},
	{"2031/04/05 10:00:00 [crit] 1#1: no paper", "1#1: no paper", event.LevelFatal, true},
	{"2031/04/05 10:00:00 [alert] 1#1: no paper", "1#1: no paper", event.LevelFatal, true},
	{"[Sun Apr 05 10:00:00 2031] [error] no paper", "no paper", event.LevelError, true},
	{"[Sun Apr 05 10:00:00.001 2031] [core:emerg] [pid 12:tid 34] no paper", "no paper", event.LevelFatal, true},
	{"2031-04-05 10:00:00 CRIT no paper", "no paper", event.LevelFatal, true},
	{"2031-04-05 10:00:00.001 UTC [123] FATAL:  no paper", "no paper", event.LevelFatal, true},
	{"2031-04-05 10:00:00.001 UTC [123] PANIC:  no paper", "no paper", event.LevelFatal, true},
	{"2031-04-05T10:00:00.123456Z 0 [ERROR] [MY-010119] [Server] Aborting", "[Server] Aborting", event.LevelError, true},
	{"[10:00:00 ERR] no paper", "no paper", event.LevelError, true},
	{"2031-04-05 10:00:00.001 +02:00 [FTL] no paper", "no paper", event.LevelFatal, true},
	{"10:00AM WRN no paper", "no paper", event.LevelWarning, true},
	{"[2031-04-05 10:00:00] dbg: [press:3] turning", "[press:3] turning", event.LevelDebug, true},
	{"[2031-04-05 10:00:00] dbg: [press:0] stuck", "dbg: [press:0] stuck", 0, false},
	{"2031-04-05 10:00:00.001 | ERROR    | no paper", "no paper", event.LevelError, true},
	{"2031-04-05 10:00:00.001 ERROR 123 --- [main] o.a.Press  : no paper", "no paper", event.LevelError, true},
	{"310405 100000 148 WARN dfs.Press$Tray: no paper", "no paper", event.LevelWarning, true},
	{"2031/04/05 10:00:00 main.go:12: no paper", "no paper", 0, false},
	{"2031/04/05 10:00:00 no paper", "no paper", 0, false},
	{"[   12.345678] press: no paper", "press: no paper", 0, false},
	{"Apr  5 10:00:00 lamp press[123]: no paper", "no paper", 0, false},
	{"Apr  5 10:00:00 lamp kernel: no paper", "no paper", 0, false},
	{"2031-04-05T10:00:00.001+02:00 lamp press[123]: no paper", "no paper", 0, false},
	{"<11>Apr  5 10:00:00 lamp press[123]: no paper", "no paper", event.LevelError, true},
	{"<3>no paper", "no paper", event.LevelError, true},
	{"<3>[   12.345678] no paper", "no paper", event.LevelError, true},
	{"<165>1 2031-04-05T10:00:00.003Z lamp press 12 ID47 [a@1 b=\"c\"] no paper", "no paper", event.LevelInfo, true},
	{"<165>1 2031-04-05T10:00:00.003Z lamp press 12 ID47 [a@1 b=\"c d\"][e@1] - no paper", "no paper", event.LevelInfo, true},
	{"fail: Acme.Press[12] no paper", "no paper", event.LevelError, true},
	{"10:00:00.123 fail: Acme.Press[12] no paper", "no paper", event.LevelError, true},
	{"(warning) no paper", "no paper", event.LevelWarning, true},
	{"<error> no paper", "no paper", event.LevelError, true},
	{"Apr  5 10:00:00 lamp press,tray[123]: no paper", "lamp press,tray[123]: no paper", 0, false},
	{"<34>1 2031-04-05T10:00:00.003Z lamp press - - - no paper", "no paper", event.LevelFatal, true},
	{"E0405 10:00:00.000001   123 press.go:12] no paper", "no paper", event.LevelError, true},
	{"F20310405 10:00:00.000001   123 press.cc:12] no paper", "no paper", event.LevelFatal, true},
	{"04-05 10:00:00.000   123   456 E Press   : no paper", "no paper", event.LevelError, true},
	{"04-05 10:00:00.000   123   456 W Press: no paper", "no paper", event.LevelWarning, true},
	{"E/Press( 123): no paper", "no paper", event.LevelError, true},
	{"04-05 10:00:00.000 E/Press( 123): no paper", "no paper", event.LevelError, true},
	{"2031-04-05T10:00:00.000+0000 E STORAGE  [main] no paper", "no paper", event.LevelError, true},
	{"ERRO[0012] no paper", "no paper", event.LevelError, true},
	{"ERRO[2031-04-05T10:00:00Z] no paper", "no paper", event.LevelError, true},
	{"FATA[2031-04-05 10:00:00] no paper", "no paper", event.LevelFatal, true},
	{"E, [2031-04-05T10:00:00.123456 #12] ERROR -- press: no paper", "no paper", event.LevelError, true},
	{"W, [2031-04-05T10:00:00.123456 #12]  WARN -- : no paper", "no paper", event.LevelWarning, true},
	{"A, [2031-04-05T10:00:00.123456 #12]   ANY -- : no paper", "A, [2031-04-05T10:00:00.123456 #12]   ANY -- : no paper", 0, false},
	{"[2031-04-05 10:00:00,123] {press.py:12} ERROR - no paper", "no paper", event.LevelError, true},
	{"2031-04-05 10:00:00 ERROR {press.py:12} no paper", "no paper", event.LevelError, true},
	{"10:00:00.001 [main] FATAL c.a.Press - no paper", "no paper", event.LevelFatal, true},
	{"10:00:00.001 FATAL press.go:12 no paper", "no paper", event.LevelFatal, true},
	{"ts=2031-04-05T10:00:00Z caller=press.go:12 level=error msg=stuck", "caller=press.go:12 level=error msg=stuck", event.LevelError, true},
	{`tray=2 url="a \"b\" c" event="is stuck" level=error timestamp=2031-04-05T10:00:00Z`, `tray=2 url="a \"b\" c" event="is stuck" level=error timestamp=2031-04-05T10:00:00Z`, event.LevelError, true},
	{"2031-04-05T10:00:00Z tray=a,b level=error", "tray=a,b level=error", event.LevelError, true},
	{"tray=2 with level=error msg=x", "tray=2 with level=error msg=x", 0, false},
	{"tray=2 level=error", "tray=2 level=error", 0, false},
	{`player=Anna level=60 event=levelup`, `player=Anna level=60 event=levelup`, 0, false},
	{"5.4.2031 10:00:00 [Server Error] stuck", "stuck", event.LevelError, true},
	{"5.4.2031 10:00:00 [Error Handler] ready", "[Error Handler] ready", 0, false},
	{"[ERR 10:00:00.123] stuck", "stuck", event.LevelError, true},
	{"[EXC 10:00:00.123] PressException: stuck", "PressException: stuck", event.LevelError, true},
	{"[4/12/2031 10:26:22 AM] stuck", "stuck", 0, false},
	{"[1:2:0405/100000.123456:ERROR:press.cc(12)] no paper", "no paper", event.LevelError, true},
	{"[Error  :   Loader] no paper", "no paper", event.LevelError, true},
	{"[WARN ] no paper", "no paper", event.LevelWarning, true},
	{"2031-04-05 10:00:00,101 [CRIT ] no paper", "no paper", event.LevelFatal, true},
	{"[main/WARN] no paper", "no paper", event.LevelWarning, true},
	{"[ERROR] no paper", "no paper", event.LevelError, true},
	{"ERROR: no paper", "no paper", event.LevelError, true},
	{"FATAL: no paper", "no paper", event.LevelFatal, true},
	{"ERROR:root:no paper", "no paper", event.LevelError, true},
	{"ERROR - no paper", "no paper", event.LevelError, true},

	{"[10:00:00.123 E] no paper", "no paper", event.LevelError, true},
	{"[10:00:00 N] no paper", "[10:00:00 N] no paper", 0, false},
	{"[12 E] no paper", "[12 E] no paper", 0, false},
	{"[10:00:00 ERROR Gadgets] no paper", "no paper", event.LevelError, true},
	{"[10:00:00 ALERT Loader] no paper", "no paper", event.LevelFatal, true},
	{"[10:00:00 ERROR Loader]    - Lamps 1.0 because", "- Lamps 1.0 because", event.LevelError, true},
	{"[Warning:Lamps] Acme.Oven - no paper", "Acme.Oven - no paper", event.LevelWarning, true},

	// Separators other than spaces.
	{"2031-04-05 10:00:00,ERROR,press,no paper", "press,no paper", event.LevelError, true},
	{"2031-04-05 10:00:00,123,ERROR,no paper", "no paper", event.LevelError, true},
	{"2031-04-05;10:00:00;ERROR;no paper", "no paper", event.LevelError, true},
	{"2031-04-05 10:00:00|2|press|ERROR|no paper", "no paper", event.LevelError, true},
	{"10:00:00 UTC, ERROR, no paper", "no paper", event.LevelError, true},
	{"1933146000,error,no paper", "no paper", event.LevelError, true},
	{"time=2031-04-05T10:00:00Z,level=error,msg=no paper", "msg=no paper", event.LevelError, true},
	{"2031-04-05 10:00:00[ERROR]no paper", "no paper", event.LevelError, true},
	{"10:00:00:ERROR:no paper", "no paper", event.LevelError, true},
	{"[10:00:00|ERROR] no paper", "no paper", event.LevelError, true},
	{"(10:00:00) <ERROR> no paper", "no paper", event.LevelError, true},
	{"ERROR,10:00:00,no paper", "no paper", event.LevelError, true},

	// A level, and no more of a head than its form is sure of.
	{"ERROR no paper", "ERROR no paper", event.LevelError, true},
	{"WARNING: no paper", "WARNING: no paper", event.LevelWarning, true},
	{"Error: no paper", "Error: no paper", event.LevelError, true},
	{"SCRIPT ERROR: no paper", "SCRIPT ERROR: no paper", event.LevelError, true},
	{"PRESS WARNING: old paper", "PRESS WARNING: old paper", event.LevelWarning, true},
	{"PRESS ERRORS: 3", "PRESS ERRORS: 3", 0, false},
	{"PRESS_ERROR: no paper", "PRESS_ERROR: no paper", event.LevelError, true},
	{"PRESS_CRITICAL_ERROR: no paper", "PRESS_CRITICAL_ERROR: no paper", event.LevelFatal, true},
	{"PRESS_ERROR_COUNT: 3", "PRESS_ERROR_COUNT: 3", 0, false},
	{"2031-04-05 10:00:00.123 - Thread:   1 ->  PRESS_WARNING: old paper", "PRESS_WARNING: old paper", event.LevelWarning, true},
	{"2031-04-05 10:00:00.123 - Thread:   1 ->  no paper", "no paper", 0, false},
	{"2031-04-05 10:00:00 Sheets: 12 are left", "Sheets: 12 are left", 0, false},
	{"10:00:00 error while printing", "error while printing", event.LevelError, true},
	{"[10:00:00][no_date][press.cpp:12]: Error while printing", "[no_date][press.cpp:12]: Error while printing", event.LevelError, true},
	{"10:00:00 Error Press.cpp:12: stuck", "Error Press.cpp:12: stuck", event.LevelError, true},
	{"2031-04-05 10:00:00 error  stuck", "stuck", event.LevelError, true},
	{"[10:00:00] [Gadgets] ERROR no paper", "[Gadgets] ERROR no paper", event.LevelError, true},
	{"[10:00:00] [Gadgets] Error: stuck", "[Gadgets] Error: stuck", event.LevelError, true},
	{"10:00:00 エラー 詰まった", "詰まった", event.LevelError, true},
	{"2031-04-05 10:00:00 ERROR tray.xml: bad", "tray.xml: bad", event.LevelError, true},
	{"[Gadgets][ERR] stuck", "[Gadgets][ERR] stuck", event.LevelError, true},

	{"10:00:00 XML error: bad", "XML error: bad", event.LevelError, true},
	{"10:00:00 java.lang.Error: bad", "java.lang.Error: bad", 0, false},
	{"10:00:00 ERROR acme.PressException: bad", "acme.PressException: bad", event.LevelError, true},

	// Texts.
	{"[10:00:00] [Gadgets] Error handler is on", "[Gadgets] Error handler is on", 0, false},
	{"[10:00:00] Critical strike on the press", "Critical strike on the press", 0, false},
	{"[10:00:00] [Gadgets] Fatal Lamps are on", "[Gadgets] Fatal Lamps are on", 0, false},
	{"[10:00:00] Error Lamps v1.2", "Error Lamps v1.2", 0, false},
	{"[10:00:00] [Gadgets] FATAL FURY is on", "[Gadgets] FATAL FURY is on", 0, false},
	{"[10:00:00] [Gadgets] Debug", "[Gadgets] Debug", 0, false},
	{"[10:00:00] [Gadgets] Ошибка чтения", "[Gadgets] Ошибка чтения", 0, false},
	{"10:00:00,no paper", "no paper", 0, false},
	{"10:00:00,2,no paper", "2,no paper", 0, false},
	{"10:00:00 it took 12.345 s", "it took 12.345 s", 0, false},
	{"10:00:00 (C) 2031 Acme", "(C) 2031 Acme", 0, false},
	{"[10:00:00] Anna (critical) jams the press", "Anna (critical) jams the press", 0, false},
	{"10:00:00 press <fatal> no paper", "press <fatal> no paper", 0, false},
	{"[10:00:00 Gadgets] no paper", "[10:00:00 Gadgets] no paper", 0, false},
	{"10:00:00ms is long", "10:00:00ms is long", 0, false},
	{"10.20.30.40 does not answer", "10.20.30.40 does not answer", 0, false},
	{"10/20 sheets are left", "10/20 sheets are left", 0, false},
	{"May warn you", "May warn you", 0, false},
	{"10:00:00 panic: stuck", "panic: stuck", 0, false},
	{"10:00:00 ===== STACK TRACE =====", "===== STACK TRACE =====", 0, false},
	{"10:00:00 ---- report ----", "---- report ----", 0, false},
	{"- ERROR stuck", "- ERROR stuck", 0, false},
	{"[Message:   Loader] ready", "[Message:   Loader] ready", 0, false},
	{"[Alert] a raid", "[Alert] a raid", 0, false},
	{"[Panic Button] ready", "[Panic Button] ready", 0, false},
	{"Alert: a raid", "Alert: a raid", 0, false},
	{"Error messages are on", "Error messages are on", 0, false},
	{"Gadgets: ERROR stuck", "Gadgets: ERROR stuck", 0, false},
	{"3 Errors in the press", "3 Errors in the press", 0, false},
	{"3 things had an error", "3 things had an error", 0, false},
	{"10 things failed", "10 things failed", 0, false},
	{"12:30 is the hour", "12:30 is the hour", 0, false},
	{"1.6 is out", "1.6 is out", 0, false},
	{"[1.6] Gadgets", "[1.6] Gadgets", 0, false},
	{"May the press turn", "May the press turn", 0, false},
	{"May 5 things turn", "May 5 things turn", 0, false},
	{"<3 things", "<3 things", 0, false},
	{"<color=red>ERROR</color> stuck", "<color=red>ERROR</color> stuck", 0, false},
	{"key=value ERROR", "key=value ERROR", 0, false},
	{"10:00:00 I am here", "I am here", 0, false},
	{"E/Press is a path", "E/Press is a path", 0, false},
	{"info: Gadgets [on]", "info: Gadgets [on]", event.LevelInfo, true},
	{"[open", "[open", 0, false},
	{"[ERR", "[ERR", 0, false},
	{"[Gadgets] [Panels] [Warn] old", "[Gadgets] [Panels] [Warn] old", event.LevelWarning, true},
	{"[WARNING]", "[WARNING]", event.LevelWarning, true},
	{"[trace] x", "x", event.LevelDebug, true},
	{"[Warning:Gadgets] old panel", "old panel", event.LevelWarning, true},
	{"[Gadgets:Panels] no panel", "[Gadgets:Panels] no panel", 0, false},
	{"[Errors] 3", "[Errors] 3", 0, false},
	{"[Gadgets] [ready]", "[Gadgets] [ready]", 0, false},
	{"Gadgets [ERR] x", "Gadgets [ERR] x", 0, false},
	{"[Gadgets] saw [ERR]", "[Gadgets] saw [ERR]", 0, false},
	{"", "", 0, false},
	{"   ", "   ", 0, false},
	{"1 2 3", "1 2 3", 0, false},
	{"2031-04-05 10:00:00 ERROR", "2031-04-05 10:00:00 ERROR", event.LevelError, true},
}

func TestHeads(t *testing.T) {
	for _, c := range heads {
		h := Parse(c.line)
		assert.Equal(t, c.leveled, h.Leveled, c.line)
		assert.Equal(t, c.level, h.Level, c.line)
		assert.Equal(t, c.text, Text(c.line, c.level), c.line)
	}
}

// TestLogger: of the parts of a head, the name is neither the time, the level, the process nor the thread. A name in the
// text is none of the head.
func TestLogger(t *testing.T) {
	for line, logger := range map[string]string{
		"[Error  :   Lamps and Ovens] no paper":                         "Lamps and Ovens",
		"[Warning:Lamps] no paper":                                      "Lamps",
		"[Warning:Lamps] Acme.Oven - no paper":                          "Lamps",
		"[Error : Lamps] [Acme.Lamps.Oven] no paper":                    "Lamps",
		"[12:30:01] [Lamps thread/ERROR] [Lamps/]: no paper":            "Lamps",
		"[12:30:01 ERROR Lamps 2] no paper":                             "Lamps 2",
		"[12:30:01, Ошибка, Лампы] no paper":                            "Лампы",
		"[12:30:01] [main/WARN] [lamps/init]: no paper":                 "lamps",
		"[12:30:01] [Server thread/ERROR]: [Lamps] no paper":            "",
		"[12:30:01] [Lamps] no paper":                                   "",
		"12:30:01.001 [main] ERROR acme.Lamps - no paper":               "acme.Lamps",
		"12:30:01 ERROR [acme.Lamps] no paper":                          "acme.Lamps",
		"2031-04-05 12:30:01,001 - lamps - ERROR - no paper":            "lamps",
		"2031-04-05 12:30:01,001 lamps ERROR no paper":                  "lamps",
		"2031-04-05 12:30:01 worker-1 ERROR no paper":                   "",
		"2031-04-05 12:30:01 ERROR no paper":                            "",
		"2031-04-05 12:30:01 no paper":                                  "",
		"2031-04-05 12:30:01.001 ERROR 12 --- [main] o.a.Lamps : paper": "o.a.Lamps",
		"[core:error] [pid 12] no paper":                                "core",
		"[ERR 12:30:01] no paper":                                       "",
		"Apr  5 12:30:01 mill lamps[123]: no paper":                     "lamps",
		"E/Lamps( 123): no paper":                                       "Lamps",
		"E, [2031-04-05T12:30:01.1 #12] ERROR -- lamps: no paper":       "lamps",
		"fail: Acme.Lamps[12] no paper":                                 "Acme.Lamps",
		"ERROR:lamps:no paper":                                          "lamps",
	} {
		h := Parse(line)
		assert.Equal(t, logger, line[h.Logger:h.LoggerEnd], line)
	}
}

// TestHeadsInAnyForm finds the level behind a time in any form, and loses nothing of the text.
func TestHeadsInAnyForm(t *testing.T) {
	const text = "could not turn press-12"
	times := []string{
		"2031-04-05 10:00:00", "2031-04-05T10:00:00Z", "2031-04-05T10:00:00.123Z", "2031-04-05T10:00:00,123Z",
		"2031-04-05T10:00:00+02:00", "2031-04-05T10:00:00.123456789-05:00", "2031-04-05 10:00:00.123", "2031-04-05",
		"2031-04-05 10:00:00,123", "2031-04-05 10:00:00 +0200", "2031/04/05 10:00:00", "05/Apr/2031:10:00:00 +0000",
		"05.04.2031 10:00:00", "10:00:00", "10:00:00.123", "10:00:00,123", "20310405T100000Z", "2031-04-05_10:00:00",
		"2031-04-05-10:00:00", "1933146000.123", "2031-04-05 10:00:00 UTC", "4/5/2031 10:00:00 AM",
	}
	for _, form := range []string{
		"T ERROR %s", "T,ERROR,%s", "T;ERROR;%s", "T|ERROR|%s", "T | ERROR | %s", "T\tERROR\t%s", "T, ERROR, %s", "T; ERROR; %s",
		"T: ERROR: %s", "T - ERROR - %s", "T [ERROR] %s", "T <ERROR> %s", "T (ERROR) %s", "[T] [ERROR] %s", "[T][ERROR] %s",
		"[T] ERROR: %s", "[T ERROR] %s", "[T|ERROR] %s", "[T,ERROR] %s", "(T) ERROR %s", "T level=error %s", "T,level=error,%s",
		"time=T,level=error,%s", "T error: %s", "T,error,%s", "T;error;%s", "T|error|%s", "T,2,ERROR,%s", "T,press,ERROR,%s",
		"T|press|ERROR|%s", "T,ERROR,2,%s",
	} {
		for _, at := range times {
			line := fmt.Sprintf(strings.Replace(form, "T", at, 1), text)
			h := Parse(line)
			assert.True(t, h.Leveled && h.Level == event.LevelError, line)
			assert.Contains(t, Text(line, h.Level), text, line)
			assert.Contains(t, Text(line, event.LevelUnknown), text, line)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range heads {
		f.Add(c.line)
	}
	f.Add("ERROR }")
	f.Add("a, [0-0-0 ERRO -- : ")
	f.Add("10:00:00" + strings.Repeat("\t", 3000) + "ERROR stuck")
	f.Add("M  ERROR: no disk")
	f.Add("Warning: no disk")
	f.Add("Press_CRITICAL_ERROR: no disk")
	f.Add("\xc9A WARN: of another encoding")
	f.Add("Fail: 0[0]")
	f.Fuzz(func(t *testing.T, line string) {
		h := Parse(line)
		const longest = maxParts*2*maxPart + 2*maxPart
		if h.Len < 0 || h.Len > len(line) || len(strings.Join(strings.Fields(line[:h.Len]), "")) > longest {
			t.Fatalf("a head of %d bytes", h.Len)
		}
		if h.Logger < 0 || h.Logger > h.LoggerEnd || h.LoggerEnd > h.Len {
			t.Fatalf("the logger is from %d to %d", h.Logger, h.LoggerEnd)
		}
		for _, level := range []event.Level{event.LevelUnknown, h.Level} {
			if text := Text(line, level); !strings.HasSuffix(line, text) || !mayHave(line) && h.Len > 0 && text != line {
				t.Fatalf("%q", text)
			}
		}
		if !mayHave(line) && len(line) >= 8 && h.Sure && h.Len > 0 {
			t.Fatalf("mayHave reports none before a head of %d bytes", h.Len)
		}
		whole := parser{s: line} // without the quick way of most texts
		if whole.skipSpace(); !whole.special() {
			whole.parts()
		}
		if whole.head.Level != h.Level || whole.head.Leveled != h.Leveled {
			t.Fatalf("%v, of all parts %v", h, whole.head)
		}
	})
}
