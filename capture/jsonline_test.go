package capture

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

func TestJSONLines(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)
	const ts = `"2026-03-04T05:06:07.89Z"`
	log := func(l event.Log, by Evidence) Record {
		l.Pos = 1
		return Record{Entry: l.Entry(), StartLine: 1, EndLine: 1, Split: evidenceJSON, LevelBy: by, Layout: LayoutJSON}
	}
	ack := Record{
		Entry: event.Entry{
			Kind: event.KindHost, Status: event.StatusAcknowledged, Source: "ann", Message: "e-1",
			Count: 7,
		},
		StartLine: 1, EndLine: 1, Split: evidenceJSON, Layout: LayoutJSON,
	}
	for in, want := range map[string]Record{
		`{"time":` + ts + `,"level":"warning","source":"world","message":"no road to 초원","stack":"a\nb","operation":"op-1"}`: log(
			event.Log{
				Time: at, Level: event.LevelWarning, Source: "world", Message: "no road to 초원", Stack: "a\nb",
				OperationID: "op-1",
			}, evidenceField),
		`{"kind":"log","message":"ready"}`:                                                  log(event.Log{Message: "ready"}, evidenceNone),
		`{"time":` + ts + `,"level":"ERROR+1","msg":"slog","path":"/x","n":3,"ok":true}`:    log(event.Log{Time: at, Level: event.LevelError, Message: `slog path="/x" n=3 ok=true`}, evidenceField),
		`{"level":"dpanic","ts":1772600767.89,"logger":"net","msg":"zap","stacktrace":"s"}`: log(event.Log{Time: at, Level: event.LevelError, Source: "net", Message: "zap", Stack: "s"}, evidenceField),
		`{"level":"fatal","error":"no \"disk\"","time":1772600767890,"message":"zerolog"}`:  log(event.Log{Time: at, Level: event.LevelFatal, Message: `zerolog: no "disk"`}, evidenceField),
		`{"level":30,"msg":"pino","status":404,"err":{"code":"E"}}`:                         log(event.Log{Level: event.LevelInfo, Message: `pino: {"code":"E"} status=404`}, evidenceField),
		`{"severity":"CRITICAL","timestamp":"yesterday","msg":"no time"}`:                   log(event.Log{Level: event.LevelFatal, Message: "no time"}, evidenceField),
		`{"lvl":"odd","msg":"x"}`:                                       log(event.Log{Message: "x"}, evidenceNone),
		`{"msg":"x","name":{"a":[1,"]"]},"z":null}`:                     log(event.Log{Message: `x name={"a":[1,"]"]}`}, evidenceNone),
		`{"@t":` + ts + `,"@l":"Error","@m":"Serilog","@x":"at a.b()"}`: log(event.Log{Time: at, Level: event.LevelError, Message: "Serilog", Stack: "at a.b()"}, evidenceField),
		`{"Timestamp":` + ts + `,"Level":"Fatal","Message":"NLog"}`:     log(event.Log{Time: at, Level: event.LevelFatal, Message: "NLog"}, evidenceField),
		`{"PRIORITY":"3","MESSAGE":"journald"}`:                         log(event.Log{Level: event.LevelError, Message: "journald"}, evidenceField),
		`{"level":500,"level_name":"CRITICAL","message":"Monolog"}`:     log(event.Log{Level: event.LevelFatal, Message: `Monolog level_name="CRITICAL"`}, evidenceField),
		`{"levelname":"CRITICAL","message":"Python"}`:                   log(event.Log{Level: event.LevelFatal, Message: "Python"}, evidenceField),
		`{"s":"E","c":"NETWORK","msg":"MongoDB"}`:                       log(event.Log{Level: event.LevelError, Message: `MongoDB c="NETWORK"`}, evidenceField),
		`{"log":"2031-04-05 10:00:00 ERROR stuck\n","stream":"stderr","time":` + ts + `}`: {
			Entry:     event.Log{Time: at, Level: event.LevelError, Message: "2031-04-05 10:00:00 ERROR stuck", Pos: 1}.Entry(),
			StartLine: 1, EndLine: 1, Split: evidenceLine, LevelBy: evidenceTag, Layout: LayoutJSON,
		},
		`{"log":{"level":"error","logger":"net"},"message":"ECS"}`:                                                log(event.Log{Level: event.LevelError, Source: "net", Message: "ECS"}, evidenceField),
		`{"level":{"level":40000,"levelStr":"ERROR"},"message":"Logback"}`:                                        log(event.Log{Level: event.LevelError, Message: "Logback"}, evidenceField),
		`{"event":"structlog","level":"warning"}`:                                                                 log(event.Log{Level: event.LevelWarning, Message: "structlog"}, evidenceField),
		`{"event":"login","msg":"both"}`:                                                                          log(event.Log{Message: `both event="login"`}, evidenceNone),
		`{"severity":"ERROR","textPayload":"cloud"}`:                                                              log(event.Log{Level: event.LevelError, Message: "cloud"}, evidenceField),
		`{"SeverityText":"ERROR","Body":"collector"}`:                                                             log(event.Log{Level: event.LevelError, Message: "collector"}, evidenceField),
		`{"timeUnixNano":"1772600767890000000","severityNumber":21,"body":{"stringValue":"OTLP"}}`:                log(event.Log{Time: at, Level: event.LevelFatal, Message: "OTLP"}, evidenceField),
		`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":17,"body":{"stringValue":"OTLP"}}]}]}]}`: log(event.Log{Level: event.LevelError, Message: "OTLP"}, evidenceField),
		`{"level":50,"msg":"pino","err":{"type":"Error","message":"no disk","stack":"Error: no disk\n    at turn (a.js:1:2)"}}`: log(event.Log{
			Level: event.LevelError, Message: "pino: no disk", Stack: "Error: no disk\n    at turn (a.js:1:2)",
		}, evidenceField),
		`{"__CURSOR":"s=1","PRIORITY":"4","SYSLOG_IDENTIFIER":"press","MESSAGE":[110, 111,255]}`:                                         log(event.Log{Level: event.LevelWarning, Source: "press", Message: "no\xff"}, evidenceField),
		`{"MESSAGE":[1,"x"],"PRIORITY":"4"}`:                                                                                             log(event.Log{Level: event.LevelWarning, Message: `{"MESSAGE":[1,"x"],"PRIORITY":"4"}`}, evidenceField),
		`{"level":3,"short_message":"GELF","full_message":"java.lang.Error: x\n\tat a.b()"}`:                                             log(event.Log{Level: event.LevelError, Message: "GELF", Stack: "java.lang.Error: x\n\tat a.b()"}, evidenceField),
		`{"short_message":"GELF","level":6,"full_message":"GELF"}`:                                                                       log(event.Log{Level: event.LevelInfo, Message: `GELF full_message="GELF"`}, evidenceField),
		`{"text":"10:00:00 | ERROR | stuck\nKeyError: 'x'\n","record":{"file": {"name": "a.py"}, "level": {"no": 40, "name": "ERROR"}}}`: log(event.Log{Level: event.LevelError, Message: "10:00:00 | ERROR | stuck\nKeyError: 'x'"}, evidenceField),
		`{"exception":{"exception_class":"x.E","stacktrace":"x.E: y\n\tat a.b()"},"level":"ERROR","message":"log4j"}`:                    log(event.Log{Level: event.LevelError, Message: "log4j", Stack: "x.E: y\n\tat a.b()"}, evidenceField),
		`{"level":"ERROR","message":"Logback","throwable":{"className":"x.E","message":"y","stepArray":[{"className":"a.B","methodName":"c","fileName":"B.java","lineNumber":7}],"cause":{"className":"x.F","stepArray":[{"className":"a.B","methodName":"d","fileName":"B.java","lineNumber":9}]}}}`: log(event.Log{Level: event.LevelError, Message: "Logback", Stack: "x.E: y\n\tat a.B.c(B.java:7)\nCaused by: x.F\n\tat a.B.d(B.java:9)"}, evidenceField),
		`{"record":{"extra":{"level": {"name": "DEBUG"}},"level":{"no":40,"name":"ERROR"},"name":"__main__"},"text":"stuck\n"}`:                                                                                                                                                                       log(event.Log{Level: event.LevelError, Message: "stuck"}, evidenceField),
		`{"msg":"a new record","record":{"score":5}}`: log(event.Log{Message: `a new record record={"score":5}`}, evidenceNone),
		`{"message":"Logback","throwable":{"message":"no \"ink\", at 5","stepArray":[{"lineNumber":7,"fileName":"B.java","methodName":"c","className":"a.B"}],"commonFramesCount":2,"cause":{"className":"x.F"},"suppressed":[{"className":"x.G","message":"}","stepArray":[{"className":"a.B","methodName":"d","fileName":"B.java","lineNumber":9}]}],"className":"x.E"}}`: log(event.Log{Message: "Logback", Stack: "x.E: no \"ink\", at 5\n\tat a.B.c(B.java:7)\n\t... 2 more\n\tSuppressed: x.G: }\n\tat a.B.d(B.java:9)\nCaused by: x.F"}, evidenceNone),
		`{"err":{"message":"y","note":"\"stack\""},"msg":"x"}`: log(event.Log{Message: `x: {"message":"y","note":"\"stack\""}`}, evidenceNone),
		`{"level":3,"msg":"x","about":"short_message"}`:        log(event.Log{Message: `x about="short_message"`}, evidenceNone),
		`{"short_message":"GELF","full_message":"C:\\new"}`:    log(event.Log{Message: `GELF full_message="C:\\new"`}, evidenceNone),
		`{"level":{"name":"ERROR"},"message":"x"}`:             log(event.Log{Level: event.LevelError, Message: "x"}, evidenceField),
		`{"l":"error","s":12,"m":"east","t":4}`:                log(event.Log{Time: time.Unix(4, 0).UTC(), Message: `east l="error" s=12`}, evidenceNone),
		`{"s":"E","x":4}`:                                      log(event.Log{Message: `{"s":"E","x":4}`}, evidenceNone),
		`{"s":"I","level":"error","msg":"x"}`:                  log(event.Log{Level: event.LevelError, Message: "x"}, evidenceField),
		`{"s":"E","level":"error","x":4}`:                      log(event.Log{Level: event.LevelError, Message: `{"s":"E","level":"error","x":4}`}, evidenceField),
		`{"L":"ERROR","T":"10:00","M":"zap"}`:                  log(event.Log{Level: event.LevelError, Message: "zap"}, evidenceField),
		`{"level":3,"msg":"of a pawn"}`:                        log(event.Log{Message: "of a pawn"}, evidenceNone),
		`{"priority":"high","msg":"x"}`:                        log(event.Log{Message: `x priority="high"`}, evidenceNone),
		`{"n":1}`:                                              log(event.Log{Message: `{"n":1}`}, evidenceNone),
		`{}`:                                                   log(event.Log{Message: `{}`}, evidenceNone),
		`{"kind":"state_read"}`: {
			Entry:     event.Entry{Kind: event.KindHost, Status: event.StatusStateRead},
			StartLine: 1, EndLine: 1, Split: evidenceJSON, Layout: LayoutJSON,
		},
		`{"kind":"delivered","consumer":"ann"}`: {
			Entry:     event.Entry{Kind: event.KindHost, Status: event.StatusDelivered, Source: "ann"},
			StartLine: 1, EndLine: 1, Split: evidenceJSON, Layout: LayoutJSON,
		},
		`{"kind":"delivered","level":"info"}`:    log(event.Log{Level: event.LevelInfo, Message: `{"kind":"delivered","level":"info"}`}, evidenceField),
		`{"kind":"delivered","ts":` + ts + `}`:   log(event.Log{Time: at, Message: `{"kind":"delivered","ts":` + ts + `}`}, evidenceNone),
		`{"kind":"state_read","msg":"x"}`:        log(event.Log{Message: `{"kind":"state_read","msg":"x"}`}, evidenceNone),
		`{"kind":"letter","message":"x"}`:        log(event.Log{Message: `{"kind":"letter","message":"x"}`}, evidenceNone),
		`{"kind":"operation","status":"failed"}`: log(event.Log{Message: `{"kind":"operation","status":"failed"}`}, evidenceNone),
		`{"kind":"state","status":"phase"}`:      log(event.Log{Message: `{"kind":"state","status":"phase"}`}, evidenceNone),
		`{"kind":"state","status":"hole"}`:       log(event.Log{Message: `{"kind":"state","status":"hole"}`}, evidenceNone),
		` {"msg": "spaces" , "a" : [ 1 ] } `:     {Entry: event.Entry{Message: ` {"msg": "spaces" , "a" : [ 1 ] } `, Pos: 1}, StartLine: 1, EndLine: 1, Split: evidenceLine, Layout: LayoutJSON},
		`{"msg": "spaces" , "a" : [ 1 ] } `:      log(event.Log{Message: `spaces a=[ 1 ]`}, evidenceNone),
		`{"kind":"operation","time":` + ts + `,"operation":"op-2","parent":"op-1","method":"world/save","status":"cancelled","error":"no","byCaller":true}`: {
			Entry: event.Operation{
				Time: at, ID: "op-2", Parent: "op-1", Method: "world/save",
				Status: event.StatusCancelled, Error: "no", ByCaller: true, Pos: 1,
			}.Entry(),
			StartLine: 1, EndLine: 1, Split: evidenceJSON, Layout: LayoutJSON,
		},
		`{"kind":"ack","consumer":"ann","attention":"e-1","through":7}`: ack,
		`{"kind":"state","time":` + ts + `,"status":"phase","phase":"load","detail":"초원"}`: {
			Entry:     event.State{Time: at, Status: event.StatusPhase, Phase: "load", Pos: 1}.Entry(),
			StartLine: 1, EndLine: 1, Split: evidenceJSON, Layout: LayoutJSON,
		},
		`{"kind":"notice","status":"hole","detail":"pipe full","count":7}`: {
			Entry:     event.Notice{Status: event.StatusHole, Detail: "pipe full", Count: 7, Pos: 1}.Entry(),
			StartLine: 1, EndLine: 1, Split: evidenceJSON, Layout: LayoutJSON,
		},
	} {
		recs, _ := read(t, strings.NewReader(in+"\n"), Options{Layout: LayoutJSON})
		want.Family, want.Head = "json", recs[0].Head
		assert.Equal(t, []Record{want}, recs, in)
	}
}

