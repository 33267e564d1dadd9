package follow

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// lingers is how long a file that was replaced may be silent until it is closed.
	lingers = time.Second

	// switchAfter is how long a file that was replaced and grows all the time is read before the next one is.
	switchAfter = 50 * time.Millisecond

	// maxOlder bounds the remembered files, and the queued files; knownBy the bytes that identify a file; maxEntries the
	// files of a searched folder; maxScans the listings of a folder that changes.
	maxOlder   = 64
	knownBy    = 256
	maxEntries = 10_000
	maxScans   = 10
)

// generation is a file that is the log for a part of its time: a replaced file, or the next file.
type generation struct {
	name   string
	info   fs.FileInfo
	file   *os.File // nil: closed
	offset int64
	last   []byte // the bytes before the offset
	grown  time.Time
}

func (g *generation) close() {
	if g.file != nil {
		_ = g.file.Close() // only read from
		g.file = nil
	}
}

func closeAll(files []generation) {
	for i := range files {
		files[i].close()
	}
}

// remember adds a file to the latest ones.
func remember(files []generation, g generation) []generation {
	if len(files) == maxOlder {
		files[0].close()
		files = slices.Delete(files, 0, 1)
	}
	return append(files, g)
}

// known returns the index of a file among others, or -1. A new file with the identity of a removed file has other
// bytes.
func known(files []generation, file *os.File, info fs.FileInfo) int {
	return slices.IndexFunc(files, func(g generation) bool {
		return os.SameFile(g.info, info) && (g.file != nil || g.offset > 0) && holds(file, g.last, g.offset)
	})
}

// holds reports whether a file has the bytes before an offset.
func holds(file *os.File, last []byte, offset int64) bool {
	b := make([]byte, len(last))
	n, _ := file.ReadAt(b, offset-int64(len(b))) // of less it has not
	return n == len(b) && bytes.Equal(b, last)
}

// retire leaves the current file to late.
func (t *tail) retire(now time.Time) {
	if t.fill(now, true); !t.cfg.Continues {
		t.endLine()
	}
	g := t.generation(t.file, t.info, now)
	t.file, t.size, t.unwritten = nil, t.offset, 0 // nothing is missing
	if t.cfg.NewRun && t.now.Evidence == "" {      // it was not the log
		g.close()
		t.strangers = remember(t.strangers, g)
		return
	}
	t.older = remember(t.older, g)
}

// generation returns a file that was read up to the offset.
func (t *tail) generation(file *os.File, info fs.FileInfo, now time.Time) generation {
	last := bytes.Clone(t.buf[max(0, t.last-knownBy):t.last])
	return generation{info: info, file: file, offset: t.offset, last: last, grown: now}
}

// late delivers the lines that came to files after others took their place, between two lines of the current file. It
// closes a file that is silent, once there is text in the current one, or at the end. It reports whether there may be
// more lines.
func (t *tail) late(now time.Time, end bool) (more bool) {
	for i := range t.older {
		g := &t.older[i]
		if g.file == nil || t.mid && !end {
			continue
		}
		quiet := end || now.Sub(g.grown) >= lingers && t.offset > 0
		b := t.buf[t.last:]
		n, _ := g.file.ReadAt(b, g.offset) // an error ends it as silence does
		text := b[:t.gapIn(b[:n], g.offset)]
		if !quiet && n < len(b) {
			text = text[:t.lines(text)]
		}
		if len(text) > 0 {
			g.offset, g.grown = g.offset+int64(len(text)), now
			g.last = bytes.Clone(text[max(0, len(text)-knownBy):])
			t.aside(text, now)
			more = more || end || n == len(b)
		} else if quiet {
			g.close()
		}
	}
	return more
}

// openRegular opens the file at a path.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	if err := check(path); err != nil {
		return nil, nil, err
	}
	file, err := openFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("follow: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // only read from
		return nil, nil, fmt.Errorf("follow: %w", err)
	}
	return file, info, nil
}

// advance queues the file at a path, and before it the files that had its place since the current one had it. It
// reports whether the current one has another name in the folder.
func (t *tail) advance(path string, now time.Time) (renamed bool, err error) {
	for range maxScans {
		before := t.queue
		closeAll(before)
		var file *os.File
		var at fs.FileInfo
		if file, at, err = openRegular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.queue = nil
			return false, err
		}
		if renamed = t.between(path, at, now); err == nil {
			t.queue = append(t.queue, generation{file: file, info: at})
		}
		if slices.EqualFunc(before, t.queue, func(a, b generation) bool {
			return a.name == b.name && os.SameFile(a.info, b.info)
		}) {
			break
		}
	}
	if n := len(t.queue); n > 0 {
		last := t.queue[n-1].info
		t.onward = t.info == nil || !os.SameFile(last, t.info) && t.continues(last, false)
	}
	return renamed, err
}

