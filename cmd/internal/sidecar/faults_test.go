package sidecar

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
)

// TestUnreadable holds that an input which cannot be read further is an error that says why and where, on both ways.
func TestUnreadable(t *testing.T) {
	greeting := sent(nil, typeHello, &hello{Rules: "none"})
	flush := sent(nil, typeQuery, &query{Kind: "flush"})
	with := func(at int, b byte) []byte {
		f := bytes.Clone(flush)
		f[at] = b
		return f
	}
	for name, c := range map[string]struct {
		input []byte
		want  string
	}{
		"no hello":              {flush, "the first frame has type 8"},
		"hello that is no such": {sent(nil, typeHello, 5), "the hello cannot be read: json: "},
		"text":                  {[]byte("Hello, is anybody there?\n"), "version 111"},
		"ends in a head":        {append(bytes.Clone(greeting), flush[:3]...), "the input ends in the head of a frame"},
		"ends in a payload":     {append(bytes.Clone(greeting), flush[:9]...), "the input ends in the payload of a frame of type 8"},
		"future version":        {append(bytes.Clone(greeting), with(4, 3)...), "the framing has version 3, this program reads version 2"},
		"no frame":              {append(bytes.Clone(greeting), with(6, 1)...), "bytes 6 and 7 are 1 and 0"},
		"too long":              {append(bytes.Clone(greeting), with(3, 1)...), "bytes, want at most 1048576"},
		"rules that do not exist": {
			sent(nil, typeHello, &hello{Rules: "lua"}), `the rules "lua": there are unity, generic and none`,
		},
		"family that does not exist": {
			sent(nil, typeHello, &hello{Family: "rimwrld"}), `Config.Family: unknown family "rimwrld"`,
		},
		"rules that do not compile": {
			sent(nil, typeHello, &hello{Files: []ruleFile{
				{"own.yaml", "version: 1\nrules:\n  - id: 5\n    wen: x\n"},
			}}),
			`own.yaml:4`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := Serve(bytes.NewReader(c.input), &out, Config{Epoch: "e"})
			require.ErrorContains(t, err, c.want)
			var last problem
			f := &frames{in: newReader(out.Bytes())}
			for {
				ft, payload, err := f.next()
				if err != nil {
					break
				}
				if ft == typeError {
					require.NoError(t, json.Unmarshal(payload, &last))
				}
			}
			require.True(t, last.Fatal)
			require.Contains(t, last.Text, c.want)
		})
	}
	gone := errors.New("the pipe is gone")
	require.ErrorIs(t, Serve(iotest.ErrReader(gone), io.Discard, Config{Epoch: "e"}), gone)
	for name, input := range map[string][]byte{
		"nothing": nil, "hello": greeting, "mark": append([]byte("\ufeff"), greeting...),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, Serve(bytes.NewReader(input), io.Discard, Config{Epoch: "e"}))
		})
	}
}

// TestRun is the table of the program's output for people and its exit status, by its arguments and its input.
func TestRun(t *testing.T) {
	garbage, empty := filepath.Join(t.TempDir(), "garbage"), filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(garbage, []byte("not a frame at all"), 0o600))
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, c := range []struct {
		args           []string
		in             string
		status         int
		stdout, stderr string
	}{
		{[]string{"--version"}, garbage, 0, `^heed-sidecar \S+ go\S+ \S+/\S+\n$`, `^$`},
		{[]string{"--help"}, garbage, 0, `^heed-sidecar runs beside a game`, `^$`},
		{[]string{"-h"}, garbage, 0, `^heed-sidecar runs beside a game`, `^$`},
		{[]string{"help", "me"}, garbage, 0, `^heed-sidecar runs beside a game`, `^$`},
		{[]string{"--x"}, garbage, 2, `^$`, `^heed-sidecar: "--x" is not known: there are --version and --help\n$`},
		{nil, empty, 0, `^$`, `^$`},
		{nil, os.DevNull, 2, `^$`, `^heed-sidecar: a mod inside a game starts this program: .* see --help\n$`},
		{nil, garbage, 1, `this program reads version`, `^heed-sidecar: the framing has version 97, this program reads version 2\n$`},
	} {
		in, err := os.Open(c.in)
		require.NoError(t, err)
		dir := t.TempDir()
		out, err := os.Create(filepath.Join(dir, "out"))
		require.NoError(t, err)
		said, err := os.Create(filepath.Join(dir, "err"))
		require.NoError(t, err)
		standard := [3]*os.File{os.Stdin, os.Stdout, os.Stderr}
		os.Stdin, os.Stdout, os.Stderr = in, out, said
		status := Run("heed-sidecar", c.args)
		os.Stdin, os.Stdout, os.Stderr = standard[0], standard[1], standard[2]
		signal.Reset(os.Interrupt)
		for _, f := range []*os.File{in, out, said} {
			require.NoError(t, f.Close())
		}
		require.Equal(t, c.status, status, c.args)
		for name, want := range map[string]string{"out": c.stdout, "err": c.stderr} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			require.Regexp(t, want, string(text), "%s of %v", name, c.args)
		}
	}
}

