// Package minecraft knows the logs of Minecraft and of its loaders of mods: Forge, NeoForge, Fabric and Quilt.
//
//	[12:34:56] [main/INFO]: ModLauncher running: args [--fml.forgeVersion, 47.2.0, --fml.mcVersion, 1.20.1]
//	[12:34:56] [main/INFO]: Forge Mod Loader version 14.23.5.2847 for Minecraft 1.12.2 loading
//	[12:34:56] [main/INFO]: Loading Minecraft 1.20.1 with Fabric Loader 0.14.21
//	[12:34:56] [Server thread/INFO]: Starting minecraft server version 1.20.1
package minecraft

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
)

// Format is the family of Minecraft's logs.
var Format = format.Format{Name: "minecraft", Detect: detect, Facts: facts}

func detect(line string) format.Evidence {
	var f format.Facts
	if facts(&f, line); f != (format.Facts{}) || strings.Contains(line, "ModLauncher running: args [") {
		return format.Banner
	}
	frame := strings.TrimPrefix(strings.TrimLeft(line, " \t"), "at ")
	if _, rest, ok := strings.Cut(frame, "//"); ok { // at TRANSFORMER/minecraft@1.20.1/net.minecraft...
		frame = rest
	}
	if begins.Any(frame,
		"net.minecraft.", "net.minecraftforge.", "net.neoforged.", "net.fabricmc.", "com.mojang.", "TRANSFORMER/",
	) {
		return format.Form
	}
	before, _, _ := strings.Cut(line, " thread/")
	if len(before) < len(line) && begins.Any(before[strings.LastIndexByte(before, '[')+1:], "Render", "Server", "Client") {
		return format.Form
	}
	return format.None
}

// loaders are the marks before the version of a loader, and its name.
var loaders = [...]struct{ mark, name string }{
	{"--fml.neoForgeVersion, ", "NeoForge "},
	{"--fml.forgeVersion, ", "Forge "},
	{" with Fabric Loader ", "Fabric Loader "},
	{" with Quilt Loader ", "Quilt Loader "},
	{"Forge Mod Loader version ", "Forge "},
}

// games are the marks before the version of the game.
var games = [...]string{
	"--fml.mcVersion, ", " Loading Minecraft ", " for Minecraft ", "Starting minecraft server version ", "Minecraft Version: ",
}

func facts(f *format.Facts, line string) {
	if _, server, ok := strings.Cut(line, "This server is running "); ok && strings.Contains(server, " API version ") {
		name, version, _ := strings.Cut(server, " version ")
		version, _, _ = strings.Cut(version, " ")
		format.Learn(&f.Loader, name+" "+version)
	}
	if !strings.Contains(line, "inecraft ") && !strings.Contains(line, "--fml.") {
		return
	}
	for _, l := range loaders {
		if version := format.Word(line, l.mark); format.IsLongVersion(version) {
			format.Learn(&f.Loader, l.name+version)
		}
	}
	for _, mark := range games {
		if version := format.Word(line, mark); format.IsLongVersion(version) {
			format.LearnGame(f, "Minecraft", version)
		}
	}
}
