package capture

import (
	"bytes"
	"unicode/utf8"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
)

// truncated returns what shows that the input ends in the middle of a record, or ""
// if nothing does. It is called once, at the end.
//
// Many a log that is whole lacks its last line end: uploads and editors strip
// it. So the lack alone is no evidence, see [Position]; the last line must also be visibly
// unfinished: a frame without its end, a head without its bracket, a footer cut off, a JSON line that is
// not valid.
func (r *Reader) truncated() string {
	ln := &r.cur
	if r.opt.LastLine != "" && !r.ended && ln.no > 0 {
		return "the line with which a whole log ends is missing"
	}
	if ln.no == 0 || ln.no != r.lines.no || ln.ended || len(ln.text) == 0 || ln.cut > 0 {
		return ""
	}
	switch {
	case hasPrefix(ln.text, rimworld.UploadTrimmed): // as HugsLib writes it, without a line end
		return "the upload holds only the first lines of the log"
	case endsInCharacter(ln.text):
		return "the last line ends in the middle of a character"
	case unity.IsCutFooter(text(ln.text)),
		r.footers > 0 && len(ln.text) >= len("(File") && hasPrefix([]byte(unity.Footer), string(ln.text)):
		return "the last line is the beginning of a footer"
	case rimworld.IsCutRef(text(ln.text)):
		return "the last line is the beginning of a stack reference"
	case r.layout != LayoutJSON:
		return r.unfinished(ln)
	case ln.text[0] == '{' && !r.json.valid:
		return "the last line is the beginning of a JSON object"
	}
	return ""
}

// unfinished returns how ln, the last line, ends in the middle of a frame or a head.
func (r *Reader) unfinished(ln *line) string {
	a, b := &r.asm, ln.text
	tag := b[ln.logger().Len:]
	switch {
	case ln.is(ofFrame) && !isWholeFrame(b),
		a.end == ln.no && a.split == evidenceFrame && !ln.is(ofFrame) && isCutFrame(b):
		return "the last line is the beginning of a stack frame"
	case len(tag) > 1 && tag[0] == '[' && bytes.IndexByte(tag, ']') < 0:
		return "the last line is the beginning of a head"
	}
	return ""
}

// endsInCharacter reports whether b ends with the beginning of a character and
// is valid UTF-8 otherwise; text in a legacy encoding seldom is.
func endsInCharacter(b []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			return tail[0] >= utf8.RuneSelf && !utf8.FullRune(tail) && utf8.Valid(b[:len(b)-n])
		}
	}
	return false
}
