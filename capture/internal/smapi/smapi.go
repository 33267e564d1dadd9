// Package smapi knows the logs of SMAPI, the loader of mods of Stardew Valley.
//
//	[12:34:56 INFO  SMAPI] SMAPI 3.18.6 with Stardew Valley 1.5.6 build 22018 on Some System 10
//	[12:34:57 ALERT SMAPI] You can update 3 mods:
package smapi

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
	"github.com/heedlog/heed/event"
)

// Format is the family of SMAPI's logs.
var Format = format.Format{Name: "smapi", Detect: versions.Detect(" SMAPI] "), Level: level, Facts: facts}

var versions = begins.Versions{begins.Loader(" SMAPI] SMAPI ", "SMAPI")}

// level knows ALERT: SMAPI has something to say, such as that mods can be updated. For syslog it is a disaster.
func level(line string) (event.Level, bool) {
	tag, _, ok := strings.Cut(line, "]")
	return event.LevelInfo, ok && len(tag) > 10 && tag[0] == '[' && strings.HasPrefix(tag[9:], " ALERT ")
}

func facts(f *format.Facts, line string) {
	if versions.Learn(f, line) {
		_, rest, _ := strings.Cut(line, " with ")
		game, system, _ := strings.Cut(rest, " on ")
		format.Learn(&f.Game, game)
		format.Learn(&f.System, system)
	}
}
