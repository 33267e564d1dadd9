package blame_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/testkit"
)

func TestLinkIsNoText(t *testing.T) {
	for _, id := range []string{"", "x", "12 34", "1&a=b", "-1", strings.Repeat("1", 30)} {
		require.Empty(t, (&blame.Mod{WorkshopID: id}).Link(), id)
	}
	require.NotEmpty(t, (&blame.Mod{WorkshopID: strings.Repeat("1", 20)}).Link(), "as long as a number can be")
}

// TestKey holds which signs a key keeps, and how many.
func TestKey(t *testing.T) {
	var all strings.Builder
	for c := range rune(128) {
		all.WriteRune(c)
	}
	require.Equal(t, "0123456789abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", blame.Key(all.String()))
	require.Equal(t, "жж9字é", blame.Key("Ж…ж9 字\u0080É"))
	require.Equal(t, blame.Key("Weaver"), blame.Key("code: Weaver"), "both name one mod")
	require.Equal(t, strings.Repeat("a", 64), blame.Key(strings.Repeat("a", 70)))
	require.Equal(t, strings.Repeat("ж", 32), blame.Key(strings.Repeat("ж", 40)))
}

// TestNumberIsOwn holds that the number of a mod outlives the memory of the record that taught it.
func TestNumberIsOwn(t *testing.T) {
	f := testkit.Must(blame.New(blame.Config{}))
	f.Learn(blame.Mod{Name: "Printing Press", PackageID: "acme.press"})
	read := []byte(`[Printing Press - Start of stack trace]` + "\n" + `Source file: D:\workshop\content\123450\1234567890\P.xml`)
	f.LearnNames(f.Find(nil, unsafe.String(&read[0], len(read)), ""))
	clear(read)
	m, _ := f.Mod("Printing Press")
	require.Equal(t, "1234567890", m.WorkshopID)
}
