package text

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// ellipsis marks a cut.
const ellipsis = "…"

// Prefix returns the length of the longest prefix of s of at most n bytes that does not
// end inside a character. Where s is not UTF-8, up to three bytes more may be left out.
func Prefix(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	n = max(n, 0)
	for i := n; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

// Clip returns s in at most n bytes and "…", in memory of its own if it is cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + ellipsis
}

// Count returns a whole number of any type with its noun: "1 line", "2 lines", or with the other plural that is given,
// "2 entries".
func Count(n any, noun string, plural ...string) string {
	return fmt.Sprint(n) + " " + Plural(n, noun, plural...)
}

// Many is [Count] for numbers that may be large: "12,345 entries".
func Many(n any, noun string, plural ...string) string {
	return Number(n) + " " + Plural(n, noun, plural...)
}

// Plural returns the noun for n things: with an s, or the plural that is given, unless n is 1.
func Plural(n any, noun string, plural ...string) string {
	switch {
	case fmt.Sprint(n) == "1":
		return noun
	case len(plural) == 0:
		return noun + "s"
	}
	return plural[0]
}

// Number returns a number with commas between thousands.
func Number(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Marshal returns v in one line of JSON, with the angle brackets of masks as they are: JSON needs no escapes there.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// JSON is [Marshal] for plain data. It panics if v cannot be written.
func JSON(v any) []byte {
	b, err := Marshal(v)
	if err != nil {
		panic("BUG: plain data does not marshal: " + err.Error())
	}
	return b
}

// parsed is a template of text or of HTML.
type parsed interface {
	Execute(w io.Writer, data any) error
}

// Rendered returns the output of a template of heed's own. It panics if the template and the data do not fit.
func Rendered(t parsed, data any) []byte {
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		panic("BUG: " + err.Error())
	}
	return out.Bytes()
}

// PolicySource returns the source expression by which a Content-Security-Policy allows a script or a style.
func PolicySource[T string | []byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// AppendSafe appends s to dst as one line of valid UTF-8 in which nothing acts
// on a terminal, ends a line or hides.
//
// At most limit characters (code points, so at most four times as many bytes)
// are appended; where that cuts text off, the last of them is "…". An escape is
// never cut in two. A limit of zero or less means no limit.
//
// Given room in dst it does not allocate. AppendSafe(nil, AppendSafe(nil, s, n), n)
// equals AppendSafe(nil, s, n).
func AppendSafe(dst []byte, s string, limit int) []byte {
	var esc [10]byte
	count := 0       // characters appended
	room := len(dst) // where to cut so that "…" still fits: the longest prefix of limit-1 characters
	for i := 0; i < len(s); {
		r, size, acts := at(s, i)
		chars, e := 1, esc[:0]
		if acts {
			e = appendEscape(e, r, s[i], size)
			chars = len(e)
		}
		if limit > 0 && count+chars > limit {
			return append(dst[:room], ellipsis...)
		}
		if len(e) > 0 {
			dst = append(dst, e...)
		} else {
			dst = append(dst, s[i:i+size]...)
		}
		count += chars
		i += size
		if count < limit {
			room = len(dst)
		}
	}
	return dst
}

// Safe returns s as [AppendSafe] would append it. A string that needs neither
// escape nor cut is returned as it is, without a copy.
func Safe(s string, limit int) string {
	count := 0
	for i := 0; i < len(s); {
		size, acts := 1, false
		if !plain(s[i]) { // asked here too, since at is a call
			_, size, acts = at(s, i)
		}
		count++
		if acts || limit > 0 && count > limit {
			return string(AppendSafe(nil, s, limit))
		}
		i += size
	}
	return s
}

// AppendJSON appends the JSON text b to dst with every character that
// [AppendSafe] would escape written as \uXXXX, which means the same to a JSON
// reader and does nothing to a terminal.
//
// b must be valid JSON on one line, such as [encoding/json.Marshal] returns; unsafe characters are then in strings
// only. Bytes that are not UTF-8 become U+FFFD, as encoding/json would have it.
func AppendJSON(dst, b []byte) []byte {
	s := string(b)
	for i := 0; i < len(s); {
		r, size, acts := at(s, i)
		switch {
		case !acts:
			dst = append(dst, s[i:i+size]...)
		case r > 0xffff:
			r -= 0x10000
			dst = appendHex(append(dst, `\u`...), uint32(0xd800+r>>10), 4)
			dst = appendHex(append(dst, `\u`...), uint32(0xdc00+r&0x3ff), 4)
		default: // the decoder gives utf8.RuneError for bytes that are none
			dst = appendHex(append(dst, `\u`...), uint32(r), 4)
		}
		i += size
	}
	return dst
}

// appendEscape appends the visible form of r, or of the single byte b where
// that is not UTF-8.
func appendEscape(dst []byte, r rune, b byte, size int) []byte {
	switch {
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r < utf8.RuneSelf, r == utf8.RuneError && size == 1: // a U+FFFD that was written as such has three bytes
		return appendHex(append(dst, `\x`...), uint32(b), 2)
	case r <= 0xffff:
		return appendHex(append(dst, `\u`...), uint32(r), 4)
	}
	return appendHex(append(dst, `\U`...), uint32(r), 8)
}

// appendHex appends v in lower-case hexadecimal with exactly digits digits.
func appendHex(dst []byte, v uint32, digits int) []byte {
	for digits--; digits >= 0; digits-- {
		dst = append(dst, "0123456789abcdef"[v>>(4*digits)&15])
	}
	return dst
}

// at returns the character at a place in s, the number of its bytes, and whether it must not reach the reader as it is.
func at(s string, i int) (r rune, size int, acts bool) {
	r, size = rune(s[i]), 1
	if plain(s[i]) {
		return r, size, false
	}
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(s[i:])
	}
	return r, size, escaped(r, size) || r == '#' && command(s[i:]) || r == ':' && annotation(s, i)
}