// TestBadFrames holds that a payload which cannot be read is reported, known to the engine, and the only one lost.
func TestBadFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{Phase: "play"})
		var p problem
		c.send(typeLog, []byte{1, 2, 3})
		c.want(typeError, &p)
		require.Equal(t, typeLog, p.Frame)
		require.False(t, p.Fatal)
		require.Contains(t, p.Text, "a frame of type 2 cannot be read: ")
		var a heed.Item
		c.ask(query{Kind: "current"}, &a)
		require.Contains(t, a.Summary, "part of the log is missing")

		c.send(99, nil)
		c.want(typeError, &p)
		require.Equal(t, frameType(99), p.Frame)
		c.send(99, nil)
		figures := map[string]any{}
		c.ask(query{Kind: "stats"}, &figures)
		require.Equal(t, 1.0, figures["badFrames"])
		require.Equal(t, 2.0, figures["unknownFrames"])
		require.NoError(t, c.end())
	})
}

// TestBounds: a frame that is as large as a bound allows is read, and no larger one.
func TestBounds(t *testing.T) {
	cfg := bounded(nil)
	require.Equal(t, []int{16384, 16384, 8192, 16384, 2097152, 1024, 524288, 1024, 524288}, []int{
		cfg.Signatures, cfg.Groups.Signatures, cfg.Groups.Columns, cfg.Journal.Entries, cfg.Journal.Bytes,
		cfg.Journal.Firsts, cfg.Journal.FirstsBytes, cfg.Journal.Pinned, cfg.Journal.PinnedBytes,
	}, "measured to stay below 40 MB")
	s := &server{engine: testkit.Must(heed.New(heed.Config{})), w: &writer{wake: make(chan struct{}, 1)}}
	repeated := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	for name, c := range map[string]struct {
		read func(n int) error
		most int
		says string
	}{
		"mods": {
			func(n int) error { return handlers[typeMods](s, []byte(`{"mods":[`+repeated(`{}`, n)+`]}`)) },
			4096, "there are 4097 mods: at most 4096 are allowed",
		},
		"rule files": {
			func(n int) error { return (&hello{}).read([]byte(`{"files":[` + repeated(`{}`, n) + "]}\n")) },
			64, "it has 65 rule files and 0 updates: at most 64 and 4096 are allowed",
		},
		"updates": {
			func(n int) error { return (&hello{}).read([]byte(`{"seen":[` + repeated(`{}`, n) + "]}\n")) },
			4096, "it has 0 rule files and 4097 updates: at most 64 and 4096 are allowed",
		},
		"a hello": {
			func(n int) error { return (&hello{}).read([]byte(strings.Repeat(" ", n-2) + "{}\n")) },
			8 << 20, "its JSON has 8388609 bytes: at most 8388608 are allowed",
		},
		"an operation's name in a line": {
			func(n int) error {
				l := line{operation: make([]byte, n)}
				return (&line{}).read(sent(nil, typeLog, &l)[headSize:])
			},
			4096, "out of bounds",
		},
		"a level": {
			func(n int) error {
				l := line{level: event.Level(n)}
				return (&line{}).read(sent(nil, typeLog, &l)[headSize:])
			},
			int(event.LevelFatal), "out of bounds",
		},
		"bytes after a line": {
			func(n int) error {
				return (&line{}).read(append(sent(nil, typeLog, &line{})[headSize:], make([]byte, n)...))
			},
			0, "followed by more",
		},
		"the form of texts": {
			func(n int) error {
				payload := sent(nil, typeLog, &line{time: time.Unix(0, 0)})[headSize:]
				payload[11] = byte(n) // after number, seconds, nanoseconds and level
				return (&line{}).read(payload)
			},
			1, "out of bounds",
		},
		"levels of what was dropped": {
			func(n int) error {
				before := s.dropped
				err := handlers[typeDropped](s, []byte(`{"why":"full","byLevel":[`+repeated("1", n)+`]}`))
				if s.dropped-before != uint64(n) {
					return errors.New("out of bounds")
				}
				return err
			},
			int(event.LevelFatal) + 1, "out of bounds",
		},
	} {
		require.NoError(t, c.read(c.most), name)
		require.ErrorContains(t, c.read(c.most+1), c.says, name)
	}
	long := strings.Repeat("é", maxName)
	kept := long[:maxName]
	q := query{Consumer: long, ID: long, Epoch: long}
	o := event.Operation{Status: event.StatusStarted, ID: long, Parent: long, Method: long, Pos: 9}
	r, st := heed.Report{OperationID: long, Pos: 9}, state{What: "alive", Text: long, Due: 1 << 40}
	require.NoError(t, errors.Join(s.answer(&q), s.operation(&o), s.raise(&r), s.state(&st)))
	require.Equal(t, []string{kept, kept, kept, kept, kept, kept, kept, kept}, []string{
		q.Consumer, q.ID, q.Epoch, o.ID, o.Parent, o.Method, r.OperationID, st.Text,
	})
	require.Equal(t, []uint64{0, 0, 1 << 31}, []uint64{o.Pos, r.Pos, st.Due})
	for frame, c := range map[frameType]struct{ text, says string }{
		typeState: {`{"what":"nap"}`, "no state is"}, typeDropped: {`{"why":"nap"}`, "must be full or ended"},
		typeOperation: {`{"status":"phase"}`, "is none of an operation"}, typeQuery: {`{"kind":7}`, "cannot unmarshal"},
	} {
		require.ErrorContains(t, handlers[frame](s, []byte(c.text)), c.says)
	}
}