// TestOldRecording reads a recording of the version before deliveries: an acknowledgement covers what there was to see.
func TestOldRecording(t *testing.T) {
	for version, want := range map[string]int{"1": 1, "2": 2, "3": 1} {
		recs, _ := read(t, strings.NewReader(`{"kind":"recording","schemaVersion":`+version+`,"family":"rimworld"}`+"\n"+
			`{"kind":"ack","consumer":"ann","attention":"e-1","through":7}`+"\n"), Options{})
		if version == "1" { // which is not read as a recording
			require.Equal(t, event.KindLog, recs[0].Kind)
			recs = recs[1:]
		} else {
			require.Equal(t, "rimworld", recs[0].Family)
		}
		require.Len(t, recs, want, version)
		require.Equal(t, event.StatusAcknowledged, recs[want-1].Status)
		if want > 1 {
			require.Equal(t, event.Entry{Kind: event.KindHost, Status: event.StatusDelivered, Source: "ann"}, recs[0].Entry)
			require.Equal(t, "rimworld", recs[0].Family)
		}
	}
}

// TestExport reads entries of the journal in the form of its export, with a value of several lines.
func TestExport(t *testing.T) {
	const trace = "stuck\nTraceback:\n\n  no \x01 paper"
	in := "__CURSOR=s=1;i=0\n__REALTIME_TIMESTAMP=1772600767890000\nPRIORITY=6\nMESSAGE=ready x=1\n_PID=12\n\n" +
		"__CURSOR=s=1;i=1\nMESSAGE\n" + string(binary.LittleEndian.AppendUint64(nil, uint64(len(trace)))) + trace +
		"\nPRIORITY=3\nSYSLOG_IDENTIFIER=press\n\n"
	for _, in := range []string{in, strings.TrimRight(in, "\n")} {
		recs := covered(t, in)
		require.Len(t, recs, 2, render(recs))
		require.Equal(t, "1-5 json info/field \"ready x=1 _PID=\\\"12\\\"\"\n"+
			"7-14 json error/field \"stuck\\nTraceback:\\n\\n  no \\x01 paper\"\n", render(recs))
		require.Equal(t, "press", recs[1].Source)
		require.Equal(t, int64(1772600767890), recs[0].Time.UnixMilli())
	}
}

