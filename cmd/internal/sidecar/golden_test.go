package sidecar

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/wire"
	"github.com/heedlog/heed/journal"
)

// example is a frame of the golden file.
type example struct {
	name string
	t    frameType
	code func(c *coder)
}

var exampleTime = time.Date(2026, 1, 31, 10, 20, 30, 456_000_000, time.UTC)

func exampleItem() heed.Item {
	return heed.Item{
		ID: "run1-3", State: coalesce.Open, Severity: event.SeverityError, Disposition: event.Blocking, Blocking: true,
		StateInvalidated: true, Summary: "saving failed", CausalOperationID: "call-7", CausalMethod: "farm/save",
		OpenedAtSequence: 40, LatestSequence: 300, DiagnosticsCursor: 39, TotalUrgentEntries: 5, Groups: 2,
		OpenedPos: position(38, 4), Blame: []string{"Brick Kilns"}, Predecessor: "run1-2",
		Sample: []heed.Sample{{
			Level: event.SeverityError, Message: "Exception: no room é", RepeatCount: 4, LatestSequence: 300,
			Rule: "save.failed",
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

// examples has a frame of each type, and a query and an answer of each kind.
func examples() []example {
	item, verdict := exampleItem(), exampleVerdict()
	all := []example{
		{"hello", typeHello, (&hello{
			client: "example 1", process: 4711, rules: "unity", files: []ruleFile{{"own.yaml", "version: 1\n"}}, phase: "menu",
		}).code},
		{"hello after a restart", typeHello, (&hello{
			client: "example 1", rules: "generic", lines: 200, snapshot: []byte{1, 2, 3}, seen: [][]byte{{4, 5}, {6}},
		}).code},
		{"log", typeLog, (&line{
			number: 300, thread: 4, time: exampleTime, level: event.LevelError, operation: []byte("call-7"),
			message: []byte("Exception: no room é"), stack: []byte("  at Farm.Barn.Save ()"),
		}).code},
		{"log in UTF-16, cut", typeLog, (&line{
			number: 301, thread: 4, time: exampleTime, level: event.LevelInfo, wide: true, cutMessage: 70_000, cutStack: 2,
			message: []byte{'h', 0, 0xe9, 0}, stack: []byte{},
		}).code},
		{"operation", typeOperation, func(c *coder) {
			e := event.Operation{
				Time: exampleTime, ID: "call-7", Parent: "turn-1", Method: "farm/save", Status: event.StatusCancelled,
				Error: "stopped", ByCaller: true,
			}.Entry()
			c.operation(&e)
		}},
		{"state", typeState, (&state{
			State: event.State{Time: exampleTime}, kind: stateAlive, due: 10_000, text: "frame 60",
		}).code},
		{"dropped", typeDropped, (&dropped{
			time: exampleTime, why: droppedFull, byLevel: [maxLevels]uint64{0, 1, 200, 3}, others: 5, bytes: 70_000,
		}).code},
		{"mods", typeMods, func(c *coder) {
			c.mods(&[]heed.Mod{{
				Name: "Brick Kilns", PackageID: "author.brickkilns", WorkshopID: "123", Assemblies: []string{"BrickKilns"},
			}})
		}},
		{"raise", typeRaise, func(c *coder) {
			c.report(&heed.Report{
				Time: exampleTime, Key: "autosave", Disposition: event.Blocking, Severity: event.SeverityError, Invalidates: true,
				Summary: "the autosave failed", Message: "disk full", OperationID: "call-7",
			})
		}},
	}
	for kind, name := range queryNames {
		if name == "" {
			continue
		}
		q := query{
			number: 9, kind: queryKind(kind), consumer: "mod", id: "run1-3", through: 300,
			cursor: heed.Cursor{Epoch: "run1", Seq: 39}, limit: 10, least: event.Advisory,
		}
		all = append(all, example{"query " + name, typeQuery, q.code})
	}
	all = append(all, []example{
		{"welcome", typeWelcome, (&welcome{program: "heed-sidecar v1.2.3", epoch: "run1", restored: true}).code},
		{"update", typeUpdate, (&update{kind: coalesce.Opened, reason: "new", current: "run1-3", item: item}).code},
		{"verdict", typeVerdict, func(c *coder) { c.verdict(&verdict) }},
		{"progress", typeProgress, (&progress{latest: 300, lines: 299}).code},
		{"snapshot", typeSnapshot, (&snapshot{progress{300, 299}, []byte{1, 2, 3}}).code},
		{"error", typeError, (&problem{frame: typeLog, at: 1234, text: "a frame of type 2 cannot be read"}).code},
	}...)
	yes, page := true, heed.Page{
		Next: heed.Cursor{Epoch: "run1", Seq: 40}, Lost: 3, More: true, Records: []journal.Record{{
			Entry: event.Entry{
				Seq: 40, Time: exampleTime, Level: event.LevelError, Source: "Farm", Message: "Exception: no room é",
				Stack: "  at Farm.Barn.Save ()", OperationID: "call-7", Pos: position(38, 4),
			},
			Decision:  event.Decision{Rule: "save.failed", Disposition: event.Blocking, Severity: event.SeverityError},
			Truncated: true,
		}},
	}
	figures, texts := []figure{{"lines", 299}, {"open", 1}}, []named{{"phase", "play"}}
	name, names := "run1-4", []string{"run1-2"}
	bodies := map[queryKind]func(c *coder){
		queryCurrent: func(c *coder) { c.perhaps(true, &item) },
		queryVerdict: func(c *coder) { c.verdict(&verdict) },
		queryRead:    func(c *coder) { c.page(&page) },
		queryAck: func(c *coder) {
			no := false
			c.Bool("", &yes)
			c.Bool("", &no)
			c.name("", &name)
			c.names("", &names, 10)
			c.perhaps(false, nil)
		},
		queryAttach:    func(c *coder) { c.name("", &name) },
		queryDelivered: func(c *coder) { c.Bool("", &yes) },
		queryClear:     func(c *coder) { c.Bool("", &yes) },
		queryStats:     func(c *coder) { c.figures(&figures); c.texts(&texts) },
		queryExplain:   func(c *coder) { c.Bool("", &yes); c.texts(&texts) },
		queryOpen: func(c *coder) {
			items := []heed.Item{item}
			list(c, "items", &items, maxName, c.item)
		},
	}
	for kind, name := range queryNames {
		if name == "" {
			continue
		}
		a := answer{number: 9, kind: queryKind(kind)}
		all = append(all, example{"answer " + name, typeAnswer, func(c *coder) {
			a.code(c)
			if body := bodies[a.kind]; body != nil {
				body(c)
			}
		}})
	}
	refused := answer{number: 10, kind: queryRead, err: "the cursor is of another run"}
	return append(all, example{"answer with an error", typeAnswer, refused.code})
}

// queryNames are the names of the kinds of queries, by kind.
var queryNames = []string{
	"", "current", "verdict", "read", "ack", "attach", "detach", "delivered", "clear", "stats", "explain", "open",
	"snapshot", "flush",
}

// TestGoldenFrames holds the frames to the golden file, by which clients in other languages are tested.
func TestGoldenFrames(t *testing.T) {
	file := filepath.Join("..", "..", "..", "testdata", "frames.hex")
	var text strings.Builder
	text.WriteString("# A frame of each type: its name, and its bytes. Written by go test ./cmd/internal/sidecar -update\n")
	for _, e := range examples() {
		fmt.Fprintf(&text, "%s: %s\n", e.name, hex.EncodeToString(appendFrame(nil, e.t, e.code)))
	}
	testkit.Golden(t, file, text.String())
}

// TestFramesRoundTrip holds that what is read of a frame is written alike.
func TestFramesRoundTrip(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			frame := appendFrame(nil, e.t, e.code)
			f := &frames{in: bufio.NewReader(bytes.NewReader(frame))}
			ft, payload, err := f.next()
			require.NoError(t, err)
			require.Equal(t, e.t, ft)
			c := coder{wire.Reader(payload)}
			code := decoder(e.t)
			if code == nil {
				return
			}
			code(&c)
			require.NoError(t, c.Close())
			require.Equal(t, frame, appendFrame(nil, ft, code))
		})
	}
}

// decoder returns what codes a value of its own; nil for answers, whose bodies are written only.
func decoder(t frameType) func(c *coder) {
	var (
		e event.Entry
		m []heed.Mod
		r heed.Report
		v heed.Verdict
	)
	switch t {
	case typeHello:
		return new(hello).code
	case typeLog:
		return new(line).code
	case typeOperation:
		return func(c *coder) { c.operation(&e) }
	case typeState:
		return new(state).code
	case typeDropped:
		return new(dropped).code
	case typeMods:
		return func(c *coder) { c.mods(&m) }
	case typeRaise:
		return func(c *coder) { c.report(&r) }
	case typeQuery:
		return new(query).code
	case typeWelcome:
		return new(welcome).code
	case typeUpdate:
		return new(update).code
	case typeVerdict:
		return func(c *coder) { c.verdict(&v) }
	case typeProgress:
		return new(progress).code
	case typeSnapshot:
		return new(snapshot).code
	case typeError:
		return new(problem).code
	}
	return nil
}

// snapshot is the frame of [writer.addSnapshot] as a client reads it: a state of the engine, and the progress that it holds at least.
type snapshot struct {
	progress
	state []byte
}

func (s *snapshot) code(c *coder) {
	s.progress.code(c)
	c.bytes("snapshot", &s.state)
}
