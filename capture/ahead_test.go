package capture

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// readAhead is readAll through an Ahead. It requires that lines, bytes and layout are
// those of a Reader at every record, and that the error stays.
func readAhead(tb testing.TB, src io.Reader, opt Options, alone *Reader) ([]Record, error) {
	tb.Helper()
	r := testkit.Must(NewReader(src, opt))
	a := NewAhead(r)
	defer a.Close()
	var out []Record
	for {
		require.Equal(tb, alone.At().Lines, a.At().Lines)
		require.Equal(tb, alone.At().Bytes, a.At().Bytes)
		require.Equal(tb, alone.At().Layout, a.At().Layout)
		var rec Record
		wantErr := alone.Next(&rec)
		got, err := a.Next()
		require.Equal(tb, wantErr, err)
		if err != nil {
			_, again := a.Next()
			require.Equal(tb, err, again)
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		require.Equal(tb, rec, *got)
		out = append(out, kept(*got))
	}
}

// captures are the project's captures, by their names.
func captures(tb testing.TB) map[string][]byte {
	tb.Helper()
	all := files(tb, "../testdata/captures/*.*")
	require.NotEmpty(tb, all)
	return all
}

// files returns the texts of the files that a pattern matches, by their names.
func files(tb testing.TB, pattern string) map[string][]byte {
	tb.Helper()
	all := map[string][]byte{}
	for _, path := range testkit.Must(filepath.Glob(pattern)) {
		all[filepath.Base(path)] = testkit.Must(os.ReadFile(path))
	}
	return all
}

// TestAhead reads every capture alone and ahead, in random chunks, compressed and
// with a read that fails.
func TestAhead(t *testing.T) {
	for name, data := range captures(t) {
		t.Run(name, func(t *testing.T) {
			alone := func() *Reader {
				r := testkit.Must(NewReader(bytes.NewReader(data), Options{}))
				return r
			}
			want, _ := read(t, bytes.NewReader(data), Options{})
			rnd := rand.New(rand.NewPCG(1, uint64(len(data))))
			sizes := make([]int, 50)
			for i := range sizes {
				sizes[i] = 1 + rnd.IntN(4000)
			}
			for _, src := range []io.Reader{
				bytes.NewReader(data), &chunked{data: data, sizes: sizes},
				bytes.NewReader(gz(t, string(data))),
			} {
				got := testkit.Must(readAhead(t, src, Options{}, alone()))
				require.Equal(t, want, got)
			}
			broken := errors.New("the disk is gone")
			cut := func() io.Reader {
				return io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(broken))
			}
			one := testkit.Must(NewReader(cut(), Options{}))
			_, err := readAhead(t, cut(), Options{}, one)
			require.ErrorIs(t, err, broken)
		})
	}
}

// TestAheadOfSlowInput requires that records are handed over before a read that
// waits.
func TestAheadOfSlowInput(t *testing.T) {
	pr, pw := io.Pipe()
	// Written by a goroutine of its own, as NewReader reads.
	go func() { _, _ = pw.Write([]byte("one\ntwo\nthree\n")) }()
	r := testkit.Must(NewReader(pr, Options{Layout: LayoutPlain}))
	a := NewAhead(r)
	for _, want := range []string{"one", "two"} { // whether three goes on is not known
		rec := testkit.Must(a.Next())
		require.Equal(t, want, rec.Message)
	}
	require.NoError(t, pr.Close())
	a.Close()
}

// TestAheadClosed closes early: while the goroutine waits for an empty batch, for
// input, or is done. Close returns once it has ended.
func TestAheadClosed(t *testing.T) {
	long := strings.Repeat("a line\n", aheadBatches*batchRecords*2)
	for _, taken := range []int{0, 1, batchRecords, batchRecords + 1, len(long) / 7} {
		r := testkit.Must(NewReader(strings.NewReader(long), Options{Layout: LayoutPlain}))
		a := NewAhead(r)
		var rec *Record
		for range taken {
			rec = testkit.Must(a.Next())
		}
		a.Close()
		if rec != nil {
			require.Equal(t, "a line", rec.Message)
		}
	}
}

// TestAheadAllocates nothing in a steady state.
func TestAheadAllocates(t *testing.T) {
	r := testkit.Must(NewReader(strings.NewReader(strings.Repeat("a line\n", 50_000)), Options{Layout: LayoutPlain}))
	a := NewAhead(r)
	defer a.Close()
	take := func() {
		testkit.Must(a.Next())
	}
	for range 2 * aheadBatches * batchRecords {
		take()
	}
	require.Zero(t, testing.AllocsPerRun(10_000, take))
}

// TestBatchOwnsTexts holds that a record in a batch keeps its texts when the reader's buffer changes.
func TestBatchOwnsTexts(t *testing.T) {
	b := &batch{records: make([]placed, 0, 1)}
	window := []byte("text")
	of := func(r *Record) []*string {
		return []*string{&r.Message, &r.Stack, &r.Source, &r.OperationID, &r.Parent}
	}
	for _, s := range of(&b.slot().Record) {
		*s = text(window)
	}
	b.add(Position{})
	copy(window, "next")
	for i, s := range of(&b.records[0].Record) {
		require.Equal(t, "text", *s, i)
	}
}
