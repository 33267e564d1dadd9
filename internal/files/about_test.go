package files

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/testkit"
)

func TestReadAbout(t *testing.T) {
	for _, c := range []struct {
		name, xml string
		want      blame.Mod
	}{
		{"all", "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ModMetaData>\n  <name> Printing &amp; Press </name>\n  <author>A</author>\n  <packageId>acme.press</packageId>\n</ModMetaData>", blame.Mod{Name: "Printing & Press", PackageID: "acme.press"}},
		{"a name only", "<ModMetaData><name>Press</name></ModMetaData>", blame.Mod{Name: "Press"}},
		{"those of others", "<ModMetaData><modDependencies><li><packageId>other.mod</packageId><name>Other</name></li></modDependencies><packageId>acme.press</packageId></ModMetaData>", blame.Mod{PackageID: "acme.press"}},
		{"another letter case", "<ModMetaData><packageID>acme.press</packageID></ModMetaData>", blame.Mod{PackageID: "acme.press"}},
		{"comments and sections", "<ModMetaData><name><!-- x --><![CDATA[Press]]></name></ModMetaData>", blame.Mod{Name: "Press"}},
		{"what follows is not read", "<ModMetaData><name>Press</name></ModMetaData><", blame.Mod{Name: "Press"}},
		{"nothing", "<ModMetaData/>", blame.Mod{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.Must(readAbout(strings.NewReader(c.xml)))
			require.Equal(t, c.want, m)
		})
	}
}

// TestReadAboutIsHostile holds that what is no About.xml is refused, with where, and that nothing is expanded.
func TestReadAboutIsHostile(t *testing.T) {
	for _, c := range []struct{ name, xml, want string }{
		{"an entity", "<!DOCTYPE x [<!ENTITY a \"b\">]>\n<ModMetaData><name>&a;</name></ModMetaData>", "line 2"},
		{"an entity of a file", "<ModMetaData>\n<name>&file;</name></ModMetaData>", "line 2"},
		{"another document", "<html></html>", "<html> instead of <ModMetaData>"},
		{"cut", "<ModMetaData><name>Press", "line 1"},
		{"empty", "", "no element <ModMetaData>"},
		{"binary", "\x00\x01\x02", "line 1"},
		{"another tag ends it", "<ModMetaData>\n\n<name>Press</ModMetaData>", "line 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readAbout(strings.NewReader(c.xml))
			require.ErrorContains(t, err, c.want)
		})
	}
	long := "<ModMetaData><name>" + strings.Repeat("x", 1<<20) + "</name></ModMetaData>"
	m := testkit.Must(readAbout(strings.NewReader(long)))
	require.Less(t, len(m.Name), 1<<10)
	_, err := readAbout(strings.NewReader(strings.Repeat("<ModMetaData>", 1<<14)))
	require.Error(t, err)
}

func FuzzReadAbout(f *testing.F) {
	f.Add("<ModMetaData><name>Press</name><packageId>acme.press</packageId></ModMetaData>")
	f.Add("<!DOCTYPE x [<!ENTITY a \"b\">]><ModMetaData><name>&a;</name></ModMetaData>")
	f.Add("<ModMetaData><name><![CDATA[<name>]]></name><li><name>x</name></li></ModMetaData>")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := readAbout(strings.NewReader(text))
		if err == nil {
			require.LessOrEqual(t, len(m.Name), 1<<10)
			require.LessOrEqual(t, len(m.PackageID), 1<<10)
		}
	})
}

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
