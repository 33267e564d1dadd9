package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// hostile is what a line of a log may hold to act on whoever reads a report.
const hostile = "\x1b]0;owned\x07\r\nBLOCKING forged\u0085\u2028\u2029\u202euser\u2066\u200b\xff<script>=cmd|' /C " +
	"calc'!A0"

// templates stands in for an engine.
func templates(s signature.Signature) (string, bool) {
	switch s.ID {
	case 666: // for a page
		return hostile + "\nat Foo" + hostile, true
	case 404:
		return "", false
	}
	return fmt.Sprintf("template %d <*>\nat Some.Frame", s.ID), true
}

func newReplay(t testing.TB, c Config) *Replay {
	t.Helper()
	if c.Template == nil {
		c.Template = templates
	}
	if c.Group == nil {
		c.Group = func(s signature.Signature) signature.Signature { return s }
	}
	if c.Variant == nil {
		c.Variant = func(string) string { return "" }
	}
	if c.Blame == nil {
		c.Blame = func(*event.Entry) []heed.Suspect { return nil }
	}
	if c.Mod == nil {
		c.Mod = func(string) (m heed.Mod, known bool) { return m, false }
	}
	if c.Rule == nil {
		c.Rule = func(string) (text RuleText) { return text }
	}
	return New(c)
}

func outcome(id signature.ID, d event.Disposition, rule string) *heed.Outcome {
	sig := signature.Signature{ID: id, Check: uint32(id)}
	return &heed.Outcome{
		Signature: sig, Group: sig,
		Decision: event.Decision{Rule: rule, Disposition: d, Severity: event.SeverityWarning},
	}
}

func attention(id string, d event.Disposition, line uint64) heed.Item {
	a := heed.Item{
		ID: id, State: "open", Severity: event.SeverityError, Blocking: d == event.Blocking, Disposition: d,
		Summary: "summary of " + id,
		Cause:   coalesce.CauseEntry{Pos: line, Rule: "some.rule"}, OpenedPos: line, LatestPos: line,
		TotalUrgentEntries: 1, Groups: 1,
		Sample: []heed.Sample{{Level: event.SeverityError, Message: "sample of " + id, RepeatCount: 1, FirstPos: line}},
	}
	single(&a)
	return a
}

// single lets an item have one member, of its cause.
func single(a *heed.Item) {
	a.Members = []heed.Member{{
		Rule: a.Cause.Rule, Disposition: a.Disposition, Severity: a.Severity, Entries: a.TotalUrgentEntries,
		First: a.Cause.Pos, Last: a.LatestPos, Signature: a.Cause.Signature, Message: a.Sample[0].Message,
	}}
	for _, mod := range a.Blame {
		a.Members[0].Accused = append(a.Members[0].Accused, coalesce.AccusedMod{Name: mod, Entries: a.TotalUrgentEntries})
	}
	lead(a)
}

// lead names an item for its first member.
func lead(a *heed.Item) {
	m := &a.Members[0]
	a.Title, a.Advice, a.Rule = m.Title, m.Advice, m.Rule
	a.Blame, a.Perhaps = m.Mods()
}

func opened(id string, d event.Disposition, line uint64) *heed.Update {
	return &heed.Update{Kind: coalesce.Opened, Reason: "new", Item: attention(id, d, line), Pos: line}
}

func closed(id string, d event.Disposition, line uint64) *heed.Update {
	u := &heed.Update{Kind: coalesce.Cleared, Reason: coalesce.ReasonExpired, Item: attention(id, d, line), Pos: line}
	u.Item.State, u.Item.Blocking, u.Item.ClearedBy = cleared, false, coalesce.ReasonExpired
	return u
}

// withRows bounds the rows of each disposition.
func withRows(r *Replay, rows int) *Replay {
	for i := range r.tables {
		r.tables[i] = newTable(rows)
	}
	return r
}

func TestTableIsBoundedAndCounts(t *testing.T) {
	r := withRows(newReplay(t, Config{}), 4)
	for i := range 10 {
		r.Observe(&capture.Record{StartLine: i + 1}, outcome(signature.ID(i), event.Ignore, "r"))
		r.Observe(&capture.Record{StartLine: i + 1}, outcome(100, event.Ignore, "r")) // frequent: stays
	}
	r.End(End{})
	table := r.tables[event.Ignore]
	require.Equal(t, 4, table.rows.Len())
	require.EqualValues(t, 20, table.entries)
	require.EqualValues(t, 7, table.evicted)
	var sum uint64
	for _, row := range table.top(0) {
		sum += row.Count
	}
	require.Equal(t, table.entries, sum+table.evictedEntries, "every entry is in a row or counted as forgotten")
	top := table.top(1)
	require.Len(t, top, 1)
	sig := signature.Signature{ID: 100, Check: 100}
	require.Equal(t, row{
		Row: Row{
			Forms: 1, Rule: "r", Severity: event.SeverityWarning,
			Count: 10, First: 1, Last: 10, Template: "template 100 <*>\nat Some.Frame",
		}, sig: sig, group: sig, members: []signature.ID{100}, stretch: 1, recent: 10,
	}, *top[0])
}

