package blame_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
)

// TestListedAgain: a mod that is listed again as it was teaches nothing.
func TestListedAgain(t *testing.T) {
	mods := []blame.Mod{
		{Name: "A Tool", PackageID: "some.tool"},
		{Name: "A Tool", WorkshopID: "12"},
		{Name: "B", Assemblies: []string{"C"}},
		{Name: "D", Assemblies: []string{"C"}},
		{Name: "E", Assemblies: []string{"C"}},
	}
	f := finder(t)
	before := 0
	for i, m := range mods {
		require.True(t, f.Learn(m))
		require.Greater(t, f.Lessons(), before, i)
		before = f.Lessons()
	}
	for i, m := range mods {
		require.True(t, f.Learn(m))
		require.Equal(t, before, f.Lessons(), i)
	}
}

// TestMethodsAreBounded: of more methods than there is room for, the first stay.
func TestMethodsAreBounded(t *testing.T) {
	f := finder(t)
	for i := range blame.MaxMethods + 10 {
		f.LearnTrace(trace(fmt.Sprintf("Farm.Cow.Eat%d", i)))
	}
	require.Equal(t, 8192, f.Methods())
	f = finder(t)
	for i := range 8200 {
		f.LearnTrace(fmt.Sprintf("  at Farm.Cow.Eat () [0x00012] in <%032x>:0", i))
	}
	require.Equal(t, 8192+blame.MinTraces, f.Knows())

	before := strings.Repeat("\n", 32<<10-len("mod 'A Tool'"))
	require.Len(t, f.Find(nil, before+"mod 'A Tool'", ""), 1)
	require.Empty(t, f.Find(nil, "\n"+before+"mod 'A Tool'", ""), "text beyond 32 KiB")
	f = finder(t)
	f.LearnTrace(before + "\n\n\n\n" + trace("Farm.Cow.Eat"))
	require.Zero(t, f.Knows())
}

// TestLearnTraceKeepsNothing holds that a trace may be overwritten once it was learned.
func TestLearnTraceKeepsNothing(t *testing.T) {
	const trace = "  at Acme.Loop.Run () [0x00001] in <0123>:0\n  at Acme.Loop.Tick () [0x00001] in <0123>:0\n" +
		"  at Acme.Loop.Turn () [0x00001] in <0123>:0\n  at Lamps.Lamp.Burn () [0x00001] in <4567>:0\n"
	want, got := finder(t), finder(t)
	buffer := make([]byte, len(trace))
	for range 100 {
		copy(buffer, trace)
		want.LearnTrace(trace)
		got.LearnTrace(unsafe.String(&buffer[0], len(buffer)))
	}
	clear(buffer)
	require.Len(t, want.Find(nil, "stuck", trace), 1, "most frames are the game's")
	require.Equal(t, want.Find(nil, "stuck", trace), got.Find(nil, "stuck", trace))
}
