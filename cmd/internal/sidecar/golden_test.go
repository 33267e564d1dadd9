package sidecar

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
)

// example is a frame of the golden file.
type example struct {
	name string
	t    frameType
	v    any
	want any // what heed reads, if it is not v
}

func (e *example) frame() []byte { return sent(nil, e.t, e.v) }

// sent appends a frame with what v holds: a line, a hello or a snapshot with what follows it, bytes, or else JSON.
func sent(dst []byte, t frameType, v any) []byte {
	switch v := v.(type) {
	case *line:
		start := len(dst)
		b := binary.AppendUvarint(append(dst, 0, 0, 0, 0, version, byte(t), 0, 0), v.number)
		b = binary.AppendUvarint(binary.LittleEndian.AppendUint64(b, uint64(v.time.Unix())), uint64(v.time.Nanosecond()))
		wide := byte(0)
		if v.wide {
			wide = 1
		}
		b = binary.AppendUvarint(append(b, byte(v.level), wide), v.thread)
		b = append(binary.AppendUvarint(b, uint64(len(v.operation))), v.operation...)
		b = binary.AppendUvarint(binary.AppendUvarint(b, v.cutMessage), v.cutStack)
		b = append(binary.AppendUvarint(b, uint64(len(v.message))), v.message...)
		b = append(binary.AppendUvarint(b, uint64(len(v.stack))), v.stack...)
		binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-headSize))
		return b
	case []byte:
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(v))), version, byte(t), 0, 0)
		return append(dst, v...)
	case string:
		return sent(dst, t, []byte(v))
	case *hello:
		return appendFrame(dst, t, v, v.snapshot...)
	case *snapshot:
		return appendFrame(dst, t, v.progress, v.state...)
	}
	return appendFrame(dst, t, v)
}

var exampleTime = time.Date(2026, 1, 31, 10, 20, 30, 456_000_000, time.UTC)

func exampleItem() heed.Item {
	return heed.Item{
		ID: "run1-3", State: coalesce.Open, Severity: event.SeverityError, Disposition: event.Blocking, Blocking: true,
		StateInvalidated: true, Summary: "saving failed", Title: "A save failed", Advice: "Free space.", Rule: "save.failed",
		Perhaps: []string{"Barns"}, Variants: heed.Variants{{Value: "shed", Count: 4}},
		CausalOperationID: "call-7", CausalMethod: "farm/save",
		OpenedAtSequence: 40, LatestSequence: 300, DiagnosticsCursor: 39, TotalUrgentEntries: 5, Groups: 2,
		OpenedPos: position(38, 4), LatestPos: position(299, 4), Blame: []string{"Brick Kilns"}, Predecessor: "run1-2",
		GroupsExact: true, Prelude: 3, Recurrence: "came back 3 times, every 1m0s", Known: "seen in 2 sessions",
		Cause: coalesce.CauseEntry{Seq: 40, Pos: position(38, 4), Rule: "save.failed", ID: 255, Phase: "play"},
		Sample: []heed.Sample{{
			Level: event.SeverityError, Message: "Exception: no room é", RepeatCount: 4, LatestSequence: 300,
			Rule: "save.failed", ID: 255, FirstPos: position(38, 4), LatestPos: position(299, 4),
			Blame:    []string{"Brick Kilns"},
			Variants: heed.Variants{{Value: "barn", Count: 3}, {Others: true, Count: 1}},
		}},
	}
}

func exampleVerdict() heed.Verdict {
	return heed.Verdict{
		Operation: "call-7", Method: "farm/save", Status: event.StatusCompleted, Outcome: coalesce.Affected,
		Reason: coalesce.ReasonCharged, Text: "Something blocking came of it.", CleanThrough: 301, Known: true,
		AttentionID: "run1-3",
	}
}

