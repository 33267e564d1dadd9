package command

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// formatGoldens are the forms of which two captures are kept; text and JSON lines
// have golden files of every capture elsewhere.
var formatGoldens = []struct {
	suffix string
	args   []string
}{
	{".json", []string{"--format", "json"}},
	{".md", []string{"--format", "markdown"}},
	{".junit.xml", []string{"--format", "junit"}},
	{".sarif", []string{"--format", "sarif"}},
}

// TestFormatGolden compares the forms of two captures with their golden files. Run
// it with -update to write them.
func TestFormatGolden(t *testing.T) {
	for _, base := range []string{"crash-1.6-linux.log", "operations.jsonl"} {
		path := filepath.Join(ownCaptures, base)
		for _, form := range formatGoldens {
			t.Run(base+form.suffix, func(t *testing.T) {
				out := ok(t, append(append([]string{}, form.args...), path)...)
				got := out
				for _, p := range []string{jsonPath(path), path, filepath.ToSlash(path)} {
					got = strings.ReplaceAll(got, p, base)
				}
				testkit.Golden(t, filepath.Join("testdata", "formats", base+form.suffix), got)
			})
		}
	}
}

// compileSchema compiles one of the schemas of the repository.
func compileSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	return testkit.Schema(t, schema.Find((&program{}).allForms(), name).JSON())
}

// TestSchemas holds what is written about every capture of the project to the
// schemas, and the schemas to what is written: a field that no capture shows is
// listed here.
func TestSchemas(t *testing.T) {
	replay, lines, records := compileSchema(t, "replay"), compileSchema(t, "replay-lines"), compileSchema(t, "records")
	for _, path := range captures(t, ownCaptures) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			testkit.RequireValid(t, replay, runArgs(t, "--format", "json", path).stdout)
			for _, args := range [][]string{{"--format", "jsonl"}, {"--format", "jsonl", "--ack", "auto", "--scrub"}} {
				for line := range strings.Lines(runArgs(t, append(args, path)...).stdout) {
					testkit.RequireValid(t, lines, line)
				}
			}
			for line := range strings.Lines(runArgs(t, "records", "--format", "jsonl", path).stdout) {
				testkit.RequireValid(t, records, line)
			}
		})
	}
	for _, set := range []string{"default", "testdata/rules.yaml"} {
		requireSchema(t, "rules-diff", runArgs(t, "rules", "diff", "--no-default-rules", "--format", "json", "--top", "1",
			set, "testdata/rules-new.yaml", ownCaptures).stdout)
	}
	requireSchema(t, "rules-diff", runArgs(t, "rules", "diff", "--format", "json", "default", "default",
		own("healthy-1.6.log")).stdout)
	requireSchema(t, "rules-coverage", runArgs(t, "rules", "coverage", "--format", "json", ownCaptures).stdout)
	requireSchema(t, "explain", runArgs(t, "explain", "--format", "json", "--all", "--text", "Could not save Colony17",
		"--level", "error", "--phase", "play").stdout)
	requireSchema(t, "explain", runArgs(t, "explain", "--format", "json", "--scrub", own("operations.jsonl")+":56").stdout)
	requireSchema(t, "config", runArgs(t, "config", "show", "--format", "json", "--rules", "testdata/rules.yaml",
		"--width", "100").stdout)

	both := runArgs(t, "--format", "json", filepath.Join(ownCaptures, "healthy-1.6.log"),
		filepath.Join(ownCaptures, "hole-1.4.log"))
	testkit.RequireValid(t, replay, both.stdout)
	damaged := runArgs(t, "--format", "json", write(t, "damaged.gz", "\x1f\x8b\x08\x00not gzip"),
		write(t, "empty.log", ""))
	require.Equal(t, exitIO, damaged.status)
	testkit.RequireValid(t, replay, damaged.stdout)

	for name, s := range map[string]*jsonschema.Schema{"replay": replay, "replay-lines": lines, "records": records} {
		for _, wrong := range []string{`{}`, `[]`, `{"schemaVersion":3}`, `{"schemaVersion":3,"files":[{}]}`, `{"schemaVersion":3,"update":"opened"}`} {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(wrong))
			require.NoError(t, err)
			require.Error(t, s.Validate(doc), "%s takes %s", name, wrong)
		}
	}
}

