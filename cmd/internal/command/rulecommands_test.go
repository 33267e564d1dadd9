package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text/scrub"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

const moreRules = "version: 1\nrules:\n  - id: mine\n    when: 'template contains \"save\"'\n    disposition: ignore\n"

func TestDiff(t *testing.T) {
	log := write(t, "game.log", plainLog)
	older, mine := write(t, "old.yaml", testRules), write(t, "mine.yaml",
		moreRules+testRules[len("version: 1\nrules:\n"):])
	ends(t, exitFinding, "rules", "diff", "--exit-code", "--no-default-rules", older, mine, log)
	same := ends(t, exitOK, "rules", "diff", "--exit-code", "--no-default-rules", older, older, log)
	require.Contains(t, same.stdout, "0 of 5 records")

	// A rule of another name that does the same.
	renamed := write(t, "renamed.yaml", strings.ReplaceAll(testRules, "test.advisory", "test.renamed"))
	out := ok(t, "rules", "diff", "--exit-code", "--no-default-rules", older, renamed, log)
	require.Contains(t, out, "same class by another rule: 1 record")

	// A phase that only one side sets counts for that side alone.
	phased := write(t, "phased.yaml", strings.Replace(testRules, "disposition: advisory\n",
		"disposition: advisory\n    sets_phase: late\n", 1)+
		"  - {id: test.late, when: 'phase == \"late\" and template == \"bye\"', disposition: blocking}\n")
	r := runArgs(t, "rules", "diff", "--no-default-rules", older, phased, log)
	require.Contains(t, r.stdout, "1 of 5 records")
	require.Contains(t, r.stdout, "by rule test.late")
}

func TestDiffSides(t *testing.T) {
	log := write(t, "game.log", plainLog)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(testRules), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.txt"), []byte("no rules"), 0o600))
	require.Contains(t, runArgs(t, "rules", "diff", "default", dir, log).stdout, "by rule test.advisory")
	ends(t, exitOK, "rules", "diff", "--exit-code", "--no-default-rules", "default", "../../../rules/default", log)
	for _, tc := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"default", "default"}, exitUsage, "OLD NEW CAPTURE"},
		{[]string{"default", "no-such", log}, exitUsage, "no-such"},
		{[]string{"default", t.TempDir(), log}, exitUsage, "has no *.yaml"},
		{[]string{"default", log, log}, exitUsage, "rules: "},
		{[]string{"default", "default", "no-such.log"}, exitIO, "no such file"},
	} {
		require.Contains(t, ends(t, tc.status, append([]string{"rules", "diff"}, tc.args...)...).stderr, tc.want)
	}
}

// TestProposalsHold proposes a rule for one record of every rule that decides
// something urgent in the captures, and goes the whole way round.
func TestProposalsHold(t *testing.T) {
	testkit.Full(t, "a rule for each of many records")
	seen := map[string]bool{}
	for _, path := range captures(t, ownCaptures) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if len(seen) > 20 {
				testkit.Full(t, "a rule more at each of many captures")
			}
			places := map[string]place{}
			p := newProgram(nil, io.Discard, io.Discard)
			require.NoError(t, p.observe(t.Context(), defaultRules(t), path, func(src *source, o *heed.Outcome) bool {
				if id := o.Decision.Rule; o.Decision.Disposition.Urgent() && src.Record.StartLine > 0 && !seen[id] {
					seen[id] = true
					places[id] = place{path, src.Record.EndLine}
				}
				return true
			}))
			for id, at := range places {
				out := ok(t, "rules", "propose", at.String())
				mute := write(t, "mute.yaml", out)
				check := ends(t, exitOK, "rules", "check", mute)
				require.Contains(t, check.stdout, mute+": 1 rule, 3 tests: 3 passed")

				diff := ends(t, exitFinding, "rules", "diff", "--format", "json", "--top", "0", "--exit-code", "default",
					mute, path)
				requireSchema(t, "rules-diff", diff.stdout)
				for _, c := range decoded[diffReport](t, diff.stdout).Changes {
					require.Equal(t, id, c.Old.Rule, "%s: %s", at, out)
					require.Equal(t, event.Ignore, c.New.Disposition)
				}
				after := runArgs(t, "explain", "--rules", mute, at.String())
				require.Regexp(t, `: ignore [a-z]+, by rule mute\.`, firstLine(after.stdout), at)
			}
		})
	}
}