// examples has a frame of each type, and a query and an answer of each kind. Those of a client are written as a client
// may write them.
func examples() []example {
	item, verdict := exampleItem(), exampleVerdict()
	all := []example{
		{
			"hello", typeHello, `{"client":"example 1","process":4711,"rules":"unity","family":"rimworld",` +
				`"files":[{"name":"own.yaml","text":"version: 1\n"}],"phase":"menu","lines":0,"seen":[]}` + "\n",
			&hello{
				Client: "example 1", Process: 4711, Rules: "unity", Family: "rimworld",
				Files: []ruleFile{{"own.yaml", "version: 1\n"}}, Phase: "menu", Seen: []json.RawMessage{}, snapshot: []byte{},
			},
		},
		{
			"hello after a restart", typeHello, `{"client":"example 1","process":0,"rules":"generic","family":"rimworld","files":[],"phase":"",` +
				`"lines":200,"seen":[{"a":1},{"b":2}]}` + "\n\x01\x02\x03",
			&hello{
				Client: "example 1", Rules: "generic", Family: "rimworld", Files: []ruleFile{}, Lines: 200,
				Seen: []json.RawMessage{[]byte(`{"a":1}`), []byte(`{"b":2}`)}, snapshot: []byte{1, 2, 3},
			},
		},
		{"log", typeLog, &line{
			number: 300, thread: 4, time: exampleTime, level: event.LevelError, operation: []byte("call-7"),
			message: []byte("Exception: no room é"), stack: []byte("  at Farm.Barn.Save ()"),
		}, nil},
		{"log in UTF-16, cut", typeLog, &line{
			number: 301, thread: 4, time: exampleTime, level: event.LevelInfo, wide: true, cutMessage: 70_000, cutStack: 2,
			operation: []byte{}, message: []byte{'h', 0, 0xe9, 0}, stack: []byte{},
		}, nil},
		{
			"operation", typeOperation, `{"time":"2026-01-31T10:20:30.456Z","status":"cancelled","id":"call-7",` +
				`"parent":"turn-1","method":"farm/save","error":"stopped","byCaller":true}`,
			&event.Operation{
				Time: exampleTime, ID: "call-7", Parent: "turn-1", Method: "farm/save", Status: event.StatusCancelled,
				Error: "stopped", ByCaller: true,
			},
		},
		{
			"state", typeState, `{"time":"2026-01-31T10:20:30.456Z","what":"alive","due":10000,"text":"frame 60"}`,
			&state{Time: exampleTime, What: "alive", Due: 10_000, Text: "frame 60"},
		},
		{
			"dropped", typeDropped, `{"time":"2026-01-31T10:20:30.456Z","why":"full","byLevel":[0,1,200,3,0,0],"others":5,` +
				`"bytes":70000}`,
			&dropped{
				Time: exampleTime, Why: "full", ByLevel: [maxLevels]uint64{0, 1, 200, 3}, Others: 5, Bytes: 70_000,
			},
		},
		{
			"mods", typeMods, `{"mods":[{"name":"Brick Kilns","packageId":"author.brickkilns","workshopId":"123",` +
				`"assemblies":["BrickKilns"]}]}`,
			&mods{Mods: []mod{{
				heed.Mod{Name: "Brick Kilns", PackageID: "author.brickkilns", WorkshopID: "123"}, []string{"BrickKilns"},
			}}},
		},
		{
			"raise", typeRaise, `{"time":"2026-01-31T10:20:30.456Z","key":"autosave","disposition":"blocking",` +
				`"severity":"error","invalidates":true,"summary":"the autosave failed","message":"disk full",` +
				`"operationId":"call-7"}`,
			&heed.Report{
				Time: exampleTime, Key: "autosave", Disposition: event.Blocking, Severity: event.SeverityError, Invalidates: true,
				Summary: "the autosave failed", Message: "disk full", OperationID: "call-7",
			},
		},
	}
	for _, kind := range queryKinds {
		all = append(all, example{"query " + kind, typeQuery, &query{
			Number: 9, Kind: kind, Consumer: "mod", ID: "run1-3", Through: 300, Epoch: "run1", After: 39, Limit: 10,
			Least: event.Advisory,
		}, nil})
	}
	all = append(all, []example{
		{"welcome", typeWelcome, &welcome{Program: "heed-sidecar v1.2.3", Epoch: "run1", Restored: true}, nil},
		{"update", typeUpdate, &update{heed.Update{
			Kind: coalesce.Opened, Reason: "new", Item: item, Seq: 40, Pos: position(38, 4),
		}, "run1-3"}, nil},
		{"verdict", typeVerdict, &verdict, nil},
		{"progress", typeProgress, &progress{Latest: 300, Lines: 299}, nil},
		{"snapshot", typeSnapshot, &snapshot{progress{300, 299}, []byte{1, 2, 3}}, nil},
		{"error", typeError, &problem{Frame: typeLog, At: 1234, Text: "a frame of type 2 cannot be read"}, nil},
	}...)
	texts := map[string]string{"phase": "play"}
	results := map[string]any{
		"current": item,
		"verdict": verdict,
		"read": page{
			Epoch: "run1", Next: 40, Lost: 3, More: true, Records: []journal.Record{{
				Entry: event.Entry{
					Seq: 40, Time: exampleTime, Level: event.LevelError, Source: "Farm", Message: "Exception: no room é",
					Stack: "  at Farm.Barn.Save ()", OperationID: "call-7", Pos: position(38, 4),
				},
				Decision:  event.Decision{Rule: "save.failed", Disposition: event.Blocking, Severity: event.SeverityError},
				Truncated: true,
			}},
		},
		"ack": heed.AckResult{
			ID: "run1-3", Watermark: 300, Acknowledged: true, Successor: "run1-4", Covered: []string{"run1-2"},
		},
		"attach":    "run1-4",
		"delivered": true,
		"clear":     true,
		"stats":     map[string]any{"lines": 299, "open": 1, "phase": "play"},
		"explain":   texts,
		"open":      []heed.Item{item},
	}
	for _, kind := range queryKinds {
		all = append(all, example{"answer " + kind, typeAnswer, &answer{Number: 9, Kind: kind, Result: results[kind]}, nil})
	}
	return append(all, example{
		"answer with an error", typeAnswer, &answer{Number: 10, Kind: "read", Error: "the cursor is of another run"}, nil,
	})
}

