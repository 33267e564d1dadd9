package report

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// page returns the page about one replay.
func page(t testing.TB, r *Replay) string {
	t.Helper()
	return string(HTML(nil, r.Document(0)))
}

func detailed(t *testing.T) *Replay {
	t.Helper()
	return newReplay(t, Config{File: "Player.log", Details: true})
}

// workshopPage matches the page of a mod: an address of heed's own with a number.
var workshopPage = regexp.MustCompile(`^https://steamcommunity\.com/sharedfiles/filedetails/\?id=[0-9]{1,20}$`)

// requireValidPage parses a page and holds it to what a page may be: elements that
// are closed, ids that are there once, links that lead somewhere in the page,
// nothing that loads or runs but what the policy names.
func requireValidPage(t testing.TB, page string) *html.Node {
	t.Helper()
	requireBalanced(t, page)
	doc, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	allowed := strings.Fields("html head meta title style body a header span nav button main section article h1 h2 h3 p " +
		"div small b table thead tbody tr th td " +
		"details summary dl dt dd code figure figcaption svg path rect form label input select option output pre mark " +
		"footer dialog kbd script template")
	ids := map[string]bool{}
	var links, policies, scripts, styles []string
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "title" && n.Namespace == "svg" {
			continue
		}
		require.Contains(t, allowed, n.Data)
		content := ""
		if n.FirstChild != nil {
			content = n.FirstChild.Data
		}
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
			require.False(t, strings.HasPrefix(a.Key, "on"), "%s has a handler %s", n.Data, a.Key)
			switch a.Key {
			case "id":
				require.False(t, ids[a.Val], "id %q is there twice", a.Val)
				require.NotEmpty(t, a.Val)
				ids[a.Val] = true
			case "href":
				if workshopPage.MatchString(a.Val) { // the only links out of the page
					require.Contains(t, n.Attr, html.Attribute{Key: "rel", Val: "noreferrer"})
					continue
				}
				require.True(t, strings.HasPrefix(a.Val, "#"), "a link out of the page: %s", a.Val)
				links = append(links, a.Val[1:])
			case "src", "srcset", "style", "action", "formaction", "data", "xlink:href", "background", "poster":
				require.Failf(t, "attribute", "%s has %s", n.Data, a.Key)
			}
		}
		switch {
		case n.Data == "style":
			styles = append(styles, content)
		case n.Data == "script":
			scripts = append(scripts, content)
		case n.Data == "meta" && attributes["http-equiv"] != "":
			require.Equal(t, "Content-Security-Policy", attributes["http-equiv"])
			policies = append(policies, attributes["content"])
		}
	}
	for _, l := range links {
		require.True(t, ids[l], "the link #%s leads nowhere", l)
	}
	require.Len(t, scripts, 1)
	require.Len(t, styles, 1)
	source := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	require.Equal(t, []string{
		"default-src 'none'; script-src " + source(scripts[0]) + "; style-src " + source(styles[0]) +
			"; base-uri 'none'; form-action 'none'",
	}, policies)
	return doc
}

// requireBalanced fails for an element that is not closed where it should be, which
// a parser of HTML would put right.
func requireBalanced(t testing.TB, page string) {
	t.Helper()
	var open []string
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			require.Empty(t, open, "elements that are not closed")
			return
		case html.StartTagToken:
			if token.Data != "meta" && token.Data != "input" {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			require.NotEmpty(t, open, "</%s> closes nothing", token.Data)
			require.Equal(t, open[len(open)-1], token.Data)
			open = open[:len(open)-1]
		}
	}
}

