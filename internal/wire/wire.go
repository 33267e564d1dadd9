package wire

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Coder writes to a slice or reads from one. Make it with [Writer] or [Reader].
type Coder struct {
	buf     []byte // written so far, or left to be read
	reading bool
	err     error
}

// Writer returns a Coder that appends to dst.
func Writer(dst []byte) Coder { return Coder{buf: dst} }

// Reader returns a Coder that reads src, of which it keeps nothing.
func Reader(src []byte) Coder { return Coder{buf: src, reading: true} }

// Reading reports whether values are set rather than written.
func (c *Coder) Reading() bool { return c.reading }

// Bytes returns what was written, with what was in the destination before; or
// what is left to be read.
func (c *Coder) Bytes() []byte { return c.buf }

// Err returns the first reason for which what was read is refused.
func (c *Coder) Err() error { return c.err }

// Fail refuses what is read, unless it was refused before. It does nothing when
// writing, so that a description may state its laws for both directions.
func (c *Coder) Fail(format string, args ...any) {
	if !c.reading {
		return
	}
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
	c.buf = nil
}

// Close returns Err, or what is wrong with bytes that nobody has read.
func (c *Coder) Close() error {
	if c.err == nil && len(c.buf) > 0 {
		c.Fail("%d bytes follow after its end", len(c.buf))
	}
	return c.err
}

// Uint64 codes a number of at most limit. What names it in errors, as in all
// methods.
func (c *Coder) Uint64(what string, v *uint64, limit uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	if c.err != nil {
		return
	}
	n, size := binary.Uvarint(c.buf)
	switch {
	case size <= 0:
		c.Fail("%s: not a number, or the data ends too early", what)
	case n > limit:
		c.Fail("%s is %d: must be at most %d", what, n, limit)
	default:
		*v, c.buf = n, c.buf[size:]
	}
}

// Uint codes a number of at most limit, of any type.
func Uint[T ~uint8 | ~uint16 | ~uint32](c *Coder, what string, v *T, limit T) {
	n := uint64(*v)
	c.Uint64(what, &n, uint64(limit))
	*v = T(n)
}

// Fixed64 codes a number whose bits are all alike, such as a hash, in 8 bytes.
func (c *Coder) Fixed64(what string, v *uint64) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, *v)
	} else if b := c.take(what, 8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

// Bool codes a truth value in a byte.
func (c *Coder) Bool(what string, v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	Uint(c, what, &n, 1)
	*v = n == 1
}

// Len codes how many elements follow: it writes n, or reads a number of at most
// limit. Each must take a byte at least, so that more than are left to be read
// are refused.
func (c *Coder) Len(what string, n, limit int) int {
	v := uint64(n)
	c.Uint64(what, &v, uint64(limit))
	if !c.reading {
		return n
	}
	if c.err == nil && v > uint64(len(c.buf)) {
		c.Fail("%s: %d elements do not fit into the remaining %d bytes", what, v, len(c.buf))
	}
	if c.err != nil {
		return 0
	}
	return int(v)
}

// Text codes a string of at most limit bytes.
func (c *Coder) Text(what string, s *string, limit int) {
	n := c.Len(what, len(*s), limit)
	if !c.reading {
		c.buf = append(c.buf, *s...)
	} else if b := c.take(what, n); c.err == nil {
		*s = string(b)
	}
}

// Part codes at most limit bytes. What is read is a part of the source, not a copy.
func (c *Coder) Part(what string, b *[]byte, limit int) {
	n := c.Len(what, len(*b), limit)
	if !c.reading {
		c.buf = append(c.buf, *b...)
		return
	}
	*b = c.take(what, n)
}

// take returns the next n bytes, or nil where they are not there.
func (c *Coder) take(what string, n int) []byte {
	if c.err == nil && n > len(c.buf) {
		c.Fail("%s: the data ends too early", what)
	}
	if c.err != nil {
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// Time codes a point in time without its location, which becomes UTC, and
// without a monotonic clock's reading, which means nothing to another process.
func (c *Coder) Time(what string, t *time.Time) {
	sec, nsec := uint64(t.Unix()), uint32(t.Nanosecond())
	c.Fixed64(what, &sec)
	Uint(c, what, &nsec, 999_999_999)
	if c.reading && c.err == nil {
		*t = time.Unix(int64(sec), int64(nsec)).UTC()
	}
}

// Put writes a section, which append appends to its argument, with its length in
// front.
func (c *Coder) Put(appendTo func(dst []byte) []byte) {
	at := len(c.buf)
	c.buf = appendTo(binary.LittleEndian.AppendUint64(c.buf, 0))
	binary.LittleEndian.PutUint64(c.buf[at:], uint64(len(c.buf)-at-8))
}

// Section returns the bytes of a section that was written by Put: a part of what
// is read, not a copy.
func (c *Coder) Section(what string) []byte {
	var n uint64
	c.Fixed64(what, &n)
	if c.err == nil && n > uint64(len(c.buf)) {
		c.Fail("%s: it has %d bytes, but only %d remain", what, n, len(c.buf))
	}
	return c.take(what, int(n))
}
