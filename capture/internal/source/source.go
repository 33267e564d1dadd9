// Package source knows the logs of games on Source and GoldSrc, and of servers that log as these do.
//
//	L 01/02/2024 - 03:04:05: Log file started (file "logs/L0102000.log") (game "/srv/tf") (version "8622567")
//	L 01/02/2024 - 03:04:06: Loading map "de_dust2"
package source

import (
	"regexp"
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
)

// Format is the family of logs of Source.
var Format = format.Format{Name: "source", Detect: detect, Facts: facts}

var (
	logged  = regexp.MustCompile(`^L \d\d/\d\d/\d{4} - \d\d:\d\d:\d\d: `)
	started = regexp.MustCompile(logged.String() + `Log file started \(file `)
)

func detect(line string) format.Evidence {
	return begins.Evidence(started.MatchString(line), logged.MatchString(line))
}

func facts(f *format.Facts, line string) {
	if !started.MatchString(line) {
		return
	}
	folder := strings.Trim(format.Word(line, `(game "`), `"`)
	if version := strings.Trim(format.Word(line, `(version "`), `"`); format.IsVersion(version) {
		format.Learn(&f.Game, folder[strings.LastIndexAny(folder, `/\`)+1:]+" "+version)
	}
}