func TestJSONLinesAmongText(t *testing.T) {
	in := doc(`{"msg":"a"}`, "panic: oh", "\tat gadget.draw(x.java:1)", `{"msg":"b"}`, `{"msg":`, `{"msg":"c"}`, "[1]", "", "  x")
	recs, r := read(t, strings.NewReader(in), Options{})
	requireCovers(t, in, recs)
	require.Equal(t, LayoutJSON, r.At().Layout)
	require.Equal(t, strings.TrimPrefix(`
1-1 json "a"
2-3 frame "panic: oh" @ "\tat gadget.draw(x.java:1)"
4-4 json "b"
5-5 line "{\"msg\":"
6-6 json "c"
7-7 blank "[1]"
9-9 line "  x"
`, "\n"), render(recs))
}

// TestJSONLinesAnywhere reads single objects in logs of other layouts, and leaves data alone.
func TestJSONLinesAnywhere(t *testing.T) {
	for _, in := range []string{
		doc("INFO: ready", `{"level":"error","msg":"no disk"}`, `{"slots":4}`, "INFO: on"),
		doc("Mono path[0] = '/opt/x'", `{"level":"error","msg":"no disk"}`, `{"slots":4}`, "Press on"),
	} {
		recs := records(t, in)
		require.Len(t, recs, 4)
		require.Equal(t, event.LevelError, recs[1].Level)
		require.Equal(t, "no disk", recs[1].Message)
		require.Equal(t, `{"slots":4}`, recs[2].Message)
	}
}

