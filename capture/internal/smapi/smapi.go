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
var Format = format.Format{Name: "smapi", Detect: detect, Level: level, Facts: facts}

// banner reads the first line of a log.
func banner(line string) (loader, game, system string, ok bool) {
	rest, ok := begins.Tagged(line, " SMAPI] ")
	loader, rest, with := strings.Cut(rest, " with ")
	version, is := strings.CutPrefix(loader, "SMAPI ")
	game, system, on := strings.Cut(rest, " on ")
	return loader, game, system, ok && with && is && on && format.IsLongVersion(version)
}

func detect(line string) format.Evidence {
	if _, _, _, ok := banner(line); ok {
		return format.Banner
	}
	if _, ok := begins.Tagged(line, " SMAPI] "); ok {
		return format.Form
	}
	return format.None
}

// level knows ALERT: SMAPI has something to say, such as that mods can be updated. For syslog it is a disaster.
func level(line string) (event.Level, bool) {
	tag, _, ok := strings.Cut(line, "]")
	return event.LevelInfo, ok && len(tag) > 10 && tag[0] == '[' && strings.HasPrefix(tag[9:], " ALERT ")
}

func facts(f *format.Facts, line string) {
	if loader, game, system, ok := banner(line); ok {
		format.Learn(&f.Game, game)
		format.Learn(&f.Loader, loader)
		format.Learn(&f.System, system)
	}
}
