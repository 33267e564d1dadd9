//go:build unix

package proc

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// tree is a process group, and the processes that left it. The group's id is the id of the first process.
type tree struct {
	group int
	heir  int  // replaced the first process, a launcher; 0: none is known
	exit  Exit // of the latest heir that ended
}

func (t *tree) start(cmd *exec.Cmd) error {
	adoptOrphans()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	// A group in the background that reads from the terminal would be stopped.
	if f, ok := cmd.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(f.Fd())
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	t.group = cmd.Process.Pid
	return nil
}

// signal sends a signal to the group, and to each process that left it.
func (t *tree) signal(sig os.Signal, mark string) error {
	s := sig.(syscall.Signal) // as all are
	err := syscall.Kill(-t.group, s)
	for _, pid := range strays(mark) {
		if group, e := syscall.Getpgid(pid); e == nil && group != t.group && syscall.Kill(pid, s) == nil {
			err = nil
		}
	}
	return err
}

// pass sends a signal to the first process, or to its heir.
func (t *tree) pass(sig os.Signal) error {
	return syscall.Kill(cmp.Or(t.heir, t.group), sig.(syscall.Signal))
}

// alive reports whether anything of the tree is left. It must not be called
// before the first process was waited for: it would take its exit status.
func (t *tree) alive(mark string) bool {
	t.reap(-t.group)
	if t.heir != 0 {
		t.reap(t.heir)
	}
	if t.heir != 0 && syscall.Kill(t.heir, 0) == nil {
		return true
	}
	others := strays(mark)
	for _, pid := range others {
		t.reap(pid)
	}
	t.heir = eldest(others)
	// One look misses a daemon that a process started that ended during it, such as the game of a launcher.
	return t.heir != 0 || syscall.Kill(-t.group, 0) == nil || len(strays(mark)) > 0
}

// killRounds bounds the searches for surviving processes: each round can find only processes that were started during
// the round before.
const killRounds = 8

// kill kills the group and its strays.
func (t *tree) kill(mark string) {
	for range killRounds {
		_ = syscall.Kill(-t.group, syscall.SIGKILL) // it may be gone
		left := strays(mark)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond) // the killed leave the process table
	}
}

func (t *tree) close() {
	t.reap(-t.group)
}

// reap takes the exit status of orphans that this process was given, so that they
// leave the process table: one process, or with a negative id all of a group.
func (t *tree) reap(pid int) {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || got <= 0 {
			return
		}
		if got == t.heir {
			t.heir, t.exit = 0, exitStatus(status)
		}
	}
}

func exitOf(s *os.ProcessState) Exit { return exitStatus(s.Sys().(syscall.WaitStatus)) }

func exitStatus(s syscall.WaitStatus) Exit {
	if s.Signaled() {
		return Exit{Code: 128 + int(s.Signal()), Signal: s.Signal()}
	}
	return Exit{Code: s.ExitStatus()}
}

// crashes are the signals that a process brings upon itself.
var crashes = []syscall.Signal{
	syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSYS,
}

// signal returns the signal that ended the process, or that a shell reports by its status; 0 without a signal.
func (e Exit) signal() syscall.Signal {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return s
	}
	if s := syscall.Signal(e.Code - 128); slices.Contains(crashes, s) {
		return s
	}
	return 0
}

// Crashed reports whether the process ended by a fault of its own, such as SIGSEGV. It is so, too, if a shell that
// started the game reports that by its status.
func (e Exit) Crashed() bool { return slices.Contains(crashes, e.signal()) }

// cause names the signal, "" for none.
func (e Exit) cause() string {
	s := e.signal()
	if s == 0 {
		return ""
	}
	return cmp.Or(unix.SignalName(s), "signal "+strconv.Itoa(int(s))) + " (" + s.String() + ")"
}

func (e Exit) status() string { return strconv.Itoa(e.Code) }
