package live

import (
	"errors"
	"os"
	"time"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/event"
)

// teeGrace bounds the wait for the last output of the game.
const teeGrace = time.Second

// tee returns a pipe that is copied to standard output and to a file that is followed. The file is removed once the
// pipe's writers are gone.
func (p *program) tee(h *host, path string) (w *os.File, wait func(), err error) {
	copyTo := &spool{path: path, most: spoolBytes, limit: spoolLimit, follower: h.follower.Status, lost: func(n uint64) {
		h.session.Observe(event.Notice{
			Status: event.StatusHole, Count: n,
			Detail: "the game's output came faster than it could be read",
		}.Entry())
	}}
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
			// An error of either must not block the game.
			if err := copyTo.write(buf[:n]); err != nil && !failed {
				failed = true
				h.log.Error("the copy of the game's output cannot be written: a part of the log is missing", "file", path,
					"error", err)
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

// A copy of a game's output is replaced by another file once it is longer than spoolBytes, and is never longer than
// spoolLimit.
const (
	spoolBytes = 64 << 20
	spoolLimit = 256 << 20
)

// spool is a file between a game and a [follow.Follower] whose Config.Continues is set. Another file replaces it when
// it is long, so that a game that runs for days does not fill the disk. That waits until the follower reads the current
// file, so that nothing is lost while it keeps up within the limit; text beyond is left out and counted. A pipe would
// block the game instead. It is used by one goroutine.
type spool struct {
	path     string
	most     int64 // bytes of a file that another follows
	limit    int64 // bytes of a file, but for the last write
	follower func() follow.Status
	lost     func(bytes uint64) // called when text is written again after some was left out

	file  *os.File // nil: it cannot be opened, and is tried again
	size  int64
	files uint64 // before this one
	left  uint64 // bytes that were left out since the latest write
}

// open opens the next file.
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
	if s.size >= s.limit {
		s.left += uint64(len(text))
		return nil
	}
	if s.left > 0 {
		s.lost(s.left)
		s.left = 0
		text = append([]byte("\n"), text...) // what is left of a line is no part of the one before
	}
	n, err := s.file.Write(text)
	s.size += int64(n)
	return err
}

// renew makes the next write begin another file. The current one is renamed, which every system allows while the
// follower has it open, and removed. Where that fails, it keeps growing, and renew is due again after as much text.
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
	if s.left > 0 {
		s.lost(s.left)
	}
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	return errors.Join(err, os.Remove(s.path))
}