// TestSchemaDefinitionsAgree: what two schemas define under one name is one thing.
func TestSchemaDefinitionsAgree(t *testing.T) {
	seen := map[string]string{}
	for _, text := range allSchemas() {
		name := text.name
		var s struct {
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		require.NoError(t, json.Unmarshal(text.schema, &s))
		for def, raw := range s.Defs {
			if other, ok := seen[def]; ok {
				require.JSONEq(t, other, string(raw), "%s of %s", def, name)
			}
			seen[def] = string(raw)
		}
	}
	require.NotEmpty(t, seen)
}

func TestSchemaCommand(t *testing.T) {
	p := &program{}
	for _, f := range p.allForms() {
		require.Equal(t, string(f.JSON()), ok(t, "schema", f.Name))
	}
	require.Equal(t, runArgs(t, "schema", "replay").stdout, runArgs(t, "schema").stdout)
	require.Equal(t, string(briefing.Schema()), runArgs(t, "schema", "template").stdout)
	require.Equal(t, string(rules.Schema()), ok(t, "rules", "schema"))
	r := runArgs(t, "schema", "xml")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "see \"classify-replay schema --help\"")
	require.Equal(t, exitUsage, runArgs(t, "schema", "replay", "records").status)
}

// sarifDocument is what heed writes of SARIF, as the standard has it.
type sarifDocument struct {
	Schema  string `json:"$schema"`
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name, InformationURI string
				Rules                []struct {
					ID                                      string
					ShortDescription, FullDescription, Help struct{ Text string }
				}
			}
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct {
				Level     string
				Message   struct{ Text string }
				Locations []sarifPlace
			}
		}
		Results []struct {
			RuleID                            string
			RuleIndex                         int
			Level                             string
			Message                           struct{ Text string }
			Locations                         []sarifPlace
			Fingerprints, PartialFingerprints map[string]string
			OccurrenceCount                   uint64
			Properties                        map[string]any
		}
		ColumnKind      string
		RedactionTokens []string
	}
}

type sarifPlace struct {
	PhysicalLocation struct {
		ArtifactLocation struct{ URI string }
		Region           *struct{ StartLine int }
	}
}

// decodeSARIF reads a SARIF log strictly and holds it to itself.
func decodeSARIF(t *testing.T, out string) sarifDocument {
	t.Helper()
	var doc sarifDocument
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&doc), out)
	require.Equal(t, "2.1.0", doc.Version)
	require.Len(t, doc.Runs, 1, "GitHub takes one run of a tool")
	run := doc.Runs[0]
	require.Len(t, run.Invocations, 1)
	ids := map[string]bool{}
	for _, rule := range run.Tool.Driver.Rules {
		require.False(t, ids[rule.ID], "rule %s twice", rule.ID)
		ids[rule.ID] = true
		require.NotEmpty(t, rule.ShortDescription.Text)
		require.NotEmpty(t, rule.Help.Text)
	}
	const fingerprint = "heedProblem/v1"
	fingerprints := map[string]bool{}
	for _, res := range run.Results {
		require.Equal(t, res.RuleID, run.Tool.Driver.Rules[res.RuleIndex].ID)
		require.Contains(t, []string{"error", "warning", "note"}, res.Level)
		require.Len(t, res.Locations, 1)
		place := res.Locations[0].PhysicalLocation
		require.NotEmpty(t, place.ArtifactLocation.URI)
		require.Positive(t, place.Region.StartLine)
		require.Positive(t, res.OccurrenceCount)
		require.Regexp(t, `^(blocking|advisory)\.[a-z._]+$`, res.PartialFingerprints["primaryLocationLineHash"])
		key := place.ArtifactLocation.URI + " " + res.RuleID + " " + res.Fingerprints[fingerprint]
		require.False(t, fingerprints[key], "two results are %s", key)
		fingerprints[key] = true
	}
	return doc
}

