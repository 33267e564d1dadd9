package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// result is what a command line did.
type result struct {
	status         int
	stdout, stderr string
}

func runWith(ctx context.Context, stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	status := run(ctx, args, strings.NewReader(stdin), &stdout, &stderr)
	return result{status, stdout.String(), stderr.String()}
}

func runArgs(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t.Context(), "", args...)
}

// ok runs a command line that must succeed, and returns its standard output.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	return ends(t, exitOK, args...).stdout
}

// ends runs a command line that must end with a status.
func ends(t *testing.T, status int, args ...string) result {
	t.Helper()
	r := runArgs(t, args...)
	require.Equal(t, status, r.status, "%v\nstdout: %s\nstderr: %s", args, r.stdout, r.stderr)
	return r
}

// write puts a file into the test's own directory and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestAwait: standard input that stays silent is named once.
func TestAwait(t *testing.T) {
	begun, late := make(chan struct{}), make(chan time.Time)
	var stderr strings.Builder
	p := newProgram(nil, io.Discard, &stderr)
	go func() {
		late <- time.Time{}
		close(begun)
	}()
	p.await(begun, late)
	p.await(begun, late)
	require.Equal(t, "classify-replay: waiting for a log on standard input; name a file to read another\n", stderr.String())
}

// testRules decide in tests instead of the embedded rules, so that tests say
// nothing about those.
const testRules = `version: 1
rules:
  - id: test.blocking
    when: 'template startsWith "cannot save"'
    disposition: blocking
    summary: "saving failed"
    why: "what is not saved is lost"
    tests:
      - match: "cannot save the game"
  - id: test.advisory
    when: 'template startsWith "careful"'
    disposition: advisory
  - id: test.cap
    when: 'template startsWith "no more messages"'
    disposition: advisory
    blinds: true
    summary: "the log stopped"
`

// testArgs returns args, followed by the flags for testRules.
func testArgs(t *testing.T, args ...string) []string {
	t.Helper()
	return append(args, "--no-default-rules", "--rules", write(t, "rules.yaml", testRules))
}

const plainLog = "starting\ncareful now\ncannot save the game to slot 1\ncannot save the game to slot 2\nbye\n"

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	return lines[len(lines)-1]
}

// gzipped returns text compressed.
func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	testkit.Must(w.Write([]byte(text)))
	require.NoError(t, w.Close())
	return b.String()
}