// queryKinds are the kinds of queries.
var queryKinds = []string{
	"current", "verdict", "read", "ack", "attach", "detach", "delivered", "clear", "stats",
	"explain", "open", "snapshot", "flush",
}

// TestGoldenFrames holds the frames to the golden file, by which clients in other languages are tested.
func TestGoldenFrames(t *testing.T) {
	file := filepath.Join("..", "..", "..", "testdata", "frames.hex")
	var text strings.Builder
	text.WriteString("# A frame of each type: its name, and its bytes. Written by go test ./cmd/internal/sidecar -update\n")
	for _, e := range examples() {
		fmt.Fprintf(&text, "%s: %s\n", e.name, hex.EncodeToString(e.frame()))
	}
	testkit.Golden(t, file, text.String())
}

// TestFramesRead holds what heed reads of the frames of a client.
func TestFramesRead(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			f := &frames{in: bufio.NewReader(bytes.NewReader(e.frame()))}
			ft, payload, err := f.next()
			require.NoError(t, err)
			require.Equal(t, e.t, ft)
			want := e.want
			if want == nil {
				want = e.v
			}
			got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
			switch got := got.(type) {
			case *line:
				err = got.read(payload)
			case *hello:
				err = got.read(payload)
			default:
				if e.t > typeQuery {
					return
				}
				err = json.Unmarshal(payload, got)
			}
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

// snapshot is the frame of [writer.addSnapshot] as a client reads it: a state of the engine, and the progress that it
// holds at least.
type snapshot struct {
	progress
	state []byte
}