// sarifSchema is the schema of SARIF 2.1.0 as the module of a linter brings it, nil
// where the linters were not downloaded.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-modfile=../../../tools/go.mod", "-m", "-f", "{{.Dir}}",
		"github.com/securego/gosec/v2").Output()
	if err != nil || len(bytes.TrimSpace(dir)) == 0 {
		return nil
	}
	f, err := os.Open(filepath.Join(string(bytes.TrimSpace(dir)), "report", "sarif", "testdata",
		"sarif-schema-2.1.0.json"))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	doc, err := jsonschema.UnmarshalJSON(f)
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("mem:sarif", doc))
	s, err := c.Compile("mem:sarif")
	require.NoError(t, err)
	return s
}

func TestSARIF(t *testing.T) {
	schema := sarifSchema(t)
	if schema == nil {
		t.Log("not held to the schema: the linters' modules are not there")
	}
	own := captures(t, ownCaptures)
	for _, files := range append([][]string{own}, [][]string{own[:1], own[1:3]}...) {
		out := ok(t, append([]string{"--format", "sarif"}, files...)...)
		doc := decodeSARIF(t, out)
		require.NotEmpty(t, doc.Runs[0].Results)
		require.True(t, doc.Runs[0].Invocations[0].ExecutionSuccessful)
		if schema != nil {
			testkit.RequireValid(t, schema, out)
		}
	}
	// The same finding at another line and under another count is the same one.
	first := decodeSARIF(t, runArgs(t, testArgs(t, "--format", "sarif",
		write(t, "a.log", "cannot save to 1\n"))...).stdout)
	later := decodeSARIF(t, runArgs(t, testArgs(t, "--format", "sarif",
		write(t, "a.log", "x\ny\ncannot save to 7\ncannot save to 8\n"))...).stdout)
	require.Equal(t, first.Runs[0].Results[0].Fingerprints, later.Runs[0].Results[0].Fingerprints)
	require.Equal(t, "error", first.Runs[0].Results[0].Level)
	require.Equal(t, 3, later.Runs[0].Results[0].Locations[0].PhysicalLocation.Region.StartLine)

	r := runArgs(t, "--format", "sarif", write(t, "damaged.log", "\x28\xb5\x2f\xfdnot zstd"))
	require.Equal(t, exitIO, r.status)
	if schema != nil {
		testkit.RequireValid(t, schema, r.stdout)
	}
}

