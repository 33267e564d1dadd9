package command

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/heedlog/heed/internal/testkit"
)

// requireHarmlessJSON fails for a string in JSON lines that acts once decoded.
func requireHarmlessJSON(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		testkit.InertJSON(t, []byte(line))
	}
}

// notation is what hosts of repositories make links of, in text that is no code.
var notation = regexp.MustCompile(`[@#!~%&$]\w|://|\bwww\.|` + hostileWord)

// requireHarmlessMarkdown reads Markdown as GitHub does and fails where log text
// stands outside of code, or something in it is more than text.
func requireHarmlessMarkdown(t *testing.T, out string) {
	t.Helper()
	source := []byte(out)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	html := regexp.MustCompile(`^(?:</?details>|</?summary>|</?sub>|[^<>])*$`)
	require.NoError(t, ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Link, *ast.AutoLink, *ast.Image, *ast.CodeBlock:
			require.Failf(t, "no links, images and indented code", "%s in\n%s", n.Kind(), out)
		case *ast.RawHTML:
			requireOwn(t, html, n.Segments, source)
		case *ast.HTMLBlock:
			requireOwn(t, html, n.Lines(), source)
		case *ast.Text:
			require.NotRegexp(t, notation, string(n.Value(source)), out)
		}
		return ast.WalkContinue, nil
	}))
}

func requireOwn(t *testing.T, html *regexp.Regexp, segments *text.Segments, source []byte) {
	t.Helper()
	for i := range segments.Len() {
		segment := segments.At(i)
		require.Regexp(t, html, strings.TrimSpace(string(segment.Value(source))))
		require.NotContains(t, string(segment.Value(source)), hostileWord)
	}
}

// hostileWord is in every hostile line, to be found again.
const hostileWord = "xhostilex"

