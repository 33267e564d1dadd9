package follow

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	// askEvery is the interval of questions about the writers of a file, while they matter. askCost bounds their cost: the
	// interval is at least so many times the time of the answer. A Sync does not wait for it.
	askEvery = time.Second
	askCost  = 100

	// doubtAfter is how much longer than its replacement the followed file may be silent, if nothing else shows whose the
	// replacement is.
	doubtAfter = 5 * time.Second

	// recently is how short before the start a file was written that another program may still write: that it grows is no
	// sign of a new run.
	recently = time.Minute

	// maxPassed is how many of the bytes that were passed over are read once it is known whose they are: the latest.
	maxPassed = 16 << 20

	// closedFirst reports that an open file cannot be renamed, as a rule: the writer of a renamed file has closed it.
	closedFirst = runtime.GOOS == "windows"

	// knowsWriters reports that the system shows which files a program has open.
	knowsWriters = runtime.GOOS == "linux"
)

// The evidence for a file of a new run.
const (
	openEvidence    = "its program has it open"
	createdEvidence = "it was created since the start"
	emptiedEvidence = "it was emptied since the start"
	grownEvidence   = "it grew since the start"

	// sameAgain is added where it is not known whether the file was emptied before it grew.
	sameAgain = "; if the program wrote the earlier text again, that was not read"
)

// identity is the knowledge about the program of the followed file.
type identity struct {
	old     bool        // a file, or an unreadable path, was there at the first look
	was     fs.FileInfo // that file
	recent  bool        // it had been written shortly before
	passed  int64       // the first byte that was not read, and may be of this run; -1: none
	sure    bool        // the file is of this run, by more evidence than growth
	began   time.Time   // when the program had begun to write the log, at the latest; zero: nothing was read
	foreign fs.FileInfo // the file that another program was last known to write

	shared     bool        // another program was last known to write the file, too
	wasOpen    bool        // it was known that the program has the file open
	moved      bool        // the file is not at the path
	movedTo    fs.FileInfo // that at the path then, nil for none
	movedAt    int64       // how far the file was read when that was first seen, or to have text
	movedSince time.Time   // when that was

	found   string // a name of the program's file, which is to be opened
	foundAt time.Time
	foundIn time.Duration

	asked [2]answer // of the file that is followed, and of that at the path
}

// answer is the latest answer of Config.Writers.
type answer struct {
	file       fs.FileInfo
	at         time.Time
	took       time.Duration
	own, other time.Time
}

// remember notes the file at the path before a new run begins.
func (t *tail) remember(info fs.FileInfo, err error) {
	t.old = !errors.Is(err, fs.ErrNotExist) && (t.cfg.FromEnd || t.cfg.NewRun)
	t.was = info
	t.recent = err == nil && !t.cfg.Named && time.Since(info.ModTime()) < recently
}

// stale reports whether a file that is opened first is of an earlier run.
func (t *tail) stale(info fs.FileInfo) bool {
	return t.old && (t.was == nil || os.SameFile(info, t.was) && info.Size() >= t.was.Size())
}

// isWrittenAgain reports whether the file of an earlier run was emptied since the first look, although it has the same
// bytes. That is known of a file with the same length; of a longer one growth says that it is not known.
func (t *tail) isWrittenAgain(info fs.FileInfo) bool {
	return t.cfg.NewRun && t.offset > 0 && t.offset == t.now.Skipped && t.was != nil && os.SameFile(info, t.was) &&
		info.Size() == t.was.Size() && !info.ModTime().Equal(t.was.ModTime())
}

// growth returns the evidence that the file grew.
func (t *tail) growth() string {
	if t.cfg.NewRun && t.now.Skipped > 0 {
		return grownEvidence + sameAgain
	}
	return grownEvidence
}

// writers reports whether the program of the log, and whether another one, is known to write a file.
func (t *tail) writers(file fs.FileInfo, followed bool) (own, other bool) {
	a := t.ask(file, followed)
	return !a.own.IsZero(), !a.other.IsZero()
}

