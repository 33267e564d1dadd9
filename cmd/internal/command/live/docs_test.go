//go:build unix

package live

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// shownMarker says, above a fenced block, what prints it.
var shownMarker = regexp.MustCompile("(?m)^<!-- shown: heed (.+) -->\n```text\n((?:[^`].*\n)*)```$")

// steady replaces what differs from run to run.
var steady = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\d{8}T\d{6}\.[0-9a-f]{8}-`), "20260102T140317.3a7c90d1-"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "14:03:22"},
	{regexp.MustCompile(`\d+s ago`), "8s ago"},
	{regexp.MustCompile(`process \d+, up \d+s`), "process 4242, up 13s"},
}

// TestDocs holds what docs/watching.md says that this program prints to what it prints,
// about a capture that is written while it is followed. Run it with -update to write the
// page again.
func TestDocs(t *testing.T) {
	const pagePath = "../../../../docs/watching.md"
	capture := testkit.Must(os.ReadFile("../../../../testdata/captures/burst-1.4.log"))
	pageFile := testkit.Must(filepath.Abs(pagePath))
	page := testkit.Must(os.ReadFile(pageFile))

	t.Chdir(t.TempDir())
	state := t.TempDir()
	const before = 3000 // bytes that were there already
	write(t, "Player.log", string(capture[:before]))
	background(t, "serve", "--state", state, "--quiet", "Player.log")
	run := func(args string) (string, int) {
		return runCommand(t, append(strings.Fields(args), "--quiet", "--state", state)...)
	}
	await(t, func() bool { _, code := run("status"); return code == exitOK })
	write(t, "Player.log", string(capture[before:]))
	await(t, func() bool {
		out, _ := run("status")
		return strings.Contains(out, "; 1,216 lines, 98.2 KiB read") && strings.Contains(out, " 275 × ")
	})

	lines := strings.SplitAfter(string(capture), "\n")
	write(t, "menu.log", strings.Join(lines[:53],
		"")) // with one fault, so that what is told of it does not depend on when

	shown := 0
	fresh := shownMarker.ReplaceAllStringFunc(string(page), func(block string) string {
		shown++
		m := shownMarker.FindStringSubmatch(block)
		out := ""
		if strings.HasPrefix(m[1], "follow ") { // it goes on
			stdout, _ := background(t, append(strings.Fields(m[1]), "--quiet")...)
			await(t, func() bool { return strings.Contains(stdout.String(), "opened") })
			out = stdout.String()
		} else {
			out, _ = run(m[1])
		}
		for _, s := range steady {
			out = s.from.ReplaceAllString(out, s.to)
		}
		return "<!-- shown: heed " + m[1] + " -->\n```text\n" + out + "```"
	})
	require.Equal(t, strings.Count(string(page), "<!-- shown:"), shown, "a marker has its block in the next line")
	testkit.Golden(t, pageFile, fresh)
}
