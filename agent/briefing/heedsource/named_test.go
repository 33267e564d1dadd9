package heedsource

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// assembled returns a brief of everything open, by a built-in template.
func assembled(t *testing.T, e *heed.Engine, set *rules.Set, class string, tokens int) *briefing.Context {
	t.Helper()
	c := Sources(Config{
		Engine: e, Rules: func() *rules.Set { return set },
		Mods: func() []capture.ListedMod {
			return []capture.ListedMod{{Mod: heed.Mod{Name: "Press", PackageID: "some.press"}, Versions: "2.1.0"}}
		},
		Environment: func() capture.Facts { return capture.Facts{Game: "Widgets 1.2"} },
	})
	c.Now = time.Now
	service := testkit.Must(briefing.New(c))
	got := testkit.Must(service.Assemble(t.Context(), briefing.Request{AgentClass: class, MaxContextTokens: tokens}))
	require.NoError(t, service.Close())
	return got
}

// TestNamedInOneItem: what is frequent in an item of something worse has a line.
func TestNamedInOneItem(t *testing.T) {
	messages := []string{"phase play", "fault in Press"}
	for range 200 {
		messages = append(messages, "odd thing")
	}
	messages = append(messages, "fault again in Press")
	e, set := faulty(t, "e", messages...)
	e.Raise(heed.Report{
		Time: start, Key: "other", Disposition: event.Blocking, Severity: event.SeverityError, Summary: "another fault",
	})
	text := assembled(t, e, set, TemplateAgent, 0).Text
	require.Contains(t, text, "202 entries in 3 groups, mostly: an error was reported (200 times)")
	require.Contains(t, text, "\nMostly, earliest: item e-1, 2 times\n")
	require.Contains(t, text, "another fault")
}

// TestOthersBySummary: what blocks has its summary, count and mod where its head does not fit.
func TestOthersBySummary(t *testing.T) {
	e, set := faulty(t, "e", "phase play")
	for i := range 6 {
		for range 3 {
			e.Raise(heed.Report{
				Time: start, Key: fmt.Sprintf("report %d", i), Disposition: event.Blocking, Severity: event.SeverityError,
				Summary: fmt.Sprintf("fault of kind %d", i), Message: strings.Repeat("what was reported ", 20),
			})
		}
	}
	text := assembled(t, e, set, TemplateAgent, 400).Text
	for i := range 6 {
		require.Contains(t, text, fmt.Sprintf("fault of kind %d", i), text)
	}
}

// TestNextIsNeverNothing: advice for a single entry is not the next step of an item that blocks.
func TestNextIsNeverNothing(t *testing.T) {
	set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(`version: 1
rules:
  - id: slip
    when: 'message startsWith "slip"'
    disposition: advisory
    escalate: {after: 3, within: {duration: 10m}, to: blocking}
    summary: a slip
    advice: "Nothing, unless it comes again and again."
`)})
	require.NoError(t, err)
	e := testkit.Must(heed.New(heed.Config{Rules: set, Epoch: "e"}))
	for i := range 5 {
		e.Log(event.Log{Time: start, Message: "slip", Level: event.LevelError, Pos: uint64(i + 1)})
	}
	require.True(t, e.Open(nil)[0].Blocking)
	for _, class := range []string{TemplateAgent, TemplatePerson, TemplateModAuthor} {
		text := assembled(t, e, set, class, 0).Text
		require.Contains(t, text, "Next: read entry ", class)
		require.NotContains(t, text, "Next: Nothing", class)
	}
}

// TestAgentIsScrubbed: names of users are not in what an agent reads.
func TestAgentIsScrubbed(t *testing.T) {
	e, set := faulty(t, "e", `Reading C:\Users\Marijke\AppData\game.cfg`, "fault: Marijke cannot write")
	text := assembled(t, e, set, TemplateAgent, 0).Text
	require.Contains(t, text, "> fault: <user> cannot write\n")
	require.NotContains(t, text, "Marijke")
}

// TestAgentSeesNoHome: the name of the user who runs the program is known without a path in the log.
func TestAgentSeesNoHome(t *testing.T) {
	home := filepath.FromSlash("/srv/people/marijke")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	e, set := faulty(t, "e", "fault: Marijke cannot write")
	require.Contains(t, assembled(t, e, set, TemplateAgent, 0).Text, "> fault: <user> cannot write\n")
}

// TestHeadingsForAStranger: the report to an author has headings that need no knowledge of heed.
func TestHeadingsForAStranger(t *testing.T) {
	e, set := faulty(t, "e", "phase play", "quiet", "fault in Press", "quiet again")
	var headings []string
	markdown := assembled(t, e, set, TemplateModAuthor, 0).Markdown()
	for line := range strings.Lines(markdown) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			headings = append(headings, strings.TrimSpace(name))
		}
	}
	require.Subset(t, headings, []string{"Environment", "What broke", "Stack", "Before", "After"})
	require.Equal(t, "Environment", headings[0])
	require.Contains(t, markdown, "1. Press (some.press) 2.1.0\n")
}
