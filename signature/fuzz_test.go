package signature

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
)

// checkLaws asserts on one entry everything that holds for all of them.
func checkLaws(t *testing.T, n *Normalizer, r *reference, message, stack string) {
	t.Helper()
	tpl := string(n.AppendTemplate(nil, message, stack))
	whole, _ := splitHead(message)
	head, frames, _ := strings.Cut(tpl, "\n")
	require.Equal(t, r.head(whole), head, "fast and reference template of %q", message)

	again := string(n.AppendTemplate(nil, tpl, ""))
	require.Equal(t, tpl, again, "the template of the template of %q, %q", message, stack)
	require.Equal(t, tpl, string(n.AppendTemplate(nil, head, frames)), "the template of head and frames of %q", tpl)

	key := n.Key(message, stack)
	require.Equal(t, referenceKey(tpl), key, "key of %q, %q", message, stack)
	require.Equal(t, key, n.Key(tpl, ""), "key of the template of %q, %q", message, stack)
	require.Equal(t, Of([]byte(tpl)), n.Signature(message, stack))

	for i, line := range strings.Split(tpl, "\n") {
		require.Equal(t, strings.Trim(line, refSpaces), line, "white space at the ends of line %d of %q", i, tpl)
		require.NotContains(t, line, "  ")
		for j := range len(line) {
			require.True(t, line[j] == ' ' || classes[line[j]]&space == 0, "white space in line %d of %q", i, tpl)
		}
		require.True(t, i == 0 || strings.HasPrefix(line, "at ") && !strings.Contains(line[3:], " "), "frame %q", line)
	}
	n.AppendSpans(nil, message)

	if key := n.Key(message, ""); n.DigitsVary(message, "", key, make([]byte, len(message))) {
		rng := rand.New(rand.NewPCG(key.Hash, 1))
		for range 8 {
			other := otherDigits(rng, message)
			require.Equal(t, key, n.Key(other, ""), "the digits of %q and %q", message, other)
		}
	}
}

// otherDigits returns s with other digits in place of its own.
func otherDigits(rng *rand.Rand, s string) string {
	b := []byte(s)
	for i := range b {
		if classes[b[i]]&digit != 0 {
			b[i] = '0' + byte(rng.IntN(10))
		}
	}
	return string(b)
}

// referenceKey hashes a finished template, byte by byte.
func referenceKey(template string) Key {
	h := newHasher()
	head, frames, some := strings.Cut(template, "\n")
	for i, stretch := range strings.Split(head, Mask) {
		if i > 0 {
			h = h.end(endMask)
		}
		h = byByte(h, stretch)
	}
	h = h.end(endLine)
	for some {
		var name string
		name, frames, some = strings.Cut(frames, "\n")
		h = byByte(h, strings.TrimPrefix(name, "at ")).end(endLine)
	}
	return h.sum()
}

func byByte(h hasher, s string) hasher {
	for i := range len(s) {
		h = h.add(uint64(s[i]), 8)
	}
	return h
}

func testNormalizer(tb testing.TB) (*Normalizer, *reference) {
	c := Config{Protect: []string{"H2O", "42", "C4", "-7", "Mar"}, MaxFrames: 4, LoggerFrames: []string{"Acme.Log."}}
	n, err := New(c)
	require.NoError(tb, err)
	return n, newReference(c)
}

func FuzzHead(f *testing.F) {
	for _, c := range headCases {
		f.Add(c.text)
	}
	for _, s := range hostile {
		f.Add(s)
	}
	for _, e := range goldenTexts {
		f.Add(e[0])
	}
	n, r := testNormalizer(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 512 {
			return
		}
		checkLaws(t, n, r, text, "")
	})
}

func FuzzStack(f *testing.F) {
	for _, c := range frameCases {
		f.Add("Error:", c.line)
		f.Add("Error:\n"+c.line, "")
		f.Add("\n"+c.line, c.line)
	}
	for _, s := range hostile {
		f.Add("", s)
		f.Add("", "at "+s)
		f.Add("", "File \""+s+"\", line , in n")
	}
	for _, e := range goldenTexts {
		f.Add(e[0], e[1])
	}
	n, r := testNormalizer(f)
	f.Fuzz(func(t *testing.T, message, stack string) {
		if len(message)+len(stack) > 512 {
			return
		}
		checkLaws(t, n, r, message, stack)
	})
}

