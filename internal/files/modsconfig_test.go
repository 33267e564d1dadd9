package files

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func TestModsConfig(t *testing.T) {
	ids := testkit.Must(ModsConfig(strings.NewReader("\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ModsConfigData>\n<version>1.6</version>\n" +
		"<activeMods>\n<li>author.lib</li>\n<li> acme.press </li><li></li>\n</activeMods>\n<knownExpansions><li>other</li></knownExpansions></ModsConfigData>")))
	require.Equal(t, []string{"author.lib", "acme.press"}, ids)

	for text, want := range map[string]string{
		"":                       "no element <activeMods>",
		"<ModsConfigData/>":      "no element <activeMods>",
		"<a>\n<activeMods><li>x": "line 2: ",
		"not xml at all":         "no element <activeMods>",
		"<a>\n</b>":              "line 2: ",
	} {
		_, err := ModsConfig(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}