// TestNewFindings: of a comparison, JUnit and SARIF list what is new and nothing else, where the new log has it.
func TestNewFindings(t *testing.T) {
	schema := sarifSchema(t)
	own := testArgs(t)
	old := write(t, "old.log", "careful with 1\n")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"known.log": "careful with 2\n",
		"new.log":   "x\ncannot save to 7\ncareful with 3\ncareful, the door\ncannot save to 8\n",
		"empty.log": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	baseline := filepath.Join(dir, "known.yaml")
	ok(t, append([]string{"baseline", "write", "--date", "2026-01-31", "-o", baseline, old}, own...)...)
	for name, against := range map[string][]string{
		"old side": {"diff", "--fail-on", "new", old},
		"baseline": {"baseline", "check", "--date", "2026-02-01", "--baseline", baseline},
	} {
		t.Run(name, func(t *testing.T) {
			show := func(status int, format string, files ...string) string {
				t.Helper()
				r := runIn(t, dir, slices.Concat(against, []string{"--format", format}, files, own)...)
				require.Equal(t, status, r.status, r.stderr)
				return r.stdout
			}
			out := show(exitFinding, "sarif", "known.log", "new.log")
			if schema != nil {
				testkit.RequireValid(t, schema, out)
			}
			run := decodeSARIF(t, out).Runs[0]
			require.Len(t, run.Results, 2)
			first := run.Results[0]
			require.Equal(t, "error", first.Level)
			require.Equal(t, uint64(2), first.OccurrenceCount)
			require.Contains(t, first.Message.Text, "cannot save to <*>")
			require.Contains(t, first.Message.Text, "2 entries, the first at line 2); new: ")
			require.Contains(t, first.Message.Text, name)
			require.Equal(t, "new.log", first.Locations[0].PhysicalLocation.ArtifactLocation.URI)
			require.Equal(t, 2, first.Locations[0].PhysicalLocation.Region.StartLine)
			require.Equal(t, "warning", run.Results[1].Level)
			require.Contains(t, run.Results[1].Message.Text, "careful, the door")

			suites := decodeJUnit(t, show(exitFinding, "junit", "known.log", "new.log")).Suites
			require.Len(t, suites, 2)
			require.Zero(t, suites[0].Failures, "what is known is no failure")
			require.Equal(t, "new.log", suites[1].Name)
			require.Equal(t, 2, suites[1].Failures, "an advisory one, too, since the command fails at it")

			out = show(exitOK, "sarif", "known.log")
			require.Empty(t, decodeSARIF(t, out).Runs[0].Results)
			require.Contains(t, out, `"results":[]`, "code scanning takes no null")
			suites = decodeJUnit(t, show(exitOK, "junit", "known.log", "empty.log")).Suites
			require.Equal(t, 1, suites[1].Failures, "an empty log proves nothing")
			run = decodeSARIF(t, show(exitOK, "sarif", "known.log", "empty.log")).Runs[0]
			require.Len(t, run.Invocations[0].ToolExecutionNotifications, 1)
			require.True(t, run.Invocations[0].ExecutionSuccessful)

			require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.log.gz"), cutGzip(t, "careful with 4\n"), 0o600))
			run = decodeSARIF(t, show(exitIO, "sarif", "cut.log.gz")).Runs[0]
			require.False(t, run.Invocations[0].ExecutionSuccessful)
			require.Equal(t, 1, decodeJUnit(t, show(exitIO, "junit", "cut.log.gz")).Suites[0].Errors)
		})
	}
	r := runArgs(t, append([]string{
		"baseline", "check", "--date", "2027-02-01", "--baseline", baseline, "--format", "sarif", old,
	}, own...)...)
	require.Contains(t, decodeSARIF(t, r.stdout).Runs[0].Results[0].Message.Text, "has expired on 2026-05-01")
	r = runArgs(t, "suspects", "--format", "sarif", old, old)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, `--format "sarif": use one of text, json, markdown`)
}

// cutGzip returns a text compressed with gzip, without the end.
func cutGzip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	return b.Bytes()
}

