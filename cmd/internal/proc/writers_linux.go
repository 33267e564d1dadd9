package proc

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Writers returns when the earliest descendant of this process, and the earliest other process, was started that has a
// file open for writing; this process does not count. A time is zero if no such process is known: another user's
// processes cannot be looked at. It costs a look at each open file of the user's processes, and waits for no file
// system.
func Writers(file fs.FileInfo) (own, other time.Time) {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return own, other
	}
	same := func(dir int, fd string) bool {
		var s unix.Statx_t
		return unix.Statx(dir, fd, unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &s) == nil && s.Ino == stat.Ino &&
			unix.Mkdev(s.Dev_major, s.Dev_minor) == uint64(stat.Dev) //nolint:unconvert // of some systems
	}
	for _, pid := range processes() {
		if writes(pid, same) == "" {
			continue
		}
		_, started := process(pid)
		switch {
		case descends(pid):
			own = earlier(own, started)
		case !serves(pid):
			other = earlier(other, started)
		}
	}
	return own, other
}

// earlier returns the earlier of two times; a zero time does not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// serves reports whether a process opens files for others: Wine's server has each file open that a program of Windows
// opened, and may have been there before.
func serves(pid int) bool {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return err == nil && strings.HasPrefix(string(name), "wineserver")
}

// Written returns a name by which the file can be opened that a descendant of this process has open for writing as the
// log of path: by that name or a name with the same begin and end, such as Player-prev.log for Player.log, in the same
// folder, and also when it was removed since. "" if none is known.
func Written(path string) string {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	ext := filepath.Ext(path)
	stem := filepath.Join(folder, strings.TrimSuffix(filepath.Base(path), ext))
	like := func(dir int, fd string) bool {
		to := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(dir, fd, to)
		name := strings.TrimSuffix(string(to[:max(0, n)]), " (deleted)")
		return err == nil && strings.HasPrefix(name, stem) && strings.HasSuffix(name, ext) && filepath.Dir(name) == folder
	}
	for _, pid := range processes() {
		if !descends(pid) {
			continue
		}
		if name := writes(pid, like); name != "" {
			return name
		}
	}
	return ""
}

// processes returns the ids of all other processes.
func processes() []int {
	entries, _ := os.ReadDir("/proc") // an error leaves the names before it
	pids := make([]int, 0, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// writes returns the name of the first file in /proc that a process has open for writing and that is one of those asked
// for, by its name in an open folder; "" for none.
func writes(pid int, asked func(dir int, fd string) bool) string {
	dir := "/proc/" + strconv.Itoa(pid)
	open, err := os.Open(dir + "/fd")
	if err != nil {
		return ""
	}
	defer open.Close()                //nolint:errcheck // only read from
	names, _ := open.Readdirnames(-1) // an error leaves the names before it
	for _, name := range names {
		if !asked(int(open.Fd()), name) {
			continue
		}
		info, err := os.ReadFile(dir + "/fdinfo/" + name)
		if err != nil {
			continue
		}
		_, flags, _ := bytes.Cut(info, []byte("flags:"))
		flags, _, _ = bytes.Cut(flags, []byte("\n"))
		mode, err := strconv.ParseUint(string(bytes.TrimSpace(flags)), 8, 64)
		if err == nil && mode&unix.O_ACCMODE != unix.O_RDONLY {
			return dir + "/fd/" + name
		}
	}
	return ""
}

// maxAncestors bounds how many ancestors are looked at.
const maxAncestors = 64

// descends reports whether a process descends from this one, which adopts orphans.
func descends(pid int) bool {
	for range maxAncestors {
		if pid, _ = process(pid); pid <= 1 {
			return false
		}
		if pid == os.Getpid() {
			return true
		}
	}
	return false
}

// clockTick is the unit of time in /proc.
const clockTick = 10 * time.Millisecond

// process returns the parent of a process, and when the process was started, up to two ticks early: the times of files
// are a tick late. It returns zeros if the process is not known.
func process(pid int) (parent int, started time.Time) {
	parent, ticks, known := origin(pid)
	var up unix.Timespec
	if !known || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return 0, started
	}
	return parent, time.Now().Round(0).Add((time.Duration(ticks)-1)*clockTick - time.Duration(up.Nano()))
}
