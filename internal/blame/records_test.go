package blame_test

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/testkit"
)

// TestRecords holds the suspects of each record of a file, with all that they have, below the record. Each section is a
// finder. Its lines are commands in order:
//
//	mod NAME|PACKAGE ID|WORKSHOP ID|ASSEMBLY,ASSEMBLY   Learn
//	all N, game NAME, trace TRACE, names RECORD         LearnAll, LearnGame, LearnTrace, LearnNames of what Find finds
//	who NAME                                            Mod, Called and Link
//	find RECORD                                         Find; "\n", "\t", "\e", "\o" and "\l" are signs, see record
//	grid RECORD                                         Find with each of some signs in place of "¿", by the answer
//
// "@@A.B,x:C.D" in a record is a trace of two frames, the second in module xxx…; "||" goes before a stack.
func TestRecords(t *testing.T) {
	var out strings.Builder
	for name, script := range testkit.Scripts(t, "testdata/records.txt") {
		f := finder(t)
		fmt.Fprintf(&out, "== %s\n", name)
		for line := range strings.SplitSeq(strings.TrimSuffix(script, "\n"), "\n") {
			if strings.HasPrefix(line, "\t") {
				continue
			}
			fmt.Fprintln(&out, line)
			command, text, _ := strings.Cut(line, " ")
			answer := ""
			switch command {
			case "mod":
				parts := append(strings.Split(text, "|"), "", "", "")
				m := blame.Mod{Name: parts[0], PackageID: parts[1], WorkshopID: parts[2]}
				if parts[3] != "" {
					m.Assemblies = strings.Split(parts[3], ",")
				}
				if !f.Learn(m) {
					answer = "not learned"
				}
			case "all":
				answer = fmt.Sprint(f.LearnAll(testkit.Must(strconv.Atoi(text))))
			case "game":
				f.LearnGame(text)
			case "trace":
				_, stack := record(text)
				f.LearnTrace(stack)
				answer = fmt.Sprint("knows ", f.Knows())
			case "names":
				message, stack := record(text)
				f.LearnNames(f.Find(nil, message, stack))
			case "who":
				m, ok := f.Mod(text)
				answer = fmt.Sprintf("%q %v %q %s", []string{m.Name, m.PackageID, m.WorkshopID}, ok, f.Called(text), m.Link())
			case "find":
				answer = findings(t, f, text)
			case "grid":
				for _, signs := range grid(t, f, text) {
					answer += signs
				}
			}
			if answer != "" {
				fmt.Fprintln(&out, "\t"+answer)
			}
		}
	}
	testkit.Golden(t, "testdata/records.txt", out.String())
}

func findings(t *testing.T, f *blame.Finder, text string) string {
	message, stack := record(text)
	var all []string
	suspects := f.Find(nil, message, stack)
	if f.Mods() == 0 && f.Knows() == 0 {
		requireNamed(t, suspects, message, stack)
	}
	for _, s := range suspects {
		all = append(all, fmt.Sprintf("%s (%s %s) %d %v", s.Mod, s.PackageID, s.WorkshopID, s.Score, s.Evidence))
	}
	return strings.Join(all, "; ")
}

// grid returns the answers to a record with one sign or another in a place, each after the signs that lead to it.
func grid(t *testing.T, f *blame.Finder, text string) (lines []string) {
	signs := map[string]string{}
	var answers []string
	for sign := range strings.SplitSeq(`0|9|/|:|@|A|Z|[|]|\|_|a|z|{|}|~|.|-|+|'|"|(|)|<|>|,|;|=|&|?|#|!|$|%|^|*| |é|Ж|字|`, "|") {
		answer := findings(t, f, strings.ReplaceAll(text, "¿", sign))
		if signs[answer] == "" {
			answers = append(answers, answer)
		}
		signs[answer] += sign + "|"
	}
	for i, answer := range answers {
		lines = append(lines, strings.Repeat("\n\t", min(i, 1))+signs[answer]+" => "+answer)
	}
	return lines
}

// records yields the message and the stack of each record of the file.
func records(tb testing.TB) iter.Seq2[string, string] {
	return func(yield func(message, stack string) bool) {
		for _, script := range testkit.Scripts(tb, "testdata/records.txt") {
			for line := range strings.Lines(script) {
				if text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "find "); ok && !yield(record(text)) {
					return
				}
			}
		}
	}
}

