package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heedlog/heed/cmd/internal/cli"
)

// pageName is the name under which heed is the program of a double click: a link to heed in the archive for Linux.
const pageName = "heed-page"

// asksPage reports whether this process is a double click, or files that were dropped on the program: by its name, or
// on Windows by a console of its own.
func asksPage(args []string) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(args[0])), ".exe")
	notFile := func(word string) bool {
		_, err := os.Stat(word)
		return err != nil
	}
	return name == pageName || ownConsole() && cli.IsTerminal(os.Stdout) && !slices.ContainsFunc(args[1:], notFile)
}

// showPage writes a page about logs, or about the newest of the game, and opens it. Whatever becomes of it can be
// read: a window waits before it closes, and without one the messages of a failure are shown as a page would be.
func showPage(logs []string) int {
	var stderr io.Writer = os.Stderr
	var said bytes.Buffer
	if !cli.IsTerminal(os.Stderr) {
		stderr = io.MultiWriter(&said, os.Stderr) // which may be closed
	}
	args := append([]string{"report", "--open", "--"}, logs...)
	status := run(context.Background(), args, os.Stdin, os.Stdout, stderr)
	switch home, err := os.UserHomeDir(); {
	case cli.IsTerminal(os.Stdin):
		fmt.Print("Press Enter to close this window. ")
		_, _ = fmt.Scanln()
	case status != exitOK && said.Len() > 0 && err == nil:
		note := filepath.Join(home, pageName+".txt")
		if os.WriteFile(note, said.Bytes(), 0o600) == nil {
			_ = openPage(note) // there is no other way to report
		}
	}
	return status
}
