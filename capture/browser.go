package capture

import (
	"strings"

	"github.com/heedlog/heed/event"
)

// pageText returns a record that a page in a browser logged without the quotes, the escapes and the place that the
// browser puts around the text. Games in JavaScript run in one.
//
//	[1:2:0405/100000.123:INFO:CONSOLE(7)] "stuck\n    at turn (file:///press.js:7:3)", source: file:///press.js (7)
//	[1:2:0405/100000.123:INFO:CONSOLE(7)] stuck
//	    at turn (file:///press.js:7:3)
func pageText(message string) (text string, ok bool) {
	const mark = `:CONSOLE(`
	if !strings.HasPrefix(message, "[") {
		return "", false
	}
	at := strings.Index(message[:min(len(message), maxPageHead)], mark)
	if at < 0 {
		return "", false
	}
	number, rest, ok := strings.Cut(message[at+len(mark):], `)] "`)
	end := strings.LastIndex(rest, `", source: `)
	if !ok || strings.Trim(number, "0123456789") != "" || end < 0 {
		return "", false
	}
	head := message[:at+len(mark)+len(number)+len(")] ")]
	return head + strings.ReplaceAll(rest[:end], `\n`, "\n"), true
}

// maxPageHead is how long the head of a browser is at most.
const maxPageHead = 96

// unquote takes the form of a browser off a record. The level of a page's plain output says nothing.
func (rec *Record) unquote() {
	message, ok := pageText(rec.Message)
	if !ok {
		return
	}
	rec.Message = message
	if rec.Level == event.LevelInfo {
		rec.Level, rec.LevelBy = event.LevelUnknown, evidenceNone
	}
}
