package follow

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// check returns an error with advice if the file at path cannot be followed at all: a directory, a pipe or a device.
func check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // it may come, or come to be readable
	}
	switch {
	case info.IsDir():
		return fmt.Errorf("follow: %s is a folder: name the log file in it, such as %s", path, "Player.log")
	case !info.Mode().IsRegular():
		return fmt.Errorf("follow: %s is a pipe or a device: name a file, or read it with package capture", path)
	}
	return nil
}

// open opens the path, and resumes at the offset if it is the file that was read before.
// It reports whether there is a file to read.
func (t *tail) open(now time.Time) (bool, error) {
	if len(t.queue) == 0 {
		path := cmp.Or(t.found, t.cfg.Path)
		t.found = ""
		if _, err := t.advance(path, now); len(t.queue) == 0 {
			if !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
			if t.absent("there is no file " + t.cfg.Path); path == t.cfg.Path {
				t.more = t.find()
			}
			return false, nil
		}
	}
	g := t.queue[0]
	t.queue = t.queue[1:]
	info := g.info
	first := t.info == nil
	next, stale := first || !os.SameFile(info, t.info), first && t.stale(info)
	if t.cfg.NewRun && next && !stale && t.others(info, true) {
		g.close()
		t.absent("another program writes " + t.cfg.Path)
		t.more = t.find() || len(t.queue) > 0
		return false, nil
	}
	before := known(t.older, g.file, info)
	switch {
	case first:
		t.renew(t.cfg.Capture)
		t.countFrom(g.file, 0)
	case next:
		t.now.Rotations++
		t.file = g.file
		t.another(t.onward || before >= 0, "another log replaced it")
	}
	if t.unseen {
		t.unseen = false
		t.missing(0, "files of the log were removed before heed had read them")
	}
	t.file, t.info, t.since = g.file, info, info.ModTime()
	head := t.buf[t.last:][:64<<10]
	n, _ := t.file.ReadAt(head, 0) // the next read reports an error
	err := t.check(head[:n])       // before the log counts as present
	switch {
	case err != nil:
	case before >= 0:
		t.older[before].close()
		t.goTo(t.older[before].offset)
		t.size, t.older = t.offset, slices.Delete(t.older, before, before+1)
	case first && t.resumes():
		err = t.takeUp()
	case stale:
		err = t.skip(cmp.Or(t.was, info).Size())
	}
	switch {
	case err != nil:
		t.info = nil // as if it had not been opened: it would else be read from its beginning
		return false, err
	case next && !stale:
		t.sure, t.wasOpen = false, false
		t.judge(createdEvidence, true)
	default:
		t.judge("", false)
	}
	return t.file != nil, nil
}

// renew begins with a file that has not been read.
func (t *tail) renew(opt capture.Options) {
	t.now.Lines += uint64(t.stream.At().Lines)
	t.stream, _ = capture.NewStream(opt) // New validates the options
	t.given, t.oldest, t.now.Skipped, t.began = false, 0, 0, time.Time{}
	t.rewind()
	t.number++
	if t.number > 1 {
		t.history = -1
	}
}

// skip goes to the end of the lines that are not read: of an earlier run, such as a file had at the first look. Its
// layout is recognized by its beginning.
func (t *tail) skip(offset int64) error {
	head := make([]byte, 64<<10)
	n, err := t.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		t.drop()
		return fmt.Errorf("follow: %w", err)
	}
	opt := t.cfg.Capture
	if opt.Layout == capture.LayoutAuto && n > 0 {
		r, err := capture.NewReader(bytes.NewReader(head[:n]), opt)
		if err == nil && r.At().Layout != capture.LayoutPlain { // else by the next text
			opt.Layout = r.At().Layout
		}
	}
	t.number--
	t.renew(opt)
	t.offset = offset
	t.noteHead(head[:n])
	for text := 0; text == 0 && t.offset > 0; { // reserved space is written since
		b := t.buf[:min(t.offset, chunkSize)]
		n, _ := t.file.ReadAt(b, t.offset-int64(len(b))) // the next read reports an error
		text = len(bytes.TrimRight(b[:n], "\x00"))
		t.offset -= int64(len(b) - text)
	}
	if n >= 2 && head[0]^head[1] == 0xff^0xfe && head[0] >= 0xfe { // UTF-16, known by its mark
		t.offset += t.offset % 2
		t.stream.Feed(head[:2])
		t.drain()
	}
	t.size, t.now.Skipped = t.offset, t.offset
	t.goTo(t.offset)
	return nil
}

// seek continues at an offset of the file.
func (t *tail) seek(offset int64) {
	before := min(offset, lastSize)
	last, err := t.file.ReadAt(t.buf[:before], offset-before)
	if err != nil && !errors.Is(err, io.EOF) {
		last = 0 // the next read reports it
	}
	t.offset, t.last = offset, last
	t.at.Offset, t.at.Hash = offset, xxhash.Sum64(t.buf[:last])
}

// goTo is seek to an offset from which the lines of the file are counted.
func (t *tail) goTo(offset int64) {
	t.seek(offset)
	t.countFrom(t.file, offset)
}

// check returns an error for a file that begins with head, if that is no text. The file is opened again, since it may
// become text.
func (t *tail) check(head []byte) error {
	err := text.Check(head)
	if err != nil {
		t.drop()
		err = fmt.Errorf("follow: %s %w", t.cfg.Path, err)
	}
	return err
}

// rewind continues at the beginning of a file.
func (t *tail) rewind() {
	t.offset, t.size, t.last, t.gapAt, t.passed = 0, 0, 0, -1, -1
	t.gaps, t.unwritten = nil, 0
}

// drop closes a file that cannot be read any more. It is opened again.
func (t *tail) drop() {
	_ = t.file.Close() // only read from
	t.file = nil
}

// end delivers the rest of the file, and reports known missing bytes.
func (t *tail) end(why string) {
	t.stream.End()
	t.drain()
	t.history, t.stamp = -1, time.Now().UTC().Round(0)
	t.countFrom(t.file, 0)
	t.at.Before, t.at.Through = 0, 0 // of its own stream
	t.hole(why)
	if t.given {
		t.notice(event.StatusRestarted, 0, why)
	}
}

// hole reports bytes of the file that are known to be missing.
func (t *tail) hole(why string) {
	lost := t.size - t.offset - t.unwritten
	for _, g := range t.gaps {
		lost += g.end - g.at
	}
	if lost > 0 {
		t.missing(lost, why+" before heed had read all of it")
	}
}

// another begins with the file that replaced the log, or with the emptied log. Its text continues the log, or belongs
// to another run. A file that continues the log has its number, since both are one stream for callers of Sync.
func (t *tail) another(continues bool, why string) {
	if !continues {
		t.end(why)
		t.renew(t.cfg.Capture)
		return
	}
	t.hole(why)
	t.flush(false)
	t.countFrom(t.file, 0)
	t.rewind()
	t.history = -1
}