// junitDocument is what heed writes of JUnit's XML.
type junitDocument struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Class   string    `xml:"classname,attr"`
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// decodeJUnit reads JUnit's XML strictly and holds it to itself.
func decodeJUnit(t *testing.T, out string) junitDocument {
	t.Helper()
	parents := map[string]string{
		"testsuites": "", "testsuite": "testsuites", "properties": "testsuite", "property": "properties",
		"testcase": "testsuite",
		"failure":  "testcase", "error": "testcase", "skipped": "testcase", "system-out": "testcase testsuite",
	}
	dec := xml.NewDecoder(strings.NewReader(out))
	open := []string{""}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, out)
		switch token := token.(type) {
		case xml.StartElement:
			within, known := parents[token.Name.Local]
			require.True(t, known, "element %s", token.Name.Local)
			require.Contains(t, within, open[len(open)-1])
			for _, a := range token.Attr {
				testkit.Inert(t, a.Value, "\n")
			}
			open = append(open, token.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			testkit.Inert(t, string(token), "\n")
		case xml.ProcInst:
			require.Equal(t, "xml", token.Target)
		default:
			require.Failf(t, "no comment and no directive", "%T", token)
		}
	}
	var doc junitDocument
	require.NoError(t, xml.Unmarshal([]byte(out), &doc))
	for _, suite := range doc.Suites {
		names := map[string]bool{}
		var failures, errs, skipped int
		for _, c := range suite.Cases {
			require.False(t, names[c.Class+c.Name], "%s %s twice", c.Class, c.Name)
			names[c.Class+c.Name] = true
			if c.Failure != nil {
				failures++
			}
			if c.Error != nil {
				errs++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
		require.Equal(t, []int{len(suite.Cases), failures, errs, skipped},
			[]int{suite.Tests, suite.Failures, suite.Errors, suite.Skipped})
	}
	return doc
}

func TestJUnit(t *testing.T) {
	own := captures(t, ownCaptures)
	out := ok(t, append([]string{"--format", "junit"}, own...)...)
	doc := decodeJUnit(t, out)
	require.Len(t, doc.Suites, len(own))

	r := runArgs(t, testArgs(t, "--format", "junit", write(t, "game.log", plainLog), write(t, "quiet.log", "fine\n"),
		write(t, "damaged.log", "\x28\xb5\x2f\xfdnot zstd"))...)
	require.Equal(t, exitIO, r.status)
	suites := decodeJUnit(t, r.stdout).Suites
	require.Equal(t, []int{4, 1, 0, 1}, []int{suites[0].Tests, suites[0].Failures, suites[0].Errors, suites[0].Skipped})
	require.Equal(t, []int{2, 0, 0, 0}, []int{suites[1].Tests, suites[1].Failures, suites[1].Errors, suites[1].Skipped})
}

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
	{"long", strings.Repeat("<b>`@x ", 30_000)},
	{"long word", strings.Repeat("=", 200_000)},
	{"combining", "z" + strings.Repeat("\u0301", 500)},
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
			b, err := json.Marshal(map[string]string{
				"level": "error", "message": message,
				"stack": "at " + hostileWord + ".Foo " + line, "logger": line,
			})
			require.NoError(t, err)
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

// TestHostileTextInEveryFormat shows hostile lines in every form, and reads each form
// back with its parser.
func TestHostileTextInEveryFormat(t *testing.T) {
	testkit.Full(t, "every form of every hostile text")
	rules := write(t, "rules.yaml", hostileRules)
	requireText := func(t *testing.T, out string) {
		for line := range strings.SplitSeq(out, "\n") {
			require.NotRegexp(t, `^(?:[=+@-]|BLOCKING forged)`, line, "a log line begins a line of the output")
		}
	}
	quiet := write(t, "quiet.log", "starting\n")
	forms := []struct {
		name  string
		args  []string
		check func(t *testing.T, out string)
	}{
		{"text", []string{"--width", "0"}, requireText},
		{"text in 80 columns", []string{"--width", "80"}, requireText},
		{"json", []string{"--format", "json"}, requireHarmlessJSON},
		{"jsonl", []string{"--format", "jsonl"}, requireHarmlessJSON},
		{"markdown", []string{"--format", "markdown"}, func(t *testing.T, out string) {
			requireHarmlessMarkdown(t, out)
			require.Less(t, utf8.RuneCountInString(out), 65_536, "fits into an issue")
			if !strings.Contains(out, "bytes are missing at line 1") { // a line that is cut is no JSON
				require.Contains(t, out, hostileWord)
			}
		}},
		{"junit", []string{"--format", "junit"}, func(t *testing.T, out string) { decodeJUnit(t, out) }},
		{"sarif", []string{"--format", "sarif"}, func(t *testing.T, out string) {
			requireHarmlessJSON(t, out)
			for _, result := range decodeSARIF(t, out).Runs[0].Results {
				require.NotRegexp(t, `\]\(|\{\d`, result.Message.Text)
			}
		}},
		{"diff junit", []string{"diff", "--format", "junit", quiet}, func(t *testing.T, out string) {
			decodeJUnit(t, out)
		}},
		{"diff sarif", []string{"diff", "--format", "sarif", quiet}, func(t *testing.T, out string) {
			requireHarmlessJSON(t, out)
			for _, result := range decodeSARIF(t, out).Runs[0].Results {
				require.NotRegexp(t, `\]\(|\{\d`, result.Message.Text)
			}
		}},
		{"records", []string{"records"}, func(t *testing.T, out string) {
			requireText(t, strings.ReplaceAll(out, "\t",
				" "))
		}},
		{"records jsonl", []string{"records", "--format", "jsonl"}, requireHarmlessJSON},
	}
	for _, h := range hostileForms {
		t.Run(h.name, func(t *testing.T) {
			plain, lines := hostileLog(t, h.line)
			for name, log := range map[string]string{"evil`@team#12.log": plain, "evil.jsonl": lines} {
				path := write(t, name, log)
				for _, form := range forms {
					out := ok(t, append(append([]string{}, form.args...), "--no-default-rules", "--rules", rules, path)...)
					if form.name == "records" {
						out = strings.ReplaceAll(out, "\t", " ") // between fields
					}
					testkit.Inert(t, out, "\n")
					require.NotRegexp(t, `##[a-z]*\[|(?m:^ *::[a-z].*::)`, out, "a CI server obeys")
					form.check(t, out)
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
				r := runArgs(t, testArgs(t, append(args, log)...)...)
				require.Equal(t, exitOK, r.status, r.stderr)
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
	require.Equal(t, exitUsage, runArgs(t, "--scrub", "--no-scrub", log).status)
	require.Empty(t, runArgs(t, testArgs(t, "--format", "markdown", write(t, "a.log", plainLog))...).stderr,
		"nothing taken out, nothing said")
}

// namesLog tells names late, and has them where nothing tells them.
const namesLog = "starting\ncannot save for quillabt on QUILLTOWER\nUSERNAME=quillabt\nCOMPUTERNAME=QUILLTOWER\n" +
	"cannot load, quillabt on quilltower said so\ncannot open \"secret\":\n  \"0a1b2c3d\"\nby someone at " +
	"C:\\Users\\wrightq\\source\\repos\\M\\M.cs:1\n" +
	"cannot use wrightq.mod\n"

// TestScrubNames: what is shown once the log has ended has no name that the log tells; what
// is written while it is read has none that was told before.
func TestScrubNames(t *testing.T) {
	log := write(t, "quillabt.log", namesLog)
	old := write(t, "old.log", plainLog)
	page := filepath.Join(t.TempDir(), "page.html")
	shows := func(args ...string) string {
		out := ok(t, append(testArgs(t, args...), log)...)
		return out
	}
	for _, format := range []string{formatText, formatJSON, formatMarkdown, formatJUnit, formatSARIF} {
		require.NotRegexp(t, "(?i)quill", shows("--format", format, "--scrub"), format)
	}
	for _, format := range []string{formatText, formatJSON, formatMarkdown} {
		r := runArgs(t, testArgs(t, "diff", "--format", format, "--scrub", old, log)...)
		require.NotRegexp(t, "(?i)quill", r.stdout, format)
	}
	r := runArgs(t, testArgs(t, "rules", "coverage", "--scrub", log)...)
	require.NotEmpty(t, r.stdout)
	require.NotRegexp(t, "(?i)quill", r.stdout)
	require.NotRegexp(t, "(?i)quill", runArgs(t, "signatures", "--group", "--scrub", log).stdout)
	require.Equal(t, exitOK, runArgs(t, testArgs(t, "report", "-o", page, log)...).status)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.NotRegexp(t, "(?i)quill", string(html))
	require.NotContains(t, string(html), "0a1b2c3d", "on another line than its key")
	require.Contains(t, string(html), "wrightq.mod", "a mod bears the name of its author")

	for _, args := range [][]string{testArgs(t, "records", "--scrub"), {"signatures"}} {
		out := ok(t, append(args, "--scrub", log)...)
		require.Contains(t, out, "<user> on <computer> said so", args)
		require.NotRegexp(t, "(?i)quill[a-z ]* said", out, args)
	}
	require.Contains(t, runArgs(t, "explain", "--scrub", log+":5").stdout, "cannot load, <user> on <computer> said so")
}

// TestFindingsAreNotCutAtTen: what is compared from run to run is whole.
func TestFindingsAreNotCutAtTen(t *testing.T) {
	var log strings.Builder
	for word := range strings.FieldsSeq("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron") {
		log.WriteString("cannot save " + strings.Repeat(word+" of ", len(word)) + "it\n")
	}
	path := write(t, "a.log", log.String())
	whole := decodeSARIF(t, runArgs(t, testArgs(t, "--format", "sarif", path)...).stdout).Runs[0]
	require.Len(t, whole.Results, 1, "one problem")
	two := decodeSARIF(t, runArgs(t, testArgs(t, "--format", "sarif", "--top", "2", path)...).stdout).Runs[0]
	require.Greater(t, whole.Results[0].OccurrenceCount, two.Results[0].OccurrenceCount)
	require.Contains(t, two.Invocations[0].ToolExecutionNotifications[0].Message.Text, "not listed")
}
