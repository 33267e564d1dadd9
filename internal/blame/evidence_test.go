package blame_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
)

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
