package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// requireSchema holds a document to one of the JSON Schemas of the repository, whose
// version it says first.
func requireSchema(t *testing.T, name, document string) {
	t.Helper()
	require.True(t, strings.HasPrefix(document, `{"schemaVersion":3,`), document)
	testkit.RequireValid(t, compileSchema(t, name), document)
}

// logDiff runs diff on two files and returns its document.
func logDiff(t *testing.T, args ...string) *compare.Diff {
	t.Helper()
	out := ok(t, append([]string{"diff", "--format", "json"}, args...)...)
	requireSchema(t, "diff", out)
	d := decoded[compare.Diff](t, out)
	return &d
}

// decoded reads a document.
func decoded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

func requireEmpty(t *testing.T, d *compare.Diff) {
	t.Helper()
	require.Empty(t, d.Added)
	require.Empty(t, d.Gone)
	require.Empty(t, d.More)
	require.Empty(t, d.Less)
}

var (
	testIDs     = regexp.MustCompile(`([A-Za-z_])\d{4,}\b`)
	testVectors = regexp.MustCompile(`\(-?\d+, -?\d+, -?\d+\)`)
)

// asJSON writes the log records of a capture as JSON lines, so that each stands
// alone. Shuffled, they are in another order, with other ids and coordinates.
func asJSON(t *testing.T, file string, random *rand.Rand) []string {
	t.Helper()
	in := testkit.Must(os.Open(file))
	defer func() { _ = in.Close() }()
	reader := testkit.Must(capture.NewReader(in, capture.Options{}))
	var lines []string
	for {
		var rec capture.Record
		err := reader.Next(&rec)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if !rec.IsLog() {
			continue
		}
		head, rest, _ := strings.Cut(rec.Message, "\n")
		if random != nil {
			head = testIDs.ReplaceAllStringFunc(head, func(s string) string {
				return fmt.Sprint(s[:1], 1000+random.IntN(1<<20))
			})
			head = testVectors.ReplaceAllStringFunc(head, func(string) string {
				return fmt.Sprintf("(%d, 0, %d)", random.IntN(300), random.IntN(300))
			})
		}
		fields := map[string]string{"message": head + "\n" + rest, "stack": rec.Stack, "level": rec.Level.String()}
		lines = append(lines, string(testkit.Must(json.Marshal(fields))))
	}
	if random != nil {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	return lines
}

// TestDiffOfShuffled: a capture has no difference from itself, nor from itself
// with other ids, coordinates and order; with one fault planted, exactly that.
func TestDiffOfShuffled(t *testing.T) {
	testkit.Full(t, "compares each capture with itself in another order")
	files := captures(t, ownCaptures)
	t.Run("own", func(t *testing.T) { diffOfShuffled(t, files) })
	t.Run("reference", func(t *testing.T) {
		testkit.Full(t, "many and long")
		diffOfShuffled(t, captures(t, testkit.Dir(t, "rimworld")))
	})
}

func diffOfShuffled(t *testing.T, files []string) {
	const fault = `{"level":"error","message":"Exception in quarry: System.NullReferenceException: no stone","stack":"  at Quarry.Pit.Dig () [0x00000] in <0>:0"}`
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			requireEmpty(t, logDiff(t, file, file))
			random := rand.New(rand.NewPCG(uint64(i), 7))
			lines := asJSON(t, file, nil)
			if len(lines) == 0 {
				t.Skip("no log records")
			}
			straight := write(t, "straight.jsonl", strings.Join(lines, "\n"))
			lines = asJSON(t, file, random)
			requireEmpty(t, logDiff(t, straight, write(t, "shuffled.jsonl", strings.Join(lines, "\n"))))

			lines[random.IntN(len(lines))] += "\n" + fault
			planted := write(t, "planted.jsonl", strings.Join(lines, "\n"))
			d := logDiff(t, straight, planted)
			require.Len(t, d.Added, 1)
			require.Contains(t, d.Added[0].Template, "Exception in quarry")
			require.Len(t, d.Added[0].Blame, 1) // the log may list a mod of that name
			require.Equal(t, "Quarry", strings.TrimPrefix(d.Added[0].Blame[0], text.Code))
			d.Added = nil
			requireEmpty(t, d)
			d = logDiff(t, planted, straight)
			require.Len(t, d.Gone, 1)
		})
	}
}

