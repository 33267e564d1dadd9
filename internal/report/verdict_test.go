package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// script makes replays out of few words.
type script struct {
	*Replay
	suspects []heed.Suspect // of the next entry
	items    []heed.Item    // that are open, as an engine has them
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{}
	s.Replay = newReplay(t, Config{
		File: "Player.log", Details: true, Blame: func(*event.Entry) []heed.Suspect { return s.suspects },
		Rule: func(id string) RuleText { return RuleText{Summary: "something about " + id} },
	})
	return s
}

// play adds entries: a line or a range of lines, and words. An underscore is a space, and # the line of the entry.
func (s *script) play(t *testing.T, log string) *script {
	t.Helper()
	for step := range strings.Lines(log) {
		words := strings.Fields(step)
		first, last, _ := strings.Cut(words[0], "-")
		from := testkit.Must(strconv.ParseUint(first, 10, 64))
		for line := from; line <= testkit.Must(strconv.ParseUint(cmp.Or(last, first), 10, 64)); line++ {
			s.step(t, line, words[1:])
		}
	}
	return s
}

// step adds what happened at a line.
func (s *script) step(t *testing.T, line uint64, words []string) {
	rec := &capture.Record{Entry: event.Entry{Message: "message"}, StartLine: int(line), EndLine: int(line)}
	o := outcome(signature.ID(line), event.Blocking, fmt.Sprint("rule ", line))
	item := fmt.Sprint(line)
	s.suspects = nil
	end := End{Lines: int(line)}
	for _, word := range words {
		if word == "end" {
			continue
		}
		key, value, _ := strings.Cut(strings.NewReplacer("_", " ", "#", fmt.Sprint(line)).Replace(word), "=")
		number, _ := strconv.ParseUint(value, 10, 64)
		d, isDisposition := event.Parse[event.Disposition](key)
		severity, isSeverity := event.Parse[event.Severity](key)
		switch {
		case isDisposition:
			o.Decision.Disposition = d
		case isSeverity:
			o.Decision.Severity = severity
		case key == "rule":
			o.Decision.Rule = value
		case key == "level":
			rec.Level, _ = event.Parse[event.Level](value)
		case key == "shape":
			o.Signature.ID, o.Signature.Check = signature.ID(number), uint32(number)
			o.Group = o.Signature
		case key == "item":
			item = value
		case key == "tags":
			o.Decision.Tags = strings.Split(strings.ReplaceAll(value, " ", "_"), ",")
		case key == "says":
			rec.Message = strings.ReplaceAll(value, " ", "_")
		case key == "invalidates":
			o.Decision.Invalidates = true
		case key == "blind":
			o.Blind = true
		case key == "phase":
			o.Phase, end.Stats.Phase = value, value
		case key == "mod":
			s.suspects = append(s.suspects, suspectOf(value))
		case key == "height":
			rec.EndLine += int(number) - 1
		case key == "bytes":
			rec.Message, end.Bytes = strings.Repeat("x", int(number)), number
			rec.Count = number
		case key == "header":
			rec.Context, rec.EndLine = true, 9
			o = outcome(1, event.Ignore, "engine.context")
		case key == "hole", key == "restart":
			rec.Kind, rec.Status = event.KindNotice, map[string]event.Status{
				"hole": event.StatusHole, "restart": event.StatusRestarted,
			}[key]
			o.Decision.Disposition = event.Ignore
		case key == "over":
			s.over(item)
			return
		case key == "headless":
			end.Headless = true
		case key == "interrupted":
			end.Interrupted = true
		case key == "unrecognized":
			end.Unrecognized = true
		case key == "failed":
			end.Err = errors.New(value)
		case key == "game":
			end.Environment.Game = value
		case key == "loader":
			end.Environment.Loader = value
		default:
			t.Fatalf("line %d: %s", line, word)
		}
	}
	if words[0] == "end" {
		s.End(end)
		return
	}
	if rec.Kind == event.KindNotice {
		rec.Message, rec.EndLine = "", 0
	}
	o.Blame = blame.Likely(s.suspects)
	urgent := o.Decision.Disposition.Urgent()
	if urgent && !o.Blind {
		o.AttentionID = "0-" + item
	}
	s.Observe(rec, o)
	switch {
	case o.Blind:
		u := opened("0-"+item, event.Blocking, line)
		u.Item.Cause.Rule, u.Item.Cause.Seq = o.Decision.Rule, line
		s.Update(u)
	case urgent:
		s.open(o, line)
	}
}

