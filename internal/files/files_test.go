package files

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

func TestMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("logs", 0o700))
	for _, name := range []string{"Player.log", "Player-prev.log", filepath.Join("logs", "colony.log")} {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	for name, want := range map[string]string{
		"Playr.log":         "; did you mean Player.log?",
		"player.log":        "; did you mean Player.log?",
		"./Playr.log":       "; did you mean ./Player.log?",
		"log":               "; did you mean logs?",
		"Player.log":        "", // it went, or is a link that leads nowhere
		"something-else":    "",
		"logs/colnoy.log":   "; did you mean logs/colony.log?",
		"nowhere/Playr.log": "",
		"":                  "",
	} {
		require.Equal(t, want, Missing(name), name)
	}
}

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{
		"a.log", "B.LOG", "c.log.gz", "d.jsonl.zst", "e.log.2", "f.log.x", "notes.txt",
		"texts/upload.txt", "texts/notes.txt.gz", "texts/readme.md", "output_log.txt", "Player (1).txt", ".log", "x[1].log", "deep/er/z.log", "deep/y.log", "empty/readme",
		"crashes/Crash_2031-04-06_1/error.log", "crashes/Crash_2031-04-05_1/error.log", "crashes/Crash_2031-04-05_1/Player.log",
		"crashes/Crash_2031-04-05_1/crash.dmp", "crashes/Crash_2031-04-05_1/Crash_1/error.log", "crashes/other/error.log",
		"crashes/Press_2031.ips", "crashes/readme",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	require.NoError(t, os.Mkdir("dir.log", 0o700))
	for _, c := range []struct {
		name  string
		args  string
		want  string
		wrong string
	}{
		{"names", "b a - absent", "b a - absent", ""},
		{"a directory", ".", ".log B.LOG Player (1).txt a.log c.log.gz d.jsonl.zst e.log.2 output_log.txt x[1].log", ""},
		{"a directory, not below", "deep", "deep/y.log", ""},
		{"any depth", "{,deep/**/}*.log", ".log a.log deep/er/z.log deep/y.log x[1].log", ""},
		{
			"crashes", "crashes", "crashes/Crash_2031-04-05_1/Player.log crashes/Crash_2031-04-05_1/error.log " +
				"crashes/Crash_2031-04-06_1/error.log", "",
		},
		{
			"a crash", "crashes/Crash_2031-04-05_1", "crashes/Crash_2031-04-05_1/Player.log " +
				"crashes/Crash_2031-04-05_1/error.log crashes/Crash_2031-04-05_1/Crash_1/error.log", "",
		},
		{"any depth below", "deep/**", "deep/er/z.log deep/y.log", ""},
		{"a class", "[ae].log*", "a.log e.log.2", ""},
		{"one of", "{a,f}.log*", "a.log f.log.x", ""},
		{"a name that reads as a pattern", "x[1].log", "x[1].log", ""},
		{"once", "a.log ./a.log deep/y.log deep", "a.log ./a.log deep/y.log", ""},
		{"texts", "texts", "texts/upload.txt", ""},
		{"nothing in it", "empty a.log", "a.log", "empty: no log found in this directory"},
		{"nothing matches", "*.nope a.log", "a.log", "*.nope: no log found"},
		{"no pattern", "a[.log", "", "a[.log: no such file, and no valid pattern"},
		{"directories do not match", "dir*", "", "no log found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, taken, wrong := Inputs(strings.Fields(c.args),
				func(name string) bool { return filepath.Base(name) == "upload.txt" })
			want := strings.ReplaceAll(c.want, "Player (1).txt", "Player_(1).txt")
			for i := range files {
				files[i] = strings.ReplaceAll(filepath.ToSlash(files[i]), "Player (1).txt", "Player_(1).txt")
			}
			require.Equal(t, strings.Fields(want), append([]string{}, files...))
			if c.wrong == "" {
				require.Empty(t, wrong)
			} else {
				require.ErrorContains(t, errors.Join(wrong...), c.wrong)
			}
			for _, tk := range taken {
				require.NotEmpty(t, tk.Files)
				if tk.Argument == "texts" {
					require.Equal(t, []string{filepath.Join("texts", "notes.txt.gz")}, tk.Left)
				}
			}
		})
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(file, []byte("12345"), 0o600))
	for _, read := range []func(string, int64) ([]byte, error){Read, ReadRegular} {
		data := testkit.Must(read(file, 5))
		require.Equal(t, "12345", string(data))
		_, err := read(file, 4)
		require.ErrorContains(t, err, file+": has more than 4 bytes")
		_, err = read(filepath.Join(dir, "b"), 5)
		require.ErrorIs(t, err, os.ErrNotExist)
		_, err = read(dir, 5)
		require.Error(t, err)
	}
	_, err := ReadRegular(os.DevNull, 5)
	require.ErrorContains(t, err, os.DevNull+": is not a regular file")
}

func TestRules(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	b, a := write("b.yml", []byte("b")), write("a.yaml", []byte("a"))
	write("notes.txt", nil)
	day := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	files := testkit.Must(AllRules([]string{b, dir, a, dir + "/."}, day))
	require.Equal(t, []rules.File{
		{Name: b, Data: []byte("b"), Today: "2026-01-31"},
		{Name: a, Data: []byte("a"), Today: "2026-01-31"},
	}, files)

	_, err := AllRules([]string{t.TempDir()}, day)
	require.ErrorContains(t, err, "has no *.yaml or *.yml")
	_, err = AllRules([]string{filepath.Join(dir, "absent.yaml")}, day)
	require.ErrorContains(t, err, "absent.yaml: no such file or folder")
	whole := write("whole.yaml", bytes.Repeat([]byte("#"), rules.MaxFileBytes))
	testkit.Must(AllRules([]string{whole}, day))
	_, err = AllRules([]string{write("long.yaml", bytes.Repeat([]byte("#"), rules.MaxFileBytes+1))}, day)
	require.ErrorContains(t, err, "long.yaml: has more than 4194304 bytes, the limit for such a file")
}

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
	ids := testkit.Must(ModsConfig([]byte("\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ModsConfigData>\n<version>1.6</version>\n" +
		"<activeMods>\n<li>author.lib</li>\n<li> acme.press </li><li></li>\n</activeMods>\n<knownExpansions><li>other</li></knownExpansions></ModsConfigData>")))
	require.Equal(t, []string{"author.lib", "acme.press"}, ids)

	for text, want := range map[string]string{
		"":                       "no element <activeMods>",
		"<ModsConfigData/>":      "no element <activeMods>",
		"<a>\n<activeMods><li>x": "line 2: ",
		"not xml at all":         "no element <activeMods>",
		"<a>\n</b>":              "line 2: ",
	} {
		_, err := ModsConfig([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}