// TestBlameIsAskedAtFirst: of the first entries of each row that is urgent, and its
// first one is what the row names.
func TestBlameIsAskedAtFirst(t *testing.T) {
	times := 0
	r := newReplay(t, Config{
		Blame: func(*event.Entry) []heed.Suspect {
			times++
			return []heed.Suspect{{Mod: fmt.Sprintf("Mod %d", times), Score: 60}, {Mod: "Other", Score: 60}}[:times%3]
		},
		Group: func(s signature.Signature) signature.Signature {
			if s.ID == 9 || s.ID == 11 {
				s = signature.Signature{ID: 8, Check: 8}
			}
			return s
		},
	})
	for range 5 {
		r.Observe(&capture.Record{StartLine: 1}, outcome(7, event.Blocking, "r"))  // asked first: one name
		r.Observe(&capture.Record{StartLine: 2}, outcome(10, event.Advisory, "r")) // second: two
		r.Observe(&capture.Record{StartLine: 3}, outcome(8, event.Advisory, "r"))  // third: none
		r.Observe(&capture.Record{StartLine: 4}, outcome(9, event.Advisory, "r"))  // fourth: one, the same group
		r.Observe(&capture.Record{StartLine: 5}, outcome(12, event.Ignore, "r"))   // never
		r.Observe(&capture.Record{StartLine: 6}, outcome(11, event.Advisory, "r")) // fifth: two, the same group
	}
	require.Equal(t, 5, times, "only the first of a row")
	r.End(End{Lines: 6})
	shown := string(Text(nil, r.Document(0), TextOptions{}))
	require.Contains(t, shown, "BLAME")
	require.Contains(t, shown, "Mod 2, Other")

	var doc struct {
		Signatures []struct {
			First uint64 `json:"firstLine"`
			Blame []string
		}
	}
	require.NoError(t, json.Unmarshal(text.JSON(r.Document(0)), &doc))
	got := map[uint64][]string{}
	for _, s := range doc.Signatures {
		got[s.First] = s.Blame
	}
	require.Equal(t, map[uint64][]string{1: {"Mod 1"}, 2: {"Mod 2", "Other"}, 3: {"Mod 4"}, 5: nil}, got,
		"a group has the names of its first entry that has any")
}

func TestTableOrderIsTotal(t *testing.T) {
	r := newReplay(t, Config{})
	for _, id := range []signature.ID{5, 3, 9, 1} {
		r.Observe(&capture.Record{StartLine: 1}, outcome(id, event.Ignore, "b"))
		r.Observe(&capture.Record{StartLine: 1}, outcome(id, event.Ignore, "a"))
	}
	r.End(End{})
	var order []string
	for _, row := range r.tables[event.Ignore].top(0) {
		order = append(order, fmt.Sprintf("%d %s", uint64(row.sig.ID), row.Rule))
	}
	require.Equal(t, []string{"1 a", "1 b", "3 a", "3 b", "5 a", "5 b", "9 a", "9 b"}, order)
}

func TestCausesCountEachItemOnce(t *testing.T) {
	r := newReplay(t, Config{})
	for i := range 10 {
		id := fmt.Sprintf("0-%d", i)
		d := event.Advisory
		if i == 6 {
			d = event.Blocking
		}
		updates := []*heed.Update{
			opened(id, event.Advisory, uint64(10*i+1)),
			opened(id, d, uint64(10*i+2)), // rises, or shows more of the same
			closed(id, d, uint64(10*i+3)),
		}
		for _, u := range updates[:3-i/9] { // the last stays open
			u.Item.Cause.Seq, u.Item.TotalUrgentEntries = uint64(i+1), uint64(i+1)
			r.Update(u)
		}
	}
	require.EqualValues(t, [3]uint64{0, 9, 1}, r.causes.byDisposition)
	require.Len(t, r.causes.open, 1, "what is cleared is not kept")
	for range 2 { // asking changes nothing
		list := r.causes.list()
		require.Len(t, list, 2)
		blocking, advisory := list[0], list[1]
		require.Equal(t, event.Blocking, blocking.Disposition, "what blocks comes first")
		require.EqualValues(t, 1, blocking.Items)
		require.EqualValues(t, 7, blocking.Entries)
		require.EqualValues(t, 9, advisory.Items)
		require.EqualValues(t, 1, advisory.Open)
		require.EqualValues(t, 55-7, advisory.Entries)
		require.Equal(t, "0-0", advisory.FirstItem.ID)
		require.EqualValues(t, 92, advisory.Last)
	}
}

