package signature

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDigitsVary: the digits of ids, measures and addresses vary; those of codes, of words
// that are never masked, and of what those may become, do not.
func TestDigitsVary(t *testing.T) {
	n, err := New(Config{Protect: []string{"Deck12"}})
	require.NoError(t, err)
	scratch := make([]byte, 256)
	for text, want := range map[string]bool{
		"Thing_Wall4711 at (166, 0, 143) is gone": true,
		"10.77.3.12:4711: lost after 0.25 s":      true,
		"took 12 ms, 7%":                          true,
		"nothing varies":                          false,
		"":                                        false,
		"exit code 17":                            false,
		"Vector3 is none":                         false,
		"page is 7D":                              false, // 2D is a word
		"Deck77 is on fire":                       false,
		"Int77 is no type":                        false,
		"ABC-12541 is no message":                 false, // ABC-00942 is one
		"GET / | 999 | 12":                        false, // 404 is a status
		"lamp 17 is lost\nlamp 18":                false,
		strings.Repeat("lamp 17 ", 33):            false, // too long
	} {
		require.Equal(t, want, n.DigitsVary(text, "", n.Key(text, ""), scratch), "%q", text)
	}
	text := "Thing_Wall4711 at (166, 0, 143) is gone"
	require.False(t, n.DigitsVary(text, "", Key{}, scratch), "the key is another one")
	require.Zero(t, testing.AllocsPerRun(100, func() { n.DigitsVary(text, "", n.Key(text, ""), scratch) }))
}
