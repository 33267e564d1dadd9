// Package source knows the logs of games on Source and GoldSrc, and of servers that log as these do.
//
//	L 01/02/2024 - 03:04:05: Log file started (file "logs/L0102000.log") (game "/srv/tf") (version "8622567")
//	L 01/02/2024 - 03:04:06: Loading map "de_dust2"
package source

import (
	"regexp"
	"strings"

	"github.com/heedlog/heed/capture/format"
)

// Format is the family of logs of Source.
var Format = format.Format{Name: "source", Detect: detect, Facts: facts}

// logged returns the text after the time of a line.
func logged(line string) (string, bool) {
	stamp := stamped.FindString(line)
	return line[len(stamp):], stamp != ""
}

var stamped = regexp.MustCompile(`^L \d\d/\d\d/\d{4} - \d\d:\d\d:\d\d: `)

func detect(line string) format.Evidence {
	text, ok := logged(line)
	switch {
	case ok && strings.HasPrefix(text, "Log file started (file "):
		return format.Banner
	case ok:
		return format.Form
	}
	return format.None
}

func facts(f *format.Facts, line string) {
	text, ok := logged(line)
	if !ok || !strings.HasPrefix(text, "Log file started (file ") {
		return
	}
	folder := strings.Trim(format.Word(text, `(game "`), `"`)
	format.LearnGame(f, folder[strings.LastIndexAny(folder, `/\`)+1:], strings.Trim(format.Word(text, `(version "`), `"`))
}
