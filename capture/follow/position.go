package follow

import (
	"cmp"
	"os"
	"path/filepath"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// Position is how far a log was followed: the records up to it were delivered, those after it were not. It is plain
// data, to be kept with the state that the records led to; see [Config].Resume. The zero value is no position.
type Position struct {
	Path  string    `json:"path"` // of the log, absolute
	File  string    `json:"file"` // identifies the file on this machine
	Began time.Time `json:"began,omitzero"`

	// The lines of the file are counted from the offset From, where Before lines had come.
	From   int64 `json:"from,omitempty"`
	Before int   `json:"before,omitempty"`

	// Offset is how far the file was read, and Hash is of the last bytes before.
	Offset int64  `json:"offset"`
	Hash   uint64 `json:"hash"`

	// Through is the last line that was delivered, and Partly how many bytes of the line after it were.
	Through int `json:"through"`
	Partly  int `json:"partly,omitempty"`
}

// resumes reports whether Config.Resume is a position in this log.
func (t *tail) resumes() bool {
	path, _ := filepath.Abs(t.cfg.Path) // fails only without a working folder
	return t.cfg.Resume.File != "" && !t.cfg.NewRun && t.cfg.Resume.Path == path
}

// source returns the name of the file in the folder of the log that has the text after a position, "" where there is
// none: the position's file, also if it was renamed. If that was emptied, it is a copy of it from before, or else the
// emptied file. For a position without a file, it is a copy. A file that was last written before the log began is none:
// runs may have the same beginning.
func (t *tail) source(p *Position) (name string, isCopy bool) {
	dir, base := folderOf(t.cfg.Path)
	entries, _ := os.ReadDir(dir) // an unreadable folder has no names
	names := []string{base}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	copied, emptied := "", ""
	for _, name := range names {
		path, isOld := filepath.Join(dir, name), rotated(name, base, "")
		if p.File == "" && !isOld {
			continue
		}
		switch isFile, hasText, written := p.finds(path); {
		case isFile && hasText:
			return path, false
		case isFile:
			emptied = path
		case hasText && isOld && p.Offset > 0 && !written.Before(p.Began):
			copied = path
		}
	}
	return cmp.Or(copied, emptied), copied != ""
}

// finds reports whether the file called name is the position's, whether it has the same bytes before the offset, and
// when it was written.
func (p *Position) finds(name string) (isFile, hasText bool, written time.Time) {
	file, info, err := openRegular(name)
	if err != nil {
		return false, false, time.Time{}
	}
	defer file.Close() //nolint:errcheck // only read from
	return p.File != "" && fileID(file) == p.File, p.isIn(file), info.ModTime()
}

// isIn reports whether a file has the same bytes before the offset.
func (p *Position) isIn(file *os.File) bool {
	before := make([]byte, min(p.Offset, lastSize))
	n, _ := file.ReadAt(before, p.Offset-int64(len(before))) // a shorter file has others
	return n == len(before) && xxhash.Sum64(before) == p.Hash
}

// countFrom sets the position to the offset of a file from which its lines are counted: those before were delivered.
func (t *tail) countFrom(file *os.File, from int64) {
	lines := t.stream.At().Through
	path, _ := filepath.Abs(t.cfg.Path) // fails only without a working folder
	t.at = Position{
		Path: path, File: fileID(file), Began: t.began,
		From: from, Before: lines, Offset: from, Hash: xxhash.Sum64(t.buf[:min(int(from), t.last)]), Through: lines,
	}
}

// takeUp continues at Config.Resume in the file that was opened first, or begins with the file that took its place.
func (t *tail) takeUp() error {
	at := &t.cfg.Resume
	if t.began = at.Began; !at.isIn(t.file) || !t.copied && fileID(t.file) != at.File {
		t.given = at.Offset > 0
		continues := t.continues(t.info, true)
		t.another(continues, "another log replaced it while heed did not run, and maybe before heed had read all of it")
		if continues {
			t.notice(event.StatusHole, 0, "another file replaced the log while heed did not run")
		}
	} else {
		if at.From > 0 {
			if err := t.skip(at.From); err != nil {
				return err
			}
		}
		t.stream.Resume(at.Before, capture.Position{Through: at.Through, Partly: at.Partly})
		t.at = *at
		t.at.File = fileID(t.file)
	}
	t.history = t.info.Size()
	return nil
}
