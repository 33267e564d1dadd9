package sidecar

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/wire"
)

// script is an input with a frame of each type, and where each of them begins.
func script() (input []byte, starts []int) {
	add := func(t frameType, code func(*coder)) {
		starts = append(starts, len(input))
		input = appendFrame(input, t, code)
	}
	now := time.Unix(1, 0)
	h := hello{client: "test", rules: "generic", phase: "play"}
	add(typeHello, h.code)
	l := line{number: 1, time: now, level: event.LevelError, message: []byte("the gate is gone"), operation: []byte("a")}
	add(typeLog, l.code)
	wide := line{number: 2, time: now, wide: true, message: []byte("x\x00\x00\xd8y\x00"), stack: []byte{0, 0}}
	add(typeLog, wide.code)
	e := event.Operation{Time: now, ID: "a", Method: "farm/a", Status: event.StatusStarted}.Entry()
	add(typeOperation, func(c *coder) { c.operation(&e) })
	st := state{State: event.State{Time: now}, kind: statePhase, text: "menu"}
	add(typeState, st.code)
	d := dropped{time: now, why: droppedFull, others: 3, bytes: 100}
	add(typeDropped, d.code)
	mods := []heed.Mod{{Name: "Farm", PackageID: "a.farm", Assemblies: []string{"Farm"}}}
	add(typeMods, func(c *coder) { c.mods(&mods) })
	r := heed.Report{Time: now, Key: "k", Disposition: event.Advisory, Summary: "s"}
	add(typeRaise, func(c *coder) { c.report(&r) })
	for kind := queryCurrent; kind <= queryFlush; kind++ {
		q := query{number: uint64(kind), kind: kind, consumer: "me", id: "e-1", limit: 10}
		add(typeQuery, q.code)
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
		c := coder{wire.Reader(payload)}
		switch ft {
		case typeError:
			var p problem
			p.code(&c)
			require.NoError(t, c.Close())
			if p.fatal {
				s.fatal = &p
			}
		case typeProgress:
			s.last.code(&c)
			require.NoError(t, c.Close())
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
	require.Equal(t, int(queryFlush), whole.frames[typeAnswer])
	require.Equal(t, progress{2, 2}, whole.last)
	for at := 0; at < len(input); at += 7 {
		s := serve(t, input[:at])
		if at == 0 || slices.Contains(starts, at) {
			require.NoError(t, s.err, "cut at %d", at)
			continue
		}
		require.ErrorIs(t, s.err, io.ErrUnexpectedEOF, "cut at %d", at)
		i, _ := slices.BinarySearch(starts, at)
		require.EqualValues(t, starts[i-1], s.fatal.at, "cut at %d", at)
	}
}

// TestCorruptHead: another version, and bytes that are not zero, end the input with an error that has the place;
// another length or type is reported.
func TestCorruptHead(t *testing.T) {
	input, starts := script()
	start := starts[3]
	for at := range headSize {
		for value := 0; value < 256; value += 51 {
			bad := bytes.Clone(input)
			if bad[start+at] == byte(value) {
				continue
			}
			bad[start+at] = byte(value)
			s := serve(t, bad)
			what := fmt.Sprintf("byte %d is %d", at, value)
			switch at {
			case 5: // type
				require.NoError(t, s.err, what)
				if value != int(typeOperation) {
					require.Positive(t, s.frames[typeError], what)
				}
			case 0, 1, 2, 3: // length: what follows is not the head of a frame, or the payload is of several
				require.True(t, s.err != nil || s.frames[typeError] > 0, what)
			default:
				require.Error(t, s.err, what)
				require.EqualValues(t, start, s.fatal.at, what)
			}
		}
	}
}

// TestCorruptPayload: whatever a payload holds, the frames after it are read, and what cannot be is reported.
func TestCorruptPayload(t *testing.T) {
	input, starts := script()
	starts = append(starts, len(input))
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		bad := bytes.Clone(input)
		i := 1 + r.IntN(len(starts)-3) // not the hello, nor the flush
		payload := bad[starts[i]+headSize : starts[i+1]]
		if len(payload) == 0 {
			continue
		}
		for range 1 + r.IntN(4) {
			payload[r.IntN(len(payload))] = byte(r.Uint32())
		}
		s := serve(t, bad)
		require.NoError(t, s.err, "round %d, frame %d: %x", round, i, payload)
		require.GreaterOrEqual(t, s.frames[typeAnswer]+s.frames[typeError], int(queryFlush), "round %d", round)
	}
}

// TestCorruptHello: a hello that cannot be read is reported, and nothing else is done.
func TestCorruptHello(t *testing.T) {
	input, starts := script()
	for at := headSize; at < starts[1]; at += 3 {
		for value := 0; value < 256; value += 61 {
			bad := bytes.Clone(input)
			bad[at] = byte(value)
			s := serve(t, bad)
			require.Equal(t, s.err == nil, s.frames[typeWelcome] == 1, "byte %d is %d: %v", at, value, s.err)
		}
	}
}

// TestAnnounced: memory follows what arrives, not what a head announces.
func TestAnnounced(t *testing.T) {
	input, starts := script()
	announce := func(t frameType, n uint32) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, n), version, byte(t), 0, 0)
	}
	huge := []byte{255, 255, 255, 255, 15}
	for _, test := range []struct {
		name  string
		input []byte
	}{
		{"hello", announce(typeHello, maxLarge)},
		{"more than any", announce(typeHello, 1<<32-1)},
		{"line", append(input[:starts[1]:starts[1]], announce(typeLog, maxPayload)...)},
		{"longer than a line is", append(input[:starts[1]:starts[1]], announce(typeLog, maxPayload+1)...)},
		{"count of a list", slices.Concat(input[:starts[1]], announce(typeMods, 5), huge)},
		{"length of a text", slices.Concat(input[:starts[1]], announce(typeRaise, 14), make([]byte, 9), huge)},
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