// TestStatus is the table of exit statuses, with the messages that go with
// them.
func TestStatus(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	clean := file("clean.log", "all is well\n")
	advisory := file("advisory.log", "careful now\n")
	blocking := file("blocking.log", plainLog)
	blind := file("blind.log", "no more messages\n")
	empty := file("empty.log", "")
	blockingDir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(blockingDir, "game.log"), []byte(plainLog), 0o600))
	good := file("good.yaml", testRules)
	missing := filepath.Join(dir, "absent.log")
	binary := file("game.exe",
		"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00\xb8\x00\x01\x02\x05\x06\x07\x08\x0e\x0f\x10")
	utf16 := file("utf16.log", strings.Repeat("a\x00b\x00 \x00", 20)+"\n\x00")
	marked := file("marked.log", "\xff\xfea\x00b\x00c\x00\n\x00")

	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	for i := range 5000 {
		testkit.Must(fmt.Fprintf(zw, "careful %d with %x\n", i, i*i*7919))
	}
	require.NoError(t, zw.Close())
	whole := file("whole.log.gz", zipped.String())
	truncated := file("truncated.log.gz", zipped.String()[:zipped.Len()/2])
	header := file("header.log.gz", "\x1f\x8b\x08")
	twice := file("twice.log.gz", gzipped(t, gzipped(t, "careful now\n")))
	zippedBinary := file("game.exe.gz", gzipped(t,
		"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00\xb8\x00\x01\x02\x05\x06\x07\x08\x0e\x0f\x10"))
	utf32 := file("utf32.log", "\xff\xfe\x00\x00"+strings.Repeat("a\x00\x00\x00\n\x00\x00\x00", 20))
	bigEndian := file("utf16be.log", "\x00"+strings.Repeat("a\x00b\x00 \x00", 20)+"\n")
	oldMac := file("mac.log", "careful now\rall is well\r")

	base := []string{"--no-default-rules", "--rules", good}
	with := func(args ...string) []string { return append(append([]string{}, base...), args...) }
	rule := func(name, text string) []string {
		return []string{"--no-default-rules", "--rules", file(name, text), clean}
	}

	for _, c := range []struct {
		name   string
		args   []string
		status int
		stdout string // must be part of standard output
		stderr string // must be part of standard error
	}{
		{"clean", with(clean), exitOK, "No problem was found", ""},
		{"advisory is no failure", with(advisory), exitOK, "Runs with small problems.", ""},
		{"blocking is no failure", with(blocking), exitOK, "1 problem", ""},
		{"blind is no failure but said", with(blind), exitOK, "The log stops at line 1:", ""},
		{"empty", with(empty), exitOK, "empty, no lines", ""},
		{"empty jsonl", with("--format", "jsonl", empty), exitOK, `{"schemaVersion":3,"summary":{`, ""},
		{"gzip", with(whole), exitOK, "5000 lines", ""},

		{"fail on blocking", with("--fail-on", "blocking", blocking), exitFinding, "1 problem", ""},
		{"fail on blocking, none", with("--fail-on", "blocking", advisory), exitOK, "", ""},
		{"fail on advisory", with("--fail-on", "advisory", advisory), exitFinding, "", ""},
		{"fail on advisory counts blocking", with("--fail-on", "advisory", blocking), exitFinding, "", ""},
		{"fail on blind", with("--fail-on", "blind", blind), exitFinding, "", ""},
		{"fail on blind, none", with("--fail-on", "blind", blocking), exitOK, "", ""},
		{"fail on several", with("--fail-on", "blind,blocking", blocking), exitFinding, "", ""},
		{"any file counts", with("--fail-on", "blocking", clean, blocking, clean), exitFinding, "", ""},

		{"no file", nil, exitUsage, "", "no log of a known game"},
		{"standard input twice", with("-", clean, "-"), exitUsage, "", "standard input can be read only once"},
		{"unknown flag", with("--nope", clean), exitUsage, "", "unknown flag: --nope"},
		{"unknown format", with("--format", "xml", clean), exitUsage, "", `--format "xml": use one of text, json, jsonl`},
		{"unknown ack", with("--ack", "maybe", clean), exitUsage, "", `--ack "maybe"`},
		{"unknown fail-on", with("--fail-on", "warning", clean), exitUsage, "", `--fail-on "warning"`},
		{"empty fail-on", with("--fail-on", "", blocking), exitUsage, "", `--fail-on "": use one of`},
		{"negative top", with("--top", "-1", clean), exitUsage, "", "--top -1: must not be negative"},
		{"negative width", with("--width", "-1", clean), exitUsage, "", "--width -1: must not be negative"},
		{"top is no number", with("--top", "many", clean), exitUsage, "", `--top "many": give it a whole number`},
		{"top is too large", with("--top", "99999999999999999999", clean), exitUsage, "", "give it a smaller number"},
		{"top without a value", with(clean, "--top"), exitUsage, "", "--top needs a value: show the N most frequent"},
		{"mistyped flag", with("--formt", "json", clean), exitUsage, "", "did you mean --format?"},
		{"flag of another command", with("--text", "x"), exitUsage, "", `it is a flag of "classify-replay explain"`},
		{"mistyped value", with("--format", "jsno", clean), exitUsage, "", `did you mean "json"?`},
		{"width too small", with("--width", "7", clean), exitUsage, "", "--width 7: must be 20 or more"},
		{"color", with("--color", "yes", clean), exitUsage, "", `--color "yes": use one of auto, always, never`},
		{"quiet and verbose", with("-q", "-v", clean), exitUsage, "", "choose one"},
		{"game and file", with("--game", "rimworld", clean), exitUsage, "", "not both"},
		{"previous alone", with("--previous", clean), exitUsage, "", "--previous is for the log of a game"},
		{"unknown game", with("--game", "chess"), exitUsage, "", "COMPANY/PRODUCT"},
		{"game that is not here", with("--game", "rimworld"), exitIO, "", "no log was found; looked for"},
		{"pattern without a match", with(filepath.Join(dir, "nothing*.log")), exitIO, "", "no file matches this pattern"},
		{"pattern that is none", with(filepath.Join(dir, "a[.log")), exitIO, "", "a bracket or a brace is not closed"},
		{"rules missing", []string{"--rules", filepath.Join(dir, "absent.yaml"), clean}, exitUsage, "", "absent.yaml"},
		{"rules are a directory", []string{"--rules", dir, clean}, exitUsage, "", "rules: "},
		{"rules are no YAML", rule("broken.yaml", "version: [1"), exitUsage, "", "broken.yaml"},
		{"unknown variable", rule("var.yaml", "version: 1\nrules:\n  - id: a\n    when: 'templat == \"x\"'\n    disposition: blocking\n"), exitUsage, "", `did you mean "template"`},
		{"duplicate rule", rule("dup.yaml",
			"version: 1\nrules:\n  - id: a\n    when: 'template == \"x\"'\n    disposition: blocking\n  - id: a\n    when: "+
				"'template == \"y\"'\n    disposition: blocking\n"), exitUsage, "", "dup.yaml:6"},
		{"unreachable rule", rule("dead.yaml",
			"version: 1\nrules:\n  - id: a\n    when: 'true'\n    disposition: ignore\n  - id: b\n    when: 'template == "+
				"\"y\"'\n    disposition: blocking\n"), exitUsage, "", "dead.yaml:7"},

		{"missing file", with(missing), exitIO, "", "absent.log: no such file"},
		{"mistyped command", with("record"), exitIO, "", `did you mean the command "records"?`},
		{"letters of a command swapped", with("recrods"), exitIO, "", `did you mean the command "records"?`},
		{"no name at all", with(""), exitIO, "", `"": no such file`},
		{"directory", with(blockingDir), exitOK, "1 problem", "reading 1 log: game.log"},
		{"empty directory", with(t.TempDir()), exitIO, "", "no log found in this directory"},
		{"zip", with(file("logs.zip", "PK\x03\x04"+strings.Repeat("careful now\n", 20))), exitIO, "", "is an archive: unpack it first"},
		{"binary", with(binary), exitIO, "", "is not a text file"},
		{"UTF-16 without a mark", with(utf16), exitIO, "", "is UTF-16LE text: save it as UTF-8"},
		{"UTF-16", with(marked), exitOK, "1 line, 1 record", ""},
		{"truncated gzip", with(truncated), exitIO, "could not be read to its end", "truncated.log.gz"},
		{"UTF-32 with its mark", with(utf32), exitIO, "", "is UTF-32LE text: save it as UTF-8 first"},
		{"UTF-16 in the other order, without a mark", with(bigEndian), exitIO, "", "iconv -f UTF-16BE"},
		{"gzip in gzip", with(twice), exitOK, "1 small problem", ""},
		{"binary in gzip", with(zippedBinary), exitIO, "", "game.exe.gz is not a text file"},
		{"lines that end in CR", with(oldMac), exitOK, "2 lines, 2 records", ""},
		{"truncated gzip header", with(header), exitIO, "", "header.log.gz"},
		{"others are shown all the same", with(missing, advisory), exitIO, "1 small problem", "no such file"},
		{"input error over finding", with("--fail-on", "blocking", blocking, missing), exitIO, "1 problem", "no such file"},

		{"records missing file", []string{"records", missing}, exitIO, "", "no such file"},
		{"records unknown format", []string{"records", "--format", "json", clean}, exitUsage, "", "use one of text, jsonl"},
		{"records without a file", []string{"records"}, exitUsage, "", "name a log"},
		{
			"records truncated gzip",
			[]string{"records", "--no-default-rules", "--rules", good, truncated},
			exitIO, "careful",
			"truncated.log.gz",
		},
		{"signatures of two files", []string{"signatures", clean, clean}, exitUsage, "", "name one file at most"},
		{"signatures missing file", []string{"signatures", missing}, exitIO, "", "no such file"},
		{"signatures of a directory", []string{"signatures", dir}, exitIO, "", "is a directory"},

		{
			"rules without a command",
			[]string{"rules"},
			exitUsage, "",
			"name a command: check, diff, lint, propose, schema",
		},
		{"rules unknown command", []string{"rules", "chekc"}, exitUsage, "", `no command "chekc"`},
		{"rules check nothing", []string{"rules", "check", "--no-default-rules"}, exitUsage, "", "nothing to check"},
		{"rules check missing", []string{"rules", "check", filepath.Join(dir, "absent.yaml")}, exitUsage, "", "absent.yaml"},
		{"rules check good", []string{"rules", "check", "--no-default-rules", good}, exitOK, "3 rules, 1 test: 1 passed", ""},

		{"help", []string{"--help"}, exitOK, "Exit status", ""},
		{"help of records", []string{"records", "--help"}, exitOK, "Lines count from 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ends(t, c.status, c.args...)
			require.Contains(t, r.stdout, c.stdout)
			if c.stderr == "" {
				require.Empty(t, r.stderr)
			}
			require.Contains(t, r.stderr, c.stderr)
			for line := range strings.Lines(r.stderr) {
				require.True(t, strings.HasPrefix(line, "classify-replay: "), line)
			}
		})
	}
}