// TestStates is the table of a client's reports about its game, and of their effects on the server.
func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{Phase: "play"})
		received := 0
		figures := func() (phase string, busy bool, more int) {
			var f struct {
				Phase    string
				Busy     bool
				Received int
			}
			c.ask(query{Kind: "stats"}, &f)
			more, received = f.Received-received, f.Received
			return f.Phase, f.Busy, more
		}
		for _, step := range []struct {
			what, text string
			phase      string
			busy       bool
			entries    int
		}{
			{"phase", "menu", "menu", false, 1},
			{"long_event", "a map", "menu", true, 1},
			{"alive", "", "menu", true, 0},
			{"long_event_end", "", "menu", false, 1},
			{"state_read", "", "menu", false, 0},
			{"phase", "play", "play", false, 1},
		} {
			c.send(typeState, &state{Time: time.Now(), What: step.what, Text: step.text})
			phase, busy, entries := figures()
			require.Equal(t, []any{step.phase, step.busy, step.entries}, []any{phase, busy, entries}, step.what)
		}
		// That the state was read is in the next snapshot.
		c.log(event.LevelError, fault, "")
		var a heed.Item
		c.ask(query{Kind: "current", Consumer: "me"}, &a)
		require.True(t, a.Blocking)
		before := c.snapshot()
		c.send(typeState, &state{Time: time.Now(), What: "state_read"})
		require.NotEqual(t, before, c.snapshot(), "that it was read is a part of the state")
		require.NoError(t, c.end())
	})
}

// snapshot asks for a snapshot and returns it.
func (c *client) snapshot() []byte {
	c.t.Helper()
	c.send(typeQuery, &query{Kind: "snapshot"})
	var s snapshot
	c.want(typeSnapshot, &s)
	c.want(typeAnswer, &answer{})
	return s.state
}

// TestRaised: a report that a client raises is an item with the report's texts.
func TestRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{Rules: "none"})
		c.send(typeRaise, &heed.Report{
			Time: time.Now(), Key: "k", Disposition: event.Blocking, Severity: event.SeverityError, Summary: "the disk is full",
			Message: "no space", Invalidates: true, OperationID: "op", Pos: 7,
		})
		var u update
		c.want(typeUpdate, &u)
		require.Equal(t, coalesce.Opened, u.Kind)
		require.True(t, u.Item.Blocking && u.Item.StateInvalidated)
		require.Contains(t, u.Item.Summary, "the disk is full")
		require.Equal(t, []any{u.Item.ID, "op", uint64(0)}, []any{u.Current, u.Item.CausalOperationID, u.Item.OpenedPos})
		c.send(typeRaise, "7")
		var p problem
		c.want(typeError, &p)
		require.Equal(t, typeRaise, p.Frame)
		require.NoError(t, c.end())
	})
}