// TestContainers reads the lines of programs in containers, with their traces and with lines that were split.
func TestContainers(t *testing.T) {
	docker := func(line string) string {
		b := testkit.Must(json.Marshal(map[string]string{"log": line, "stream": "stderr", "time": "2031-04-05T10:00:00Z"}))
		return string(b)
	}
	long := "ERROR: " + strings.Repeat("x", maxChunk)
	for name, in := range map[string]string{
		"Docker": doc(docker("ERROR: no disk: java.io.IOException: x\n"), docker("\tat a.B.c(B.java:5)\n"), docker("\tat a.B.d(B.java:9)\n"),
			docker(long), docker("the end\n"), docker("INFO: on\n")),
		"CRI": doc("2031-04-05T10:00:00.5Z stderr F ERROR: no disk: java.io.IOException: x", "2031-04-05T10:00:00.5Z stderr F \tat a.B.c(B.java:5)",
			"2031-04-05T10:00:00.6Z stderr F \tat a.B.d(B.java:9)", "2031-04-05T10:00:01Z stdout P "+long, "2031-04-05T10:00:01Z stdout F the end",
			"2031-04-05T10:00:02+01:00 stdout F INFO: on"),
	} {
		recs := records(t, in)
		require.Len(t, recs, 3, name)
		require.Equal(t, "\tat a.B.c(B.java:5)\n\tat a.B.d(B.java:9)", recs[0].Stack, name)
		require.Equal(t, long+"the end", recs[1].Message, name)
		require.Equal(t, event.LevelError, recs[1].Level, name)
		require.Equal(t, "INFO: on", recs[2].Message, name)
		require.Equal(t, 10, recs[0].Time.Hour(), name)
	}
}

