package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/testkit"
)

var textCases = []struct {
	name  string
	in    string
	limit int
	want  string
}{
	{"empty", "", 0, ""},
	{"plain", "Could not resolve reference", 0, "Could not resolve reference"},
	{"other scripts", "Ошибка 오류 错误 ñ", 0, "Ошибка 오류 错误 ñ"},
	{"combining", "e\u0301", 0, "e\u0301"},
	{"emoji with joiner", "👩\u200d🚀", 0, "👩\u200d🚀"},
	{"emoji variation selector", "☂\ufe0f", 0, "☂\ufe0f"},
	{"windows path keeps its backslashes", `C:\new\table\x1b`, 0, `C:\new\table\x1b`},
	{"arabic number sign shows", "\u0600١", 0, "\u0600١"},
	{"replacement character as written", "a\ufffdb", 0, "a\ufffdb"},

	{"line feed, carriage return, tab", "a\nb\r\nc\td", 0, `a\nb\r\nc\td`},
	{"nul", "a\x00b", 0, `a\x00b`},
	{"terminal title", "\x1b]0;owned\x07", 0, `\x1b]0;owned\x07`},
	{"delete", "a\x7fb", 0, `a\x7fb`},
	{"csi in C1", "\u009b31m", 0, `\u009b31m`},
	{"next line", "a\u0085b", 0, `a\u0085b`},
	{"line and paragraph separator", "a\u2028b\u2029c", 0, `a\u2028b\u2029c`},
	{"bidi override", "user\u202egnp.exe", 0, `user\u202egnp.exe`},
	{"bidi isolate and marks", "\u2066\u2069\u200e\u200f\u061c", 0, `\u2066\u2069\u200e\u200f\u061c`},
	{"zero width space and bom", "\ufeffa\u200bb", 0, `\ufeffa\u200bb`},
	{"tag characters", "hi\U000e0041\U000e007f", 0, `hi\U000e0041\U000e007f`},
	{"variation selectors as carrier", "a\U000e0100", 0, `a\U000e0100`},
	{"command to a CI server", "a ##vso[task.complete]b ###[error] ##teamcity[x", 0, `a \x23#vso[task.complete]b #\x23#[error] \x23#teamcity[x`},
	{"no command", "# ## ##x ##x y[ a[##] ##", 0, "# ## ##x ##x y[ a[##] ##"},
	{"annotation of a CI server", "  ::error file=x::pwned ::error::", 0, `  \x3a:error file=x::pwned ::error::`},
	{"no annotation", "::Foo::Bar", 0, "::Foo::Bar"},
	{"qualified name", "a::error::b", 0, "a::error::b"},
	{"colons alone", "::abc:", 0, "::abc:"},
	{"command is not cut", "ab##[x", 4, "ab…"},
	{"no characters", "\ufffe\uffff\ufdd0\U0001ffff", 0, `\ufffe\uffff\ufdd0\U0001ffff`},
	{"soft hyphen", "ig\u00adnore", 0, `ig\u00adnore`},
	{"invalid bytes", "a\xffb\xc3", 0, `a\xffb\xc3`},
	{"surrogate in UTF-8", "\xed\xa0\x80", 0, `\xed\xa0\x80`},
	{"overlong slash", "\xc0\xaf", 0, `\xc0\xaf`},

	{"exactly the limit", "abcde", 5, "abcde"},
	{"one beyond", "abcdef", 5, "abcd…"},
	{"limit one", "ab", 1, "…"},
	{"limit counts characters", "오류오류오류", 4, "오류오…"},
	{"escape fits exactly", "ab\x1b", 6, `ab\x1b`},
	{"escape is not cut", "ab\x1bc", 6, "ab…"},
	{"escape does not fit", "ab\x1b", 5, "ab…"},
	{"escape alone does not fit", "\x1b", 3, "…"},
	{"negative limit", "abc", -1, "abc"},
}

func TestSafe(t *testing.T) {
	for _, c := range textCases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(AppendSafe(nil, c.in, c.limit)))
			require.Equal(t, c.want, Safe(c.in, c.limit))
			require.Equal(t, "kept"+c.want, string(AppendSafe([]byte("kept"), c.in, c.limit)))
		})
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"abc", 0, ""},
		{"é", 1, ""},
		{"aé", 2, "a"},
		{"aéb", 3, "aé"},
		{"벽", 2, ""},
		{"a벽", 3, "a"},
		{"🐂", 3, ""},
		{"a🐂b", 4, "a"},
		{"a🐂b", 5, "a🐂"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"},
		{"a\x80\x80\x80\x80\x80\x80", 6, "a\x80\x80\x80\x80\x80"},
		{"ab\xff\xffc", 3, "ab\xff"},
	} {
		require.Equal(t, c.want, c.s[:Prefix(c.s, c.n)], "%q to %d", c.s, c.n)
	}
}

