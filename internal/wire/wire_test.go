package wire

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type small uint8

// everything has a value of each kind that a Coder knows.
type everything struct {
	u    uint64
	s    small
	b    bool
	text string
	list []string
	at   time.Time
}

func (e *everything) code(c *Coder) {
	c.Uint64("u", &e.u, 1000)
	Uint(c, "s", &e.s, 3)
	c.Bool("b", &e.b)
	c.Text("text", &e.text, 8)
	n := c.Len("list", len(e.list), 4)
	if c.Reading() {
		e.list = make([]string, n)
	}
	for i := range e.list {
		c.Text("list", &e.list[i], 8)
	}
	c.Time("at", &e.at)
}

func sample() everything {
	return everything{
		u: 1000, s: 3, b: true, text: "eight by",
		list: []string{"", "a", "b"}, at: time.Date(-4000, 1, 2, 3, 4, 5, 999_999_999, time.UTC),
	}
}

func TestRoundTrip(t *testing.T) {
	for _, in := range []everything{sample(), {list: []string{}, at: time.Unix(0, 0).UTC()}, {list: []string{}}} {
		w := Writer([]byte("head"))
		in.code(&w)
		require.NoError(t, w.Err())
		rest, ok := bytes.CutPrefix(w.Bytes(), []byte("head"))
		require.True(t, ok, "it appends")
		r := Reader(rest)
		var out everything
		out.code(&r)
		require.NoError(t, r.Close())
		require.Equal(t, in, out)

		for n := range rest {
			r := Reader(rest[:n])
			var out everything
			out.code(&r)
			require.Error(t, r.Close(), "cut at %d", n)
		}
		r = Reader(append(rest, 0))
		out.code(&r)
		require.ErrorContains(t, r.Close(), "1 bytes follow")
	}
}

func TestRefused(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}
	endless := bytes.Repeat([]byte{0xff}, 20)
	for name, c := range map[string]struct {
		src  []byte
		code func(*Coder)
		want string
	}{
		"limit":          {[]byte{11}, func(c *Coder) { var v uint64; c.Uint64("u", &v, 10) }, "u is 11: must be at most 10"},
		"endless":        {endless, func(c *Coder) { var v uint64; c.Uint64("u", &v, 1<<64-1) }, "u: not a number"},
		"small":          {[]byte{4}, func(c *Coder) { var v small; Uint(c, "s", &v, 3) }, "s is 4"},
		"wraps":          {huge, func(c *Coder) { var v small; Uint(c, "s", &v, 3) }, "s is 18446744073709551615"},
		"bool":           {[]byte{2}, func(c *Coder) { var v bool; c.Bool("b", &v) }, "b is 2"},
		"more than left": {[]byte{3, 0, 0}, func(c *Coder) { c.Len("list", 0, 10) }, "3 elements do not fit into the remaining 2 bytes"},
		"long text": {
			[]byte{9, 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'},
			func(c *Coder) { var s string; c.Text("text", &s, 8) }, "text is 9: must be at most 8",
		},
		"nanoseconds": {
			append(make([]byte, 8), 0x80, 0x94, 0xeb, 0xdc, 0x03),
			func(c *Coder) { var v time.Time; c.Time("at", &v) }, "at is 1000000000",
		},
		"section": {
			append([]byte{2}, make([]byte, 8)...), func(c *Coder) { c.Section("part") },
			"part: it has 2 bytes, but only 1 remain",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := Reader(c.src)
			c.code(&r)
			require.ErrorContains(t, r.Close(), c.want)
			require.Zero(t, r.Len("after", 0, 100), "nothing is left after an error")
			r.Fail("another")
			require.ErrorContains(t, r.Err(), c.want, "the first error stays")
		})
	}
}

func TestSections(t *testing.T) {
	w := Writer(nil)
	w.Put(func(dst []byte) []byte { return append(dst, "first"...) })
	w.Put(func(dst []byte) []byte { return dst })
	r := Reader(w.Bytes())
	require.Equal(t, "first", string(r.Section("a")))
	require.Empty(t, r.Section("b"))
	require.NoError(t, r.Close())
}

func TestWritingAllocatesNothing(t *testing.T) {
	in := sample()
	buf := make([]byte, 0, 1000)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		w := Writer(buf)
		in.code(&w)
		w.Put(func(dst []byte) []byte { return append(dst, 1) })
	}))
}

// FuzzReader feeds any bytes to a description with every kind of value: they
// are refused, or are what is written again.
func FuzzReader(f *testing.F) {
	w, in := Writer(nil), sample()
	in.code(&w)
	f.Add(w.Bytes())
	f.Add([]byte{})
	f.Add([]byte(strings.Repeat("\xff", 40)))
	f.Fuzz(func(t *testing.T, src []byte) {
		r := Reader(src)
		var v, again everything
		v.code(&r)
		if r.Close() != nil {
			return
		}
		w := Writer(nil)
		v.code(&w)
		r = Reader(w.Bytes())
		again.code(&r)
		require.NoError(t, r.Close())
		require.Equal(t, v, again)
	})
}
