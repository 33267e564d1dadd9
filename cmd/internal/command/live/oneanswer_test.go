package live

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/sidecar"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// worst is what a surface shows of the worst problem of a log.
type worst struct {
	title, advice, sample string
	mods                  []string
	perhaps               bool
}

// TestOneAnswer holds that each surface gives the same answer about one log: the first screen of "heed FILE", its page,
// the brief, and at the end of the log, the status and the current item of a session, and the current item of a sidecar.
func TestOneAnswer(t *testing.T) {
	logs := testkit.Must(filepath.Glob("../../../../testdata/captures/*.*"))
	if testkit.IsFull() {
		for _, dir := range []string{"rimworld", "players", "games"} {
			t.Run(dir, func(t *testing.T) {
				logs = append(logs, testkit.Must(filepath.Glob(filepath.Join(testkit.Dir(t, dir), "*.*")))...)
			})
		}
	}
	logs = slices.DeleteFunc(logs, func(log string) bool {
		return !slices.Contains([]string{".log", ".txt"}, filepath.Ext(log))
	})
	all := shown(t, append([]string{"replay", "--history", "off", "--format", "json"}, logs...)...)
	doc := decoded[struct {
		Files []struct {
			Summary struct {
				File    string
				Verdict struct{ Causes []cause }
			}
		}
	}](t, all)
	require.Len(t, doc.Files, len(logs))
	all = shown(t, append([]string{"report", "--no-scrub", "--history", "off", "-o", "-"}, logs...)...)
	pages := strings.Split(all, "<article id=")[1:]
	require.Len(t, pages, len(logs))
	for i, log := range logs {
		require.Equal(t, log, doc.Files[i].Summary.File)
		t.Run(filepath.Base(log), func(t *testing.T) { oneAnswer(t, log, pages[i], doc.Files[i].Summary.Verdict.Causes) })
	}
}

// cause is a cause that "heed FILE" shows.
type cause struct {
	Rule, What, Advice, Says string
	Disposition              string
	Perhaps                  bool
	Mods                     []struct{ Name string }
}

func oneAnswer(t *testing.T, log, page string, causes []cause) {
	items, current, status, records := atEnd(t, log)
	isLimit := func(rule string) bool {
		r := defaults().Rule(rule)
		return r != nil && r.Blinds
	}
	switch {
	case len(items) == 0:
		t.Skip("nothing is open at the end")
	case len(causes) == 0 || causes[0].Disposition != items[0].Disposition.String(),
		isLimit(items[0].Rule) && !isLimit(causes[0].Rule):
		t.Skip("what the verdict is about is over at the end")
	}
	top := &items[0]
	c := &causes[0]
	want := worstOf(top)
	got := worst{title: c.What, advice: c.Advice, sample: c.Says, perhaps: c.Perhaps}
	for _, m := range c.Mods {
		got.mods = append(got.mods, m.Name)
	}
	require.Equal(t, top.Rule, c.Rule)
	require.Equal(t, want, got, "heed FILE, and the item of a session")
	// A game logs no crash report: the system writes it when the game is gone.
	if top.Severity < event.SeverityFatal {
		beside := besideGame(t, records)
		require.NotEmpty(t, beside.Sample, "the sidecar has no current item")
		require.Equal(t, want, worstOf(&beside), "the sidecar, and the item of a session")
	}
	requireStatus(t, status, top, &want)

	for surface, text := range map[string]string{
		"current": current, "page": page, "brief": shown(t, "brief", "--history", "off", "--tokens", "100000", log),
	} {
		if surface == "page" {
			text = html.UnescapeString(tags.ReplaceAllString(text, ""))
		}
		text = plainText(text)
		require.Contains(t, text, plainText(strings.TrimSuffix(want.title[1:], ".")), surface)
		for _, mod := range want.mods {
			require.Contains(t, text, plainText(mod), surface)
		}
		if surface == "brief" && top.Blocking && strings.HasPrefix(want.advice, "Nothing") {
			continue // no brief has that as the next step after an item that blocks
		}
		require.Contains(t, text, plainText(strings.TrimSuffix(want.advice[min(1, len(want.advice)):], ".")), surface)
		if surface != "brief" { // which has the whole line, without names
			require.Contains(t, text, plainText(want.sample), surface)
		}
	}
}

// worstOf returns what an item has of its dominant entries.
func worstOf(a *heed.Item) worst {
	w := worst{title: sentence(a.Title), advice: sentence(a.Advice), sample: a.Sample[0].Message, mods: a.Blame}
	if len(w.mods) == 0 && len(a.Perhaps) > 0 {
		w.mods, w.perhaps = a.Perhaps, true
	}
	return w
}

// requireStatus requires that a status begins with the title of an item, and lists it with its mods and its title alone.
func requireStatus(t *testing.T, status string, a *heed.Item, want *worst) {
	t.Helper()
	kind := map[bool]string{true: "BLOCKING", false: "advisory"}[a.Blocking]
	shows := kind + ": " + a.Title
	if since, _, found := strings.Cut(field(status, "first"), "; "+kind); found {
		shows = since + "; " + shows
	}
	require.Equal(t, shows, field(status, "first"), "status")
	mods := strings.Join(want.mods, ", ")
	if want.perhaps {
		mods = "perhaps " + mods
	}
	if mods != "" {
		mods += ": "
	}
	require.Contains(t, status, "\n"+strings.Repeat(" ", 12)+mods+a.Title+"\n", "status")
}

