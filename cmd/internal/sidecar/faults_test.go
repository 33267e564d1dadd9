package sidecar

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
)

// TestUnreadable holds that an input which cannot be read further is an error that says why and where, on both ways.
func TestUnreadable(t *testing.T) {
	greeting := sent(nil, typeHello, &hello{})
	flush := sent(nil, typeQuery, &query{Kind: queryFlush})
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
	for name, input := range map[string][]byte{
		"nothing": nil, "hello": greeting, "mark": append([]byte("\ufeff"), greeting...),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, Serve(bytes.NewReader(input), io.Discard, Config{Epoch: "e"}))
		})
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
		c.ask(query{Kind: queryCurrent}, &a)
		require.Contains(t, a.Summary, "part of the log is missing")

		c.send(99, nil)
		c.want(typeError, &p)
		require.Equal(t, frameType(99), p.Frame)
		c.send(99, nil)
		figures := map[string]any{}
		c.ask(query{Kind: queryStats}, &figures)
		require.Equal(t, 1.0, figures["badFrames"])
		require.Equal(t, 2.0, figures["unknownFrames"])
		require.NoError(t, c.end())
	})
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

// TestNobodyReads holds that a client which does not read is no reason to stop ingesting, and that what waits is bounded
// and what was dropped reported.
func TestNobodyReads(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(in, out, Config{Epoch: "e"}) }()
	write := func(t2 frameType, v any) {
		_, err := toServer.Write(sent(nil, t2, v))
		require.NoError(t, err)
	}
	write(typeHello, &hello{})
	long := line{level: event.LevelInfo, message: bytes.Repeat([]byte("long "), 2000)}
	for i := range 500 {
		long.number = uint64(i + 1)
		write(typeLog, &long)
	}
	for i := range 60 {
		write(typeQuery, &query{Number: uint64(i), Kind: queryRead, Limit: 1000})
	}
	go func() {
		write(typeQuery, &query{Number: 1000, Kind: queryFlush})
		_ = toServer.Close()
	}()
	var answers, lost, size int
	f := &frames{in: bufio.NewReader(fromServer)}
	for {
		ft, payload, err := f.next()
		if err != nil {
			break
		}
		size += len(payload)
		if ft == typeAnswer {
			answers++
		}
		if ft == typeError {
			var p problem
			require.NoError(t, json.Unmarshal(payload, &p))
			_, err := fmt.Sscanf(p.Text, "%d answers were dropped", &lost)
			require.NoError(t, err)
		}
		if answers+lost == 61 {
			break
		}
	}
	require.Positive(t, lost)
	require.Positive(t, answers)
	require.Less(t, size, 4*maxWaiting)
	require.NoError(t, <-done)
	_ = fromServer.Close()
}

// TestStuckOutput holds that a server ends with its input, even while a write is stuck.
func TestStuckOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, out := io.Pipe()
		require.NoError(t, Serve(bytes.NewReader(sent(nil, typeHello, &hello{})), out, Config{Epoch: "e"}))
		_ = stuck.Close()
	})
}

// panics panics when it is read.
type panics struct{ io.Reader }

func (p panics) Read(b []byte) (int, error) {
	if n, err := p.Reader.Read(b); err == nil {
		return n, nil
	}
	panic("a planted fault")
}

// TestPanic holds that a panic ends Serve alone.
func TestPanic(t *testing.T) {
	greeting := sent(nil, typeHello, &hello{})
	err := Serve(panics{bytes.NewReader(greeting)}, io.Discard, Config{Epoch: "e"})
	require.ErrorContains(t, err, "panic: a planted fault")
}

// TestStall holds that a game which shows no more signs of life has stalled, but not one whose sidecar did not run.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{Phase: "play"})
		alive := func() {
			c.send(typeState, &state{Time: time.Now(), What: stateAlive, Due: 5000})
		}
		for range 20 {
			alive()
			time.Sleep(time.Second)
		}
		require.Empty(t, c.got)
		began := time.Now()
		var u update
		c.want(typeUpdate, &u)
		require.Equal(t, coalesce.Opened, u.Kind)
		require.InDelta(t, 4, time.Since(began).Seconds(), 1)
		require.NoError(t, c.end())
	})
}

// FuzzServe feeds frames that are not ours: nothing panics, and Serve ends with its input.
func FuzzServe(f *testing.F) {
	greeting := sent(nil, typeHello, &hello{Rules: "none"})
	for _, e := range examples() {
		f.Add(sent(nil, e.t, &e))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		err := Serve(io.MultiReader(bytes.NewReader(greeting), bytes.NewReader(input)), &out, Config{Epoch: "e"})
		if err != nil {
			require.NotContains(t, err.Error(), "panic")
		}
		fr := &frames{in: newReader(out.Bytes())}
		for {
			if _, _, err := fr.next(); err != nil {
				require.ErrorIs(t, err, io.EOF)
				require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
				break
			}
		}
	})
}
