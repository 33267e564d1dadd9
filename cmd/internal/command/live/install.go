package live

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/mcp"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/text"
)

// maxClientFile bounds, in bytes, the file of a client.
const maxClientFile = 16 << 20

// installFlags are the flags of "heed mcp install".
type installFlags struct {
	server, file string
	write, undo  bool
}

// installCommand makes the command. front has the flags of mcp.
func (p *program) installCommand(front *mcpFlags) *cobra.Command {
	var f installFlags
	names := make([]string, len(mcp.Clients))
	for i := range mcp.Clients {
		names[i] = mcp.Clients[i].Name
	}
	cmd := &cobra.Command{
		Use:       "install CLIENT [-- FLAGS OF MCP]",
		Args:      cli.Args(1, math.MaxInt, "name a client: "+strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, args[0])
			if i < 0 {
				return cli.Usage(cmd, "client %q: use one of %s%s", args[0], strings.Join(names, ", "), cli.Meant(args[0], names))
			}
			own, err := frontFlags(cmd, front, args[1:])
			if err != nil {
				return err
			}
			return p.install(cmd, &f, &mcp.Clients[i], own)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "game", "the `NAME` of the server in the configuration")
	flags.StringVar(&f.file, "file", "", "change the configuration in `FILE`")
	flags.BoolVar(&f.write, "write", false, "write what is shown")
	flags.BoolVar(&f.undo, "undo", false, "take heed away from before the server")
	return cmd
}

func (p *program) install(cmd *cobra.Command, f *installFlags, client *mcp.Client, args []string) error {
	var front []string
	switch self, err := os.Executable(); {
	case err != nil:
		return own(err)
	case f.undo && len(args) > 0:
		return cli.Usage(cmd, "--undo takes no flags of mcp")
	case !f.undo:
		front = append([]string{self, "mcp"}, args...)
	}
	places := client.Files
	if f.file != "" {
		places = []string{f.file}
	}
	var there []string
	for _, place := range places {
		file := place
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return own(err)
			}
			file = filepath.Join(home, rest)
		}
		data, err := files.ReadRegular(file, maxClientFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return cli.Failed(exitUsage, err)
		}
		edited, before, after, err := client.Edit(file, data, f.server, front)
		switch {
		case errors.Is(err, mcp.ErrNoServer):
			there = append(there, client.Servers(file, data)...)
			continue
		case errors.Is(err, mcp.ErrInFront), errors.Is(err, mcp.ErrAlone):
			return p.print(fmt.Appendf(nil, "%s: %s: %v\n", file, f.server, err))
		case err != nil:
			return cli.Failed(exitUsage, fmt.Errorf("%s: %s: %w", file, f.server, err))
		}
		out := fmt.Appendf(nil, "%s\n%s%s", file, marked("-", before), marked("+", after))
		if f.write {
			if err := command.ReplaceFile(file, edited); err != nil {
				return own(err)
			}
			out = append(out, "written; restart the client\n"...)
		} else {
			out = append(out, "nothing is changed yet: --write writes this\n"...)
		}
		return p.print(out)
	}
	if len(there) == 1 && !cmd.Flags().Changed("server") {
		only := *f
		only.server = there[0]
		return p.install(cmd, &only, client, args)
	}
	err := fmt.Errorf("no server %q in %s", f.server, strings.Join(places, ", "))
	if len(there) > 0 {
		err = fmt.Errorf("%w; there are: %s", err, text.Safe(strings.Join(there, ", "), 400))
	}
	return cli.Failed(exitUsage, err)
}

// frontFlags returns the flags of mcp with absolute paths, or an error for flags that mcp would refuse.
func frontFlags(cmd *cobra.Command, f *mcpFlags, args []string) (own []string, err error) {
	parent := cmd.Parent()
	parent.InheritedFlags() // which adds the flags of all commands
	flags := parent.Flags()
	err = flags.ParseAll(args, func(flag *pflag.Flag, value string) error {
		if err := flags.Set(flag.Name, value); err != nil {
			return err
		}
		kind, _ := pflag.UnquoteUsage(flag)
		if path, err := filepath.Abs(value); err == nil && slices.Contains([]string{"PATH", "FILE", "DIR"}, kind) &&
			!slices.Contains([]string{files.Standard, "none", "off"}, value) {
			value = path
		}
		if flag.NoOptDefVal != "" { // its value is no word of its own
			own = append(own, "--"+flag.Name+"="+value)
		} else {
			own = append(own, "--"+flag.Name, value)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, cli.Usage(cmd, "%w", cli.FlagError(parent, err))
	case flags.NArg() > 0:
		return nil, cli.Usage(cmd, "the server is in the configuration: unexpected %q", flags.Arg(0))
	}
	return own, cmp.Or(parent.PreRunE(parent, nil), f.validate(parent, []string{"the server"}))
}

// marked returns lines with a mark in front, safe for a terminal.
func marked(mark, lines string) []byte {
	var out []byte
	for line := range strings.SplitSeq(strings.TrimRight(lines, "\n"), "\n") {
		out = append(text.AppendSafe(append(out, mark+" "...), line, 0), '\n')
	}
	return out
}