func TestSeveralFilesAreReplaysOfTheirOwn(t *testing.T) {
	a, b := write(t, "a.log", plainLog), write(t, "b.log", plainLog)
	alone := runArgs(t, testArgs(t, b)...)
	both := runArgs(t, testArgs(t, a, b)...)
	require.True(t, strings.HasSuffix(both.stdout, "\n\n"+alone.stdout), "the second replay is as if it were alone")
	require.True(t, strings.HasPrefix(both.stdout, a+": "))
}

// stuck gives some text, then blocks until the test ends.
type stuck struct {
	text    io.Reader
	release chan struct{}
	reached func()
}

func (s *stuck) Read(b []byte) (int, error) {
	n, err := s.text.Read(b)
	if n == 0 && errors.Is(err, io.EOF) {
		s.reached()
		<-s.release
		return 0, io.EOF
	}
	return n, nil
}

// full is a disk without room.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestOutputThatCannotBeWritten(t *testing.T) {
	log := write(t, "a.log", plainLog)
	for _, args := range [][]string{
		testArgs(t, log), testArgs(t, "--format", "json", log), testArgs(t, "--format", "jsonl", log),
		{"records", log},
		{"signatures", log},
		{"rules", "check"},
		{"rules", "schema"},
		{"rules", "lint"},
		{"report", log},
		{"diff", log, log},
		{"diff", "--format", "json", log, log},
		{"suspects", log, log},
		{"baseline", "write", "-o", "-", log},
		{"schema"},
		{"config", "show"},
		{"config", "show", "--format", "json"},
		{"--help"},
		{"help", "records"},
		{"--version"},
		{"completion", "bash"},
		{"completion", "zsh"},
		{"completion", "fish"},
		{"completion", "powershell"},
		{"explain", log + ":1"},
		{"rules", "diff", "default", "default", log},
		testArgs(t, "rules", "propose", log+":2"),
	} {
		var stderr bytes.Buffer
		status := run(t.Context(), args, strings.NewReader(""), full{}, &stderr)
		require.Equal(t, exitIO, status, "%v", args)
		require.Equal(t, 1, strings.Count(stderr.String(), "no space left"), "%v: %s", args, stderr.String())
	}
}

func defaultRules(t *testing.T) *rules.Set {
	t.Helper()
	return testkit.Must(CompileRules(rules.Defaults()...))
}

// requireInert fails for output that acts on a terminal.
func requireInert(t *testing.T, out string) {
	t.Helper()
	testkit.Inert(t, out, "\n\t")
}

func TestRulesCheckReportsFailures(t *testing.T) {
	bad := write(t, "bad.yaml", `version: 1
rules:
  - id: test.wrong
    when: 'template startsWith "a"'
    disposition: blocking
    tests:
      - match: "b is not a"
      - no_match: "another"
      - match: "a is a"
`)
	r := ends(t, exitUsage, "rules", "check", "--no-default-rules", bad)
	require.Contains(t, r.stdout, "1 rule, 3 tests: 1 passed, 2 FAILED")
	require.Equal(t, 3, strings.Count(r.stderr, "\n"), r.stderr)
	require.Contains(t, r.stderr, ":7:")
	require.Contains(t, r.stderr, "tests failed")
}
