package report

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text/scrub"
	"github.com/heedlog/heed/signature"
)

// TestSARIFNames: a file of any system is a URI, and a message has no link and no placeholder.
func TestSARIFNames(t *testing.T) {
	for in, want := range map[string]string{
		"logs/Player.log":          "logs/Player.log",
		`C:\Users\<user>\My Log#1`: "file:///C:/Users/%3Cuser%3E/My%20Log%231",
		"/home/<user>/a.log":       "file:///home/%3Cuser%3E/a.log",
		"-":                        "-",
		"a:b.log":                  "./a:b.log",
		"evil\x1b.log":             `evil%5Cx1b.log`,
	} {
		require.Equal(t, want, sarifURI(in), in)
	}
	for in, want := range map[string]string{
		"[a](1)": "[a] (1)", "{0} {x} {12": "{ 0} {x} { 12", "오류 [x]": "오류 [x]",
	} {
		require.Equal(t, want, sarifText(in))
	}
}

// TestSARIFIsBounded: results beyond the bound are counted, and said.
func TestSARIFIsBounded(t *testing.T) {
	r := newReplay(t, Config{File: "a.log"})
	for i := range 1700 {
		r.Observe(&capture.Record{StartLine: i + 1}, outcome(signature.ID(i+1000), event.Blocking, fmt.Sprint("r", i)))
	}
	r.End(End{Lines: 1700})
	run := sarifOf(t, slices.Repeat([]*Document{r.Document(0)}, 3)...)
	require.Len(t, run.Results, maxResults)
	notes := run.Invocations[0].Notes
	require.Len(t, notes, 1)
	require.Equal(t, "100 results are left out: a log has at most 5000.", notes[0].Message.Text)
	require.Empty(t, sarifOf(t).Results, "of no replay")
}

// sarifRun is a run as tests read it.
type sarifRun struct {
	Results []struct {
		RuleID       string
		Fingerprints map[string]string
		Message      struct{ Text string }
		Occurrences  uint64 `json:"occurrenceCount"`
	}
	Invocations []struct {
		Successful bool `json:"executionSuccessful"`
		Notes      []struct {
			Level   string
			Message struct{ Text string }
		} `json:"toolExecutionNotifications"`
	}
}

func sarifOf(t *testing.T, docs ...*Document) sarifRun {
	t.Helper()
	var log struct{ Runs []sarifRun }
	require.NoError(t, json.Unmarshal(SARIF(nil, docs...), &log))
	return log.Runs[0]
}

// TestSARIFOfSeveralLogs: one log that was not read whole makes the run unsuccessful, whichever it is; and a problem
// has the fingerprint that it has alone, with any other logs and rules.
func TestSARIFOfSeveralLogs(t *testing.T) {
	read := func(end string) *Document {
		return newScript(t).play(t, "1-2 advisory shape=7\n2 end"+end).Document(0)
	}
	for _, test := range []struct {
		docs       []*Document
		successful bool
		levels     []string
	}{
		{[]*Document{read(""), read("")}, true, nil},
		{[]*Document{read(" failed=broken"), read("")}, false, []string{"error"}},
		{[]*Document{read(""), read(" failed=broken")}, false, []string{"error"}},
	} {
		run := sarifOf(t, test.docs...)
		require.Equal(t, test.successful, run.Invocations[0].Successful)
		var levels []string
		for _, n := range run.Invocations[0].Notes {
			levels = append(levels, n.Level)
		}
		require.Equal(t, test.levels, levels)
		require.Len(t, run.Results, 4)
		for _, result := range run.Results {
			require.Equal(t, "advisory."+result.RuleID, result.Fingerprints[sarifFingerprint])
			require.Regexp(t, `\(1 entry, line [12]\)$`, result.Message.Text)
		}
	}
}

// TestFindingPerProblem: groups that one rule decided alike are one case and one result, which lists them.
func TestFindingPerProblem(t *testing.T) {
	r := newReplay(t, Config{File: "a.log"})
	for i := range 21 {
		r.Observe(&capture.Record{StartLine: i + 1}, outcome(signature.ID(i+7), event.Blocking, []string{"r", "q"}[i%2]))
	}
	r.End(End{Lines: 21})
	out := string(JUnit(nil, r.Document(0)))
	require.Contains(t, out, `tests="4" failures="2"`, "two for the log itself")
	require.Equal(t, 21, strings.Count(out, "group 00000000000000"))
	require.Contains(t, out, "group 0000000000000007: 1 entry, line 1\n")
	require.Contains(t, out, `classname="blocking.q" name="`)
	require.Contains(t, out, `line="2"`)
	results := sarifOf(t, r.Document(0)).Results
	require.Len(t, results, 2)
	require.Equal(t, 21, strings.Count(string(SARIF(nil, r.Document(0))), `"firstLine"`), "of each group")
	require.Equal(t, uint64(11), results[0].Occurrences)
	require.Contains(t, results[0].Message.Text, "(11 entries in 11 groups, the first at line 1)")
}