// ask returns the latest answer about a file, or a new one if it is outdated. A call that waits gets a new answer.
func (t *tail) ask(file fs.FileInfo, followed bool) answer {
	if t.cfg.Writers == nil {
		return answer{}
	}
	a := &t.asked[1]
	if followed {
		a = &t.asked[0]
	}
	if a.file == nil || !os.SameFile(file, a.file) || t.outdated(a.at, a.took) {
		*a = answer{file: file, at: time.Now()}
		a.own, a.other = t.cfg.Writers(file)
		a.took = time.Since(a.at)
		if followed && a.own.IsZero() && !a.other.IsZero() {
			t.passed = -1 // all of that is the other's
		}
	}
	return *a
}

// outdated reports whether an answer that took a while is to be asked for again.
func (t *tail) outdated(at time.Time, took time.Duration) bool {
	if len(t.waiting) > 0 {
		return time.Since(at) >= idle
	}
	return time.Since(at) >= max(askEvery, askCost*took)
}

// others reports whether a file is known to be written by another program only.
func (t *tail) others(file fs.FileInfo, followed bool) bool {
	own, other := t.writers(file, followed)
	switch {
	case own:
		t.foreign = nil
		return false
	case other:
		t.foreign = file
	}
	return t.foreign != nil && os.SameFile(file, t.foreign)
}

// find asks for a name of the program's file, and reports whether one is known by which it is to be opened.
func (t *tail) find() bool {
	if t.cfg.NewRun && t.cfg.Open != nil && t.outdated(t.foundAt, t.foundIn) {
		t.foundAt = time.Now()
		t.found = t.cfg.Open(t.cfg.Path)
		t.foundIn = time.Since(t.foundAt)
	}
	return t.found != ""
}

// judge finds out whose the file is, and reports whether it is the program's, so that its text is delivered. It is
// called with new evidence of this run, which may be sure, and without at the end of the file. With NewRun:
//
//	program that writes it                evidence                          whose it is
//	the program                                                            the program's
//	the program and another one          it was emptied                    the program's, but not present
//	only another one, as far as known                                      the other's
//	unknown                              it was created or emptied         the program's, until another has it open
//	unknown                              it grew, and Named or not recent  the same
//	unknown                              it grew, and is recent            not known: its text is passed over
//	unknown                              nothing                           an earlier run's
func (t *tail) judge(evidence string, sure bool) bool {
	if known := t.sure && t.wasOpen && !t.shared; !t.cfg.NewRun || known && evidence != emptiedEvidence {
		t.absent("")
		return true
	}
	if evidence != "" && t.now.Evidence == "" && t.asked[0].other.IsZero() && !t.recent {
		t.asked[0] = answer{} // one from before it grew says nothing
	}
	theirs := t.others(t.info, true)
	own, other := t.writers(t.info, true)
	switch {
	case theirs:
		t.disown(evidence)
		return false
	case own:
		t.sure, t.wasOpen, t.now.Evidence = true, true, openEvidence
		if evidence == "" {
			t.goBack()
		}
	case t.sure || evidence == "" && t.now.Evidence != "":
	case t.recent && !sure && (evidence != "" || t.passed >= 0):
		t.absent(t.cfg.Path + " was written shortly before the start, too, so it may be another program's")
		return false
	case evidence == "":
		t.absent(t.cfg.Path + " is of an earlier run: nothing was written to it since the start")
		return false
	default:
		t.sure, t.now.Evidence = sure, evidence
	}
	t.share(own && other, evidence)
	return true
}

// share notes whether another program writes the program's file, too, so that lines of both are in it.
func (t *tail) share(both bool, evidence string) {
	why := ""
	if t.shared = both && (t.shared || evidence == emptiedEvidence); t.shared {
		why = "another program writes " + t.cfg.Path + ", too"
	}
	t.absent(why)
}