// TestUnsafeRunes holds the hand-written ranges to Unicode's own tables.
func TestUnsafeRunes(t *testing.T) {
	const zwnj, zwj = '\u200c', '\u200d'
	always := []*unicode.RangeTable{
		unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point,
	}
	kept := func(r rune) bool {
		switch {
		case r == zwnj || r == zwj:
			return true
		case r >= 0x115f && r <= 0x1160, r == 0x3164, r == 0xffa0: // Hangul fillers, part of old syllables
			return true
		case r >= 0x17b4 && r <= 0x17b5: // Khmer inherent vowels
			return true
		}
		return false
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.In(r, always...) && !kept(r) && !Hides(r) {
			t.Errorf("%U must be escaped", r)
		}
		if unicode.IsPrint(r) && Hides(r) && !unicode.Is(unicode.Variation_Selector, r) && r != 0x34f {
			t.Errorf("%U is printable and must not be escaped", r)
		}
	}
}

func TestAppendJSON(t *testing.T) {
	require.Equal(t, `"\ufffd"`, string(AppendJSON(nil, []byte("\"\xff\""))))
	require.Equal(t, `"\udb40\udc41"`, string(AppendJSON(nil, []byte("\"\U000e0041\""))))
}

func TestNoAllocations(t *testing.T) {
	hostile := strings.Repeat("\x1b[2J\u2028오류\xff ", 50)
	dst := make([]byte, 0, 4096)
	require.Zero(t, testing.AllocsPerRun(100, func() { dst = AppendSafe(dst[:0], hostile, 220) }))
	plain := strings.Repeat("plain text 오류 ", 20)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = Safe(plain, 0) }))
}

// requireInert fails for text that acts on a reader's terminal.
func requireInert(t *testing.T, s string) {
	t.Helper()
	require.True(t, utf8.ValidString(s), "not UTF-8: %q", s)
	for _, r := range s {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			require.Failf(t, "not inert", "%U in %q", r, s)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, c := range textCases {
		f.Add(c.in, c.limit)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		out := string(AppendSafe(nil, s, limit))
		requireInert(t, out)
		if limit > 0 {
			require.LessOrEqual(t, utf8.RuneCountInString(out), limit)
		}
		require.Equal(t, out, Safe(s, limit), "both forms agree")
		require.Equal(t, out, Safe(out, limit), "idempotent")
		if unlimited := Safe(s, 0); out != unlimited {
			require.True(t, strings.HasSuffix(out, ellipsis))
			require.True(t, strings.HasPrefix(unlimited, strings.TrimSuffix(out, ellipsis)), "a cut keeps the beginning")
		}

		b := testkit.Must(json.Marshal(s))
		var want, got string
		safe := AppendJSON(nil, b)
		requireInert(t, string(safe))
		require.NoError(t, json.Unmarshal(b, &want))
		require.NoError(t, json.Unmarshal(safe, &got))
		require.Equal(t, want, got)
	})
}

func ExampleSafe() {
	fmt.Println(Safe("pawn \x1b[31mred\x1b[0m\r\nforged line", 0))
	fmt.Println(Safe("Could not load reference to a thing", 20))
	// Output:
	// pawn \x1b[31mred\x1b[0m\r\nforged line
	// Could not load refe…
}

func TestMarkdown(t *testing.T) {
	for s, want := range map[string]string{
		"plain words, 1.5 (of 2) - x": "plain words, 1.5 (of 2) - x",
		"a_b *c* [d](e) <f> |":        `a\_b \*c\* \[d\](e) \<f\> \|`,
		"# @ & !":                     `\# @ \& \!`,
		"@team #12 !7 ~x %y $z &amp;": "＠team ＃12 ！7 ～x ％y ＄z ＆amp;",
		"a@b, 3 @ 4, # 12, C#, 5%":    `a＠b, 3 @ 4, \# 12, C\#, 5%`,
		"~~x~~ wwx. \\":               `\~～x\~\~ wwx. \\`,
		"":                            "",
		"https://x WWW.x w.x":         "https：//x WWW．x w.x",
		"`code` é日":                   "\\`code\\` é日",
	} {
		require.Equal(t, want, Markdown(s))
	}
	require.Equal(t, "`aˋb`", MarkdownCode("a`b", 0))
	require.Equal(t, "`(blank)`", MarkdownCode(" ", 0))
	require.Equal(t, ``+"`a\\nb…`", MarkdownCode("a\nbcd", 5))
}

func TestNumbers(t *testing.T) {
	require.Equal(t, "1 line", Count(1, "line"))
	require.Equal(t, "0 lines", Count(uint64(0), "line"))
	require.Equal(t, "1234 entries", Count(1234, "entry", "entries"))
	require.Equal(t, "1,234,567 entries", Many(1_234_567, "entry", "entries"))
	require.Equal(t, "999", Number(uint64(999)))
	require.Equal(t, "line", Plural(1, "line", []string{}...), "of a template, where no plural is an empty list")
	require.Equal(t, "lines", Plural(2, "line", []string{}...))
	require.Equal(t, `{"Mask":"<*>"}`, string(JSON(struct{ Mask string }{"<*>"})))
}

