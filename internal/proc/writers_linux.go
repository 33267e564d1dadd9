package proc

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	same := func(fd string) bool {
		var s unix.Statx_t
		return unix.Statx(unix.AT_FDCWD, fd, unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &s) == nil && s.Ino == stat.Ino &&
			unix.Mkdev(s.Dev_major, s.Dev_minor) == uint64(stat.Dev) //nolint:unconvert // of some systems
	}
	for _, pid := range processes() {
		switch {
		case own && other:
			return own, other
		case writes(pid, same) == "":
		case descends(pid):
			own = true
		case !serves(pid):
			other = true
		}
	}
	return own, other
}

// serves reports whether a process opens files for others: Wine's server has each file open that a program of Windows
// opened, and may have been there before.
func serves(pid int) bool {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return err == nil && strings.HasPrefix(string(name), "wineserver")
}

// Written returns a name by which the file can be opened that a descendant of this process has open for writing as the
// log of path: by that name or one that begins and ends like it, such as Player-prev.log of Player.log, in the same
// folder, and also when it was removed since. "" where none is known.
func Written(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	ext := filepath.Ext(path)
	stem := filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ext))
	like := func(fd string) bool {
		name, err := os.Readlink(fd)
		name = strings.TrimSuffix(name, " (deleted)")
		return err == nil && strings.HasPrefix(name, stem) && strings.HasSuffix(name, ext) && filepath.Dir(name) == dir
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
	entries, _ := os.ReadDir("/proc") // what was read of it
	pids := make([]int, 0, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// writes returns the name of the first file in /proc that a process has open for writing and that is one of those asked
// for, "" for none.
func writes(pid int, asked func(fd string) bool) string {
	dir := "/proc/" + strconv.Itoa(pid)
	open, err := os.Open(dir + "/fd")
	if err != nil {
		return ""
	}
	names, _ := open.Readdirnames(-1) // what was read of it
	_ = open.Close()
	for _, name := range names {
		if !asked(dir + "/fd/" + name) {
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
