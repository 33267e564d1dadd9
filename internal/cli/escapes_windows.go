package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes makes a console obey escape sequences, which those before Windows
// 10 cannot and the classic one does only when asked.
func enableEscapes(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 ||
		windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