// disown notes that the file is another program's, and at its end looks for the program's file under another name.
func (t *tail) disown(evidence string) {
	t.sure, t.now.Evidence, t.began = false, "", time.Time{}
	if t.absent("another program writes " + t.cfg.Path); evidence == "" && t.find() {
		t.drop()
		t.more = true
	}
}

// goBack continues with the first byte that was passed over, now that the file is known to be of this run.
func (t *tail) goBack() {
	if t.passed < 0 {
		return
	}
	from := max(t.passed, t.offset-maxPassed)
	if lost := from - t.passed; lost > 0 {
		t.flush(true)
		t.missing(lost, "too much was written before it was known whose log it is")
	}
	t.seek(from)
	t.passed, t.more = -1, true
}

// continues reports whether a file that took the place of the log, or the log once it was emptied, is of the same run:
// its program has run since before the log began. If the program is not known, the log of one run continues. So does a
// log that was replaced within a minute after it grew, if it has not grown since there was text in the new file, and if
// the log was read from its start or is of one run.
func (t *tail) continues(file fs.FileInfo, followed bool) bool {
	a := t.ask(file, followed)
	own := !a.own.IsZero()
	whole := t.cfg.NewRun || t.now.Skipped == 0 // so that the banner of another run is known
	grew := t.cfg.Writers != nil && knowsWriters && whole && t.offset > t.history && time.Since(t.grown) < recently
	return t.cfg.Continues || own && !a.own.After(t.began) ||
		!own && (t.cfg.NewRun && t.sure || grew && t.offset <= t.movedAt && !os.SameFile(file, t.info))
}

// absent keeps the reason for a missing log, or "". The Status has it at once: before a waiting Sync returns, and
// before the first record of the file.
func (t *tail) absent(why string) {
	if t.now.Absent != why || (why == "") != t.status.Present {
		t.now.Absent = why
		t.publish()
	}
}

// identify checks whether another file is at the path. The old file is read until it is quiet: a program may write a
// last line to a renamed file.
func (t *tail) identify(now time.Time) error {
	if len(t.queue) > 0 {
		t.retire(now)
		t.more = true
		return nil
	}
	at, err := os.Stat(t.cfg.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("follow: %w", err)
	}
	if err == nil && os.SameFile(at, t.info) {
		t.moved, t.now.Renamed, t.since = false, false, at.ModTime()
		t.judge("", false)
		return nil
	}
	if t.noteMove(at, now) {
		return nil
	}
	keep, why := t.keep(at, now)
	t.now.Renamed = keep && why == ""
	t.absent(why)
	if keep && (at != nil && !empty(at) || !t.stirred()) {
		return nil
	}
	if due := t.replaced(); len(t.waiting) == 0 && !keep && now.Before(due) {
		t.wake = due
		return nil
	}
	path := cmp.Or(t.found, t.cfg.Path)
	t.found = ""
	renamed, err := t.advance(path, now)
	if n := len(t.queue); keep && n > 0 && t.queue[n-1].name == "" { // the file at the path
		t.queue[n-1].close()
		t.queue = t.queue[:n-1]
	}
	if len(t.queue) == 0 {
		if keep {
			return nil
		}
		return err
	}
	t.more, t.moved, t.shared, t.now.Renamed = true, false, false, false
	last := len(t.queue) - 1
	if g := t.queue[last]; os.SameFile(g.info, t.info) ||
		!renamed && t.onward && t.last > 0 && holds(g.file, t.buf[:t.last], t.offset) { // it was written again, with more
		t.drop()
		closeAll(t.queue[:last])
		t.file, t.info, t.queue = g.file, g.info, nil
		return nil
	}
	t.retire(now)
	return nil
}

