package follow

import (
	"bytes"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/event"
)

const (
	// gapLife is how long NULs with text after them may be written late, and maxGaps how many of them are remembered.
	gapLife = 5 * time.Second
	maxGaps = 64

	// minGap is the shortest run of NULs that package capture treats as a hole.
	minGap = 64

	utf16Mark = "\xff\xfe" // in little endian
)

// gap is a run of NULs that was passed over, since there is text after it.
type gap struct {
	at, end int64
	since   time.Time
}

// gapIn returns where NULs in b begin that may be written late, or len(b): NULs at the end, in the place of a line, or
// as many as package capture treats as a hole. In UTF-16 only NULs at the end count.
func (t *tail) gapIn(b []byte, offset int64) int {
	if t.wide {
		n := len(bytes.TrimRight(b, "\x00"))
		return min(n+(n+int(offset))&1, len(b))
	}
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], 0)
		if n < 0 {
			return len(b)
		}
		i += n
		begins := !t.mid
		if i > 0 {
			begins = b[i-1] == '\n'
		}
		n = len(b) - i - len(bytes.TrimLeft(b[i:], "\x00"))
		if i+n == len(b) || n >= minGap || n > 1 && begins {
			return i
		}
		i += n
	}
}

// written returns the text that b begins with, which was read at the offset. NULs at the end of the file are not
// written yet, however many and for however long. NULs with text after them are given a short time; then the text
// follows, and fill looks for them.
func (t *tail) written(b []byte, now time.Time) []byte {
	i, n := t.gapIn(b, t.offset), len(b)-len(bytes.TrimLeft(b, "\x00"))
	if t.unwritten = 0; i > 0 || n == 0 {
		if t.gapAt == t.offset {
			t.gapSince = time.Time{} // these were written late, and others may be
		}
		t.more = t.more || i < len(b)
		return b[:i]
	}
	if n == len(b) && (t.size == t.offset+int64(n) || holds(t.file, []byte{0, 0}, t.size)) {
		t.unwritten, t.history = t.size-t.offset, min(t.history, t.offset)
		return nil
	}
	if t.gapAt != t.offset && now.Sub(t.gapSince) > gapLife {
		t.gapSince = now
	}
	t.gapAt = t.offset
	if due := t.gapSince.Add(t.cfg.PartialIdle); len(t.waiting) == 0 && t.offset >= t.history && now.Before(due) {
		t.wake = due
		return nil
	}
	if n == len(b) || t.wide {
		return b
	}
	if t.passed < 0 {
		t.gaps = append(t.gaps, gap{t.offset, t.offset + int64(n), now})
		t.endLine()
	}
	t.flush(true)
	t.goTo(t.offset + int64(n))
	t.more = true
	return nil
}

// fill delivers text that was written late between two lines, and turns a gap that is too old into a hole.
func (t *tail) fill(now time.Time, end bool) {
	left := t.gaps[:0]
	for i, g := range t.gaps {
		b := t.buf[t.last:][:g.end-g.at]
		n, _ := t.file.ReadAt(b, g.at) // of less it is not written
		written := bytes.IndexByte(b[:n], 0) < 0 && n == len(b)
		switch late := now.Sub(g.since) >= gapLife || len(t.gaps)-i > maxGaps; {
		case t.mid && !end || !written && !late && !end:
			left = append(left, g)
			continue
		case written:
			t.gapSince = time.Time{}
		}
		if b = b[:n]; len(b) < minGap {
			b = bytes.Trim(b, "\x00")
		}
		if len(b) > 0 {
			t.aside(b, now)
		}
	}
	t.gaps = left
}

// noteHead keeps the beginning of the file.
func (t *tail) noteHead(text []byte) {
	t.head = bytes.Clone(text[:min(len(text), knownBy)])
	t.wide = bytes.HasPrefix(text, []byte(utf16Mark))
}

// feed hands text to the stream, and delivers the records that are complete.
func (t *tail) feed(text []byte, now time.Time) {
	t.stamp = now.UTC().Round(0)
	t.stream.Feed(text)
	t.drain()
	t.mid = t.lines(text) < len(text)
}