func TestClip(t *testing.T) {
	const limit = 512
	cut := Clip(strings.Repeat("오류", 1000), limit)
	require.True(t, utf8.ValidString(cut))
	require.LessOrEqual(t, len(cut), limit+len("…"))
	require.Equal(t, "short", Clip("short", limit))
}

// TestCheck is the table of the beginnings of files that are text, and of those that are not.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		head string
		want error
	}{
		{"empty", "", nil},
		{"text", "Mono path[0] = 'C:/Games'\r\n", nil},
		{"colors", "\x1b[31mred\x1b[0m\n\x1b[32mgreen\x1b[0m\n", nil},
		{"a stray control", "one \x01 in a line", nil},
		{"hole of NULs", "text\n" + strings.Repeat("\x00", 4096) + "text\n", nil},
		{"nothing but NULs", strings.Repeat("\x00", 4096), nil},
		{"legacy encoding", strings.Repeat("\xcf\xf0\xe8\xe2\xe5\xf2 ", 50), nil},
		{"executable", "\x7fELF\x02\x01\x01\x00\x00\x03\x00\x3e\x00\x01\x00", ErrBinary},
		{"picture", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\x00\x00\x00\x03\x00\x08\x02", ErrBinary},
		{"gzip", "\x1f\x8b\x08\x00", errCompressed},
		{"zip", "PK\x03\x04", errArchive},
		{"tar", "Player.log" + strings.Repeat("\x00", 247) + "ustar", errArchive},
		{"zstd, of text as it is", "\x28\xb5\x2f\xfd\x04\x58some text", errCompressed},
		{"UTF-16 with a mark", "\xff\xfe" + strings.Repeat("h\x00i\x00 \x00", 20), nil},
		{"UTF-16 with a mark, big-endian", "\xfe\xff" + strings.Repeat("\x00h\x00i\x00 ", 20), nil},
		{"UTF-32", "h\x00\x00\x00i\x00\x00\x00\n\x00\x00\x00h\x00\x00\x00", encoded("UTF-32LE")},
		{"UTF-32 with a mark", "\xff\xfe\x00\x00h\x00\x00\x00i\x00\x00", encoded("UTF-32LE")},
		{"UTF-32, big-endian", strings.Repeat("\x00\x00\x00h\x00\x00\x00i\x00\x00\x00 ", 20), encoded("UTF-32BE")},
		{"UTF-32 with a mark, big-endian", "\x00\x00\xfe\xff\x00\x00\x00h\x00\x00\x00i", encoded("UTF-32BE")},
		{"UTF-32 of other scripts", strings.Repeat("\x16\x04\x00\x00\x87\x65\x00\x00\x00\xf6\x01\x00", 20), encoded("UTF-32LE")},
		{"a hole, and text", strings.Repeat("\x00", 4096) + "text", nil},
		{"UTF-16", strings.Repeat("h\x00i\x00 \x00", 20), encoded("UTF-16LE")},
		{"UTF-16, big-endian", strings.Repeat("\x00h\x00i\x00 ", 20), encoded("UTF-16BE")},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Check([]byte(c.head))) })
	}
}

// TestDistance compares with the plain recursion.
func TestDistance(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		n, m := len(a), len(b)
		cost := 1
		if a[n-1] == b[m-1] {
			cost = 0
		}
		d := min(slow(a[:n-1], b)+1, slow(a, b[:m-1])+1, slow(a[:n-1], b[:m-1])+cost)
		if n > 1 && m > 1 && a[n-1] == b[m-2] && a[n-2] == b[m-1] {
			d = min(d, slow(a[:n-2], b[:m-2])+1)
		}
		return d
	}
	require.Equal(t, 3, distance("kitten", "sitting"))
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching("[abc]{0,6}").Draw(t, "a"), rapid.StringMatching("[abc]{0,6}").Draw(t, "b")
		require.Equal(t, slow(a, b), distance(a, b))
	})
}

func TestNearest(t *testing.T) {
	names := []string{"ack", "color", "fail-on", "format", "top", "width"}
	for word, want := range map[string]string{
		"":        "",
		"colr":    "color",
		"COLOR":   "color",
		"tpo":     "top",
		"widht":   "width",
		"formt":   "format",
		"failon":  "fail-on",
		"form":    "format", // the only one that begins so
		"f":       "",       // two begin so
		"banana":  "",
		"toppppp": "",
	} {
		require.Equal(t, want, Nearest(word, names), word)
	}

	names = []string{"template", "frames", "level", "phase", "warning"}
	for word, want := range map[string]string{
		"templat": "template", "tepmlate": "template", "Template": "template", "frame": "frames", "phsae": "phase",
		"warn": "warning", "temp": "template", "xyz": "", "": "", "l": "", "level": "", "levels": "level",
		strings.Repeat("x", 100): "",
	} {
		require.Equal(t, want, Nearest(word, names), word)
	}
}
