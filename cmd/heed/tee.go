package main

import (
	"errors"
	"os"
	"time"

	"github.com/heedlog/heed/follow"
)

// teeGrace bounds how long what the game wrote last is waited for.
const teeGrace = time.Second

// tee returns a pipe whose text goes to standard output and to a file that is followed, which
// goes once the pipe's writers are gone.
func (p *program) tee(h *host, path string) (w *os.File, wait func(), err error) {
	copyTo := &spool{path: path, most: spoolBytes, follower: h.follower.Status}
	if err := copyTo.open(os.O_TRUNC); err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, copyTo.close())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 32<<10)
		for failed := false; ; {
			n, err := r.Read(buf)
			// Neither must keep the game from writing.
			if err := copyTo.write(buf[:n]); err != nil && !failed {
				failed = true
				h.log.Error("the copy of the game's output cannot be written: what it says is not all known", "file", path, "error", err)
			}
			_, _ = p.Stdout.Write(buf[:n])
			if err != nil {
				break
			}
		}
		_, _ = r.Close(), copyTo.close()
	}()
	return w, func() {
		select {
		case <-done:
		case <-time.After(teeGrace):
		}
	}, nil
}

// spoolBytes is how long a copy of a game's output grows.
const spoolBytes = 64 << 20

// spool is text on its way to a [follow.Follower] whose Config.Continues is set: a file that
// another takes the place of when it is long, so that a game that plays for days does not fill
// the disk. On disk are twice as many bytes at most, and what the follower is behind: there is
// no next file before it has come to the one that is there. A pipe would hold the game up
// instead. It is for one goroutine.
type spool struct {
	path     string
	most     int64 // bytes of a file, but for the last write
	follower func() follow.Status

	file  *os.File // nil: it cannot be opened, and is tried again
	size  int64
	files uint64 // before this one
}

// open opens the file for what comes next.
func (s *spool) open(flag int) error {
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|flag, 0o600)
	if err != nil {
		return err
	}
	s.file, s.size = file, 0
	return nil
}

func (s *spool) write(text []byte) error {
	if s.size >= s.most {
		if st := s.follower(); st.Present && st.Rotations == s.files {
			s.renew()
		}
	}
	if s.file == nil {
		if err := s.open(0); err != nil {
			return err
		}
	}
	n, err := s.file.Write(text)
	s.size += int64(n)
	return err
}

// renew has the next write begin another file. The one before is renamed, which every system
// allows while the follower has it open, and goes when that closes it. Where it cannot
// be, it grows on, and is tried again as much later.
func (s *spool) renew() {
	_ = s.file.Close() // the text is with the system
	s.file, s.size = nil, 0
	old := s.path + ".old"
	if os.Rename(s.path, old) == nil {
		s.files++
		_ = os.Remove(old)
	}
}

// close ends the copy.
func (s *spool) close() error {
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	return errors.Join(err, os.Remove(s.path))
}
