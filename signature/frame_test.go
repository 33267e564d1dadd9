package signature_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/frame"
)

func TestParseFrame(t *testing.T) {
	for _, c := range []struct {
		line string
		want frame.Certainty
		path string
		word string
		mod  string
	}{
		{"  at Acme.Press.Turn (System.Int32 x) [0x00012] in <0123>:0", frame.Sure, "Acme.Press.Turn", "at", ""},
		{"Acme.Press:Turn (int)", frame.Sure, "Acme.Press:Turn", "", ""},
		{"Acme.Press.Turn () (at <0123>:0)", frame.Sure, "Acme.Press.Turn", "", ""},
		{"   в Acme.Press.Turn(Int32 x) в C:\\press.cs:строка 12", frame.Within, "Acme.Press.Turn", "в", ""},
		{"\tAcme.Press.Turn ()", frame.Within, "Acme.Press.Turn", "", ""},
		{"\tat LAYER/press@2.3.0/com.acme.Press.turn(Press.java:57)", frame.Sure, "com.acme.Press.turn", "at", "press"},
		{"#3  0x007f39f1a0c2e3 in Acme.Press:Turn (int)", frame.Sure, "Acme.Press:Turn", "", ""},
		{"#3  0x007f39f1a0c2e3 in std::vector<int>::at(unsigned long)", frame.None, "std::vector<int>::at", "", ""},
		{"  at last.", frame.None, "", "at", ""},
		{"", frame.None, "", "", ""},
	} {
		f, got := frame.Parse(c.line)
		require.Equal(t, c.want, got, c.line)
		require.Equal(t, []string{c.path, c.word, c.mod}, []string{f.Path, f.Word, f.Module}, c.line)
	}
}

// TestParseFrameOfScript holds that frames of script languages name the file of the script and the function.
func TestParseFrameOfScript(t *testing.T) {
	for line, want := range map[string][2]string{
		"\tscripts/press.lua:12: in function 'turn'":                               {"press", "turn"},
		"\t...gs/gears/press.lua:12: in upvalue 'Press.turn'":                      {"press", "Press.turn"},
		"\tscripts/roll.lua:9: in main chunk":                                      {"roll", "roll"},
		"\tscripts/roll.lua:9: in function <scripts/roll.lua:3>":                   {"roll", "roll"},
		"  1. turn - addons/gears/lua/press.lua:12":                                {"press", "turn"},
		"\tfrom scripts/press.rb:12:in 'Press#turn'":                               {"press", "Press#turn"},
		"\tfrom scripts/press.rb:12:in `block in turn'":                            {"press", "turn"},
		"press.rb:12:in `<main>'":                                                  {"press", "<main>"},
		"turn@simulation/press.js:12:3":                                            {"press", "turn"},
		"mods/press.lua:63 in (method) Turn (Lua) <58-71>":                         {"press", "Turn"},
		"mods/press.lua:63 in () ? (Lua) <58-71>":                                  {"press", "press"},
		"\t[PressQuest (1E000D62)].PressQuest.Turn() - \"PressQuest.psc\" Line 41": {"PressQuest", "PressQuest.Turn"},
		"  Press.prototype.turn@simulation/press.js:12:3":                          {"press", "Press.prototype.turn"},
	} {
		f, got := frame.Parse(line)
		require.Equal(t, frame.Within, got, line)
		require.Equal(t, want, [2]string{f.Module, f.Name}, line)
	}
	for _, line := range []string{
		"  1. turn - the press", "ann@example.com: 12", "ann@home.example", "10. gears - at 12", "in press.lua:12: in time", "from press:in 'turn'",
	} {
		_, got := frame.Parse(line)
		require.Equal(t, frame.None, got, line)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add("  at Acme.Press.Turn () <0x0001b>")
	f.Fuzz(func(t *testing.T, line string) {
		_, certainty := frame.Parse(line)
		require.LessOrEqual(t, certainty, frame.Sure)
		n, _ := frame.Throwable(line)
		require.LessOrEqual(t, n, len(line))
	})
}
