package sidecar

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// script is an input with a frame of each type, and where each of them begins.
func script() (input []byte, starts []int) {
	add := func(t frameType, v any) {
		starts = append(starts, len(input))
		input = sent(input, t, v)
	}
	now := time.Unix(1, 0)
	h := hello{Client: "test", Rules: "none", Phase: "play"}
	add(typeHello, &h)
	l := line{number: 1, time: now, level: event.LevelError, message: []byte("the gate is gone"), operation: []byte("a")}
	add(typeLog, &l)
	wide := line{number: 2, time: now, wide: true, message: []byte("x\x00\x00\xd8y\x00"), stack: []byte{0, 0}}
	add(typeLog, &wide)
	add(typeOperation, &event.Operation{Time: now, ID: "a", Method: "farm/a", Status: event.StatusStarted})
	add(typeState, &state{Time: now, What: "phase", Text: "menu"})
	add(typeDropped, &dropped{Time: now, Why: "full", Others: 3, Bytes: 100})
	add(typeMods, json.RawMessage(`{"mods":[{"name":"Farm","packageId":"a.farm","assemblies":["Farm"]}]}`))
	add(typeRaise, &heed.Report{Time: now, Key: "k", Disposition: event.Advisory, Summary: "s"})
	for i, kind := range queryKinds {
		add(typeQuery, &query{Number: uint64(i), Kind: kind, Consumer: "me", ID: "e-1", Limit: 10})
	}
	return input, starts
}

// served is what Serve makes of an input.
type served struct {
	err    error
	frames map[frameType]int
	fatal  *problem // the error that ended it
	last   progress
}

func serve(t testing.TB, input []byte) served {
	t.Helper()
	var out bytes.Buffer
	s := served{frames: map[frameType]int{}}
	s.err = Serve(bytes.NewReader(input), &out, Config{Program: "test", Epoch: "e"})
	f := &frames{in: bufio.NewReader(&out)}
	for {
		ft, payload, err := f.next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
			break
		}
		s.frames[ft]++
		switch ft {
		case typeError:
			var p problem
			require.NoError(t, json.Unmarshal(payload, &p))
			if p.Fatal {
				s.fatal = &p
			}
		case typeProgress:
			require.NoError(t, json.Unmarshal(payload, &s.last))
		}
	}
	require.Equal(t, s.err != nil, s.fatal != nil, "%v", s.err)
	if s.err != nil {
		require.NotContains(t, s.err.Error(), "panic")
	}
	return s
}

// TestCutInput: an input that ends within a frame is an error, with the place; what came before was ingested.
func TestCutInput(t *testing.T) {
	input, starts := script()
	whole := serve(t, input)
	require.NoError(t, whole.err)
	require.Equal(t, len(queryKinds), whole.frames[typeAnswer])
	require.Equal(t, progress{2, 2}, whole.last)
	for i, start := range starts {
		require.NoError(t, serve(t, input[:start]).err, "cut at %d", start)
		next := len(input)
		if i+1 < len(starts) {
			next = starts[i+1]
		}
		for _, at := range []int{start + 1, start + headSize, start + headSize + 1, next - 1} { // in its head and its payload
			s := serve(t, input[:at])
			require.ErrorIs(t, s.err, io.ErrUnexpectedEOF, "cut at %d", at)
			require.EqualValues(t, start, s.fatal.At, "cut at %d", at)
		}
	}
}

// TestAnnounced: memory follows what arrives, not what a head announces.
func TestAnnounced(t *testing.T) {
	input, starts := script()
	announce := func(t frameType, n uint32) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, n), version, byte(t), 0, 0)
	}
	huge := append(make([]byte, 12), 255, 255, 255, 255, 15)
	for _, test := range []struct {
		name  string
		input []byte
	}{
		{"hello", announce(typeHello, maxLarge)},
		{"more than any", announce(typeHello, 1<<32-1)},
		{"line", append(input[:starts[1]:starts[1]], announce(typeLog, maxPayload)...)},
		{"longer than a line is", append(input[:starts[1]:starts[1]], announce(typeLog, maxPayload+1)...)},
		{"length of a text", slices.Concat(input[:starts[1]], announce(typeLog, 17), huge)},
		{"nested lists", slices.Concat(input[:starts[1]], announce(typeMods, 1<<20), bytes.Repeat([]byte("["), 1<<20))},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := allocated()
			serve(t, test.input)
			require.Less(t, allocated()-before, uint64(60<<20))
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
