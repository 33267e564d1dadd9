package live

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/heedlog/heed/cmd/internal/proc"
)

// stops are the signals at which heed ends the game.
var stops = []os.Signal{os.Interrupt}

// hangups are none.
var hangups []os.Signal

// forwarded returns the signals that heed acts upon.
func forwarded() []os.Signal { return stops }

// pass has nothing to pass on.
func pass(*proc.Process, os.Signal) error { return nil }

// keepWriting has nothing to do: a write to a closed pipe fails.
func keepWriting() {}

// readNow reads nothing: pipes have no deadlines, so that drain waits for none.
func readNow(*os.File, []byte) (int, error) { return 0, nil }

// openPage shows a file in the browser.
func openPage(file string) error {
	name, err := windows.UTF16PtrFromString(file)
	if err != nil {
		return err
	}
	open, _ := windows.UTF16PtrFromString("open") // has no NUL
	return windows.ShellExecute(0, open, name, nil, nil, windows.SW_SHOWNORMAL)
}

// ownConsole reports whether the console was made for this process alone, as for a double click: from a command line
// the console has at least the shell, too.
func ownConsole() bool {
	var ids [2]uint32
	n, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleProcessList").
		Call(uintptr(unsafe.Pointer(&ids[0])), uintptr(len(ids)))
	return n == 1
}
