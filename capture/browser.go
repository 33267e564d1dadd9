package capture

import (
	"strings"

	"github.com/heedlog/heed/event"
)

// unquote takes off a record that a page in a browser logged the quotes, the escapes and the place that the browser
// puts around the text: games in JavaScript run in one. The level of a page's plain output says nothing.
//
//	[1:2:0405/100000.123:INFO:CONSOLE(7)] "stuck\n    at turn (file:///press.js:7:3)", source: file:///press.js (7)
//	[1:2:0405/100000.123:INFO:CONSOLE(7)] stuck
//	    at turn (file:///press.js:7:3)
func (r *Record) unquote() {
	const mark, longest = ":CONSOLE(", 96 // bytes of the head
	message := r.Message
	if !strings.HasPrefix(message, "[") { // as of most records
		return
	}
	at := strings.Index(message[:min(len(message), longest)], mark)
	if at < 0 {
		return
	}
	head, quoted, ok := strings.Cut(message, `)] "`)
	end := strings.LastIndex(quoted, `", source: `)
	if !ok || end < 0 || strings.Trim(head[min(len(head), at+len(mark)):], "0123456789") != "" {
		return
	}
	r.Head = 0
	r.Message = head + ")] " + strings.ReplaceAll(quoted[:end], `\n`, "\n")
	if r.Level == event.LevelInfo {
		r.Level, r.LevelBy = event.LevelUnknown, evidenceNone
	}
}