// headPieces and framePieces are what the rules are sensitive to. Texts made of
// them reach in seconds what bytes alone reach in days.
var headPieces = []string{
	" ", " ", " ", "  ", "\t", "\r", "\x00", "\x7f", "\u0085", "\u2028", "\n",
	"<*>", "<*>", "<", "*", ">", "5", "12", "-7", "+3", "a1", "H2O", "42", "C4", "0x1F", "deadbeef", "cafebabe", "ff", "ab", "fe80",
	"\"", "\"", "'", "'", "=", "=", ":", ":", "::", ",", ";", "|", "@", "#", "~", "+", "-", ".", "..", "/", "//", "\\", "\\\\", "?", "!", "%", "&", "$", "_", "`", "`1",
	"(", ")", "()", "[", "]", "{", "}",
	"a", "b", "x", "word", "Name", "GET", "SELECT", "sum", "of", "and", "to", "true", "null",
	"code", "Code", "status", "HRESULT", "errno", "error", "was", "user", "for", "invalid",
	"ms", "s", "KB", "KB/s", "PM", "UTC", "Jan", "Mar", "May", "Monday", "March",
	"C:/", "d:\\", "http://", "https", "://", "\\\\?\\", "./", "../", "a/b/c", "x.dll", ".cs", "acme.com", "api.acme.org", "Int32", "System.", "2D", "UTF-8", "HTTP/1.1",
	"é", "ж", "中", "한", "\xff", "\xe0", "\x80", "\xc3", "“",
	"msg", "msg=", "error=\"", "\"msg\":\"", "] \"", "[\"", "\"] [", "\" k=", "\\\"", "\\ ", "signal ", "rc", "state", "State=", "level: ", "HTTP/1.1\" ", "200", "| 200 |",
	"@", "a@b.c", "localhost:", "%", "%", "\u00b5s", "NaN", "inf", "::1", "[::", "]:80", "fe80::1%", "ORA-00942", "ORA-123:", "==", "ab+cd/ef", "lib/..", "/../", "/.a", " (1.5 KB)", "#3#", "FOO", "FOO_BAR",
	"SomethingException", "Acme.FooException: ", "KeyError", "Error`1", "on", "Stopped", "ERROR",
	"0", "1", "on=", "on: ", "=0", ": 1", "returned ", "ed with ", " -5", "404", "CS0246: ", "failed: \"", "disk full", ": '", "day",
}

var framePieces = []string{
	"\n", "\n", "\n", " ", " ", "  ", "\t", "\r", "\x00",
	"at ", "at ", "  at ", "async ", "new ", "(wrapper dynamic-method) ", "(wrapper managed-to-native) ", "(wrapper ", "0x01AF ", "0x", "(Mono JIT Code) ", "#3 ", " in ", "File \"", "a/mod.py", "\", line 3", ", in ",
	"MonoMod.Utils.DynamicMethodDefinition.", "MonoMod.Utils.DynamicMethodDefinition:", "MonoMod.Utils.DynamicMethodDefinition", "DMD<", "DMD<>?", ">?-12", "DMD", "::",
	"Acme", "Press", "Run", "Log", "Acme.Log.", "Acme.Log:", "Acme.Press.", "A.B.", "A", "B", ".", ".", ".", ":", ":", "/", "+", "..ctor", ".ctor",
	"_Patch1", "_Patch", "_Patch22", "<>c", "__DisplayClass8_0", "<", ">", "<Run>", "b__1_0", "d__7", "g__Local|2_1", "|", "_", "`1", "`", "[T]", "[[A, B]]", "[", "]", "<T>", "<A, B>", "$1", "$", "lambda$main$0", "func1", "func", "12", "0", "é", "中", "\xff",
	"(", ")", "()", "(...)", "(0x1)", "(*T)", "(*", ").", " (string)", " (Acme.Press p)", "(int)", ":0", ":12", " [0x0001", "] in <ab>:0", " <0x12", "(at Assets/Press.cs:3)", "{", "}", ",", ";", "\"", "'", "-", "x",
	"Acme.FooException: ", "Error", "Acme.BarException", "--- End of stack ---",
}

