package live

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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

func (p *program) installCommand() *cobra.Command {
	var f installFlags
	names := make([]string, len(mcp.Clients))
	for i := range mcp.Clients {
		names[i] = mcp.Clients[i].Name
	}
	cmd := &cobra.Command{
		Use:   "install CLIENT [-- FLAGS OF MCP]",
		Short: "Put heed in front of a server in the configuration of an MCP client",
		Long: `install looks for a server in the configuration of a client, ` + strings.Join(names, ", ") + `:
in the project first, then in the home folder. It shows how the entry of the server changes
so that the client starts heed, and heed the server. With --write it changes the file, and
nothing else in it. --undo shows, and with --write does, the opposite.`,
		Example: `  heed mcp install claude --server game -- --log Player.log
  heed mcp install claude --server game --write -- --log Player.log
  heed mcp install claude --server game --undo --write`,
		Args:      cli.Args(1, math.MaxInt, "name a client: "+strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, args[0])
			if i < 0 {
				return cli.Usage(cmd, "client %q: use one of %s%s", args[0], strings.Join(names, ", "), cli.Meant(args[0], names))
			}
			return p.install(cmd, &f, &mcp.Clients[i], args[1:])
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
		flags, err := flagsFor(cmd.Parent(), args)
		if err != nil {
			return err
		}
		front = append([]string{self, "mcp"}, flags...)
	}
	places := client.Files
	if f.file != "" {
		places = []string{f.file}
	}
	for _, file := range places {
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
			return own(err)
		}
		edited, before, after, err := client.Edit(file, data, f.server, front)
		if errors.Is(err, mcp.ErrNoServer) {
			continue
		}
		if err != nil {
			return own(fmt.Errorf("%s: %s: %w", file, f.server, err))
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
	return own(fmt.Errorf("no server %q in %s", f.server, strings.Join(places, ", ")))
}

// flagsFor returns flags of mcp as a client gives them, which starts it in any folder: the path of a log is absolute.
func flagsFor(mcp *cobra.Command, args []string) ([]string, error) {
	if err := mcp.ParseFlags(args); err != nil {
		return nil, cli.Usage(mcp, "%w", cli.FlagError(mcp, err))
	}
	if rest := mcp.Flags().Args(); len(rest) > 0 {
		return nil, cli.Usage(mcp, "%q is no flag of mcp: the server is in the client's file", rest[0])
	}
	args = slices.Clone(args)
	for i, arg := range args {
		name, path, joined := strings.Cut(arg, "=")
		switch {
		case name != "--log":
			continue
		case !joined:
			i++
			name, path = "", args[i]
		default:
			name += "="
		}
		if abs, err := filepath.Abs(path); err == nil && path != files.Standard {
			args[i] = name + abs
		}
	}
	return args, nil
}

// marked returns lines with a mark in front, safe for a terminal.
func marked(mark, lines string) []byte {
	var out []byte
	for line := range strings.SplitSeq(strings.TrimRight(lines, "\n"), "\n") {
		out = append(text.AppendSafe(append(out, mark+" "...), line, 0), '\n')
	}
	return out
}