// open opens the item of an outcome at a line, or adds that to it.
func (s *script) open(o *heed.Outcome, line uint64) {
	d := &o.Decision
	i := slices.IndexFunc(s.items, func(a heed.Item) bool { return a.ID == o.AttentionID })
	kind := "updated"
	if i < 0 {
		a := attention(o.AttentionID, d.Disposition, line)
		a.Severity, a.TotalUrgentEntries, a.Members = d.Severity, 0, nil
		a.Cause.Rule, a.Cause.Seq, a.Cause.Signature = d.Rule, line, o.Signature
		i, kind, s.items = len(s.items), "opened", append(s.items, a)
	}
	a := &s.items[i]
	a.TotalUrgentEntries++
	a.LatestPos, a.Severity, a.Disposition = line, max(a.Severity, d.Severity), max(a.Disposition, d.Disposition)
	a.Members = slices.Clone(a.Members)
	n := slices.IndexFunc(a.Members, func(m heed.Member) bool { return m.Rule == d.Rule })
	if n < 0 {
		n = len(a.Members)
		a.Members = append(a.Members, heed.Member{
			Rule: d.Rule, First: line, Signature: o.Signature, Message: "message",
			Effects: coalesce.EffectsOf(d),
		})
		if cause, ok := strings.CutPrefix(d.Rule, "after "); ok {
			a.Members[n].Because = []string{cause}
		}
	}
	m := &a.Members[n]
	m.Entries, m.Last = m.Entries+1, line
	m.Disposition, m.Severity = max(m.Disposition, d.Disposition), max(m.Severity, d.Severity)
	m.Invalidates = m.Invalidates || d.Invalidates
	for _, name := range blame.Likely(s.suspects) {
		o := heed.Member{
			Rule: d.Rule, First: line, Accused: coalesce.Accused{{Name: name, Entries: 1, First: line}}, Early: true, Over: true,
		}
		m.Join(&o)
	}
	slices.SortFunc(a.Members, func(a, b heed.Member) int { return a.Compare(&b) })
	lead(a)
	s.Update(&heed.Update{Kind: kind, Item: *a, Pos: line})
}

// End ends the replay with the items that are open, the most urgent first.
func (s *script) End(end End) {
	end.Open = slices.SortedFunc(slices.Values(s.items), func(a, b heed.Item) int {
		return a.Members[0].Compare(&b.Members[0])
	})
	s.Replay.End(end)
}

// over clears an item.
func (s *script) over(item string) {
	i := slices.IndexFunc(s.items, func(a heed.Item) bool { return a.ID == "0-"+item })
	u := &heed.Update{Kind: coalesce.Cleared, Reason: coalesce.ReasonExpired, Item: s.items[i], Pos: 0}
	u.Item.State, u.Item.Blocking, u.Item.ClearedBy = cleared, false, coalesce.ReasonExpired
	s.items = slices.Delete(s.items, i, i+1)
	s.Update(u)
}

// suspectOf reads a mod with kinds of evidence, as in "Windmills:tag:frame". One after ~ is not likely.
func suspectOf(text string) heed.Suspect {
	kinds := strings.Split(text, ":")
	s := heed.Suspect{Mod: strings.TrimPrefix(kinds[0], "~"), Score: 60}
	if s.Mod != kinds[0] {
		s.Score = 20
	}
	for i, name := range kinds[1:] {
		k := blame.Frame
		for k.String() != name {
			k++
		}
		s.Evidence = append(s.Evidence, blame.Evidence{Kind: k, Line: i + 1})
	}
	return s
}

// TestVerdict plays logs, each with what is to be said of it.
func TestVerdict(t *testing.T) {
	const file = "testdata/verdicts.txt"
	var out strings.Builder
	for log := range strings.SplitSeq(string(testkit.Must(os.ReadFile(file))), "\n\n") {
		name, log, _ := strings.Cut(log, "\n")
		log, _, _ = strings.Cut(log, "\n= ")
		t.Run(name, func(t *testing.T) {
			s := newScript(t).play(t, log)
			v := s.Document(0).Summary.Verdict
			fmt.Fprintf(&out, "%s\n%s\n= %s: %s\n", name, log, v.State, v.lead())
			for _, cause := range causesOf(v) {
				fmt.Fprintf(&out, "= %s\n", cause)
			}
			if others := v.elsewhere(literally); others != "" {
				fmt.Fprintf(&out, "= elsewhere: %s\n", others)
			}
			for _, says := range v.Log {
				fmt.Fprintf(&out, "= log: %s\n", says)
			}
			out.WriteString("\n")
			requireSameVerdict(t, s.Replay)
		})
	}
	testkit.Golden(t, file, strings.TrimSuffix(out.String(), "\n"))
}

