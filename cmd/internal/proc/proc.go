package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// DefaultGrace is a [Config].Grace that gives a game the time to save.
const DefaultGrace = 10 * time.Second

// tick is the interval at which a tree without its first process is polled.
const tick = 100 * time.Millisecond

// killWait bounds the wait for the end of killed processes.
const killWait = time.Second

// Config is the program to start.
type Config struct {
	// Args is the program, as [exec.LookPath] finds it, and its arguments. Required.
	Args []string

	// Env is the whole environment. nil means the environment of this process.
	Env []string

	// Stdin, Stdout and Stderr are handed over as they are; nil is the null device.
	Stdin, Stdout, Stderr *os.File

	// Mark is text in the environment of this tree and of no other process, such as a token of 16 bytes. "" marks none.
	Mark string

	// Grace is how long [Process.Stop] waits before it kills: 0 not at all, see
	// [DefaultGrace].
	Grace time.Duration
}

// Exit is the end of a tree: of its first process, or of the process that replaced a launcher.
type Exit struct {
	// Code is the exit status: 128 and the number of the signal for a process that
	// a signal ended, as shells have it.
	Code int

	// Signal is the signal that ended it, nil if none did.
	Signal os.Signal
}

// String describes the end of a game in words.
func (e Exit) String() string {
	cause := e.cause()
	switch {
	case cause != "" && e.Crashed():
		return fmt.Sprintf("crashed: %s, status %s", cause, e.status())
	case cause != "":
		return "ended by a signal: " + cause
	}
	return "exited with " + e.status()
}

// Process is a running tree. Its methods are safe for concurrent use.
type Process struct {
	cfg    Config
	cmd    *exec.Cmd
	guard  *guard
	exited chan struct{} // exit is known
	done   chan struct{}
	exit   Exit

	mu    sync.Mutex
	tree  tree
	ended bool // the tree's ids may have been reused

	stopped atomic.Bool // Stop has sent its signal
	killing sync.Once
	killed  chan struct{} // closed by Kill
}

// Start starts a program as a tree. Once it returns without an error, the tree
// ends with this process at the latest.
func Start(cfg Config) (*Process, error) {
	p := &Process{cfg: cfg, exited: make(chan struct{}), done: make(chan struct{}), killed: make(chan struct{})}
	var err error
	if p.guard, err = startGuard(); err != nil {
		return nil, fmt.Errorf("proc: guard: %w", err)
	}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		p.guard.release()
		return nil, fmt.Errorf("proc: %w", err)
	}
	return p, nil
}

// command makes the command that starts the first process.
func (p *Process) command() *exec.Cmd {
	cmd := exec.Command(p.cfg.Args[0], p.cfg.Args[1:]...)
	cmd.Env = p.cfg.Env
	// A typed nil would not be the null device.
	if p.cfg.Stdin != nil {
		cmd.Stdin = p.cfg.Stdin
	}
	if p.cfg.Stdout != nil {
		cmd.Stdout = p.cfg.Stdout
	}
	if p.cfg.Stderr != nil {
		cmd.Stderr = p.cfg.Stderr
	}
	return cmd
}

// run starts the tree, reports how that went, and waits for its end. It stays on
// one thread for that long: Linux sends the signal of a parent's death when the
// thread ends that started the child.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.cmd = p.command()
	if err := p.tree.start(p.cmd); err != nil {
		started <- err
		return
	}
	p.guard.watch(p.cmd.Process.Pid, p.cfg.Mark)
	started <- nil

	_ = p.cmd.Wait() // the error is in ProcessState
	p.exit = exitOf(p.cmd.ProcessState)
	left := true
	if p.exit.Code == 0 {
		left, p.exit = p.waitForHeirs()
	}
	close(p.exited)
	if left {
		p.endOthers()
	}
	p.end()
	p.guard.release()
	close(p.done)
}

// waitForHeirs waits for the children of a launcher, and returns their end: of the first that fails, which may leave
// others.
func (p *Process) waitForHeirs() (left bool, exit Exit) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	killed, deadline := p.killed, (<-chan time.Time)(nil)
	for {
		if left, exit = p.look(); !left || exit.Code != 0 {
			return left, exit
		}
		select {
		case <-ticker.C:
		case <-killed:
			killed, deadline = nil, time.After(killWait)
			ticker.Reset(time.Millisecond)
		case <-deadline:
			return left, exit
		}
	}
}

// endOthers asks the children of a failed process to end, and waits until they have, the grace time has passed, or all
// are killed.
func (p *Process) endOthers() {
	if left, _ := p.look(); !left {
		return
	}
	if !p.stopped.Load() && p.Signal(syscall.SIGTERM) != nil {
		return
	}
	for end := time.Now().Add(p.cfg.Grace); time.Now().Before(end); {
		select {
		case <-time.After(tick):
			if left, _ := p.look(); !left {
				return
			}
		case <-p.killed:
			return
		}
	}
}

// look reports whether anything of the tree is left after its first process, and the end of the latest heir.
func (p *Process) look() (left bool, exit Exit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left = p.tree.alive(p.cfg.Mark)
	return left, p.tree.exit
}

// end kills the rest of the tree.
func (p *Process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tree.kill(p.cfg.Mark)
	p.tree.close()
	p.ended = true
}

// PID returns the process id of the first process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when nothing of the tree is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited is closed when it is known how the tree ended. Children of a failed process may run for the grace time; see
// [Process.Done].
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Exit returns how the tree ended. It waits until that is known.
func (p *Process) Exit() Exit {
	<-p.exited
	return p.exit
}

// Pass sends a signal to one process: the first, or its heir. On Windows there are none to send.
func (p *Process) Pass(sig os.Signal) error {
	return p.unlessEnded(func(t *tree) error { return t.pass(sig) })
}

// Signal sends a signal to each process of the tree. On Windows there are none to send.
func (p *Process) Signal(sig os.Signal) error {
	return p.unlessEnded(func(t *tree) error { return t.signal(sig, p.cfg.Mark) })
}

// unlessEnded calls f with the tree and returns its error. Until then, no id of the tree is reused.
func (p *Process) unlessEnded(f func(t *tree) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	return f(&p.tree)
}

// Kill ends the whole tree at once.
func (p *Process) Kill() {
	p.killing.Do(func() { close(p.killed) })
	_ = p.unlessEnded(func(t *tree) error { t.kill(p.cfg.Mark); return nil })
}

// Stop sends sig, and kills all processes that have not ended after the grace time, or when ctx is done. It returns
// when nothing is left.
func (p *Process) Stop(ctx context.Context, sig os.Signal) Exit {
	p.stopped.Store(true)
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.Kill()
	}
	select {
	case <-p.done:
		return p.exit
	case <-time.After(p.cfg.Grace):
	case <-ctx.Done():
	}
	p.Kill()
	<-p.done
	return p.exit
}
