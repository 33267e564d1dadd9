// Package bepinex knows the logs of BepInEx and of MelonLoader, the loaders of mods of many games on Unity.
//
//	[Message:   BepInEx] BepInEx 5.4.21.0 - SomeGame (1/2/2023 3:04:05 PM)
//	[Info   :   BepInEx] Running under Unity v2019.4.40.6415045
//
//	[12:34:56.789] MelonLoader v0.5.7 Open-Beta
//	[12:34:56.790] Game Name: Some Game
package bepinex

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
	"github.com/heedlog/heed/event"
)

// Format is the family of the logs of BepInEx and MelonLoader.
var Format = format.Format{
	Name: "bepinex", Detect: loaders.Detect(" BepInEx] "), Level: level, Facts: facts,
}

var (
	loaders = begins.Versions{
		begins.Loader(" BepInEx] BepInEx ", "BepInEx"), begins.Loader("MelonLoader v", "MelonLoader"),
	}
	engines = begins.Versions{
		begins.Engine("Running under Unity v", "Unity"), begins.Engine("Unity Version: ", "Unity"),
	}
)

// level knows Message: news for the player, no problem.
func level(line string) (event.Level, bool) {
	tag, _, ok := strings.Cut(line, ":")
	return event.LevelInfo, ok && strings.TrimRight(tag, " ") == "[Message"
}

func facts(f *format.Facts, line string) {
	engines.Learn(f, line)
	if loaders.Learn(f, line) {
		_, rest, _ := strings.Cut(line, " - ")
		game, _, _ := strings.Cut(rest, " (")
		format.Learn(&f.Game, game)
	}
	if _, game, ok := strings.Cut(line, "] Game Name: "); ok && f.Loader != "" {
		format.Learn(&f.Game, game)
	}
	_, version, ok := strings.Cut(line, "] Game Version: ")
	if ok && format.IsVersion(version) && f.Game != "" && !strings.HasSuffix(f.Game, version) {
		f.Game += " " + version
	}
}
