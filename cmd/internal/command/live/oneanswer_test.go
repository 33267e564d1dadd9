package live

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/report/replay"
	"github.com/heedlog/heed/rules"
)

// worst is what a surface shows of the worst problem of a log.
type worst struct {
	title, advice, sample string
	mods                  []string
	perhaps               bool
}

// TestOneAnswer holds that each surface gives the same answer about one log: the first screen of "heed FILE", its page,
// the brief, and at the end of the log, the status and the current item of a session.
func TestOneAnswer(t *testing.T) {
	logs, err := filepath.Glob("../../../../testdata/captures/*.*")
	require.NoError(t, err)
	if testkit.IsFull() {
		for _, dir := range []string{"rimworld", "players", "games"} {
			t.Run(dir, func(t *testing.T) {
				more, err := filepath.Glob(filepath.Join(testkit.Dir(t, dir), "*.*"))
				require.NoError(t, err)
				logs = append(logs, more...)
			})
		}
	}
	for _, log := range logs {
		if ext := filepath.Ext(log); ext == ".log" || ext == ".txt" {
			t.Run(filepath.Base(log), func(t *testing.T) { oneAnswer(t, log) })
		}
	}
}

func oneAnswer(t *testing.T, log string) {
	var doc struct {
		Files []struct {
			Summary struct {
				Verdict struct {
					Causes []struct {
						Rule, What, Advice, Says string
						Disposition              string
						Perhaps                  bool
						Mods                     []struct{ Name string }
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(shown(t, "replay", "--history", "off", "--format", "json", log)), &doc))
	causes := doc.Files[0].Summary.Verdict.Causes

	items, current, status := atEnd(t, log)
	switch {
	case len(items) == 0:
		t.Skip("nothing is open at the end")
	case len(causes) == 0 || causes[0].Disposition != items[0].Disposition.String():
		t.Skip("what the verdict is about is over at the end")
	}
	top := &items[0]
	c := &causes[0]
	want := worst{title: sentence(top.Title), advice: sentence(top.Advice), sample: top.Sample[0].Message, mods: top.Blame}
	if len(want.mods) == 0 && len(top.Perhaps) > 0 {
		want.mods, want.perhaps = top.Perhaps, true
	}
	got := worst{title: c.What, advice: c.Advice, sample: c.Says, perhaps: c.Perhaps}
	for _, m := range c.Mods {
		got.mods = append(got.mods, m.Name)
	}
	require.Equal(t, top.Rule, c.Rule)
	require.Equal(t, want, got, "heed FILE, and the item of a session")

	for surface, text := range map[string]string{
		"status": status, "current": current, "page": shown(t, "report", "--no-scrub", "--history", "off", log, "-o", "-"),
		"brief": shown(t, "brief", "--history", "off", "--tokens", "100000", log),
	} {
		if surface == "page" {
			text = html.UnescapeString(tags.ReplaceAllString(text, ""))
		}
		text = plainText(text)
		require.Contains(t, text, plainText(strings.TrimSuffix(want.title[1:], ".")), surface)
		for _, mod := range want.mods {
			require.Contains(t, text, plainText(mod), surface)
		}
		if surface == "status" { // has neither advice nor samples
			continue
		}
		require.Contains(t, text, plainText(strings.TrimSuffix(want.advice[min(1, len(want.advice)):], ".")), surface)
		if surface != "brief" { // which has the whole line, without names
			require.Contains(t, text, plainText(want.sample), surface)
		}
	}
}

// shown returns the standard output of a command of heed's, run in this process.
func shown(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	run(t.Context(), args, strings.NewReader(""), &out, io.Discard)
	return out.String()
}

// atEnd follows a log to its end in a session, and returns what is open then, and what the commands current and status
// show.
func atEnd(t *testing.T, log string) (items []heed.Item, current, status string) {
	t.Helper()
	set, err := rules.Compile(rules.Defaults()...)
	require.NoError(t, err)
	follower, err := follow.New(follow.Config{Path: log})
	require.NoError(t, err)
	s, err := session.New(session.Config{Engine: replay.Config(set), Log: follower, SyncTimeout: patience, AnswerWithin: patience})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-done)
	}()
	require.NoError(t, s.Sync(ctx))
	if items = s.Open(nil); len(items) == 0 {
		return nil, "", ""
	}

	d := bridge.NewDiagnostics(bridge.DiagnosticsConfig{Session: s})
	call := func(tool string, arguments map[string]any, into any) {
		raw, err := json.Marshal(arguments)
		require.NoError(t, err)
		result, known, err := d.Call(ctx, "person", gabp.ToolCall{Name: tool, Arguments: raw})
		require.NoError(t, err)
		require.True(t, known)
		raw, err = json.Marshal(result)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, into))
	}
	var all bridge.Items
	var st bridge.Status
	var info itemInfo
	call(bridge.ToolItems, map[string]any{}, &all)
	call(bridge.ToolStatus, map[string]any{}, &st)
	call(bridge.ToolItem, map[string]any{"id": items[0].ID}, &info.detail)
	p := newProgram(nil, io.Discard, io.Discard)
	show := func(with func(g *page)) string {
		g := p.page(0)
		with(g)
		return string(g.buf)
	}
	a, ok := s.Current(ctx, "person")
	require.True(t, ok)
	require.Equal(t, items[0].ID, a.ID)
	current = show(func(g *page) { p.showItem(g, &a, &info, len(items)-1) })
	status = show(func(g *page) { p.showStatus(g, &runFile{}, &st, &all, []itemInfo{info}, nil) })
	return items, current, status
}

var tags = regexp.MustCompile(`<[^>]*>`)

// plainText returns a text without line ends, spaces and signs of quotations, which each surface has its own way with.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \n\t>`*|\\\u00a0", r) {
			return -1
		}
		return r
	}, s)
}

// sentence makes a phrase begin and end as a report has it.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}
