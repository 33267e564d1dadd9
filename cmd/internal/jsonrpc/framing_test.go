package jsonrpc

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/framing"
)

func TestLine(t *testing.T) {
	read := func(r io.Reader, limit int) (texts []string, err error) {
		buffered := bufio.NewReaderSize(r, 16) // the least that there is
		for {
			line, err := framing.Line(buffered, limit)
			if err != nil {
				return texts, err
			}
			texts = append(texts, string(line))
		}
	}
	texts, err := read(iotest.OneByteReader(strings.NewReader("1234567\n\n12")), 8)
	require.Equal(t, []string{"1234567\n", "\n", "12"}, texts)
	require.Equal(t, io.EOF, err)
	_, err = read(strings.NewReader("1234567890"), 8)
	ends := framing.Ends{Head: []byte("12345678"), Tail: []byte("90")}
	require.Equal(t, &framing.LongError{Size: 10, Limit: 8, Ends: ends}, err)
	long := strings.Repeat("x", 63) + "\n"
	buffered := bufio.NewReaderSize(strings.NewReader(long+"x"+long+strings.Repeat("a", 3*framing.MaxEnd)+"b\n"+long), 16)
	for _, want := range []any{long, 65, 3*framing.MaxEnd + 2, long} {
		line, err := framing.Line(buffered, 64)
		if tooLong, ok := errors.AsType[*framing.LongError](err); ok {
			require.Equal(t, want, tooLong.Size)
			require.Len(t, append(tooLong.Head, tooLong.Tail...), min(tooLong.Size, 64+framing.MaxEnd))
			require.EqualError(t, err, "a line of "+strconv.Itoa(tooLong.Size)+" bytes, want at most 64")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, string(line))
	}
	broken := errors.New("broken")
	_, err = read(io.MultiReader(strings.NewReader("12"), iotest.ErrReader(broken)), 8)
	require.Equal(t, broken, err)
}

// TestBodyClaimed holds that the length that a peer claims takes no memory until the bytes come.
func TestBodyClaimed(t *testing.T) {
	const step = 64 << 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, sent := range []int{0, step - 1, step, step + 1} {
		_, err := framing.Body(strings.NewReader(strings.Repeat("x", sent)), nil, 256<<20, step)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	for _, n := range []int{0, 1, step, step + 1, 3*step + 7} {
		text := strings.Repeat("x", n)
		body, err := framing.Body(strings.NewReader(text+"y"), make([]byte, 3), n, step)
		require.NoError(t, err)
		require.Equal(t, text, string(body))
	}
}