func TestProposeScrubs(t *testing.T) {
	log := write(t, "game.log", strings.Join([]string{
		`Loading C:\Users\Anna Holm\Saves\one.rws`,
		`Mono path[0] = '/home/bertil/game/Data'`,
		`The world of Bertil and of ANNA at 192.0.2.9:7777 is broken, write to anna.h@mail.example or bob`,
	}, "\n")+"\n")
	out := ok(t, testArgs(t, "rules", "propose", "--disposition", "blocking", log+":3")...)
	for _, secret := range []string{"anna", "holm", "bertil", "192.0.2.9", "mail.example"} {
		require.NotContains(t, strings.ToLower(out), secret, out)
	}
	require.Contains(t, out, `and template startsWith "The world of "`)
	require.Contains(t, out, ` or bob"`)
	require.NotContains(t, out, log)

	mute := write(t, "mute.yaml", out)
	require.Contains(t, runArgs(t, testArgs(t, "explain", "--rules", mute, log+":3")...).stdout,
		"BLOCKING error, by rule stop.")
}

func TestProposeHostileText(t *testing.T) {
	texts := append([]string{
		`careful "quoted \n" 'and' \x41 #: {a: b} - [c]`, "careful " + strings.Repeat("long ", 4000), "careful: \ufeff\u00ad tail",
		"careful é\U0001F600\u0301", "careful `back` \\", "careful\r", "careful <*> <*>", "careful -12 +3 'a b",
	}, hostileLines()...)
	log := write(t, "game.log", strings.Join(texts, "\n")+"\n")
	var ids, mutes []string
	for i := range texts {
		r := ends(t, exitOK, testArgs(t, "rules", "propose", fmt.Sprintf("%s:%d", log, i+1))...)
		requireInert(t, r.stdout)
		require.True(t, utf8.ValidString(r.stdout))
		mute := write(t, fmt.Sprintf("mute%d.yaml", i), r.stdout)
		ends(t, exitOK, "rules", "check", "--no-default-rules", mute)
		_, id, _ := strings.Cut(r.stdout, "- id: ")
		if id = firstLine(id); !slices.Contains(ids, id) { // two texts may be of one form
			ids, mutes = append(ids, id), append(mutes, "--rules", mute)
		}
	}
	records := ok(t, testArgs(t, append([]string{"records", "--format", "jsonl", log}, mutes...)...)...)
	require.Equal(t, len(texts), strings.Count(records, `"rule":"mute.`), records)
	require.Equal(t, len(texts), strings.Count(records, "\n"))
}

func TestProposeKeepsEffects(t *testing.T) {
	log := write(t, "game.log", "careful\nno more messages\n")
	effects := write(t, "effects.yaml", `version: 1
rules:
  - {id: a, when: 'template == "careful"', disposition: advisory, sets_phase: late, resolves: [b, c]}
  - {id: b, when: 'template == "no more messages"', disposition: blocking, blinds: true}
  - {id: c, when: 'template == "c"', disposition: blocking}
`)
	out := ok(t, "rules", "propose", "--rules", effects, log+":1")
	require.Contains(t, out, "sets_phase: late")
	require.Contains(t, out, "resolves: [b, c]")
	r := ends(t, exitOK, "rules", "propose", "--rules", effects, log+":2")
	require.Contains(t, r.stderr, "rule b marks the log as blind from here on; the proposed rule does not")
}

// TestProposeKnowsTheHome: the name of the user who runs the program is known without a path in the log.
func TestProposeKnowsTheHome(t *testing.T) {
	t.Setenv("HOME", "/srv/people/marijke")
	r := ends(t, exitOK, "rules", "propose", write(t, "game.log", "ERROR: quill of Marijke broke\n")+":1")
	require.Contains(t, r.stdout, "broke")
	require.NotContains(t, r.stdout, "arijke")
}

// TestProposeMasksTheSource: a rule for one of several workers holds for all that have its signature.
func TestProposeMasksTheSource(t *testing.T) {
	log := write(t, "game.log", "[12:30:01] [main/ERROR] [worker2/]: broke\n[12:30:01] [main/ERROR] [worker13/]: broke\n")
	rule := write(t, "own.yaml", ok(t, "rules", "propose", "--quiet", log+":1"))
	require.Contains(t, runIn(t, t.TempDir(), "replay", "--rules", rule, log).stdout, "2 ignored, 0 counted in items")
}

