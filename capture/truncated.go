package capture

// truncated says what shows that the input ends in the middle of a record, or
// "" if nothing does. It is asked once, at the end.
//
// Many a log that is whole lacks its last line end: uploads and editors strip
// it. So the lack alone says nothing; the last line must also be visibly
// unfinished: a frame without its end, a footer cut off, a JSON line that is
// not valid.
func (r *Reader) truncated() string {
	ln := &r.cur
	if ln.no == 0 || ln.no != r.lines.no || ln.ended || len(ln.text) == 0 || ln.cut > 0 {
		return ""
	}
	switch {
	case isCutFooter(ln.text):
		return "the last line is the beginning of a footer"
	case r.layout == LayoutJSON:
		if ln.text[0] == '{' && !r.json.valid {
			return "the last line is the beginning of a JSON object"
		}
	case isFrame(ln.text) && !isWholeFrame(ln.text):
		return "the last line is the beginning of a stack frame"
	}
	return ""
}