// upload returns the project's upload as it was before a mod was added, another
// updated, and a third moved.
func upload(t *testing.T) (before string) {
	t.Helper()
	text := string(testkit.Must(os.ReadFile(own("upload-1.4.txt"))))
	cut := func(from, to string) string {
		i := strings.Index(text, from)
		require.Positive(t, i)
		n := strings.Index(text[i:], to)
		require.Positive(t, n)
		part := text[i : i+n+len(to)]
		text = text[:i] + text[i+n+len(to):]
		return part
	}
	cut("Brick Kilns (Continued)(", "\n")
	boats := cut("Riverboats(oakapple", "\n")
	cut("Error in static constructor of BrickKilns.Startup", "Line: 39)")
	text = strings.Replace(text, "Lantern Festival(", boats+"Lantern Festival(", 1)
	text = strings.Replace(text, "[mv:2.3.0]: QuarryPlus(av:2.3.0,fv:2.3.0)",
		"[mv:2.2.0]: QuarryPlus(av:2.2.0,fv:2.2.0)", 1)
	return write(t, "before.txt", text)
}

// runIn runs a command line in a directory, so that names in what it prints have
// one length on all machines.
func runIn(t *testing.T, dir string, args ...string) result {
	t.Helper()
	back := testkit.Must(os.Getwd())
	require.NoError(t, os.Chdir(dir))
	defer func() { require.NoError(t, os.Chdir(back)) }()
	return runArgs(t, args...)
}

// copyTo copies one of the project's captures.
func copyTo(t *testing.T, dir, name string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), testkit.Must(os.ReadFile(own(name))), 0o600))
}

func TestGoldenSuspects(t *testing.T) {
	dir := filepath.Dir(upload(t))
	copyTo(t, dir, "upload-1.4.txt")
	for _, format := range []string{"text", "json", "markdown"} {
		r := runIn(t, dir, "suspects", "--format", format, "--width", "110", "before.txt", "upload-1.4.txt")
		require.Equal(t, exitOK, r.status, r.stderr)
		if format == formatJSON {
			requireSchema(t, "suspects", r.stdout)
		}
		requireGolden(t, "suspects."+format+".txt", r.stdout)
	}
	// Lists of their own.
	list := func(ids ...string) string {
		return write(t, "ModsConfig.xml", "<ModsConfigData><activeMods><li>"+strings.Join(ids,
			"</li><li>")+"</li></activeMods></ModsConfigData>")
	}
	out := ok(t, "suspects", "--old-mods", list("game.core"), "--new-mods", list("game.core", "oakapple.riverboats"),
		own("healthy-1.6.log"), own("cascade-1.6.log"))
	require.Contains(t, out, "Mods: 1 added.")
	require.Regexp(t, `1  Riverboats +1 blocking group, 1 entry: its code is in the stack trace; added`, out)
	healthy := own("healthy-1.6.log")
	r := ends(t, exitIO, "suspects", "--new-mods", healthy, healthy, own("cascade-1.6.log"))
	require.Contains(t, r.stderr, "healthy-1.6.log: ")

	// The lists that the game writes where it loads a save.
	out = ok(t, "suspects", own("hole-1.4.log"), own("cascade-1.6.log"))
	require.Contains(t, out, "Mods: 2 added, 1 removed.")
	require.Regexp(t, `1  Beekeeping +1 blocking group, 1 entry: its code is in the stack trace; added`, out)

	// The logs say which mods a game was loaded with.
	require.Contains(t, ok(t, "suspects", own("healthy-1.6.log"), own("cascade-1.6.log")), "Mods: 2 removed.")
	require.Contains(t, ok(t, "suspects", own("healthy-1.6.log"), write(t, "empty.log", "")), "There is nothing to compare")
	out = ok(t, "suspects", own("healthy-1.6.log"), own("healthy-1.6.log"))
	require.Contains(t, out, "No urgent group is new or more frequent.\n  Both sides list the same mods in the same order.\n")
	without := func(name string) string {
		data := testkit.Must(os.ReadFile(own(name)))
		return write(t, name, strings.ReplaceAll(string(data), " with mods:", ""))
	}
	out = ok(t, "suspects", without("healthy-1.6.log"), without("cascade-1.6.log"))
	require.Contains(t, out, "Neither side has a list of mods")
	require.Contains(t, out, "not blamed for anything in the old logs")
}