// TestEscalatedFindingsAreTwo: what a rule judged in two ways is two findings with
// names of their own.
func TestEscalatedFindingsAreTwo(t *testing.T) {
	r := newScript(t).play(t, "1 advisory rule=r shape=7\n2 blocking rule=r shape=7\n2 end")
	log := string(SARIF(nil, r.Document(0)))
	require.Equal(t, 1, strings.Count(log, `"shortDescription"`))
	require.Contains(t, log, `"fingerprints":{"`+sarifFingerprint+`":"advisory.r"}`)
	require.Contains(t, log, `"fingerprints":{"`+sarifFingerprint+`":"blocking.r"}`)
	out := string(JUnit(nil, r.Document(0)))
	require.Contains(t, out, `classname="blocking.r"`)
	require.Contains(t, out, `classname="advisory.r"`)
}

// TestMarkdownTableKeepsOperationsInTheirCell: a bar in code ends a cell, too.
func TestMarkdownTableKeepsOperationsInTheirCell(t *testing.T) {
	r := newReplay(t, Config{File: "a.log"})
	for i := range fullCauses + 1 {
		u := opened(fmt.Sprint(i), event.Blocking, uint64(i+1))
		u.Item.Cause = coalesce.CauseEntry{Seq: uint64(i + 1), Pos: uint64(i + 1), Rule: fmt.Sprint("rule.", i)}
		u.Item.CausalMethod = "left|@right"
		single(&u.Item)
		r.Update(u)
	}
	r.End(End{Layout: "plain", Lines: 9})
	out := string(Markdown(nil, r.Document(0)))
	require.Equal(t, fullCauses, strings.Count(out, "during `left|@right`"))
	require.Contains(t, out, "`rule.4` | `during left¦@right` |")
}

// TestMarkdownOfAFullReplayFitsIntoAnIssue: with long texts everywhere.
func TestMarkdownOfAFullReplayFitsIntoAnIssue(t *testing.T) {
	long := strings.Repeat("`long*|", 300)
	r := newReplay(t, Config{
		File:     "a.log",
		Template: func(signature.Signature) (string, bool) { return long + strings.Repeat("\nat "+long, 8), true },
		Blame: func(*event.Entry) []heed.Suspect {
			return []heed.Suspect{{Mod: long, Score: 60}, {Mod: long, Score: 60}}
		},
	})
	for i := range 100 {
		for _, d := range dispositions {
			r.Observe(&capture.Record{StartLine: i + 1}, outcome(signature.ID(i), d, "some.rule"))
		}
		u := opened(fmt.Sprint(i), event.Blocking, uint64(i+1))
		u.Item.Cause.Rule = fmt.Sprintf("rule.%d", i)
		u.Item.Sample[0].Message = long
		u.Item.Blame = []string{long, long}
		single(&u.Item)
		r.Update(u)
	}
	r.End(End{Layout: "plain", Lines: 100})
	out := string(Markdown(nil, r.Document(0)))
	require.Less(t, utf8.RuneCountInString(out), 65_536)
	require.Contains(t, out, "96 more causes")
	require.Contains(t, out, "… and 84 more (")
	require.Contains(t, out, "100 entries of 100 signatures, the 25 most frequent")
}

func TestScrubber(t *testing.T) {
	for in, want := range map[string]string{
		"/home/maria/a.rws":               "/home/<user>/a.rws",
		"careful with maria@<*> and <*>":  "careful with <email> and <*>",
		"mail maria.muster@exam…":         "mail <email>…",
		"to o'brian@<*>, \"m l\"@<*>":     "to <email>, <email>",
		"jo@xn--<*> and jo@[<*>], @<*>":   "<email> and <email>, @<*>",
		"net.minecraft.Entity@<*>":        "net.minecraft.Entity@<*>",
		"ItemStack@<*> broke":             "ItemStack@<*> broke",
		"nothing to see @ 5 <*>":          "nothing to see @ 5 <*>",
		"maria@example.org, 203.0.113.9:": "<email>, <address>:",
	} {
		s := &Scrubber{}
		require.Equal(t, want, s.Text(in))
		require.Equal(t, want, s.Text(want), "twice is once")
		require.Equal(t, in != want, len(s.Removed()) > 0, in)
	}
	var none *Scrubber
	require.Equal(t, "/home/maria", none.Text("/home/maria"))
	require.Nil(t, none.Removed())

	s := &Scrubber{}
	s.Text("maria@example.org")
	s.Text("/home/maria/x and 76561198000000001")
	require.Equal(t, []string{"user names", "Steam ids", "e-mail addresses"}, s.Removed())
	require.Equal(t, []scrub.Kind{scrub.User, scrub.SteamID, scrub.Email}, s.removed())
	for _, kind := range scrub.Kinds() {
		require.NotEmpty(t, kindWords[kind], kind)
	}
}

