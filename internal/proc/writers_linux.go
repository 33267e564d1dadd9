package proc

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Writers returns whether a descendant of this process, and whether any other process, has a file open for writing;
// this process does not count. Twice false where that is not known: another user's processes cannot be looked at, and
// some systems do not tell. It costs a look at each open file of the user's processes, and waits for no file system.
func Writers(file fs.FileInfo) (own, other bool) {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return false, false
	}
	for _, pid := range processes() {
		if !own || !other {
			switch {
			case !writes(pid, stat):
			case descends(pid):
				own = true
			default:
				other = true
			}
		}
	}
	return own, other
}

// processes returns the ids of all other processes.
func processes() []int {
	entries, _ := os.ReadDir("/proc") // what was read of it
	pids := make([]int, 0, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// writes reports whether a process has a file open for writing.
func writes(pid int, stat *syscall.Stat_t) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	open, err := os.Open(dir + "/fd")
	if err != nil {
		return false
	}
	names, _ := open.Readdirnames(-1) // what was read of it
	_ = open.Close()
	for _, name := range names {
		var s unix.Statx_t
		if unix.Statx(unix.AT_FDCWD, dir+"/fd/"+name, unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &s) != nil ||
			s.Ino != stat.Ino || unix.Mkdev(s.Dev_major, s.Dev_minor) != uint64(stat.Dev) { //nolint:unconvert // of some systems
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
			return true
		}
	}
	return false
}

// maxAncestors bounds how many ancestors are looked at.
const maxAncestors = 64

// descends reports whether a process descends from this one, which adopts what its children leave behind.
func descends(pid int) bool {
	for range maxAncestors {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return false
		}
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // its name may hold anything
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(string(fields[1])); err != nil || pid <= 1 {
			return false
		}
		if pid == os.Getpid() {
			return true
		}
	}
	return false
}