func TestProposeTwice(t *testing.T) {
	log := write(t, "game.log", plainLog)
	first := ends(t, exitOK, testArgs(t, "rules", "propose", log+":2")...)
	mute := write(t, "mute.yaml", first.stdout)
	again := ends(t, exitOK, testArgs(t, "rules", "propose", "--rules", mute, log+":2")...)
	require.Contains(t, again.stderr, "already ignore, by mute.careful_now.")
	require.Regexp(t, `^version: 1\n\n# heed proposes nothing: .* line 2 of the log is already ignore info,\n# by mute\.careful_now\.[0-9a-f]+\. `, again.stdout)
	none := write(t, "none.yaml", again.stdout)
	require.Contains(t, ends(t, exitOK, "rules", "check", none).stdout, none+": 0 rules, no tests")
	ends(t, exitOK, "rules", "diff", "--exit-code", "default", none, log)
	back := ends(t, exitOK, append([]string{"rules", "propose", "--disposition", "advisory", "--rules", mute},
		testArgs(t, log+":2")...)...)
	require.Contains(t, back.stdout, "id: note.careful_now.")
}

func TestUntil(t *testing.T) {
	log := write(t, "game.log", plainLog)
	propose := func(until string) result {
		return runArgs(t, testArgs(t, "rules", "propose", "--until", until, log+":2")...)
	}
	r := propose("2999-01-31")
	require.Equal(t, exitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, "Muted by hand. Before, it was advisory warning by test.advisory.\"\n    until: 2999-01-31\n")
	for _, bad := range []string{"soon", "2999-02-30", "2001-01-01"} {
		require.Equal(t, exitUsage, propose(bad).status, bad)
	}

	mute := write(t, "mute.yaml", r.stdout)
	for _, tc := range []struct {
		today string
		past  bool
	}{{"2999-01-30", false}, {"2999-01-31", false}, {"2999-02-01", true}} {
		var stdout, stderr strings.Builder
		p := newProgram(nil, &stdout, &stderr)
		p.noDefaultRules = true
		files := testkit.Must(p.ruleFiles(mute))
		files[0].Today = tc.today
		require.NoError(t, p.checkRules(files))
		require.Equal(t, tc.past, strings.Contains(stderr.String(), "ended on 2999-01-31 and is not used: remove it"),
			stderr.String())
	}
}

// TestEndedRules: each command that reads rules reports those whose last day is over.
func TestEndedRules(t *testing.T) {
	mine := write(t, "mine.yaml", "version: 1\nrules:\n  - {id: own.noise, when: 'message contains \"noise\"', disposition: ignore, until: 2020-01-31}\n")
	log := write(t, "game.log", "one line\n")
	for _, args := range [][]string{
		{"rules", "check", mine},
		{"rules", "lint", mine},
		{"rules", "diff", mine, mine, log},
	} {
		require.Contains(t, runArgs(t, append(args, "--no-default-rules")...).stderr, "rule own.noise ended on 2020-01-31 and is not used", args)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"explain"},
		{"explain", "a:1", "b:1"},
		{"explain", "a:1", "--text", "x"},
		{"explain", "a:1", "--level", "error"},
		{"explain", "a:1", "--phase", "play"},
		{"explain", "--text", "x", "--level", "loud"},
		{"explain", "--text", "x", "--format", "xml"},
		{"rules"},
		{"rules", "diff", "default", "default", "--top", "-1", "x"},
		{"rules", "diff", "default", "default", "--format", "xml", "x"},
		{"rules", "propose"},
		{"rules", "propose", "x"},
		{"rules", "propose", "-:1"},
		{"rules", "propose", "--disposition", "loud", "x:1"},
	} {
		r := ends(t, exitUsage, args...)
		require.Empty(t, r.stdout)
		require.NotEmpty(t, r.stderr)
	}
}

// FuzzPropose proposes rules for any text: one that nothing has to be left out
// of can always be told apart, and whatever is proposed holds.
func FuzzPropose(f *testing.F) {
	for _, text := range hostileLines() {
		f.Add(text, "", false)
	}
	f.Add("System.Exception: 12 at <*> 'a b' x=y (1, 2) user Bob /home/bob/x",
		"  at A.B ()\n  at (wrapper x) C.D_Patch1 () [0x1]", false)
	f.Add("", "at A.B", true)
	f.Add("two\nSystem.Exception: \x00", "\n", true)
	f.Add("\n  at A.B ()", "", false)
	set := testkit.Must(rules.Compile())
	n := testkit.Must(signature.New(set.Masking()))
	f.Fuzz(func(t *testing.T, text, stack string, operation bool) {
		e := &event.Entry{Kind: event.KindLog, Level: event.LevelWarning, Message: text, Stack: stack}
		if operation {
			e = &event.Entry{Kind: event.KindOperation, Status: event.StatusFailed, Source: stack, Message: text}
		}
		private := &scrub.Names{}
		private.Learn(text)
		pr := &proposal{found: &found{rec: &capture.Record{Entry: *e}}, n: n, private: private}
		file, err := pr.file(set, nil)
		require.True(t, utf8.Valid(file))
		requireInert(t, string(file))
		whole := len(text)+len(stack) < maxLiteral
		for _, s := range []string{text, stack} {
			whole = whole && len(private.Cut(s)) == 1
		}
		if whole {
			require.NoError(t, err, "%s", file)
		}
	})
}

