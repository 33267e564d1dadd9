//go:build unix

package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// guardName is the argument with which the holder starts its own program as the guard.
const guardName = "guard"

// A guard does nothing else: it begins before most of the program is initialized, and stays small.
func init() {
	if len(os.Args) == 2 && os.Args[1] == guardName {
		keepWatch(os.Stdin)
		os.Exit(0)
	}
}

// guard is the holder's end of the pipe to a guard, whose other end is closed when the holder dies.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

func startGuard() (*guard, error) {
	self, err := os.Executable()
	if err != nil { // without /proc
		self = os.Args[0]
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // the guard has its own
	cmd := exec.Command(self, guardName)
	cmd.Stdin = r
	// It must survive the holder's group, session and terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", self, err)
	}
	return &guard{cmd: cmd, pipe: w}, nil
}

// watch sends the guard the group to kill and its mark. The mark goes through the pipe, since other users can read a
// process's arguments.
func (g *guard) watch(group int, mark string) {
	_, _ = fmt.Fprintf(g.pipe, "watch %d %s\n", group, mark) // a guard that is gone must not end the game
}

// release ends the guard.
func (g *guard) release() {
	_, _ = io.WriteString(g.pipe, "done\n")
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
}

// keepWatch is the guard's side: it reads group and mark from r until the holder releases it. If r ends before, the
// holder has died, and keepWatch kills the tree.
func keepWatch(r io.Reader) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	var group int
	var mark string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "watch":
			// Group 0 would be the guard's own, and 1 the whole system's.
			if _, err := fmt.Sscan(rest, &group); err != nil || group < 2 {
				return
			}
			_, mark, _ = strings.Cut(rest, " ")
		case "done":
			return
		}
	}
	if group > 1 {
		(&tree{group: group}).kill(mark)
	}
}