// noteMove notes that another file, or none (nil), is at the path, and reports whether the old file grew before that.
func (t *tail) noteMove(at fs.FileInfo, now time.Time) (grew bool) {
	was := t.movedTo
	if t.moved && (at == nil) == (was == nil) && (at == nil || os.SameFile(at, was) && empty(at) == empty(was)) {
		return false
	}
	t.moved, t.movedTo, t.movedAt, t.movedSince, t.asked = true, at, t.offset, now, [2]answer{}
	info, err := t.file.Stat()
	if grew = err == nil && info.Size() > t.offset+t.unwritten; grew {
		t.movedAt, t.more = info.Size(), true
	}
	return grew
}

// replaced returns when another file may replace the file: after quiet, and at the latest a while after it was seen.
func (t *tail) replaced() time.Time {
	quiet, most := idle, switchAfter
	if t.mid && !t.cfg.Continues {
		quiet, most = t.cfg.PartialIdle, t.cfg.PartialIdle
	}
	return earlier(t.grown.Add(quiet), t.movedSince.Add(most))
}

// stirred reports whether files in the folder were renamed since it was called last.
func (t *tail) stirred() bool {
	info, err := os.Stat(filepath.Dir(t.cfg.Path))
	if err != nil || info.ModTime().Equal(t.folder) {
		return false
	}
	t.folder = info.ModTime()
	return true
}

func empty(file fs.FileInfo) bool { return file.Size() == 0 }

// keep reports whether the file remains the log although another file, or none (nil), is at the path, and the reason if
// there is no log. The first row that applies decides:
//
//	the program has the new file open                         the new one
//	the new file is empty, and who has it open is not known   the old one
//	the program has the old file open, and only the new grows the new one
//	the program has the old file open, and it grows           the old one
//	there is no new file                                      the old one, but not present
//	without NewRun                                            the new one
//	the program has the old file open                         the old one
//	nothing is known of either                                the new one
//	the old file grows                                        the old one
//	a person named the path, and no other program writes it   the new one
//	all else                                                  the old one, but not present
func (t *tail) keep(at fs.FileInfo, now time.Time) (keep bool, why string) {
	held, _ := t.writers(t.info, true)
	t.wasOpen = t.wasOpen || held
	grew := (held || t.sure && !t.wasOpen) && t.offset > t.movedAt
	own := false
	if at != nil {
		own, _ = t.writers(at, false)
	}
	switch {
	case own && (t.cfg.NewRun || t.continues(at, false)):
		return false, ""
	case at != nil && !own && !t.cfg.NewRun && empty(at):
		return true, "" // nothing is in it yet
	case at != nil && !own && t.left(at, held, now):
		return false, ""
	case held && (at == nil || grew || !t.cfg.NewRun), at == nil && grew:
		return true, ""
	case at == nil && t.find():
		return false, ""
	case at == nil:
		return true, "the file was moved away or removed: " + t.cfg.Path
	case !t.cfg.NewRun:
		return false, ""
	}
	return t.keepRun(at, held, grew)
}

// left reports whether the program does not use its open file any more: only the file at the path grows.
func (t *tail) left(at fs.FileInfo, held bool, now time.Time) bool {
	return held && (!t.cfg.NewRun || t.cfg.Named && !t.others(at, false)) &&
		now.Sub(t.grown) > lingers && at.Size() > t.movedTo.Size()
}

// keepRun is keep with NewRun, from the row of the open old file on.
func (t *tail) keepRun(at fs.FileInfo, held, grew bool) (keep bool, why string) {
	foreign := t.others(at, false)
	info, err := t.file.Stat()
	switch {
	case held:
		return true, ""
	case !foreign && (!t.sure || closedFirst), t.find():
		return false, ""
	case grew && err == nil && at.ModTime().Sub(info.ModTime()) <= doubtAfter:
		return true, ""
	case t.cfg.Named && knowsWriters && !foreign:
		return false, ""
	case foreign:
		return true, "another program writes " + t.cfg.Path + ", and the log that was there before is not written any more"
	}
	return true, "another file took the place of " + t.cfg.Path + ", and it cannot be told whose it is"
}
