package command

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/clitest"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/internal/testkit"
)

// docsProgram begins a command line that a reader of a page may run.
const docsProgram = "$ go run ./cmd/"

var (
	// docsMarker says, above a fenced block, what prints it.
	docsMarker = regexp.MustCompile(
		`^<!-- output: ((?:classify-replay|heed) [^|<>]*?)(?: \| jq \.([a-z]*))?(?: \| head -n ([0-9]+))? -->$`)
	// docsFile says, above a fenced block, as which file the commands after it find it.
	docsFile  = regexp.MustCompile(`^<!-- file: ([a-z.-]+) -->$`)
	docsFence = regexp.MustCompile("^(`{3,})([a-z]*)$")
)

// docsBlock is a fenced block of a page.
type docsBlock struct {
	from, to int // its lines, without the fences
	language string
	marker   string // the line above it, where that speaks of output or of a file
}

// docsBlocks returns the fenced blocks of a page. A block ends at a fence as long
// as its first, so that one may hold shorter ones.
func docsBlocks(lines []string) []docsBlock {
	var blocks []docsBlock
	for i := 0; i < len(lines); i++ {
		fence := docsFence.FindStringSubmatch(lines[i])
		if fence == nil {
			continue
		}
		b := docsBlock{from: i + 1, language: fence[2]}
		if i > 0 && (strings.HasPrefix(lines[i-1], "<!-- output:") || strings.HasPrefix(lines[i-1], "<!-- file:")) {
			b.marker = lines[i-1]
		}
		for i++; i < len(lines) && lines[i] != fence[1]; i++ {
		}
		b.to = min(i, len(lines))
		blocks = append(blocks, b)
	}
	return blocks
}

// printed runs what a marker names, and returns the commands and what the last of
// them prints.
func printed(t *testing.T, marker string) (commands, out []string) {
	t.Helper()
	m := docsMarker.FindStringSubmatch(marker)
	require.NotNil(t, m, "write it as <!-- output: heed COMMAND -->, with && between several, | jq . for indented JSON, "+
		"and | head -n N for the beginning")
	commands = strings.Split(m[1], " && ")
	var text string
	for _, c := range commands {
		words := strings.Fields(c)
		r := docsRun(t, words[0], append(words[1:], "--no-config"))
		require.LessOrEqual(t, r.status, exitFinding, r.stderr)
		text = r.stdout
	}
	if strings.Contains(marker, " | jq .") {
		text = indented(t, text, m[2])
	}
	out = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if m[3] != "" {
		n := testkit.Must(strconv.Atoi(m[3]))
		require.Greater(t, len(out), n, "all of the output is shown: leave head out")
		out = out[:n]
	}
	return commands, out
}

// docsRun runs a command line of one of the programs. Of heed it has the commands for saved logs.
func docsRun(t *testing.T, program string, args []string) result {
	t.Helper()
	if program == settings.Offline {
		return runArgs(t, args...)
	}
	var stdout, stderr bytes.Buffer
	p := settings.NewProgram(settings.Live, exitUsage, strings.NewReader(""), &stdout, &stderr)
	status := p.Run(t.Context(), docsHeed(p), args)
	return result{status: status, stdout: stdout.String(), stderr: stderr.String()}
}

// docsHeed is the command line of heed, without the commands for a running game.
func docsHeed(p *settings.Program) *cobra.Command {
	root := cli.Group(&cobra.Command{Use: settings.Live}, Commands(p, Host{Forms: append(bridge.Forms, BriefForm)})...)
	root.AddCommand(p.ConfigCommand())
	p.Flags(root, verbose)
	return root
}

// indented returns JSON as jq prints it: each line of text, or a member of it.
func indented(t *testing.T, text, member string) string {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(text) {
		value := json.RawMessage(line)
		if member != "" {
			var members map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(value, &members))
			require.Contains(t, members, member)
			value = members[member]
		}
		require.NoError(t, json.Indent(&out, bytes.TrimSpace(value), "", "  "))
		out.WriteByte('\n')
	}
	return out.String()
}

// TestDocs holds what pages say that the programs print to what they print: each
// block below a marker, but for the command lines ("$ …") that the block begins
// with: these are those of the marker. The output of a command line that a page
// shows has a marker, and each command is shown by some page. Commands run where
// the captures are as at the root of the module. Run it with -update to write the
// blocks again.
func TestDocs(t *testing.T) {
	root := testkit.Must(filepath.Abs("../../.."))
	captures := filepath.Join("testdata", "captures")
	t.Chdir(t.TempDir())
	require.NoError(t, os.CopyFS(captures, os.DirFS(filepath.Join(root, captures))))
	pages := testkit.Must(filepath.Glob(filepath.Join(root, "docs", "*.md")))
	marked := 0
	shown := map[string]bool{} // command lines
	for _, path := range append(pages, filepath.Join(root, "README.md")) {
		page := filepath.Base(path)
		data := testkit.Must(os.ReadFile(path))
		lines := strings.Split(string(data), "\n")
		var fresh []string // the page as it should be
		done := 0          // lines that are in fresh
		promised := false  // the block before showed a command line without its output
		markers := strings.Count(string(data), "<!-- output:")
		for _, b := range docsBlocks(lines) {
			body := b.from
			for body < b.to && strings.HasPrefix(lines[body], "$ ") {
				body++
			}
			shows := body > b.from && strings.HasPrefix(lines[body-1], docsProgram)
			if b.marker == "" {
				require.False(t, shows && body < b.to || promised && b.language != "console",
					"%s:%d shows what a command prints: say which one in the line above, as <!-- output: heed … -->", page, b.from)
				promised = shows
				continue
			}
			promised = false
			if file := docsFile.FindStringSubmatch(b.marker); file != nil {
				require.NoError(t, os.WriteFile(file[1], []byte(strings.Join(lines[b.from:b.to], "\n")+"\n"), 0o600))
				continue
			}
			markers--
			marked++
			t.Run(page+":"+strconv.Itoa(b.from), func(t *testing.T) {
				commands, out := printed(t, b.marker)
				for i, line := range lines[b.from:body] {
					line = strings.Replace(line, docsProgram, "$ ", 1)
					require.True(t, i < len(commands) && strings.HasPrefix(line+" ", "$ "+commands[i]+" "),
						"%s: the marker runs %q", line, commands)
				}
				for _, c := range commands {
					shown[c] = true
				}
				fresh = append(append(fresh, lines[done:body]...), out...)
				done = b.to
				if !testkit.Updating() {
					testkit.SameText(t, page, strings.Join(lines[body:b.to], "\n")+"\n", strings.Join(out, "\n")+"\n")
				}
			})
		}
		require.Zero(t, markers, "%s: a marker has its block in the next line", page)
		fresh = append(fresh, lines[done:]...)
		if testkit.Updating() && !t.Failed() {
			now := testkit.Must(os.ReadFile(path))
			require.Equal(t, string(data), string(now), "another test has written %s: update again", page)
			testkit.Golden(t, path, strings.Join(fresh, "\n"))
		}
	}
	require.NotZero(t, marked)
	heed := settings.NewProgram(settings.Live, exitUsage, nil, io.Discard, io.Discard)
	for _, c := range clitest.Commands(docsHeed(heed)) {
		// Groups print nothing; README.md has a picture of a report, and fleet.md the commands for many logs.
		if c.HasSubCommands() || c.Name() == "report" || c.Name() == "fleet" {
			continue
		}
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(shown)), func(line string) bool {
			return strings.HasPrefix(line+" ", c.CommandPath()+" ")
		}), "docs/reference.md does not show what %q prints", c.CommandPath())
	}
}
