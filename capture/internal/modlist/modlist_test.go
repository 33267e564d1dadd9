package modlist

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	for line, want := range map[string][]string{ // names; "?" for a line that needs a second one
		"[Mods] Enabled: Loading Screen Press 1.3.5 [2955456339]":                                 {"Loading Screen Press"},
		"Mod: P:RS 11.7.4.3 STABLE enabled":                                                       {"P:RS"},
		"[mods] press_two 2.0 loaded, 14 wheels":                                                  {"press_two"},
		"[PressModLoader] 2 mods found: \"Old Press\", \"Loom\", ":                                {"Old Press", "Loom"},
		"[PressLoader] Found 3 mods: press 1.2.0, loom, mill 0.1.1":                               {"press", "loom", "mill"},
		"Mods, sorted by dependency: game, press, loom, mill":                                     {"press", "loom", "mill"},
		"[2031.01.01-10.00.00:001][ 1]Mods: Press (731604991), Loom (1404697612)":                 {"Press", "Loom"},
		"== game.exe -port=2302 \"-mod=@press;@loom_two\" -x":                                     {"press", "loom_two"},
		"== game.exe \"-mod=[];@press\"":                                                          {"press"},
		"Adding Filesystem Addon '/srv/addons/press'":                                             {"press"},
		"Mounted workshop addon: 2142265566 (Old Press)":                                          {"Old Press"},
		"[10:00:00.000] Melon Assembly loaded: '.\\Mods\\Press.dll'":                              {"Press"},
		"[10:00:00] [main/INFO] [ModDiscoverer]: Found mod file press-fabric-1.2.jar of type MOD": {"press"},
		"[10:00:00] [main/INFO] [ModDiscoverer/SCAN]:  - press-1.21.1-6.0.0.jar":                  {"press"},
		"LOG  : Mod         , 1741978932872> 48,113,872> loading press":                           {"?", "press"},
		"[10:00:00] [tML]: Selecting Press v2.0.5.3 (tML: 2031.4) from Workshop":                  {"?", "Press"},
		"[10:00:00] Old Press v1.2":                                                               {"?", "Old Press"},
		"[1:2:INFO:CONSOLE(3)] \"Plugin loaded: Press_Core\", source: main.js (3)":                {"?", "Press_Core"},

		"Loading plugin: []": nil,
		"[10:00:00] [Server/INFO]: <Player> Loaded mod Press v1.2":        nil,
		"[PressMod] Enabled Debug":                                        nil,
		"[MODEL] Loaded Press":                                            nil,
		"[Mods] version 1.2.3 loaded":                                     nil,
		"[Mods] Found update: 1.2.3":                                      nil,
		"Loading Plugins from 'D:\\Press\\Plugins'...":                    nil,
		"[MODS] Start loading from: '/srv/Mods'":                          nil,
		"[MODS] Initializing mod code":                                    {"?", "code"},
		"Loading mod metadata...":                                         nil,
		"mod \"press\" is missing optional data: oil.txt":                 nil,
		"[WARN] Mod 'press.zip' (disabled) has errors in its description": nil,
		"Loading save slot metadata took 0.05s":                           nil,
		"Loading shader option OIL = 65.1":                                nil,
		"active block modifiers took 864ms (processed 72 of 142 blocks)":  nil,
		"Instantiating addon 'PressButton' from assembly 'Press'":         nil,
		"Started mod Press, and the rest is 1.2 of a sentence":            nil,
	} {
		mods, _, isSure := Read(line)
		var got []string
		if len(mods) > 0 && !isSure {
			got = append(got, "?")
		}
		for _, m := range mods {
			got = append(got, m.Name)
		}
		require.Equal(t, want, got, line)
	}
	list := strings.TrimSuffix(strings.Repeat("press, ", 200), ", ")
	mods, _, isSure := Read("[10:00:00] Loaded mods: " + list)
	require.True(t, isSure)
	require.Len(t, mods, 200, "a list may be longer than the words before it")
}
