package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

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
		if unicode.In(r, always...) && !kept(r) && !unsafeRune(r) {
			t.Errorf("%U must be escaped", r)
		}
		if unicode.IsPrint(r) && unsafeRune(r) && !unicode.Is(unicode.Variation_Selector, r) && r != 0x34f {
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