// TestDropped is the table of lines that did not reach the sidecar: a hole in the log, with their number and levels.
func TestDropped(t *testing.T) {
	for want, d := range map[string]dropped{
		"3 lines did not reach heed, since too many came at once, 2 error, 1 of any level": {
			Why: "full", ByLevel: [maxLevels]uint64{event.LevelError: 2}, Others: 1,
		},
		"6 lines did not reach heed, since the program of heed ended, and was started again, 5 info, 1 fatal": {
			Why: "ended", ByLevel: [maxLevels]uint64{event.LevelInfo: 5, event.LevelFatal: 1},
		},
		"lines that did not reach heed were logged up to here": {Why: "ended"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := dial(t, hello{Rules: "none"})
			d.Time, d.Bytes = time.Now(), 100
			c.send(typeDropped, &d)
			c.send(typeDropped, &d)
			var p page
			c.ask(query{Kind: "read", Limit: 10}, &p)
			require.Len(t, p.Records, 2)
			require.Equal(t, event.StatusHole, p.Records[0].Status)
			require.Equal(t, want, p.Records[0].Message)
			require.EqualValues(t, 100, p.Records[0].Count)
			var f struct{ Dropped uint64 }
			c.ask(query{Kind: "stats"}, &f)
			var lines uint64
			for _, n := range d.ByLevel {
				lines += n
			}
			require.Equal(t, 2*(lines+d.Others), f.Dropped)
			require.NoError(t, c.end())
		})
	}
}

// TestAnswers is the table of the answers to queries about absent items, and after changes.
func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := dial(t, hello{Phase: "play"})
		result := func(q query) string {
			t.Helper()
			c.send(typeQuery, &q)
			var a struct {
				Result json.RawMessage
				Error  string
			}
			c.want(typeAnswer, &a)
			return string(a.Result) + a.Error
		}
		for _, kind := range []string{"current", "explain", "detach", "flush", "snapshot"} {
			require.Equal(t, "null", result(query{Kind: kind, Consumer: "me", ID: "e-9"}), kind)
		}
		require.Equal(t, "[]", result(query{Kind: "open"}))
		require.Equal(t, "false", result(query{Kind: "clear", ID: "e-9"}))
		require.Equal(t, "false", result(query{Kind: "delivered", ID: "e-9"}))
		require.Regexp(t, `^null.*epoch`, result(query{Kind: "read", Epoch: "other", After: 1}))
		require.Equal(t, `nullkind is "nap", which no query is`, result(query{Kind: "nap"}))
		for _, limit := range []int{-1, journal.MaxLimit + 1} {
			want := fmt.Sprintf("nulllimit is %d: must be from 0 to %d", limit, journal.MaxLimit)
			require.Equal(t, want, result(query{Kind: "read", Limit: limit}))
		}
		require.Equal(t, "[]", result(query{Kind: "open"}), "nothing of the log is missing")

		c.log(event.LevelError, fault, "")
		c.log(event.LevelInfo, "All is well", "op")
		var page page
		for _, q := range []query{
			{Kind: "read", Limit: 10, Least: event.Blocking},
			{Kind: "read", Limit: 10, ID: "op"},
			{Kind: "read", Limit: journal.MaxLimit, After: 1},
			{Kind: "read", Limit: 1, Epoch: w.Epoch},
		} {
			c.ask(q, &page)
			require.Len(t, page.Records, 1, "%+v", q)
		}
		require.True(t, page.More)
		require.Equal(t, []any{"e", uint64(1)}, []any{page.Epoch, page.Next})
		require.Equal(t, "true", result(query{Kind: "delivered", Consumer: "me", ID: "e-1", Through: 1}))
		explained := map[string]string{}
		c.ask(query{Kind: "explain", ID: "e-1"}, &explained)
		for _, name := range []string{"summary", "rule", "meaning", "why", "template", "blame"} {
			require.NotEmpty(t, explained[name], name)
		}
		for name, text := range explained {
			require.NotEmpty(t, text, name)
		}
		require.Contains(t, explained["template"], "NullReferenceException")
		shown := map[string]any{}
		c.ask(query{Kind: "stats"}, &shown)
		require.Equal(t, "map[acknowledged:0 badFrames:0 blind:false blindRule: busy:false cutBytes:0 cutTexts:0 dropped:0 folded:1 "+
			"ignored:1 latestLine:2 lines:2 open:1 opened:1 phase:play received:2 unknownFrames:0]", fmt.Sprint(shown))
		require.Equal(t, "true", result(query{Kind: "clear", ID: "e-1"}))
		require.Equal(t, "null", result(query{Kind: "current", Consumer: "me"}))
		require.NoError(t, c.end())
	})
}