// endLine ends the line that is open.
func (t *tail) endLine() {
	if t.mid && t.wide {
		t.stream.Feed([]byte("\n\x00"))
	} else if t.mid {
		t.stream.Feed([]byte("\n"))
	}
	t.drain()
	t.mid = false
}

// aside delivers lines from another place than the rest.
func (t *tail) aside(text []byte, now time.Time) {
	t.endLine()
	t.flush(true)
	t.countFrom(t.file, t.offset)
	t.apart = true
	t.feed(text, now)
	t.endLine()
	t.flush(true)
	t.apart = false
	t.countFrom(t.file, t.offset)
	t.grown = time.Now()
}

// lines returns the length of the lines with an end that b begins with.
func (t *tail) lines(b []byte) int {
	if t.wide {
		return (bytes.LastIndex(b, []byte("\n\x00")) + 2) &^ 1
	}
	return bytes.LastIndexByte(b, '\n') + 1
}

// cut continues where the file was cut back, or at its beginning if it was emptied. A file with only the beginning of
// the read text may be about to be written again.
func (t *tail) cut(kept, b []byte, now time.Time) {
	head := make([]byte, len(t.head))
	n, _ := t.file.ReadAt(head, 0) // of less there is no more
	if t.cutAt.IsZero() {
		t.cutAt, t.asked[0] = now, answer{}
		t.cutOn = t.continues(t.info, true)
	}
	if info, err := t.file.Stat(); err == nil && !info.ModTime().Equal(t.cutMod) {
		t.cutIn, t.cutMod = now, info.ModTime()
	}
	t.wake = earlier(t.cutAt.Add(lingers), t.cutIn.Add(t.cfg.PartialIdle))
	if bytes.HasPrefix(t.head, head[:n]) && bytes.HasPrefix(kept, b) && !t.ending && now.Before(t.wake) {
		return
	}
	t.cutAt = time.Time{}
	t.emptied()
	own := t.ask(t.info, true).own
	back := sameLines(kept, b, t.offset > int64(len(kept)))
	at := t.offset - int64(len(kept)-back)
	if back > 0 && t.passed < 0 && 2*at >= t.offset && !own.After(t.began) &&
		bytes.HasPrefix(head[:n], t.head[:min(len(t.head), int(at))]) {
		t.flush(true)
		t.goTo(at)
		t.size, t.mid, t.head = at, false, t.head[:min(len(t.head), int(at))]
		return
	}
	copy(t.buf, kept)
	t.takeCopy(now)
	t.another(t.cutOn, startedAgain)
}

// takeCopy delivers the text that was not read before the file was emptied, if a copy of the file has it.
func (t *tail) takeCopy(now time.Time) {
	began := t.began
	if began.IsZero() && t.was != nil { // nothing was read since the first look
		began = t.was.ModTime()
	}
	name, isCopy := t.source(&Position{Began: began, Offset: t.offset, Hash: xxhash.Sum64(t.buf[:t.last])})
	if !isCopy || t.passed >= 0 {
		return
	}
	file, info, err := openRegular(name)
	if err != nil {
		return
	}
	if known(t.older, file, info) >= 0 { // it was read, and begins as the emptied file did
		_ = file.Close() // only read from
		return
	}
	for {
		n, _ := file.ReadAt(t.buf[t.last:], t.offset) // an error ends it as the end of the copy does
		if n == 0 {
			break
		}
		t.take(t.buf[t.last:t.last+n], true, now)
	}
	t.older = remember(t.older, t.generation(file, info, now))
}

// startedAgain is why the log that was emptied ended.
const startedAgain = "the log was emptied and started again"

// emptied notes that the file was emptied, and judges whose it is.
func (t *tail) emptied() {
	t.now.Truncations++
	t.judge(emptiedEvidence, true)
	t.more = true
}

// missing reports bytes that are known to be missing.
func (t *tail) missing(count int64, why string) {
	t.now.LostBytes += uint64(count)
	t.notice(event.StatusHole, uint64(count), why)
}