// TestSplitFirstLine holds that what is known of the part of a first line is not taken for the whole line.
func TestSplitFirstLine(t *testing.T) {
	const at = "2031-04-05T10:00:00.5Z stderr "
	recs := records(t, doc(at+"F INFO: on", at+"P java.io.IOExcep", at+"F tion: y"))
	last := recs[len(recs)-1]
	require.Equal(t, "java.io.IOException: y", last.Message)
	require.Equal(t, event.LevelError, last.Level)
}

func TestJSONLineBeforeHole(t *testing.T) {
	recs := records(t, `{"msg":"a"}`+strings.Repeat("\x00", 100)+"\n"+`{"msg":"b"}`)
	require.Equal(t, "1-1 json \"a\"\nnotice hole count=100 pos=1\n2-2 json \"b\"\n", render(recs))
}

func TestJSONLineTooLong(t *testing.T) {
	long := strings.Repeat("x", 1000)
	recs, _ := read(t, strings.NewReader(`{"msg":"`+long+`"}`), Options{maxRecordText: 256})
	require.Len(t, recs[0].Message, 256)
	require.Equal(t, uint64(1000-256), recs[0].Cut)

	recs, _ = read(t, strings.NewReader(`{"msg":"`+strings.Repeat("x", windowSize)+`"}`), Options{Layout: LayoutJSON})
	require.Equal(t, uint64(10), recs[0].Count, "the notice")
	require.Equal(t, evidenceLine, recs[1].Split)
	require.Equal(t, uint64(windowSize+10-defaultMaxRecordText), recs[1].Cut)
}