// plain reports whether a byte is a character that never acts.
func plain(c byte) bool { return ' ' <= c && c <= '~' && c != '#' && c != ':' }

// escaped reports whether a character must not reach the reader as it is.
func escaped(r rune, size int) bool {
	return r < ' ' || r > '~' && (size == 1 || Hides(r)) // of one byte are DEL, and those that are not UTF-8
}

// command reports whether s begins with a command that a CI server obeys anywhere in a line of output: ##[error] of
// GitHub and Azure, ##vso[task.setvariable …], ##teamcity[…].
func command(s string) bool {
	if len(s) < 3 || s[1] != '#' {
		return false
	}
	for i := 2; i < len(s) && i < 12; i++ {
		switch {
		case s[i] == '[':
			return true
		case s[i]|0x20 < 'a' || s[i]|0x20 > 'z':
			return false
		}
	}
	return false
}

// annotation reports whether the colon at s[i] begins a command that GitHub obeys at the beginning of a line: ::error
// file=x::text. Only space may be in front of s on its line.
func annotation(s string, i int) bool {
	return i+2 < len(s) && s[i+1] == ':' && s[i+2] >= 'a' && s[i+2] <= 'z' && strings.Trim(s[:i], " ") == "" &&
		strings.Contains(s[i+2:], "::") // after the name, and properties
}

// Hides reports whether a character acts instead of showing: every control, line and paragraph separator and bidi
// control, and the characters without a shape with which a text can hide from one reader (tags, variation selectors of
// the supplementary plane, invisible operators, code points that are no characters). Format characters that do show,
// such as the Arabic number signs, do not hide.
func Hides(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f, // C0, DEL, C1 with U+0085
		r == 0xad,                    // soft hyphen
		r == 0x34f,                   // combining grapheme joiner
		r == 0x61c,                   // Arabic letter mark
		r == 0x180e,                  // Mongolian vowel separator
		r == 0x200b,                  // zero width space
		r >= 0x200e && r <= 0x200f,   // left-to-right and right-to-left mark
		r >= 0x2028 && r <= 0x202e,   // line and paragraph separator, bidi embeddings and overrides
		r >= 0x2060 && r <= 0x206f,   // word joiner, invisible operators, bidi isolates
		r == 0xfeff,                  // byte order mark
		r >= 0xfdd0 && r <= 0xfdef,   // no characters, by Unicode, nor for HTML
		r >= 0xfff0 && r <= 0xfffb,   // unassigned default-ignorables, interlinear annotation
		r&0xfffe == 0xfffe,           // no characters: the last two of each plane
		r >= 0x1bca0 && r <= 0x1bca3, // shorthand format controls
		r >= 0x1d173 && r <= 0x1d17a, // musical format controls
		r >= 0xe0000 && r <= 0xe0fff: // tags, variation selectors supplement
		return true
	}
	return false
}

// Code precedes the name of code that is not in the list of mods.
const Code = "code: "
