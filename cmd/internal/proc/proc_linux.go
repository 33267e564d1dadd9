package proc

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of its orphaned descendants. The system's first process, which would be
// it, reaps nothing in some containers. A refusal changes nothing that matters elsewhere.
var adoptOrphans = sync.OnceFunc(func() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
})

func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// strays returns the processes whose environment holds mark, this one aside. Those
// that have ended and wait to be reaped have no environment any more. It costs a
// look at each process of the user.
func strays(mark string) []int {
	if mark == "" {
		return nil
	}
	var pids []int
	for _, pid := range processes() {
		// Not readable: of another user, and so not of this tree.
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && bytes.Contains(environ, []byte(mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// eldest returns the one of pids that is a child of this process and started first, 0 for none.
func eldest(pids []int) (eldest int) {
	var began uint64
	for _, pid := range pids {
		parent, start, ok := origin(pid)
		if ok && parent == os.Getpid() && (eldest == 0 || start < began) {
			eldest, began = pid, start
		}
	}
	return eldest
}

// origin returns the parent of a process, and when it started, in ticks since the system did.
func origin(pid int) (parent int, start uint64, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	// Its name, which may hold anything, ends at the last parenthesis. State and parent are the fields after it, the start
	// the twentieth.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, 0, false
	}
	parent, wrongParent := strconv.Atoi(string(fields[1]))
	start, wrongStart := strconv.ParseUint(string(fields[19]), 10, 64)
	return parent, start, wrongParent == nil && wrongStart == nil
}