// causesOf is what the first screen has of each cause, other than what the log says and what to do.
func causesOf(v *verdict) []string {
	var all []string
	for i := range v.Causes {
		c := &v.Causes[i]
		all = append(all, strings.TrimSpace(v.label(c)+": "+v.place(c)+" "+c.mod(literally)))
	}
	return all
}

// requireSameVerdict fails where a form of a report does not say the verdict, in its
// words.
func requireSameVerdict(t *testing.T, r *Replay) {
	t.Helper()
	d := r.Document(0)
	v := d.Summary.Verdict
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }

	var facts []string
	for i := range v.Causes {
		c := &v.Causes[i]
		facts = append(facts, strings.TrimSuffix(c.What, "."))
		for _, fact := range []string{c.mod(literally), c.Advice} {
			if fact != "" {
				facts = append(facts, fact)
			}
		}
	}
	facts = append(facts, v.Log...)

	if r.end.Lines > 0 {
		all := append([]string{v.lead()}, facts...)
		if others := v.elsewhere(literally); others != "" {
			all = append(all, others)
		}
		text := flat(string(Text(nil, d, TextOptions{})))
		markdown := strings.ReplaceAll(flat(string(Markdown(nil, d))), "`", "")
		for i := range v.Causes {
			require.Contains(t, text, v.label(&v.Causes[i])+" "+v.place(&v.Causes[i]), "text")
		}
		for _, want := range all {
			require.Contains(t, text, want, "text")
			require.Contains(t, markdown, strings.TrimSuffix(prose(want), "."), "markdown")
		}
	}
	page := readable(requireValidPage(t, string(HTML(nil, d))))
	for _, want := range append([]string{strings.TrimSuffix(v.Headline, v.because), v.title + v.because}, facts...) {
		require.Contains(t, page, want, "page")
	}
	for _, m := range v.Mods {
		require.Contains(t, page, fmt.Sprintf("%s, line %d", m.named(nil, literally), m.Line), "page")
	}
	require.Equal(t, v.MoreMods > 0, strings.Contains(page, v.AndMore()))

	want := string(text.JSON(v))
	var line struct {
		Summary struct{ Verdict json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(AppendSummary(nil, d), &line))
	require.JSONEq(t, want, string(line.Summary.Verdict), "json lines")
	require.NoError(t, json.Unmarshal(text.JSON(d), &line))
	require.JSONEq(t, want, string(line.Summary.Verdict), "json")
	require.Contains(t, string(JUnit(nil, d)), v.Headline)
}

// TestEndingIsNoGoodSign: that the log of a crash is whole is nothing to be shown as
// good, and nothing bad either.
func TestEndingIsNoGoodSign(t *testing.T) {
	ended := func(log string) (text, html string) {
		s := newScript(t).play(t, log)
		return string(Text(nil, s.Document(0), TextOptions{Color: true})), page(t, s.Replay)
	}
	text, html := ended("2 fatal tags=crash height=10\n12 end")
	require.Contains(t, text, "The log ends with the crash")
	require.NotContains(t, text, "\x1b["+string(Calm)+"m")
	require.Contains(t, html, `<p class="complete none">`)

	text, html = ended("2 error\n12 end")
	require.Contains(t, text, "\x1b["+string(Calm)+"mComplete: logging continues to the end")
	require.Contains(t, html, `<p class="complete healthy">`)
}

// TestModsHaveLinks: of the form that heed makes itself, in each form of a report.
func TestModsHaveLinks(t *testing.T) {
	s := newScript(t)
	s.config.Mod = func(name string) (heed.Mod, bool) {
		return heed.Mod{Name: name, PackageID: "author.mill", WorkshopID: "1234567890"}, name == "Windmills"
	}
	s.play(t, "3 error mod=Windmills:frame\n3 end")
	const link = "https://steamcommunity.com/sharedfiles/filedetails/?id=1234567890"
	require.Contains(t, string(Text(nil, s.Document(0), TextOptions{})), "Windmills (author.mill): its code is in the "+
		"stack trace.\n            "+link+"\n")
	require.Contains(t, string(Markdown(nil, s.Document(0))),
		"`Windmills` (`author.mill`): its code is in the stack trace. "+link)
	require.Contains(t, page(t, s.Replay), `<a href="`+link+`" rel="noreferrer">mod page</a>`)
	requireSameVerdict(t, s.Replay)
}