// readable returns what a reader of a part of a page reads.
func readable(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.Data != "script" && d.Parent.Data != "style" {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// pageOf returns a page in which every text from outside is text, with markup before it.
func pageOf(t testing.TB, scrubber *Scrubber, text string, before [4]string) string {
	t.Helper()
	r := newReplay(t, Config{
		File: text, Details: true, Scrub: scrubber, Template: templates,
		Rule: func(string) RuleText { return RuleText{Summary: text, Why: before[0] + text, Advice: before[0] + text} },
		Blame: func(*event.Entry) []heed.Suspect {
			return []heed.Suspect{{Mod: text, Score: 90}, {Mod: before[1] + ".", Score: 90}}
		},
	})
	for line := uint64(1); line < 12; line++ {
		o := outcome(666, event.Disposition(line%3), before[2]+text)
		r.Observe(&capture.Record{
			Entry:     event.Entry{Message: before[3] + "\n" + text, Stack: "at A<B>" + text},
			StartLine: int(line), EndLine: int(line + 1),
		}, o)
	}
	u := opened("0-1"+before[1], event.Blocking, 1)
	u.Item.Summary, u.Item.CausalMethod, u.Item.Blame = text, text, []string{text}
	u.Item.Sample[0].Message = "<!--" + text
	r.Update(u)
	r.End(End{Layout: "plain", Lines: 12, Err: fmt.Errorf("%s", text)})
	return page(t, r)
}

var markup = [4]string{
	"</dd></dl><script>", `"><svg onload=alert(1)>`, `</code><iframe src="javascript:alert(1)">`,
	"</pre></table></script><script>alert(1)</script>",
}

// FuzzPage holds that a page of any text is as valid as that of a harmless one, and has no element and no attribute of
// an element that such a page has not.
func FuzzPage(f *testing.F) {
	attributes := func(t testing.TB, page string) map[string]bool {
		all := map[string]bool{}
		for n := range requireValidPage(t, page).Descendants() {
			if n.Type == html.ElementNode {
				all[n.Data] = true
			}
			for _, a := range n.Attr {
				all[n.Data+" "+a.Key] = true
			}
		}
		return all
	}
	for _, s := range append([]string{hostile, "", "x", "x=1", "--><p>", "`'\"", "{{.}}", "&lt;b&gt;", "]]>", "\n\nat A.B()\n"}, markup[:]...) {
		f.Add(s)
	}
	harmless := attributes(f, pageOf(f, nil, "x", [4]string{}))
	f.Fuzz(func(t *testing.T, s string) {
		for _, scrubber := range []*Scrubber{nil, {}} {
			page := pageOf(t, scrubber, s, [4]string{s, s, s, s})
			for name := range attributes(t, page) {
				require.True(t, harmless[name], name)
			}
			require.NotRegexp(t, "[\x1b\u202e\u2028]", page)
		}
	})
}

// TestPageIsBounded fills all that a page shows with as much text as there is room
// for, of characters that take most room when they are escaped.
func TestPageIsBounded(t *testing.T) {
	wide := strings.Repeat("<\u202e", 150)
	r := newReplay(t, Config{
		File: "log", Details: true,
		Template: func(signature.Signature) (string, bool) { return wide + "\n" + wide, true },
		Blame: func(*event.Entry) []heed.Suspect {
			return []heed.Suspect{{Mod: wide, Score: 60}, {Mod: wide + "2", Score: 60}}
		},
	})
	for i := range uint64(2000) {
		d := event.Disposition(i % 3)
		o := outcome(signature.ID(i), d, fmt.Sprintf("rule.%d", i%600))
		if d.Urgent() {
			o.AttentionID = fmt.Sprint("0-", i-i%30+1) // one that is opened, with many rules
		}
		r.Observe(&capture.Record{Entry: event.Entry{
			Message: strings.Repeat(wide+"\n", 9),
			Stack:   strings.Repeat(wide+"\n", 40),
		}, StartLine: int(10 * i), EndLine: int(10*i + 9)}, o)
		if d.Urgent() {
			u := opened(fmt.Sprint("0-", i), d, 10*i)
			u.Item.Cause.Rule = o.Decision.Rule
			r.Update(u)
		}
	}
	r.End(End{Lines: 20_000})
	d := r.Document(0)
	for _, logs := range []int{1, 2} {
		out := HTML(nil, slices.Repeat([]*Document{d}, logs)...)
		require.Equal(t, logs, strings.Count(string(out), "<article "))
		require.LessOrEqual(t, len(out), maxPage)
		if logs > 1 {
			requireValidPage(t, string(out))
		}
		require.Contains(t, string(out), "left out to keep this file small")
	}
	require.LessOrEqual(t, r.details.lines.bytes, excerptAll+2*(2*around+1)*(excerptText+excerptCost+100))
	for d, taken := range r.details.samples {
		require.LessOrEqual(t, taken, sampleUrgent+sampleLines*(sampleLine+len(wide)+sampleCost)*2, d)
	}
}

func TestPageWithAClock(t *testing.T) {
	r := detailed(t)
	start := time.Date(2025, 3, 4, 18, 30, 0, 0, time.UTC)
	for i := range uint64(100) {
		d := event.Ignore
		if i == 50 {
			d = event.Blocking
		}
		o := outcome(signature.ID(d), d, "a")
		r.Observe(&capture.Record{
			Entry:     event.Entry{Time: start.Add(time.Duration(i) * time.Minute)},
			StartLine: int(i + 1), EndLine: int(i + 1),
		}, o)
	}
	u := opened("0-1", event.Blocking, 51)
	u.Item.OpenedAtSequence, u.Item.LatestSequence, u.Item.Cause.Rule = 51, 51, "a"
	r.Update(u)
	r.End(End{Lines: 100})
	s := newSection(r.Document(0), 1, 1, 0)
	require.EqualValues(t, 100, s.details.total)
	require.Contains(t, s.Chart["ignore"], "H1V1z")
	require.Equal(t, "19:20:00", s.Since().Time)
	require.NotContains(t, s.Chart["blocking"], "NaN")
}

func TestHistogramKeepsCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h histogram
		entries := rapid.Uint64Range(0, 20*maxBuckets*fewEntries).Draw(t, "entries")
		for i := range entries {
			h.add(event.Disposition(i % 3))
		}
		var n uint64
		for i, b := range h.buckets {
			n += b.from(event.Ignore)
			require.True(t, i == len(h.buckets)-1 || b.from(event.Ignore) == h.width)
		}
		require.Equal(t, entries, n)
		require.LessOrEqual(t, len(h.buckets), maxBuckets)
	})
}