// shown returns the standard output of a command of heed's, run in this process.
func shown(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	run(t.Context(), args, strings.NewReader(""), &out, io.Discard)
	return out.String()
}

// field returns the text that a page shows with a label.
func field(page, label string) string {
	_, rest, _ := strings.Cut(page, "\n"+fmt.Sprintf("  %-10s", label))
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// besideGame sends the records of a log to a sidecar, as the client in a game does, and returns its current item then.
func besideGame(t *testing.T, records []capture.Record) (current heed.Item) {
	t.Helper()
	in := binary.LittleEndian
	frame := func(to []byte, kind byte, payload []byte) []byte {
		to = in.AppendUint32(to, uint32(len(payload)))
		return append(append(to, 2, kind, 0, 0), payload...)
	}
	object := func(v any) []byte {
		return append(testkit.Must(json.Marshal(v)), '\n')
	}
	part := func(to []byte, s string) []byte { return append(binary.AppendUvarint(to, uint64(len(s))), s...) }
	const hello, line, listed, query, answer = 1, 2, 6, 8, 68
	sent := frame(nil, hello, object(map[string]any{"client": "test", "family": records[0].Family}))
	for i := range records {
		r := &records[i]
		if r.Mods != nil {
			type mod struct {
				heed.Mod
				Assemblies []string `json:"assemblies"`
			}
			mods := []mod{}
			for _, m := range r.Mods.Plain() {
				mods = append(mods, mod{m, m.Assemblies})
			}
			sent = frame(sent, listed, object(map[string]any{"mods": mods}))
		}
		if !r.IsLog() {
			continue
		}
		p := binary.AppendUvarint(nil, uint64(i+1))
		p = binary.AppendUvarint(in.AppendUint64(p, uint64(r.Time.Unix())), uint64(r.Time.Nanosecond()))
		p = append(binary.AppendUvarint(p, uint64(r.Level)), 0, 0) // UTF-8, thread 0
		p = append(part(p, r.OperationID), 0, 0)                   // nothing is cut
		sent = frame(sent, line, part(part(p, r.Message), r.Stack))
	}
	sent = frame(sent, query, object(map[string]any{"number": 1, "kind": "current"}))
	var out bytes.Buffer
	require.NoError(t, sidecar.Serve(bytes.NewReader(sent), &out, sidecar.Config{}))
	for b := out.Bytes(); len(b) > 0; {
		n := 8 + int(in.Uint32(b))
		if b[5] == answer {
			a := decoded[struct{ Result heed.Item }](t, b[8:n])
			current = a.Result
		}
		b = b[n:]
	}
	return current
}

var defaults = sync.OnceValue(func() *rules.Set { return testkit.Must(rules.Compile(rules.Defaults()...)) })

// atEnd follows a log to its end in a session, and returns what is open then, what the commands current and status
// show, and the records of the log.
func atEnd(t *testing.T, log string) (items []heed.Item, current, status string, records []capture.Record) {
	t.Helper()
	follower := testkit.Must(follow.New(follow.Config{Path: log}))
	s := testkit.Must(session.New(session.Config{
		Engine: replay.Config(defaults()), Log: follower, SyncTimeout: patience, AnswerWithin: patience,
	}))
	s.OnObserved(func(rec *capture.Record, _ *heed.Outcome) {
		r := *rec // its texts are the feed's
		r.Message, r.Stack = strings.Clone(r.Message), strings.Clone(r.Stack)
		records = append(records, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-done)
	}()
	require.NoError(t, s.Sync(ctx))
	if items = s.Open(nil); len(items) == 0 {
		return nil, "", "", nil
	}

	d := bridge.NewDiagnostics(s, nil, func() []session.Limit { return nil })
	call := func(tool string, arguments map[string]any, into any) {
		raw := testkit.Must(json.Marshal(arguments))
		result, known, err := d.Call(ctx, "person", gabp.ToolCall{Name: tool, Arguments: raw})
		require.NoError(t, err)
		require.True(t, known)
		raw = testkit.Must(json.Marshal(result))
		require.NoError(t, json.Unmarshal(raw, into))
	}
	var all bridge.Items
	var st bridge.Status
	var info itemInfo
	call(bridge.ToolItems, map[string]any{}, &all)
	call(bridge.ToolStatus, map[string]any{}, &st)
	call(bridge.ToolItem, map[string]any{"id": items[0].ID}, &info.ItemDetail)
	p := newProgram(nil, io.Discard, io.Discard)
	show := func(title string, data any) string {
		g := p.page(0)
		p.form(g, title, data)
		return string(g.Out)
	}
	a, ok := s.Current(ctx, "person")
	require.True(t, ok)
	require.Equal(t, items[0].ID, a.ID)
	current = show("current", &shownItem{Item: &a, Info: &info, More: len(items) - 1})
	status = show("status", &shownStatus{Status: &st, Run: &runFile{}, Items: &all, Shown: []itemInfo{info}})
	return items, current, status, records
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