// TestWatched compares the operations whose verdicts are to be written with a naive account: the latest that are not
// the same.
func TestWatched(t *testing.T) {
	w := &writer{}
	var want []string
	for n := range 3 * maxWatched {
		id := fmt.Sprint("op ", n*n%(2*maxWatched-3))
		w.watch(id)
		if !slices.Contains(want, id) {
			want = append(want, id)
			want = want[max(0, len(want)-maxWatched):]
		}
	}
	require.Equal(t, want, w.queue.operations)
}

// TestText holds texts to what the client meant.
func TestText(t *testing.T) {
	wide := func(units ...uint16) (b []byte) {
		for _, u := range units {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
		return b
	}
	for name, c := range map[string]struct {
		l    line
		want string
	}{
		"plain":          {line{message: []byte("é\x00z")}, "é\x00z"},
		"invalid UTF-8":  {line{message: []byte("a\xff\xfeb")}, "a\ufffdb"},
		"cut":            {line{message: []byte("a"), cutMessage: 9}, "a\n(9 bytes more were cut)"},
		"wide":           {line{wide: true, message: wide(utf16.Encode([]rune("é𝄞z"))...)}, "é𝄞z"},
		"lone high":      {line{wide: true, message: wide('a', 0xd834, 'b')}, "a\ufffdb"},
		"lone low":       {line{wide: true, message: wide(0xdd1e, 'b')}, "\ufffdb"},
		"high at end":    {line{wide: true, message: wide('a', 0xd834)}, "a\ufffd"},
		"half a unit":    {line{wide: true, message: append(wide('a'), 7)}, "a\ufffd"},
		"wide and cut":   {line{wide: true, message: wide('a'), cutMessage: 4}, "a\n(4 bytes more were cut)"},
		"two high, pair": {line{wide: true, message: wide(0xd834, 0xd834, 0xdd1e)}, "\ufffd𝄞"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{line: c.l}
			require.Equal(t, c.want, s.text(0, c.l.message, c.l.cutMessage))
		})
	}
}

// TestBorrowed holds that nothing keeps texts that are overwritten by the next frame: what the journal has afterwards is
// what a copy of each text gives.
func TestBorrowed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var lines []line
	for i := range 3000 {
		message := fmt.Sprintf("[Mod%d] Exception: no %s %d", random.IntN(9), strings.Repeat("x", random.IntN(40)), i)
		lines = append(lines, line{
			number: uint64(i + 1), time: time.Unix(int64(i), 0), level: event.Level(random.IntN(6)),
			message: []byte(message), stack: []byte(fmt.Sprintf("  at Mod%d.Tick ()", random.IntN(9))),
			operation: []byte([]string{"", "a", "b", fmt.Sprint(i)}[random.IntN(4)]),
		})
	}
	read := func(borrow bool) (heed.Page, []heed.Item) {
		w := &writer{wake: make(chan struct{}, 1)}
		engine, err := heed.New(heed.Config{Epoch: "e"})
		require.NoError(t, err)
		s := &server{engine: engine, w: w}
		var buf []byte
		for _, l := range lines {
			if !borrow {
				buf = nil
			}
			buf = sent(buf[:0], typeLog, &l)
			s.ingest(typeLog, buf[headSize:], 0)
		}
		return engine.Read(heed.Cursor{Epoch: "e"}, journal.MaxLimit, heed.Filter{}), engine.Open(nil)
	}
	wantPage, wantOpen := read(false)
	page, open := read(true)
	require.Equal(t, wantPage, page)
	require.Equal(t, wantOpen, open)
	require.NotEmpty(t, open)
}
