package sidecar

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"time"
)

// The exit statuses of the program.
const (
	exitOK         = 0
	exitUnreadable = 1
	exitUsage      = 2
)

// help is the text of --help.
const help = `heed-sidecar runs beside a game: a mod inside the game starts it, writes what happens to
its standard input, and reads attention from its standard output, both in frames of bytes.
It ends when its input ends, or when the game is gone. It has no options, listens on no
port and writes no file. The client for mods is embed/csharp/Heed.cs.
`

// Run runs the program called name with the standard files of the process, and returns its exit status.
func Run(name string, args []string) int {
	for _, arg := range args {
		switch arg {
		case "--version":
			fmt.Println(name, moduleVersion(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
			return exitOK
		case "-h", "--help", "help":
			fmt.Print(help)
			return exitOK
		default:
			fmt.Fprintf(os.Stderr, "%s: %q is not known: there are --version and --help\n", name, arg)
			return exitUsage
		}
	}
	err := RunServer(name, os.Stdin, os.Stdout)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	if errors.Is(err, ErrTerminal) {
		return exitUsage
	}
	return exitUnreadable
}

// ErrTerminal is the error if a person types the input.
var ErrTerminal = errors.New("a mod inside a game starts this program: it reads frames from its standard input, not from " +
	"a terminal; see --help")

// RunServer is [Serve] as the only work of a process, which it ends when the process that started it does.
func RunServer(name string, in io.Reader, out io.Writer) error {
	if f, ok := in.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode()&os.ModeCharDevice != 0 {
			return ErrTerminal
		}
	}
	// The end of the game ends this program by the end of its input, so that the last lines are read.
	signal.Ignore(os.Interrupt)
	parent := os.Getppid()
	return Serve(in, out, Config{
		Program: name + " " + moduleVersion(),
		Greeted: func(process uint64) {
			// The collector keeps the heap small: a known line allocates nothing, so that it runs seldom. Not before: the
			// rules are compiled by now, in half of the time.
			debug.SetGCPercent(15)
			go endWith(parent, process)
		},
	})
}

// newEpoch returns an epoch that no other run has.
func newEpoch() string {
	var bits [4]byte
	_, _ = rand.Read(bits[:]) // it never fails
	return time.Now().UTC().Format("20060102T150405") + "." + hex.EncodeToString(bits[:])
}

// moduleVersion returns the version of this module, as far as the build knows it.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
