package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/files"
)

func TestMods(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	about := func(name, id string) string {
		return "<ModMetaData><name>" + name + "</name><packageId>" + id + "</packageId></ModMetaData>"
	}
	write("Mods/[AC] Press/About/About.xml", about("Printing Press", "acme.press"))
	write("Mods/[AC] Press/About/PublishedFileId.txt", "\ufeff1234567890\r\n")
	write("Mods/[AC] Press/Assemblies/PressLib.dll", "")
	write("Mods/[AC] Press/1.5/Assemblies/PressLib.dll", "")
	write("Mods/[AC] Press/1.6/Assemblies/Rollers.dll", "")
	write("Mods/[AC] Press/1.6/Assemblies/notes.txt", "")
	write("Mods/Bad/About/About.xml", "<ModMetaData><name>")
	write("Mods/Long/About/About.xml", about(strings.Repeat("x", 1<<20), "x.long"))
	write("Mods/Unnamed/About/About.xml", "<ModMetaData/>")
	write("Mods/Odd/About/About.xml", about("Odd", "x.odd"))
	write("Mods/Odd/About/PublishedFileId.txt", "1&a=b")
	write("Mods/Nothing/readme.txt", "")
	write("content/123450/2345678901/About/About.xml", about("Widgets", "acme.widgets"))

	mods, notes := files.Mods([]string{filepath.Join(dir, "Mods"), filepath.Join(dir, "content", "123450")})
	require.Equal(t, []capture.Mod{
		{Name: "Odd", PackageID: "x.odd"},
		{
			Name: "Printing Press", PackageID: "acme.press", WorkshopID: "1234567890",
			Assemblies: []string{"PressLib", "Rollers"},
		},
		{Name: "Widgets", PackageID: "acme.widgets", WorkshopID: "2345678901"},
	}, mods)
	require.Len(t, notes, 3)
	require.ErrorContains(t, notes[0], filepath.Join("Bad", "About", "About.xml"))
	require.ErrorContains(t, notes[1], filepath.Join("Long", "About", "About.xml"))
	require.ErrorContains(t, notes[2], "neither a name nor a package id")

	mods, notes = files.Mods([]string{filepath.Join(dir, "Mods", "Odd")})
	require.Len(t, mods, 1, "a folder of one mod")
	require.Empty(t, notes)
	mods, notes = files.Mods([]string{filepath.Join(dir, "absent"), filepath.Join(dir, "Mods", "Nothing")})
	require.Empty(t, mods)
	require.Len(t, notes, 2)
	require.ErrorContains(t, notes[0], "absent")
	require.ErrorContains(t, notes[1], "no folder in it has About/About.xml")
}