func TestConditionsAreBounded(t *testing.T) {
	long := strings.Repeat("é", maxLiteral)
	got := conditions("template", []string{long})
	require.Len(t, got, 1)
	require.True(t, strings.HasPrefix(got[0], `template startsWith "é`))
	require.Less(t, len(got[0]), maxLiteral+40)
	require.Equal(t, []string{`template == "a"`}, conditions("template", []string{"a"}))
	require.Equal(t, []string{`x startsWith "a"`, `x contains "b"`, `x endsWith "c"`}, conditions("x", []string{"a", "b", " ", "c"}))
}

// TestProposeHidesMail: of an address nothing is left, whatever masking took of
// it before.
func TestProposeHidesMail(t *testing.T) {
	for _, line := range []string{
		"careful: sending report to joe.hansen@example.com: no route",
		"careful: sending report to joe.hansen@example.com",
		"careful: sending report to joe.hansen12@mail.example.com: no route",
		"careful: sending report to joe.hansen@localhost, no route",
		"careful: sending report to joe.hansen@192.0.2.1, no route",
		"careful: mailto:joe.hansen@[192.0.2.1]/joe",
		"careful: <joe.hansen@example.com> is away",
	} {
		out := ok(t, testArgs(t, "rules", "propose", write(t, "game.log", "starting\n"+line+"\n")+":2")...)
		require.NotContains(t, out, "joe", line)
		require.NotContains(t, out, "hansen", line)
	}
}

// TestRulesCheckMatchesAll: one rule that matches every entry does not report each test of the others.
func TestRulesCheckMatchesAll(t *testing.T) {
	all := write(t, "all.yaml", "version: 1\nrules:\n  - {id: a.b, when: 'true', disposition: ignore}\n")
	require.Empty(t, ends(t, exitOK, "rules", "check", all).stderr)
}

func TestRulesLint(t *testing.T) {
	mine := write(t, "mine.yaml", `version: 1
rules:
  - id: test.masked
    when: 'template == "Human12 died"'
    disposition: blocking
`)
	sound := write(t, "sound.yaml", "version: 1\n")
	broken := write(t, "broken.yaml", "version: 1\nrule: []\n")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		lines  int
		stdout string
		stderr string
	}{
		{"defaults", nil, exitOK, 1, fmt.Sprintf("%d files: nothing found\n", len(rules.Defaults())), ""},
		{"a sound file", []string{sound}, exitOK, 1, "1 file and the default rules: nothing found\n", ""},
		{"findings", []string{mine}, exitFinding, 2, `no template contains "Human12 died"`, ""},
		{"findings alone", []string{"--no-default-rules", mine}, exitFinding, 2, "has no tests", ""},
		{"errors", []string{mine, broken}, exitUsage, 1, `unknown field "rule" (did you mean "rules"?) [compile]`, ""},
		{"nothing", []string{"--no-default-rules"}, exitUsage, 0, "", "nothing to check"},
		{"missing", []string{mine + ".absent"}, exitUsage, 0, "", "mine.yaml.absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ends(t, c.status, append([]string{"rules", "lint"}, c.args...)...)
			require.Equal(t, c.lines, strings.Count(r.stdout, "\n"), r.stdout)
			require.Contains(t, r.stdout, c.stdout)
			require.Contains(t, r.stderr, c.stderr)
			require.Equal(t, c.stderr == "", r.stderr == "")
		})
	}
}

func TestRulesLintIsInert(t *testing.T) {
	hostile := write(t, "h.yaml",
		"version: 1\nrules: [{id: x, disposition: ignore, when: \"template == '\\u202e\\e[2J12\\u2028'\"}]\n")
	r := ends(t, exitFinding, "rules", "lint", "--no-default-rules", hostile)
	requireInert(t, r.stdout)
}