// between queues the files that had the place of the log after the current one and before the file at, in their order,
// and reports whether the current one has another name in the folder. They were written since it was last seen in its
// place. If it was removed, more of them may have been, too.
func (t *tail) between(path string, at fs.FileInfo, now time.Time) (renamed bool) {
	t.queue, t.unseen = nil, false
	current := cmp.Or(t.info, t.was)
	if current != nil && at != nil && os.SameFile(current, at) || t.info == nil && t.resumes() {
		return false
	}
	dir, base := folderOf(path)
	entries, _ := os.ReadDir(dir) // an error leaves the entries so far
	if len(entries) > maxEntries {
		return false
	}
	own := ""
	var found []generation
	var written time.Time
	if info, err := t.file.Stat(); err == nil {
		written = info.ModTime()
	}
	for _, e := range entries {
		info, err := e.Info()
		plain := uncompressed(e.Name())
		switch {
		case err != nil || at != nil && os.SameFile(info, at) || !info.Mode().IsRegular():
		case current != nil && os.SameFile(info, current):
			own = plain
		case info.ModTime().Before(t.since):
		case plain != e.Name() && !info.ModTime().After(written): // the current one, as it was compressed
			own = plain
		default:
			found = append(found, generation{name: e.Name(), info: info})
		}
	}
	slices.SortFunc(found, byAge(base, own))
	for _, g := range found {
		if rotated(g.name, base, own) && uncompressed(g.name) != own {
			t.enqueue(filepath.Join(dir, g.name), g, now)
		}
	}
	t.unseen = t.unseen || own == "" && current != nil && len(t.queue) > 0
	return own != ""
}

// byAge compares files by age, the oldest first. own is the name of the current one, "" if it has none.
func byAge(base, own string) func(a, b generation) int {
	return func(a, b generation) int {
		byName := natural(a.name, b.name)
		if own == "" && !strings.ContainsAny(base, digits) || own != "" && natural(a.name, own) < 0 {
			byName = -byName // the number grows with the age
		}
		return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), byName)
	}
}

// folderOf returns the folder and the name of a file, also where a link is.
func folderOf(path string) (dir, base string) {
	if real, err := filepath.EvalSymlinks(path); err == nil { // else there is none
		path = real
	}
	return filepath.Dir(path), filepath.Base(path)
}

// rotated reports whether name is a name of a rotated file of the log base: it has the letters of the current file's
// name, or begins with the letters of the log, and has a number.
func rotated(name, base, own string) bool {
	letters := func(name string) string { return noLetters.ReplaceAllString(uncompressed(name), "") }
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(base, filepath.Ext(base)))
	had, log := letters(name), letters(base)
	return strings.ContainsAny(name, digits) && (own != "" && had == letters(own) ||
		ok && strings.IndexAny(rest, "-_.") == 0 && strings.HasPrefix(had, log))
}

var noLetters = regexp.MustCompile(`\PL+`)

// exclude remembers the files in the folder that were there before: if they grow, it is as logs of other programs.
func (t *tail) exclude(at fs.FileInfo) {
	t.between(t.cfg.Path, at, time.Time{})
	for _, g := range t.queue {
		g.offset, g.last = g.info.Size(), make([]byte, min(knownBy, g.info.Size()))
		_, _ = g.file.ReadAt(g.last, g.offset-int64(len(g.last))) // if it fails, the file counts as another
		g.close()
		t.strangers = remember(t.strangers, g)
	}
	t.queue, t.unseen = nil, false
}

// enqueue opens a found file and queues it, unless it was read before: then late reads its new bytes.
func (t *tail) enqueue(path string, g generation, now time.Time) {
	file, info, err := openRegular(path)
	if err != nil {
		return // its name has changed, so the folder is listed again
	}
	g.file = file
	i := known(t.older, file, info)
	switch {
	case i >= 0 && t.older[i].file == nil && info.Size() > t.older[i].offset:
		t.older[i].file, t.older[i].grown = file, now
		return
	case i >= 0, known(t.strangers, file, info) >= 0:
	case len(t.queue) == maxOlder, uncompressed(path) != path:
		t.unseen = true
	default:
		t.queue = append(t.queue, g)
		return
	}
	g.close()
}

// natural compares names of one form by their numbers.
func natural(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

const digits = "0123456789"

// uncompressed returns the name of a file before it was compressed.
func uncompressed(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}
