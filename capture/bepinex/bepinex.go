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
	"github.com/heedlog/heed/event"
)

// Format is the family of the logs of BepInEx and MelonLoader.
var Format = format.Format{Name: "bepinex", Detect: detect, Level: level, Mod: mod, Facts: facts}

func detect(line string) format.Evidence {
	if rest, ok := format.Tagged(line, " BepInEx] "); ok {
		if strings.HasPrefix(rest, "BepInEx ") {
			return format.Banner
		}
		return format.Form
	}
	if version, ok := melon(line, "MelonLoader v"); ok && format.IsLongVersion(version) {
		return format.Banner
	}
	return format.None
}

// melon returns the text behind a name in a line of MelonLoader's banner, up to a space after a version.
func melon(line, name string) (string, bool) {
	if strings.HasPrefix(line, "[") {
		_, line, _ = strings.Cut(line, "] ")
	}
	text, ok := strings.CutPrefix(line, name)
	if strings.HasSuffix(name, " v") {
		text, _, _ = strings.Cut(text, " ")
	}
	return text, ok
}

// level knows Message: news for the player, no problem.
func level(line string) (event.Level, bool) {
	tag, _, ok := strings.Cut(line, ":")
	return event.LevelInfo, ok && strings.TrimRight(tag, " ") == "[Message"
}

// mod reads a line of the list that MelonLoader prints: "[12:34:56.789] Some Mod v1.2.0".
func mod(line string) (name, version string, ok bool) {
	tag, rest, ok := strings.Cut(line, "] ")
	at := strings.LastIndex(rest, " v")
	if !ok || at <= 0 || len(tag) < len("[12:34:56") || tag[0] != '[' || tag[3] != ':' || strings.HasPrefix(rest, "MelonLoader ") {
		return "", "", false
	}
	name, version = rest[:at], rest[at+len(" v"):]
	return name, version, format.IsLongVersion(version) && !strings.ContainsAny(name, ":[]")
}

func facts(f *format.Facts, line string) {
	if rest, ok := format.Tagged(line, " BepInEx] "); ok {
		loader, game, _ := strings.Cut(rest, " - ")
		if version, is := strings.CutPrefix(loader, "BepInEx "); is && format.IsLongVersion(version) {
			format.Learn(&f.Loader, loader)
			if at := strings.LastIndex(game, " ("); at > 0 {
				game = game[:at]
			}
			format.Learn(&f.Game, game)
		}
		if version, is := strings.CutPrefix(rest, "Running under Unity v"); is && format.IsLongVersion(version) {
			format.Learn(&f.Engine, "Unity "+version)
		}
		return
	}
	if version, ok := melon(line, "MelonLoader v"); ok && format.IsLongVersion(version) {
		format.Learn(&f.Loader, "MelonLoader "+version)
	}
	if f.Loader == "" {
		return // only below the line of the loader
	}
	if game, ok := melon(line, "Game Name: "); ok {
		format.Learn(&f.Game, game)
	}
	if version, ok := melon(line, "Game Version: "); ok && format.IsVersion(version) && f.Game != "" && !strings.HasSuffix(f.Game, version) {
		f.Game = format.Shorten(f.Game+" "+version, len(f.Game)+len(version)+1)
	}
	if version, ok := melon(line, "Unity Version: "); ok && format.IsLongVersion(version) {
		format.Learn(&f.Engine, "Unity "+version)
	}
}