func TestBlindness(t *testing.T) {
	see := func(r *Replay, line uint64, blind bool) {
		o := outcome(1, event.Ignore, "cap")
		o.Blind = blind
		r.Observe(&capture.Record{StartLine: int(line)}, o)
	}
	r := newReplay(t, Config{})
	require.True(t, r.wentBlind(), "a log that never spoke")
	see(r, 1, false)
	require.False(t, r.wentBlind())
	see(r, 2, true)
	see(r, 3, true)
	require.Equal(t, []span{{From: 2, Rule: "cap"}}, r.blind.spans)
	see(r, 9, false)
	require.Equal(t, []span{{From: 2, To: 9, Rule: "cap"}}, r.blind.spans)
	for i := range uint64(100) {
		see(r, 10+2*i, true)
		see(r, 11+2*i, false)
	}
	require.True(t, r.wentBlind())
	require.EqualValues(t, 101, r.blind.count)
	require.Len(t, r.blind.spans, maxSpans)
	require.Equal(t, span{From: 208, To: 209, Rule: "cap"}, r.blind.spans[maxSpans-1], "the last one is kept")
	require.Equal(t, "The log stops 101 times, first at line 2, last from line 208 to line 209: what would have been logged in "+
		"between is not known.", r.blind.sentence(nil))
}

// TestMissingIsBlindness: where something is missing, evidence is incomplete at
// that point; the first screen says so in one sentence, and not in two.
func TestMissingIsBlindness(t *testing.T) {
	r := newReplay(t, Config{})
	notice := func(status event.Status, line uint64, blind bool) {
		o := outcome(1, event.Advisory, "default.notice."+status.String())
		o.Blind = blind
		r.Observe(&capture.Record{
			Entry:     event.Entry{Kind: event.KindNotice, Status: status, Count: 100},
			StartLine: int(line),
		}, o)
	}
	r.Observe(&capture.Record{StartLine: 1}, outcome(1, event.Ignore, "chat"))
	notice(event.StatusRestarted, 2, false)
	notice(event.StatusTruncated, 3, false)
	require.False(t, r.wentBlind())
	notice(event.StatusHole, 5, false)
	notice(event.StatusRunCut, 7, false)
	points := []span{{5, 5, "default.notice.hole"}, {7, 7, "default.notice.run_cut"}}
	require.Equal(t, points, r.blind.spans)
	require.True(t, r.wentBlind())
	require.False(t, r.Document(0).Summary.Blind.AtEnd)
	r.End(End{Layout: "plain", Lines: 20})
	text := string(Text(nil, r.Document(0), TextOptions{}))
	require.NotContains(t, strings.ToLower(text), "blind")
	require.Contains(t, text, "100 bytes are missing at line 5.")

	// Within a stretch, what is missing is part of it.
	silent := outcome(1, event.Ignore, "cap")
	silent.Blind = true
	r.Observe(&capture.Record{StartLine: 10}, silent)
	notice(event.StatusHole, 11, true)
	r.Observe(&capture.Record{StartLine: 12}, outcome(1, event.Ignore, "on"))
	require.Equal(t, append(points, span{10, 12, "cap"}), r.blind.spans)
	require.Contains(t, string(Text(nil, r.Document(0), TextOptions{})),
		"The log stops from line 10 to line 12: what would have been logged in between is not known.")
}

// hostileReplay is a replay in which every text from outside is hostile.
func hostileReplay(t *testing.T) *Replay {
	text := "</template></td></table><script>alert(1)</script>```\n" + hostile
	r := newReplay(t, Config{
		File: "evil" + hostile, Details: true, Group: statements, Variant: variant,
		Template: func(s signature.Signature) (string, bool) {
			if s.ID == 666 {
				return hostile + "\nat Foo" + hostile, true
			}
			return fmt.Sprintf("code %d%s", s.ID, hostile), true // variants of a group
		},
		Rule: func(string) RuleText {
			return RuleText{Summary: "what" + hostile, Why: "why" + hostile, Advice: "do" + hostile}
		},
		Blame: func(*event.Entry) []heed.Suspect { return []heed.Suspect{{Mod: text, Score: 60}} },
	})
	for i, d := range dispositions {
		for _, id := range []signature.ID{666, 100, 101} {
			r.Observe(&capture.Record{Entry: event.Entry{Message: text}, StartLine: i + 1}, outcome(id, d, "some.rule"))
		}
	}
	u := opened("0-1", event.Blocking, 1)
	u.Item.Summary += hostile
	u.Item.CausalMethod, u.Item.CausalOperationID = hostile, hostile
	u.Item.Sample[0].Message += hostile
	r.Update(u)
	e := Environment{Mods: []capture.ListedMod{listed(text, text, text), listed("", text, "")}}
	for _, fact := range facts(&e.Facts) {
		*fact.Text = text
	}
	r.End(End{Layout: "plain", Lines: 3, Err: fmt.Errorf("bad%s", hostile), Environment: e})
	return r
}

