//go:build unix

package live

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/heedlog/heed/cmd/internal/proc"
)

// stops are the signals that ask the game to end. The game decides the meaning of the other signals that are passed on.
var stops = []os.Signal{syscall.SIGTERM, syscall.SIGINT}

// hangups are other signals by which a game usually ends.
var hangups = []os.Signal{syscall.SIGHUP, syscall.SIGQUIT}

// forwarded returns the signals that are passed on to the game. Signals that this process was started to ignore, as by
// nohup, stay ignored.
func forwarded() []os.Signal {
	return slices.DeleteFunc(slices.Concat(stops, hangups, []os.Signal{
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT,
	}), signal.Ignored)
}

// pass passes a signal on to the game: to all of its processes if a terminal would send it to all, and otherwise to the
// first. If the game is stopped, heed is too, as one job.
func pass(game *proc.Process, sig os.Signal) error {
	if sig == syscall.SIGUSR1 || sig == syscall.SIGUSR2 {
		return game.Pass(sig)
	}
	err := game.Signal(sig)
	if sig == syscall.SIGTSTP {
		err = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	return err
}

// keepWriting lets a write to a closed pipe fail, even on standard output, in place of ending heed and the game.
func keepWriting() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// readNow reads the present bytes of a pipe, without waiting for more.
func readNow(pipe *os.File, buf []byte) (n int, err error) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	err = raw.Read(func(fd uintptr) bool {
		n, _ = syscall.Read(int(fd), buf)
		return true
	})
	return n, err
}

// openWait is the time for a browser to report that it could not start. A started browser may keep running.
const openWait = 3 * time.Second

// openPage shows a file in the browser, which does not end with the terminal.
func openPage(file string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	cmd := exec.Command(name, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return err
	case <-time.After(openWait):
		return nil
	}
}

// ownConsole reports whether a window was made for this process alone, which only Windows does.
func ownConsole() bool { return false }
