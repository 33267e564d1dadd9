package command

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"go/build"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

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
				got := ok(t, append(append([]string{}, form.args...), path)...)
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
			for line := range strings.Lines(runArgs(t, "--format", "jsonl", "--ack", "auto", "--scrub", path).stdout) {
				testkit.RequireValid(t, lines, line)
			}
			for line := range strings.Lines(jsonRecords(t, path)) {
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
	requireSchema(t, "explain", runArgs(t, "explain", "--format", "json", "--all", "--text", "Could not save Colony17",
		"--level", "error", "--phase", "play").stdout)
	requireSchema(t, "explain", runArgs(t, "explain", "--format", "json", "--scrub", own("operations.jsonl")+":56").stdout)
	requireSchema(t, "config", runArgs(t, "config", "show", "--format", "json", "--rules", "testdata/rules.yaml",
		"--width", "100").stdout)

	both := runArgs(t, "--format", "json", filepath.Join(ownCaptures, "healthy-1.6.log"),
		filepath.Join(ownCaptures, "hole-1.4.log"))
	testkit.RequireValid(t, replay, both.stdout)
	damaged := ends(t, exitIO, "--format", "json", write(t, "damaged.gz", "\x1f\x8b\x08\x00not gzip"),
		write(t, "empty.log", ""))
	testkit.RequireValid(t, replay, damaged.stdout)

	for name, s := range map[string]*jsonschema.Schema{"replay": replay, "replay-lines": lines, "records": records} {
		for _, wrong := range []string{`{}`, `[]`, `{"schemaVersion":3}`, `{"schemaVersion":3,"files":[{}]}`, `{"schemaVersion":3,"update":"opened"}`} {
			doc := testkit.Must(jsonschema.UnmarshalJSON(strings.NewReader(wrong)))
			require.Error(t, s.Validate(doc), "%s takes %s", name, wrong)
		}
	}
}

func TestSchemaCommand(t *testing.T) {
	p := &program{}
	for _, f := range p.allForms() {
		require.Equal(t, string(f.JSON()), ok(t, "schema", f.Name))
	}
	require.Equal(t, runArgs(t, "schema", "replay").stdout, runArgs(t, "schema").stdout)
	require.Equal(t, string(briefing.Schema()), runArgs(t, "schema", "template").stdout)
	require.Equal(t, string(rules.Schema()), ok(t, "rules", "schema"))
	require.Contains(t, ends(t, exitUsage, "schema", "xml").stderr, "see \"classify-replay schema --help\"")
	ends(t, exitUsage, "schema", "replay", "records")
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
	if schema := sarifSchema(); schema != nil {
		testkit.RequireValid(t, schema, out)
	}
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
		require.Regexp(t, `^(blocking|advisory)\.[a-z._]+(\..+)?$`, res.PartialFingerprints["primaryLocationLineHash"])
		key := place.ArtifactLocation.URI + " " + res.RuleID + " " + res.Fingerprints[fingerprint]
		require.False(t, fingerprints[key], "two results are %s", key)
		fingerprints[key] = true
	}
	return doc
}

// sarifSchema is the schema of SARIF 2.1.0 as the module of a linter brings it, nil
// where the linters were not downloaded.
var sarifSchema = sync.OnceValue(func() *jsonschema.Schema {
	const module = "github.com/securego/gosec/v2"
	required := testkit.Must(os.ReadFile("../../../tools/go.mod"))
	version := regexp.MustCompile(module + ` (\S+)`).FindSubmatch(required)
	folder := cmp.Or(os.Getenv("GOMODCACHE"), filepath.Join(build.Default.GOPATH, "pkg", "mod"))
	folder = filepath.Join(folder, module+"@"+string(version[1]))
	f, err := os.Open(filepath.Join(folder, "report/sarif/testdata/sarif-schema-2.1.0.json"))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:sarif", testkit.Must(jsonschema.UnmarshalJSON(f))); err != nil {
		panic(err)
	}
	return testkit.Must(c.Compile("mem:sarif"))
})

func TestSARIF(t *testing.T) {
	own := captures(t, ownCaptures)
	for _, files := range append([][]string{own}, [][]string{own[:1], own[1:3]}...) {
		out := ok(t, append([]string{"--format", "sarif"}, files...)...)
		doc := decodeSARIF(t, out)
		require.NotEmpty(t, doc.Runs[0].Results)
		require.True(t, doc.Runs[0].Invocations[0].ExecutionSuccessful)
	}
	// The same finding at another line and under another count is the same one.
	first := decodeSARIF(t, runArgs(t, testArgs(t, "--format", "sarif",
		write(t, "a.log", "cannot save to 1\n"))...).stdout)
	later := decodeSARIF(t, runArgs(t, testArgs(t, "--format", "sarif",
		write(t, "a.log", "x\ny\ncannot save to 7\ncannot save to 8\n"))...).stdout)
	require.Equal(t, first.Runs[0].Results[0].Fingerprints, later.Runs[0].Results[0].Fingerprints)
	require.Equal(t, "error", first.Runs[0].Results[0].Level)
	require.Equal(t, 3, later.Runs[0].Results[0].Locations[0].PhysicalLocation.Region.StartLine)

	r := ends(t, exitIO, "--format", "sarif", write(t, "damaged.log", "\x28\xb5\x2f\xfdnot zstd"))
	decodeSARIF(t, r.stdout)
}

// TestNewFindings: of a comparison, JUnit and SARIF list what is new and nothing else, where the new log has it.
func TestNewFindings(t *testing.T) {
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
	r = ends(t, exitUsage, "suspects", "--format", "sarif", old, old)
	require.Contains(t, r.stderr, `--format "sarif": use one of text, json, markdown`)
}

// cutGzip returns a text compressed with gzip, without the end.
func cutGzip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	testkit.Must(w.Write([]byte(text)))
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
			Class   string     `xml:"classname,attr"`
			Name    string     `xml:"name,attr"`
			Failure []struct{} `xml:"failure"`
			Error   []struct{} `xml:"error"`
			Skipped []struct{} `xml:"skipped"`
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
		counts := [4]int{len(suite.Cases)}
		for _, c := range suite.Cases {
			require.False(t, names[c.Class+c.Name], "%s %s twice", c.Class, c.Name)
			names[c.Class+c.Name] = true
			counts[1] += len(c.Failure)
			counts[2] += len(c.Error)
			counts[3] += len(c.Skipped)
		}
		require.Equal(t, counts, [4]int{suite.Tests, suite.Failures, suite.Errors, suite.Skipped})
	}
	return doc
}

func TestJUnit(t *testing.T) {
	own := captures(t, ownCaptures)
	doc := decodeJUnit(t, ok(t, append([]string{"--format", "junit"}, own...)...))
	require.Len(t, doc.Suites, len(own))

	game, quiet := write(t, "game.log", plainLog), write(t, "quiet.log", "fine\n")
	r := ends(t, exitIO, testArgs(t, "--format", "junit", game, quiet,
		write(t, "damaged.log", "\x28\xb5\x2f\xfdnot zstd"))...)
	suites := decodeJUnit(t, r.stdout).Suites
	require.Equal(t, []int{4, 1, 0, 1}, []int{suites[0].Tests, suites[0].Failures, suites[0].Errors, suites[0].Skipped})
	require.Equal(t, []int{2, 0, 0, 0}, []int{suites[1].Tests, suites[1].Failures, suites[1].Errors, suites[1].Skipped})
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
