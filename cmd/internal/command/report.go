package command

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
)

func (p *program) reportCommand() *cobra.Command {
	var opened bool
	var file string
	cmd := p.logCommand("report FILE... -o report.html", func(cmd *cobra.Command, names []string) error {
		return p.report(cmd, names, file, opened)
	})
	cli.Checked(cmd, func(cmd *cobra.Command) error {
		switch nowhere := file == standardInput; {
		case nowhere && opened && cmd.Flags().Changed("output"):
			return cli.Usage(cmd, "a browser opens files: --open goes with no --output -")
		case nowhere && !opened && cli.IsTerminal(p.Stdout):
			return cli.Usage(cmd, "a terminal cannot show a page: name a file, such as -o report.html")
		}
		return nil
	})
	p.registerRules(cmd)
	p.registerMods(cmd)
	p.registerLanguage(cmd)
	cmd.Flags().StringVarP(&file, outputFlag, "o", standardInput, "write the page to `FILE`, - for standard output")
	if p.host.Open != nil {
		cmd.Flags().BoolVar(&opened, "open", false, "open the page in the browser; without --output it is written beside the log, or to the user's documents")
	}
	p.registerMemory(cmd)
	p.registerLastLine(cmd)
	p.registerScrub(cmd)
	return cmd
}

// report replays the logs and writes the page to a file, and opens it if open is set.
func (p *program) report(cmd *cobra.Command, names []string, file string, open bool) error {
	set, err := p.compile()
	if err != nil {
		return err
	}
	memory := p.remembers(cmd.Context(), names, !open) // a page comes at once
	defer memory.close()
	p.formats = []string{formatPage}
	r := &replaying{set: set, memory: memory, scrubber: p.newScrubber(), details: true}
	var replays []*report.Replay
	p.eachLog(cmd.Context(), names, func(name string) error {
		rep, err := p.replay(cmd.Context(), r, name, p.buffered())
		if rep != nil {
			replays = append(replays, rep)
		}
		return err
	})
	if replays == nil {
		return nil // reported already, log by log
	}
	docs := make([]*report.Document, len(replays)) // once the private names of all logs are known
	for i, rep := range replays {
		docs[i] = p.document(rep, formatPage, 0)
	}
	data := report.HTML(nil, docs...)
	p.removed(r.scrubber)
	pages := []string{file}
	switch {
	case file == standardInput && open:
		pages = p.pageFiles(names[0])
	case file == standardInput:
		return p.print("the report", data)
	}
	for _, page := range pages {
		if err = ReplaceFile(page, data); err == nil && open {
			return p.openPage(page)
		}
		if err == nil {
			return nil
		}
	}
	return ioError(fmt.Errorf("cannot write the report: %w", err))
}

// pageFiles returns the files to which a page about a log may be written without --output, the best first: next to the
// log, or in a folder of the user. Browsers in Snap packages see no hidden folder of the home, in which games for Linux
// keep their logs.
func (p *program) pageFiles(log string) []string {
	home, err := os.UserHomeDir()
	hidden := false
	if err == nil && runtime.GOOS != "windows" {
		if full, err := filepath.Abs(log); err == nil {
			below, ok := relative(home, full)
			hidden = ok && strings.HasPrefix(below, ".")
		}
	}
	var folders []string
	if info, err := os.Stat(log); err == nil && info.Mode().IsRegular() && !hidden {
		folders = append(folders, filepath.Dir(log))
	}
	if home != "" {
		folders = append(folders, filepath.Join(home, "Documents"), home)
	}
	name := filepath.Base(log)
	switch {
	case log == standardInput:
		name = "log"
	case files.IsAddress(log):
		name = fileOf(log)
	}
	out := make([]string, 0, len(folders)+1)
	for _, folder := range append(folders, os.TempDir()) {
		out = append(out, filepath.Join(folder, name+".html"))
	}
	return out
}

// openPage shows a page in the browser, and prints in one line where it is. A browser that does not open is
// no failure: the page is there.
func (p *program) openPage(file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return ioError(err)
	}
	wrote := file + ": opened in the browser"
	if err := p.host.Open(file); err != nil {
		wrote = fmt.Sprintf("%s: open it in a browser, since that failed (%v)", file, err)
	}
	return p.print("the name of the page", append(text.AppendSafe(nil, wrote, 0), '\n'))
}
