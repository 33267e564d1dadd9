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
var Format = format.Format{Name: "bepinex", Detect: detect, Level: level, Mod: mod, Facts: facts}

func detect(line string) format.Evidence {
	if _, _, ok := loaderOf(line); ok {
		return format.Banner
	}
	if _, ok := begins.Tagged(line, " BepInEx] "); ok {
		return format.Form
	}
	return format.None
}

// after returns the text after a name in a line, at its beginning or after a tag.
func after(line, name string) (string, bool) {
	if strings.HasPrefix(line, "[") {
		_, line, _ = strings.Cut(line, "] ")
	}
	return strings.CutPrefix(line, name)
}

// loaderOf returns the loader that prints its version in a line.
func loaderOf(line string) (loader, rest string, ok bool) {
	if text, tagged := begins.Tagged(line, " BepInEx] "); tagged {
		loader, rest, _ = strings.Cut(text, " - ")
	} else if text, is := after(line, "MelonLoader v"); is {
		version, _, _ := strings.Cut(text, " ")
		loader = "MelonLoader " + version
	}
	name, version, _ := strings.Cut(loader, " ")
	return loader, rest, (name == "BepInEx" || name == "MelonLoader") && format.IsLongVersion(version)
}

// level knows Message: news for the player, no problem.
func level(line string) (event.Level, bool) {
	tag, _, ok := strings.Cut(line, ":")
	return event.LevelInfo, ok && strings.TrimRight(tag, " ") == "[Message"
}

// mod reads "[12:34:56.789] Some Mod v1.2.0", an item of a list.
func mod(line string) (name, version string, ok bool) {
	tag, rest, _ := strings.Cut(line, "] ")
	at := strings.LastIndex(rest, " v")
	if at <= 0 || len(tag) < len("[12:34:56") || tag[0] != '[' || tag[3] != ':' {
		return "", "", false
	}
	name, version = rest[:at], rest[at+len(" v"):]
	return name, version, format.IsLongVersion(version) && !strings.ContainsAny(name, "[]") &&
		!strings.HasSuffix(name, ":") && name != "MelonLoader"
}

func facts(f *format.Facts, line string) {
	if loader, rest, ok := loaderOf(line); ok {
		format.Learn(&f.Loader, loader)
		game, _, _ := strings.Cut(rest, " (")
		format.Learn(&f.Game, game)
	}
	for _, engine := range [...]string{"Running under Unity v", "Unity Version: "} {
		if version, ok := after(line, engine); ok && format.IsLongVersion(version) {
			format.Learn(&f.Engine, "Unity "+version)
		}
	}
	if game, ok := after(line, "Game Name: "); ok && f.Loader != "" {
		format.Learn(&f.Game, game)
	}
	version, ok := after(line, "Game Version: ")
	if ok && format.IsVersion(version) && f.Game != "" && !strings.HasSuffix(f.Game, version) {
		f.Game += " " + version
	}
}