// TestExcerptsShowWhatIsAround: five records before and after a kept one; if there is no room, only around a line at
// which the log went blind.
func TestExcerptsShowWhatIsAround(t *testing.T) {
	for _, c := range []struct {
		taken           int
		marked, shown   []uint64
		blind, ofRule   uint64
		firstOfRowMarks []uint64
	}{
		{
			marked: []uint64{40, 43, 90}, ofRule: 40, firstOfRowMarks: []uint64{43, 90},
			shown: []uint64{35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95},
		},
		{
			taken: excerptAll, marked: []uint64{60}, blind: 60, ofRule: 30,
			shown: []uint64{55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65},
		},
	} {
		x := excerpts{bytes: c.taken}
		for seq := uint64(1); seq <= 100; seq++ {
			e := capture.Record{Entry: event.Entry{Message: fmt.Sprint("message ", seq)}, StartLine: int(seq), EndLine: int(seq)}
			x.observe(seq, &e, event.Decision{}, seq == c.blind, seq == c.ofRule, slices.Contains(c.firstOfRowMarks, seq))
		}
		var lines []uint64
		for _, r := range x.kept {
			require.Equal(t, fmt.Sprint("message ", r.first), string(r.text))
			require.Equal(t, slices.Contains(c.marked, r.first), r.marked)
			lines = append(lines, r.first)
		}
		require.Equal(t, c.shown, lines)
	}
}

// TestPageClock: a page shows times where more than half of the entries have one, and not all the same.
func TestPageClock(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		timed, untimed int
		step           time.Duration
		clock          bool
	}{{3, 2, time.Minute, true}, {2, 2, time.Minute, false}, {3, 2, 0, false}, {0, 2, 0, false}} {
		r := newReplay(t, Config{File: "a.log", Details: true})
		for i := range test.timed + test.untimed {
			rec := &capture.Record{StartLine: i + 1}
			if i < test.timed {
				rec.Time = start.Add(time.Duration(i) * test.step)
			}
			r.Observe(rec, outcome(1, event.Advisory, "r"))
		}
		r.End(End{Lines: test.timed + test.untimed})
		require.Equal(t, test.clock, r.Document(0).clock, "%+v", test)
	}
}

func TestPageCountsOneAsOne(t *testing.T) {
	r := newReplay(t, Config{File: "a.log", Details: true})
	r.Observe(&capture.Record{Entry: event.Entry{Message: "broken"}, StartLine: 1, EndLine: 1},
		outcome(1, event.Blocking, "some.rule"))
	r.Update(opened("0-1", event.Blocking, 1))
	r.End(End{
		Layout: "plain", Lines: 1, Stats: heed.Stats{Received: 1, Logs: 1},
		Environment: Environment{Mods: []capture.ListedMod{listed("a", "", "")}, MoreMods: 1},
	})
	d := r.Document(0)
	d.Summary.Signatures["ignore"] = tableSummary{Rows: 1}
	s := newSection(d, 1, 1, 0)
	s.MoreCauses, s.MoreExcerpts = 1, 1
	out := readable(requireValidPage(t, string(onePage([]*section{s}))))
	require.Contains(t, out, "plain · 1 line · 1 record ·")
	require.Contains(t, out, "blocking : 1 entry in 1 group.")
	require.Contains(t, out, "1 entry, one per log record ")
	for _, left := range []string{
		"1 more is not shown here", "1 group with fewer entries is left out",
		"1 more place is left out", "1 more is not listed here",
	} {
		require.Contains(t, out, left)
	}
}

func TestLinesLeftOutAreCountedInFull(t *testing.T) {
	const lines = 3000
	e := &capture.Record{Entry: event.Entry{
		Message: strings.Repeat("message\r\n", lines),
		Stack:   strings.Repeat("frame\n", lines),
	}, StartLine: 1, EndLine: 2 * lines}
	record := newExcerpt(1, e, event.Decision{})
	require.Equal(t, 2*lines, strings.Count(string(record.text), "\n")+1+record.more)

	r := newReplay(t, Config{Details: true})
	r.Observe(e, outcome(1, event.Blocking, "some.rule"))
	row := r.tables[event.Blocking].rows.Values()[0]
	require.Len(t, row.Detail.Sample, sampleLines)
	require.Equal(t, 2*lines-sampleLines, row.Detail.More)
}

func TestCutKeepsWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", "short"},
		{"mail to maria@example.org", "mail to …"},
		{"한국어한국어", "한국어한 …"},
		{"aaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaa …"},
	} {
		require.Equal(t, c.want, cut(c.in, 12))
	}
	require.Equal(t, " …", cut("abc", -1))
}
