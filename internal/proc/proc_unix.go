//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"
)

// lockThread keeps the goroutine on its thread until the function that it returns
// is called.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// tree is a process group. Its id is that of the first process.
type tree struct{ group int }

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

func (t *tree) signal(sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return errors.New("proc: not a signal of this system: " + sig.String())
	}
	return syscall.Kill(-t.group, s)
}

// alive reports whether anything of the tree is left. It must not be called
// before the first process was waited for: it would take its exit status.
func (t *tree) alive(mark string) bool {
	reap(-t.group)
	if syscall.Kill(-t.group, 0) == nil {
		return true
	}
	for _, pid := range strays(mark) {
		reap(pid)
	}
	return len(strays(mark)) > 0
}

// killRounds bounds how often what is left is looked for: each round can find only
// what was started between two steps of the one before.
const killRounds = 8

func (t *tree) kill(mark string) { killTree(t.group, mark) }

// killTree kills a group and its strays.
func killTree(group int, mark string) {
	for range killRounds {
		_ = syscall.Kill(-group, syscall.SIGKILL) // it may be gone
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
	reap(-t.group)
}

// reap takes the exit status of orphans that this process was given, so that they
// leave the process table: one process, or with a negative id all of a group.
func reap(pid int) {
	for {
		got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || got <= 0 {
			return
		}
	}
}

func exitOf(s *os.ProcessState) Exit {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Code: 128 + int(ws.Signal()), Signal: ws.Signal()}
	}
	return Exit{Code: s.ExitCode()}
}