// TestPrefixOfLongNames: what a problem keeps of names is bounded.
func TestPrefixOfLongNames(t *testing.T) {
	p := &problem{prefixes: map[string]*prefix{}}
	long := strings.Repeat("c", 256)
	for _, name := range []string{"a", "b", long + "c", long} {
		p.Entries++
		p.learnName("No _definition Of_ " + strings.Repeat("p", 33) + "_x Some_" + name)
		require.Equal(t, name == long, p.shared() == "Some_", p.Entries)
	}
}

// TestScrubbedReplay: nothing private is left in any form, and what is given stays
// as it was.
func TestScrubbedReplay(t *testing.T) {
	const private = "/home/maria/mods"
	scrubber := &Scrubber{}
	r := newReplay(t, Config{
		File: private + "/a.log", Scrub: scrubber, Details: true, Blame: func(*event.Entry) []heed.Suspect {
			return []heed.Suspect{{Mod: private + "/x", Score: 60}}
		},
		Template: func(signature.Signature) (string, bool) { return "at " + private + "/y\nat " + private + "/z", true },
	})
	r.Observe(&capture.Record{Entry: event.Entry{Message: "cannot read " + private}, StartLine: 1},
		outcome(1, event.Blocking, "r"))
	u := opened("0-1", event.Blocking, 1)
	u.Item.Summary, u.Item.Sample[0].Message, u.Item.Blame = private, private, []string{private + "/"}
	u.Item.CausalMethod, u.Item.Sample[0].Blame = private, []string{private + "/"}
	given, err := json.Marshal(u)
	require.NoError(t, err)
	r.Update(u)
	r.End(End{Layout: "plain", Lines: 1, Err: fmt.Errorf("open %s/a.log", private), Open: []heed.Item{u.Item}})
	after, err := json.Marshal(u)
	require.NoError(t, err)
	require.Equal(t, string(given), string(after), "what was given is not changed")
	scrubbed := r.Update(u)
	for _, out := range [][]byte{
		Text(nil, r.Document(0), TextOptions{}), JSON(nil, r.Document(0)), AppendSummary(nil, r.Document(0)),
		Markdown(nil, r.Document(0)), JUnit(nil, r.Document(0)), HTML(nil, r.Document(0)),
		SARIF(nil, r.Document(0)), AppendUpdate(nil, scrubber.Text(private+"/a.log"), scrubbed),
	} {
		require.NotContains(t, string(out), "maria")
		require.Regexp(t, `<user>|&lt;user&gt;`, string(out))
	}
	require.Contains(t, string(SARIF(nil, r.Document(0))), `"redactionTokens":["<user>"]`)
}

// TestNamesAreLearned: a name that one text of a log shows is taken out of all of them, be that text a message, a stack
// or a sample of an item.
func TestNamesAreLearned(t *testing.T) {
	const shown = "cannot read /home/maria/x"
	for name, show := range map[string]func(rec *capture.Record, u *heed.Update){
		"message": func(rec *capture.Record, _ *heed.Update) { rec.Message = shown },
		"stack":   func(rec *capture.Record, _ *heed.Update) { rec.Stack = shown },
		"item":    func(_ *capture.Record, u *heed.Update) { u.Item.Sample[0].Message = shown },
	} {
		t.Run(name, func(t *testing.T) {
			r := newReplay(t, Config{
				File: "logs of maria.txt", Scrub: &Scrubber{},
				Template: func(signature.Signature) (string, bool) {
					return "maria is here", true
				},
			})
			rec, u := &capture.Record{StartLine: 1}, opened("0-1", event.Blocking, 1)
			u.Item.Summary = "maria left"
			show(rec, u)
			r.Observe(rec, outcome(1, event.Blocking, "r"))
			r.Update(u)
			r.End(End{Lines: 1})
			out := string(JSON(nil, r.Document(0)))
			require.NotContains(t, out, "maria")
			require.Contains(t, out, "<user> is here")
		})
	}
}

// FuzzMarkdown: whatever a text is, as code it is one span, and as prose it holds
// nothing that a host makes a link of.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{hostile, "`a``b```", "@x #1 https://x www.x", "|\\|", "$`x`$", "a\u0301@b", "\\"} {
		f.Add(s)
	}
	link := regexp.MustCompile(`[@#!%&$]\w|://|(?i:www\.)`)
	special := regexp.MustCompile("(?:^|[^\\\\])(?:\\\\\\\\)*[`*_{}\\[\\]<>|~^=+]")
	f.Fuzz(func(t *testing.T, s string) {
		for _, span := range []string{code(s, 0), cell(s, 40)} {
			requireInert(t, span)
			require.Equal(t, 2, strings.Count(span, "`"))
			require.NotContains(t, span, "\n")
		}
		require.NotContains(t, cell(s, 0), "|")
		out := prose(s)
		requireInert(t, out)
		require.NotRegexp(t, link, out)
		require.NotRegexp(t, special, out)
	})
}