// TestEqualWordsOfTwoMods holds that a mod whose faults are known excuses no other mod with the same words: in a
// baseline, in a proposed rule, and in the items of one log.
func TestEqualWordsOfTwoMods(t *testing.T) {
	for name, form := range map[string]string{
		"loader": "[Error  :%10s] could not read the settings\n",
		"java":   "[12:30:01] [main/ERROR] [%s/]: could not read the settings\n",
		"python": "2031-04-05 12:30:01,001 - %s - ERROR - could not read the settings\n",
		"json":   `{"level":"error","logger":"%s","message":"could not read the settings"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			lamps, ovens := strings.Repeat(fmt.Sprintf(form, "Lamps"), 20), strings.Repeat(fmt.Sprintf(form, "Ovens"), 20)
			known, other := write(t, "lamps.log", lamps), write(t, "ovens.log", ovens)
			baseline := filepath.Join(t.TempDir(), "known.yaml")
			ends(t, exitOK, "baseline", "write", "--date", "2026-01-01", "-o", baseline, known)
			check := []string{"baseline", "check", "--date", "2026-01-02", "--baseline", baseline, "--fail-on", "new"}
			ends(t, exitOK, append(check, known)...)
			ends(t, exitFinding, append(check, other)...)

			both := write(t, "both.log", lamps+ovens)
			groups := runIn(t, t.TempDir(), "replay", both).stdout
			require.Contains(t, groups, "from Lamps")
			require.Contains(t, groups, "from Ovens")
			if name != "loader" {
				return // a rule knows the source alone, and not its form
			}
			rule := write(t, "own.yaml", ok(t, "rules", "propose", "--quiet", "--disposition", "ignore", known+":1"))
			require.Contains(t, runIn(t, t.TempDir(), "replay", "--rules", rule, both).stdout, "20 ignored, 20 counted in items")
		})
	}
}

func TestGoldenBaseline(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"colony-1.6.log", "cascade-1.6.log"} {
		copyTo(t, dir, name)
	}
	file := filepath.Join(dir, "noise.yaml")
	r := ends(t, exitOK, "baseline", "write", "--date", "2026-01-01", "-o", file, own("colony-1.6.log"))
	require.Empty(t, r.stdout)
	require.Contains(t, r.stderr, "17 groups\n")
	require.Contains(t, r.stderr, "a log went blind or is cut")
	data := testkit.Must(os.ReadFile(file))
	requireGolden(t, "baseline.yaml", hidden(string(data)))

	// Written again, nothing changes but what people wrote is kept.
	noted := strings.Replace(string(data), "    template:", "    note: \"harmless\"\n    template:", 1)
	require.NoError(t, os.WriteFile(file, []byte(noted), 0o600))
	ok(t, "baseline", "write", "--date", "2026-01-01", "-o", file, own("colony-1.6.log"))
	again := testkit.Must(os.ReadFile(file))
	require.Equal(t, noted, string(again))

	check := func(status int, args ...string) string {
		t.Helper()
		r := runIn(t, dir, append([]string{"baseline", "check", "--baseline", "noise.yaml"}, args...)...)
		require.Equal(t, status, r.status, r.stderr)
		return r.stdout
	}
	require.Contains(t, check(exitOK, "--date", "2026-01-02", "--fail-on", "new,advisory", "colony-1.6.log"),
		"The baseline explains everything that was found.")
	require.Contains(t, check(exitFinding, "--date", "2026-01-02", "--fail-on", "blind", "colony-1.6.log"), "The log stops at line 1065")
	require.Contains(t, check(exitFinding, "--date", "2026-04-01", "--fail-on", "new", "colony-1.6.log"), "17 expired.")
	requireGolden(t, "check.text.txt", check(exitFinding, "--date", "2026-01-02", "--width", "120",
		"cascade-1.6.log"))
	requireGolden(t, "check.markdown.txt", check(exitFinding, "--date", "2026-01-02", "--format", "markdown",
		"cascade-1.6.log"))
	r = runIn(t, dir, "baseline", "check", "--baseline", "noise.yaml", "--date", "2026-05-02", "--format", "json",
		"cascade-1.6.log")
	require.Equal(t, exitFinding, r.status, r.stderr)
	requireSchema(t, "baseline-check", r.stdout)
	require.Contains(t, r.stdout, `"expired":[{`)
	require.Contains(t, r.stdout, `"note":"harmless"`)

	// Other rules: said, and groups are known all the same.
	own2 := write(t, "own.yaml",
		"version: 1\nrules:\n  - id: own.rule\n    when: 'template == \"nothing like it\"'\n    disposition: advisory\n")
	require.Contains(t, check(exitOK, "--date", "2026-01-02", "--fail-on", "new", "--rules", own2, "colony-1.6.log"),
		"written with other rules")
}

// hidden takes the version of the rules out of a baseline: any change of a default
// rule is another one.
func hidden(baseline string) string {
	return regexp.MustCompile(`(rules|masking): "[0-9a-f]{16}"`).ReplaceAllString(baseline, `$1: "0123456789abcdef"`)
}

func TestBaselineErrors(t *testing.T) {
	log := own("healthy-1.6.log")
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.yaml")
	r := ends(t, exitUsage, "baseline", "check", "--baseline", missing, log)
	require.Contains(t, r.stderr, "none.yaml: no such file")
	require.Contains(t, r.stderr, "write one first")

	bad := write(t, "bad.yaml", "version: 1\nsignatures: one\n")
	for _, args := range [][]string{{"check", "--baseline", bad, log}, {"write", "-o", bad, log}} {
		r = ends(t, exitUsage, append([]string{"baseline"}, args...)...)
		require.Contains(t, r.stderr, "bad.yaml:2:13: signatures: is \"one\" (want a whole number")
	}
	out := ok(t, "baseline", "write", "-o", "-", log)
	version := fmt.Sprintf("signatures: %d\n", signature.Version)
	old := write(t, "newer.yaml", strings.Replace(out, version, "signatures: 7\n", 1))
	for _, args := range [][]string{{"check", "--baseline", old}, {"write", "-o", old}, {"check", "--baseline", old}} {
		ok(t, append([]string{"baseline", args[0], log}, args[1:]...)...)
	}

	kept := filepath.Join(dir, "kept.yaml")
	r = ends(t, exitIO, "baseline", "write", "-o", kept, filepath.Join(dir, "no.log"))
	require.Contains(t, r.stderr, "was not written")
	require.NoFileExists(t, kept)

	for _, test := range []struct {
		want string
		args []string
	}{
		{"--date \"soon\"", []string{"baseline", "check", "--baseline", old, "--date", "soon", log}},
		{"--expire 0", []string{"baseline", "write", "--expire", "0", log}},
		{"only once", []string{"diff", "-", "-"}},
		{"--fail-on \"old\"", []string{"diff", "--fail-on", "old", log, log}},
	} {
		require.Contains(t, ends(t, exitUsage, test.args...).stderr, test.want)
	}
}

func TestDiffStatus(t *testing.T) {
	old := write(t, "old.log", "starting\ncareful now\nbye\n")
	fresh := write(t, "new.log", "starting\ncareful now\ncannot save the game to slot 1\nbye\n")
	chat := write(t, "chat.log", "starting\ncareful now\nhow do you do\nbye\n")
	blind := write(t, "blind.log", "starting\ncareful now\nno more messages\n")
	for _, test := range []struct {
		failOn string
		log    string
		status int
	}{
		{"new", old, exitOK},
		{"new", fresh, exitFinding},
		{"blocking", fresh, exitFinding},
		{"advisory", fresh, exitFinding},
		{"blind", fresh, exitOK},
		{"new,blocking,advisory,blind", chat, exitOK},
		{"blocking", blind, exitOK},
		{"blind", blind, exitFinding},
		{"advisory", blind, exitFinding},
		{"new", old + "x", exitIO},
	} {
		ends(t, test.status, testArgs(t, "diff", "--fail-on", test.failOn, old, test.log)...)
	}
	r := runArgs(t, testArgs(t, "diff", fresh, blind)...)
	require.Contains(t, r.stdout,
		"The new side stops at line 3 (test.cap): what seems gone or less frequent "+
			"may only be missing from the log.")

	// A log that is cut is compared as far as it goes, and said to be cut.
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "cannot save the game to slot %d\n", i)
	}
	zipped := gzipped(t, lines.String())
	cut := write(t, "cut.log.gz", zipped[:len(zipped)/2])
	r = ends(t, exitIO, testArgs(t, "diff", old, cut)...)
	require.Contains(t, r.stdout, "The new side was only read to line ")
	require.Contains(t, r.stdout, "cannot save the game to slot <*>")
}

// TestComparisonsInColor: colors change nothing else, and what is compared fits a
// narrow terminal.
func TestComparisonsInColor(t *testing.T) {
	before, after := filepath.Join(ownCaptures, "advisory-1.4.log"), filepath.Join(ownCaptures, "colony-1.6.log")
	for _, command := range []string{"diff", "suspects"} {
		for _, width := range []string{"20", "110"} {
			plain := runArgs(t, command, "--width", width, before, after).stdout
			colored := runArgs(t, command, "--width", width, "--color", "always", before, after).stdout
			require.NotEqual(t, plain, colored)
			require.Equal(t, plain, testkit.WithoutColors(colored))
			columns := testkit.Must(strconv.Atoi(width))
			for line := range strings.Lines(plain) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), columns, "%s --width %s: %s",
					command, width, line)
			}
		}
	}
}

// TestSuspectsLists: what is wrong with a list of mods is said before logs are read, and
// one that is too large is said to be so.
func TestSuspectsLists(t *testing.T) {
	large := filepath.Join(t.TempDir(), "ModsConfig.xml")
	require.NoError(t, os.WriteFile(large, make([]byte, maxModsConfig+1), 0o600))
	for list, want := range map[string]string{
		large:                            "has more than 4194304 bytes",
		filepath.Join(t.TempDir(), "no"): "no: no such file",
	} {
		r := ends(t, exitIO, "suspects", "--new-mods", list, "no.log", "no.log")
		require.NotContains(t, r.stderr, "no.log")
		if runtime.GOOS != "windows" || list == large { // which has other words for it
			require.Contains(t, r.stderr, want)
		}
	}
}
