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
	_, _, isServer := server(line)
	isBanner := isServer || strings.Contains(line, "ModLauncher running: args [") ||
		begins.Has(line, "inecraft ", "--fml.") && versions.Learn(nil, line)
	frame := strings.TrimPrefix(strings.TrimLeft(line, " \t"), "at ")
	if _, rest, ok := strings.Cut(frame, "//"); ok { // at TRANSFORMER/minecraft@1.20.1/net.minecraft...
		frame = rest
	}
	before, _, threaded := strings.Cut(line, " thread/")
	return begins.Evidence(isBanner, begins.Any(frame,
		"net.minecraft.", "net.minecraftforge.", "net.neoforged.", "net.fabricmc.", "com.mojang.", "TRANSFORMER/",
	) || threaded && begins.Any(before[strings.LastIndexByte(before, '[')+1:], "Render", "Server", "Client"))
}

var versions = begins.Versions{
	begins.Loader("--fml.neoForgeVersion, ", "NeoForge"),
	begins.Loader("--fml.forgeVersion, ", "Forge"),
	begins.Loader(" with Fabric Loader ", "Fabric Loader"),
	begins.Loader(" with Quilt Loader ", "Quilt Loader"),
	begins.Loader("Forge Mod Loader version ", "Forge"),
	begins.Game("--fml.mcVersion, ", "Minecraft"),
	begins.Game(" Loading Minecraft ", "Minecraft"),
	begins.Game(" for Minecraft ", "Minecraft"),
	begins.Game("Starting minecraft server version ", "Minecraft"),
	begins.Game("Minecraft Version: ", "Minecraft"),
}

// server returns the name and the version of a server with plugins.
func server(line string) (name, version string, ok bool) {
	_, server, ok := strings.Cut(line, "This server is running ")
	name, version, _ = strings.Cut(server, " version ")
	version, _, _ = strings.Cut(version, " ")
	return name, version, ok && strings.Contains(server, " API version ")
}

func facts(f *format.Facts, line string) {
	if name, version, ok := server(line); ok {
		format.Learn(&f.Loader, name+" "+version)
	}
	if begins.Has(line, "inecraft ", "--fml.") {
		versions.Learn(f, line)
	}
}