// record returns the message and the stack that a line of the file stands for.
func record(text string) (message, stack string) {
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\e`, "\x1b", `\o`, "\u202e", `\l`, "\u2028").Replace(text)
	message, frames, isTrace := strings.Cut(text, "@@")
	if !isTrace {
		message, stack, _ = strings.Cut(text, "||")
		return message, stack
	}
	for f := range strings.SplitSeq(frames, ",") {
		module, method, ok := strings.Cut(f, ":")
		if !ok {
			module, method = "", f
		}
		stack += fmt.Sprintf("  at %s () [0x00012] in <%s>:0\n", method, strings.Repeat(module, 32))
	}
	return message, strings.TrimSuffix(stack, "\n")
}

func TestLinkIsNoText(t *testing.T) {
	for _, id := range []string{"", "x", "12 34", "1&a=b", "-1", strings.Repeat("1", 30)} {
		require.Empty(t, (&blame.Mod{WorkshopID: id}).Link(), id)
	}
	require.NotEmpty(t, (&blame.Mod{WorkshopID: strings.Repeat("1", 20)}).Link(), "as long as a number can be")
}

// TestKey holds which signs a key keeps, and how many.
func TestKey(t *testing.T) {
	var all strings.Builder
	for c := range rune(128) {
		all.WriteRune(c)
	}
	require.Equal(t, "0123456789abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", blame.Key(all.String()))
	require.Equal(t, "жж9字é", blame.Key("Ж…ж9 字\u0080É"))
	require.Equal(t, blame.Key("Weaver"), blame.Key("code: Weaver"), "both name one mod")
	require.Equal(t, strings.Repeat("a", 64), blame.Key(strings.Repeat("a", 70)))
	require.Equal(t, strings.Repeat("ж", 32), blame.Key(strings.Repeat("ж", 40)))
}

// TestNumberIsOwn holds that the number of a mod outlives the memory of the record that taught it.
func TestNumberIsOwn(t *testing.T) {
	f := blame.New(nil)
	f.Learn(blame.Mod{Name: "Printing Press", PackageID: "acme.press"})
	read := []byte(`[Printing Press - Start of stack trace]` + "\n" + `Source file: D:\workshop\content\123450\1234567890\P.xml`)
	f.LearnNames(f.Find(nil, unsafe.String(&read[0], len(read)), ""))
	clear(read)
	m, _ := f.Mod("Printing Press")
	require.Equal(t, "1234567890", m.WorkshopID)
}

// TestListedAgain: a mod that is listed again as it was teaches nothing.
func TestListedAgain(t *testing.T) {
	mods := []blame.Mod{
		{Name: "A Tool", PackageID: "some.tool"},
		{Name: "A Tool", WorkshopID: "12"},
		{Name: "B", Assemblies: []string{"C"}},
		{Name: "D", Assemblies: []string{"C"}},
		{Name: "E", Assemblies: []string{"C"}},
	}
	f := finder(t)
	before := 0
	for i, m := range mods {
		require.True(t, f.Learn(m))
		require.Greater(t, f.Lessons(), before, i)
		before = f.Lessons()
	}
	for i, m := range mods {
		require.True(t, f.Learn(m))
		require.Equal(t, before, f.Lessons(), i)
	}
}

// TestMethodsAreBounded: of more methods than there is room for, the first stay.
func TestMethodsAreBounded(t *testing.T) {
	f := finder(t)
	for i := range blame.MaxMethods + 10 {
		f.LearnTrace(trace(fmt.Sprintf("Farm.Cow.Eat%d", i)))
	}
	require.Equal(t, 8192, f.Methods())
	f = finder(t)
	for i := range 8200 {
		f.LearnTrace(fmt.Sprintf("  at Farm.Cow.Eat () [0x00012] in <%032x>:0", i))
	}
	require.Equal(t, 8192+blame.MinTraces, f.Knows())

	before := strings.Repeat("\n", 32<<10-len("mod 'A Tool'"))
	require.Len(t, f.Find(nil, before+"mod 'A Tool'", ""), 1)
	require.Empty(t, f.Find(nil, "\n"+before+"mod 'A Tool'", ""), "text beyond 32 KiB")
	f = finder(t)
	f.LearnTrace(before + "\n\n\n\n" + trace("Farm.Cow.Eat"))
	require.Zero(t, f.Knows())
}

// TestLearnTraceKeepsNothing holds that a trace may be overwritten once it was learned.
func TestLearnTraceKeepsNothing(t *testing.T) {
	const trace = "  at Acme.Loop.Run () [0x00001] in <0123>:0\n  at Acme.Loop.Tick () [0x00001] in <0123>:0\n" +
		"  at Acme.Loop.Turn () [0x00001] in <0123>:0\n  at Lamps.Lamp.Burn () [0x00001] in <4567>:0\n"
	want, got := finder(t), finder(t)
	buffer := make([]byte, len(trace))
	for range 100 {
		copy(buffer, trace)
		want.LearnTrace(trace)
		got.LearnTrace(unsafe.String(&buffer[0], len(buffer)))
	}
	clear(buffer)
	require.Len(t, want.Find(nil, "stuck", trace), 1, "most frames are the game's")
	require.Equal(t, want.Find(nil, "stuck", trace), got.Find(nil, "stuck", trace))
}