// namePieces are what names of frames are made of, few enough that short draws
// reach how brackets, arities and numbered suffixes act on one another.
var namePieces = []string{
	"<", ">", "<>", "<<", "`", "`1", "1", "22", ".", ":", "::", "/", "_Patch1", "func1", "func", "$1", "|", "_", "a", "k", "[T]", "<T>", "DMD<", ">?-1", "(*a).", "-", "中", "‹",
}

// nameForms are lines of stacks around a name; %s stands for it.
var nameForms = []string{
	"at %s", "at %s()", "a:%s ()", "%s()", "File \"%s\", line 3, in n", "File \"a\", line , in %s", "(wrapper dynamic-method) %s (a)",
	"%s:12: in function 'n'", "from %s:12:in 'n'", "from a.rb:12:in `block in %s'", "a.lua:12: in field '%s'", "1. %s - a.lua:12", "%s@a.js:12:3", "n@%s.js:12:3",
}

// checkName asserts the laws on a name in every form of frame.
func checkName(t *testing.T, n *Normalizer, r *reference, name string) {
	t.Helper()
	for _, form := range nameForms {
		checkLaws(t, n, r, "", strings.ReplaceAll(form, "%s", name))
	}
}

func assemble(pieces []string, choice []byte) string {
	var b strings.Builder
	for _, c := range choice {
		b.WriteString(pieces[int(c)%len(pieces)])
	}
	return b.String()
}

func FuzzHeadPieces(f *testing.F) {
	f.Add([]byte("0123456789"))
	n, r := testNormalizer(f)
	f.Fuzz(func(t *testing.T, choice []byte) {
		checkLaws(t, n, r, assemble(headPieces, choice[:min(len(choice), 24)]), "")
	})
}

func FuzzStackPieces(f *testing.F) {
	f.Add([]byte("0123456789"), []byte("abc"))
	n, r := testNormalizer(f)
	f.Fuzz(func(t *testing.T, message, stack []byte) {
		checkLaws(t, n, r, assemble(framePieces, message[:min(len(message), 24)]), assemble(framePieces,
			stack[:min(len(stack), 24)]))
	})
}

func FuzzNamePieces(f *testing.F) {
	f.Add([]byte("0123456789"))
	n, r := testNormalizer(f)
	f.Fuzz(func(t *testing.T, choice []byte) {
		checkName(t, n, r, assemble(namePieces, choice[:min(len(choice), 16)]))
	})
}

// drawnFrames is the hash of the frames of the stacks that TestLaws draws. It changes with the form of a frame.
const drawnFrames = 0x8f0c03f29f56ead0

// TestLaws tries the laws on texts drawn at random, always the same ones.
func TestLaws(t *testing.T) {
	n, r := testNormalizer(t)
	rnd := rand.New(rand.NewPCG(77, 5))
	draw := func(pieces []string, most int) string {
		choice := make([]byte, rnd.IntN(most))
		for i := range choice {
			choice[i] = byte(rnd.IntN(len(pieces)))
		}
		return assemble(pieces, choice)
	}
	var drawn []byte
	for range 2_000 {
		checkLaws(t, n, r, draw(headPieces, 12), "")
		message, stack, name := draw(framePieces, 16), draw(framePieces, 16), draw(namePieces, 10)
		checkLaws(t, n, r, message, stack)
		checkName(t, n, r, name)
		_, frames, _ := strings.Cut(string(n.AppendTemplate(nil, message, stack)), "\n")
		drawn = append(drawn, frames...)
		for _, form := range nameForms {
			drawn = n.AppendTemplate(drawn, "", strings.ReplaceAll(form, "%s", name))
		}
	}
	require.Equal(t, uint64(drawnFrames), xxhash.Sum64(drawn), "frames of stacks")
}