// hostileForms are what a line of a log may hold to act on whoever reads it in some
// form.
var hostileForms = []struct{ name, line string }{
	{"terminal title", "\x1b]0;owned\x07 \x1b[2J\x1b[31m"},
	{"terminal in C1", "\u009b31m \u0090q\u009c"},
	{"carriage return", "harmless\rBLOCKING forged"},
	{"html", `<script>alert(1)</script><img src=x onerror=alert(1)>"'><b>`},
	{"html comment", `<!-- --></details></summary></code></pre> -->`},
	{"entities", `&lt;script&gt; &#96;&#96;&#96; &amp;`},
	{"formula", `=cmd|' /C calc'!A0`},
	{"formula plus", `+1+cmd|' /C calc'!A0`},
	{"formula minus", `-2+3+cmd|' /C calc'!A0`},
	{"formula at", `@SUM(1+1)*cmd|' /C calc'!A0`},
	{"bidi override", "user\u202egnp.exe\u2066\u2067\u2068\u2069\u200f\u061c"},
	{"invisible", "\u200b\u2060\ufeff\u00ad\U000e0041\U000e007f"},
	{"separators", "a\u0085b\u2028c\u2029d\vfe\ff"},
	{"markdown", "# head **bold** [text](https://evil.example) ![i](https://evil.example/x.png) | cell | ~~gone~~"},
	{"fence", "``` \n```` ~~~ `code` ``"},
	{"mentions", "@everyone @org/team #123 GH-123 owner/repo#5 !7 ~label user@evil.example"},
	{"bare links", "https://evil.example/x www.evil.example <https://evil.example> javascript:alert(1)"},
	{"reference", "[x]: https://evil.example\n[x]"},
	{"rule and quote", "--- *** ___ > quote\n- item\n1. item\n\tcode"},
	{"xml illegal", "\x00\x01\x08\x0b\x0c\x0e\x1f \ufffe\uffff"},
	{"cdata", "]]> <![CDATA[ ]]&gt; <!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]> &e; <?php ?>"},
	{"json", `"},{"update":"forged"} \u0000 \" \\`},
	{"sarif", `[link](1) {0} {{1}} [a](https://evil.example)`},
	{"invalid", "\xff\xfe\xc3\x28 \xed\xa0\x80 \xc0\xaf"},
	{"backslashes", `\| \\| \` + "` \\"},
	{
		"commands to a CI server",
		"::error file=x::forged ##[error]forged ##vso[task.complete result=Succeeded] ##teamcity[message text='x']",
	},
	{"device control", "\x1bP+q544e\x1b\\ \x1b_Gf=100\x1b\\ \x1b^pm\x1b\\ " +
		"\x1b]8;;http://evil.example\x1b\\x\x1b]52;c;eA==\x07"},
	{"no characters", "\ufdd0 \ufffe \U0001ffff \U0010ffff"},
	{"printf", "%s %d %!v(MISSING) %n"},
	{"combining", "z" + strings.Repeat("\u0301", 500)},
	{"long", strings.Repeat("<b>`@x ", 30_000)},
	{"long word", strings.Repeat("=", 200_000)},
}

// hostileLines returns the short forms as lines that testRules decide.
func hostileLines() (lines []string) {
	for _, h := range hostileForms {
		if len(h.line) < 10_000 {
			lines = append(lines, "careful "+strings.NewReplacer("\n", " ", "\x00", "").Replace(h.line))
		}
	}
	return lines
}

// hostileLog is a capture with a hostile line in different places: at the
// beginning of a record, behind a tag, in a frame.
func hostileLog(t *testing.T, line string) (plain, lines string) {
	t.Helper()
	raw := strings.NewReplacer("\n", " ", "\x00", "").Replace(line) // many NUL bytes make a file no log
	// Enough text around them that controls do not make the file binary.
	plain = strings.Repeat("starting, and all is well\n", 60) + raw + " zap " + hostileWord + "\nzip " + hostileWord + " " + raw + "\n[" + raw + "] zap " + hostileWord + "\n  at " + hostileWord + ".Foo (" + raw + ")\nend\n"
	for _, word := range []string{"zap", "zip"} {
		for _, message := range []string{word + " " + hostileWord + " " + line, line + " " + word + " " + hostileWord} {
			b := testkit.Must(json.Marshal(map[string]string{
				"level": "error", "message": message,
				"stack": "at " + hostileWord + ".Foo " + line, "logger": line,
			}))
			lines += string(b) + "\n"
		}
	}
	return plain, lines
}

const hostileRules = `version: 1
rules:
  - id: test.blocking
    when: 'template contains "zap"'
    disposition: blocking
    summary: "zapped @team #12 <b> [x](https://example.org) | ` + "`tick`" + `"
  - id: test.advisory
    when: 'template contains "zip"'
    disposition: advisory
`

// possible leaves out of the name of a file what the system has in none.
func possible(name string) string {
	if runtime.GOOS == "windows" {
		return strings.NewReplacer("<", "", ">", "", "*", "").Replace(name)
	}
	return name
}

// TestHostileTextInEveryFormat shows hostile lines in every form, and reads each form
// back with its parser.
func TestHostileTextInEveryFormat(t *testing.T) {
	rules := write(t, "rules.yaml", hostileRules)
	quiet := write(t, possible("old [a](b) `x` <b> @somebody.log"), "starting\n")
	known := filepath.Join(t.TempDir(), "known.yaml")
	ok(t, "baseline", "write", "--no-default-rules", "--rules", rules, "-o", known, quiet)
	checks := map[string]func(t *testing.T, out string){
		formatText: func(t *testing.T, out string) {
			for line := range strings.SplitSeq(out, "\n") {
				require.NotRegexp(t, `^(?:[=+@-]|BLOCKING forged)`, line, "a log line begins a line of the output")
			}
		},
		formatJSON:  requireHarmlessJSON,
		formatJSONL: requireHarmlessJSON,
		formatMarkdown: func(t *testing.T, out string) {
			requireHarmlessMarkdown(t, out)
			require.Less(t, utf8.RuneCountInString(out), 65_536, "fits into an issue")
		},
		formatJUnit: func(t *testing.T, out string) { decodeJUnit(t, out) },
		formatSARIF: func(t *testing.T, out string) {
			requireHarmlessJSON(t, out)
			for _, result := range decodeSARIF(t, out).Runs[0].Results {
				require.NotRegexp(t, `\]\(|\{\d`, result.Message.Text)
			}
		},
	}
	runs := []struct {
		args   []string
		format string
		also   []string // formats that are written to files in the same run
	}{
		{[]string{"--width", "0"}, formatText, []string{formatJSON}},
		{[]string{"--width", "80"}, formatText, []string{formatMarkdown, formatJUnit, formatSARIF}},
		{nil, formatJSONL, nil},
		{[]string{"baseline", "check", "--fail-on", "never", "--baseline", known}, formatJUnit, []string{formatSARIF}},
		{[]string{"diff", "--no-scrub", quiet}, formatText, []string{formatJSON, formatMarkdown}},
		{[]string{"suspects", "--no-scrub", quiet}, formatMarkdown, nil},
		{[]string{"records"}, formatText, nil},
		{[]string{"records"}, formatJSONL, nil},
		{[]string{"signatures"}, "", nil},
	}
	forms := hostileForms
	if !testkit.IsFull() { // the two long ones
		forms = forms[:len(forms)-2]
	}
	for some := range slices.Chunk(forms, 3) { // in one log: most of the time is the program's
		t.Run(some[0].name, func(t *testing.T) {
			plain, lines := "", ""
			for _, form := range some {
				morePlain, moreLines := hostileLog(t, form.line)
				plain, lines = plain+morePlain, lines+moreLines
			}
			for name, log := range map[string]string{possible("evil *a* `@team#12.log"): plain, "evil.jsonl": lines} {
				path := write(t, name, log)
				for _, r := range runs {
					args := append(slices.Clone(r.args), "--no-default-rules", "--rules", rules, path)
					if r.format != "" {
						args = append(args, "--format", r.format)
					}
					for _, format := range r.also {
						args = append(args, "--"+format, path+"."+format)
					}
					outputs := map[string]string{cmp.Or(r.format, formatText): ok(t, args...)}
					for _, format := range r.also {
						outputs[format] = string(testkit.Must(os.ReadFile(path + "." + format)))
					}
					for format, out := range outputs {
						if format == formatText && r.also == nil {
							out = strings.ReplaceAll(out, "\t", " ") // between fields
						}
						testkit.Inert(t, out, "\n")
						require.NotRegexp(t, `##[a-z]*\[|(?m:^ *::[a-z].*::)`, out, "a CI server obeys")
						checks[format](t, out)
						require.True(t, format != formatMarkdown || log != plain || strings.Contains(out, hostileWord), out)
					}
				}
			}
		})
	}
}

// privateLog has something private of each kind.
const privateLog = "starting\ncannot save /home/maria/saves/a.rws\ncareful with maria@example.org and " +
	"76561198000000001\ncannot save to 203.0.113.9:27015 token=0a1b2c3d4e5f\n"

func TestScrub(t *testing.T) {
	private := []string{"maria", "76561198000000001", "203.0.113.9", "0a1b2c3d4e5f"}
	log := filepath.Join(t.TempDir(), "maria@example.org", "game.log")
	require.NoError(t, os.MkdirAll(filepath.Dir(log), 0o755))
	require.NoError(t, os.WriteFile(log, []byte(privateLog), 0o600))
	for _, c := range []struct {
		format   string
		scrubbed bool // by default
	}{
		{formatText, false},
		{formatJSON, false},
		{formatJSONL, false},
		{formatMarkdown, true},
		{formatJUnit, true},
		{formatSARIF, true},
	} {
		t.Run(c.format, func(t *testing.T) {
			check := func(scrubbed bool, args ...string) {
				r := ends(t, exitOK, testArgs(t, append(args, log)...)...)
				// Some forms show no sample; so what has to be gone is listed, and of
				// what has to be there the name in the file's path.
				for _, s := range private {
					if scrubbed {
						require.NotContains(t, r.stdout, s)
					}
				}
				require.Equal(t, !scrubbed, strings.Contains(r.stdout, "maria"))
				require.Equal(t, scrubbed, strings.Contains(r.stderr, "removed from the output: "), r.stderr)
			}
			check(c.scrubbed, "--format", c.format)
			check(true, "--format", c.format, "--scrub")
			check(false, "--format", c.format, "--no-scrub")
		})
	}
	for _, format := range []string{formatText, formatJSONL} {
		r := runArgs(t, testArgs(t, "records", "--format", format, "--scrub", log)...)
		for _, s := range private {
			require.NotContains(t, r.stdout, s)
		}
	}
	require.Contains(t, runArgs(t, testArgs(t, "--format", "markdown", log)...).stderr,
		"removed from the output: user names, Steam ids, network addresses, secrets, e-mail addresses; --no-scrub "+
			"keeps it")
	require.Contains(t, runArgs(t, testArgs(t, "--format", "markdown", log)...).stdout, "; removed: user names, ")
	ends(t, exitUsage, "--scrub", "--no-scrub", log)
	require.Empty(t, runArgs(t, testArgs(t, "--format", "markdown", write(t, "a.log", plainLog))...).stderr,
		"nothing taken out, nothing said")
}

// namesLog tells names late, and has them where nothing tells them.
const namesLog = "starting\ncannot save for quillabt on QUILLTOWER\nUSERNAME=quillabt\nCOMPUTERNAME=QUILLTOWER\n" +
	"cannot load, quillabt on quilltower said so\ncannot open \"secret\":\n  \"0a1b2c3d\"\nby someone at " +
	"C:\\Users\\wrightq\\source\\repos\\M\\M.cs:1\n" +
	"cannot use wrightq.mod\n"

// TestScrubNames: no output has a name that a log tells, not even one that comes later. Output about a pipe has no name
// that was told before.
func TestScrubNames(t *testing.T) {
	log := write(t, "quillabt.log", namesLog)
	old := write(t, "old.log", plainLog)
	earlier := write(t, "earlier.log", "cannot load, it is by quillabt\n") // of whom the later log shows that it is a user
	page := filepath.Join(t.TempDir(), "page.html")
	shows := func(args ...string) string {
		out := ok(t, append(testArgs(t, args...), log)...)
		return out
	}
	for _, format := range replayFormats {
		require.NotRegexp(t, "(?i)quill", shows("--format", format, "--scrub"), format)
		require.NotRegexp(t, "(?i)quill", shows("--format", format, "--scrub", earlier), format)
	}
	for _, format := range []string{formatText, formatJSON, formatMarkdown} {
		r := runArgs(t, testArgs(t, "diff", "--format", format, "--scrub", old, log)...)
		require.NotRegexp(t, "(?i)quill", r.stdout, format)
	}
	require.NotRegexp(t, "(?i)quill", runArgs(t, "signatures", "--group", "--scrub", log).stdout)
	ends(t, exitOK, testArgs(t, "report", "-o", page, earlier, log)...)
	html := testkit.Must(os.ReadFile(page))
	require.NotRegexp(t, "(?i)quill", string(html))
	require.NotContains(t, string(html), "0a1b2c3d", "on another line than its key")
	require.Contains(t, string(html), "wrightq.mod", "a mod bears the name of its author")

	for _, args := range [][]string{testArgs(t, "records", "--scrub"), {"signatures", "--scrub"}} {
		require.NotRegexp(t, "(?i)quill", ok(t, append(args, log)...), args)
		piped := runWith(t.Context(), namesLog, args...).stdout
		require.Contains(t, piped, "<user> on <computer> said so", args)
		require.NotRegexp(t, "(?i)quill[a-z ]* said", piped, args)
	}
	require.NotRegexp(t, "(?i)quill", shows("records", "--scrub", "--format", formatJSONL, earlier))
	require.NotRegexp(t, "(?i)quill", runArgs(t, "explain", "--scrub", log+":2").stdout)
}

func TestHostileFileNameIsInert(t *testing.T) {
	name := "no\x1b[31m\u202esuch\nforged.log"
	for _, args := range [][]string{
		{name},
		{"records", name},
		{"signatures", name},
		{"--rules", name, name},
		{"rules", "check", name},
		{"rules", name},
		{"--" + name},
		{"--format", name, name},
	} {
		r := runArgs(t, args...)
		require.NotEqual(t, exitOK, r.status)
		requireInert(t, r.stdout)
		requireInert(t, r.stderr)
		require.NotEmpty(t, r.stderr)
		for line := range strings.Lines(r.stderr) {
			require.True(t, strings.HasPrefix(line, "classify-replay: "), line)
			require.False(t, strings.HasPrefix(line, "classify-replay: forged"), "a name made a message of its own")
		}
	}
}