// requireInert fails for output that acts on a terminal.
func requireInert(t *testing.T, out string) {
	t.Helper()
	testkit.Inert(t, out, "\n")
}

func TestHostileTextIsInert(t *testing.T) {
	r := hostileReplay(t)
	for _, width := range []int{0, 1, 40, 80, 200} {
		out := string(Text(nil, r.Document(0), TextOptions{Width: width}))
		requireInert(t, out)
		for line := range strings.SplitSeq(out, "\n") {
			require.False(t, strings.HasPrefix(line, "BLOCKING forged"), "a log line began a line of the report")
		}
	}
	doc := JSON(nil, r.Document(0))
	u := AppendUpdate(nil, "evil"+hostile, &heed.Update{Kind: coalesce.Opened, Item: r.causes.open[0]})
	rec := AppendRecord(nil, &Record{File: hostile, Template: hostile + "\n" + hostile, Phase: hostile})
	sum := AppendSummary(nil, r.Document(0))
	for _, out := range [][]byte{doc, u, rec, sum} {
		require.True(t, json.Valid(out))
		requireInert(t, string(out))
		testkit.InertJSON(t, out)
	}
	text := string(AppendRecordText(nil, &Record{File: hostile, Template: hostile + "\n" + hostile, Phase: hostile}))
	require.Equal(t, 1, strings.Count(text, "\n"))
	require.Equal(t, 7, strings.Count(text, "\t"), "no field more than there should be")
	requireInert(t, strings.ReplaceAll(text, "\t", " "))

	markdown, junit, sarif := string(Markdown(nil, r.Document(0))), JUnit(nil, r.Document(0)), SARIF(nil, r.Document(0))
	require.Less(t, utf8.RuneCountInString(markdown), 65_536)
	require.Equal(t, 0, strings.Count(markdown, "```")%2)
	require.NoError(t, xml.Unmarshal(junit, &struct{}{}))
	testkit.InertJSON(t, sarif)
	v := r.Document(0).Summary.Verdict
	for _, out := range []string{
		markdown, string(junit), string(sarif), r.Document(0).MarkdownVerdict(), page(t, r), strings.Join(v.Log, ""),
		strings.Join(causesOf(v), ""), v.elsewhere(literally), v.lead(),
	} {
		for line := range strings.Lines(out) {
			requireInert(t, strings.TrimSuffix(strings.ReplaceAll(line, "\t", " "), "\n"))
		}
	}
	requireValidPage(t, page(t, r))
	require.NotContains(t, page(t, r), "</script>```")
}

// TestRecordTemplateHashesToItsSignature: what is printed can be verified by
// anyone, unless text had to be escaped.
func TestRecordTemplateHashesToItsSignature(t *testing.T) {
	template := "Head of <*>\nat Some.Frame\nat Other.Frame"
	line := AppendRecord(nil, &Record{Template: template, Signature: signature.Of([]byte(template)).ID})
	var got struct{ Template, Signature string }
	require.NoError(t, json.Unmarshal(line, &got))
	require.Equal(t, got.Signature, signature.Of([]byte(got.Template)).ID.String())
	require.Contains(t, string(line), "<*>", "masks stay readable")
}

func TestSummarySaysWhatWasLeftOut(t *testing.T) {
	r := withRows(newReplay(t, Config{File: "a.log"}), 1)
	for i := range 3 {
		r.Observe(&capture.Record{StartLine: i}, outcome(signature.ID(i), event.Ignore, "r"))
		r.Update(opened(fmt.Sprint(i), event.Advisory, uint64(i)))
	}
	r.End(End{Layout: "plain", Lines: 3, Interrupted: true, Stats: heed.Stats{Received: 1}})
	s := r.Document(0).Summary
	require.False(t, s.Complete)
	require.True(t, s.Interrupted)
	require.NotEqual(t, "ok", s.Accounting)
	require.EqualValues(t, 2, s.Signatures["ignore"].Dropped)
	out := string(Text(nil, r.Document(0), TextOptions{}))
	require.Contains(t, out, "did not fit into the table")
	require.Contains(t, out, "Reading was interrupted after line 3")
}

func TestObserveAllocatesNothingOnKnownSignatures(t *testing.T) {
	r := newReplay(t, Config{})
	o, rec := outcome(1, event.Advisory, "r"), &capture.Record{StartLine: 1}
	r.Observe(rec, o)
	require.Zero(t, testing.AllocsPerRun(100, func() { r.Observe(rec, o) }))
}
