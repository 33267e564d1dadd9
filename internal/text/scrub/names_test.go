package scrub_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text/scrub"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ teaches, in, want string }{
		{`C:\Users\Quill Abt\AppData`, `Quill Abt joined, quill_abt left, C:\x\QuillAbt.rws`, `<user> joined, <user> left, C:\x\<user>.rws`},
		{`C:\Users\Quillon Abtenau\x`, `USERNAME=<*> Abtenau, <*>%20Abtenau and <*> of Abtenau`, `USERNAME=<user>, <user> and <*> of Abtenau`},
		{`/home/quillon/.config`, `Quillon's colony, save QUILLON-2 and (quillon)`, `<user>'s colony, save <user>-2 and (<user>)`},
		{`/Users/quillon/Library`, `saved autosave_quillon_3`, `saved autosave_<user>_3`},
		{`C:\Users\Велимир\x`, `игрок велимир вышел`, `игрок <user> вышел`},
		{`C:\Users\김민준\x`, `김민준 joined`, `<user> joined`},
		{`file:///C:/Users/Quill%20Abt/x`, `Quill Abt`, `<user>`},
		{`\\srv01\profiles$\quillon\x`, `quillon on srv01`, `<user> on <computer>`},
		{`COMPUTERNAME=QUILLTOWER`, `quilltower answered`, `<computer> answered`},
		{`Steam persona name: quillon`, `quillon: hello`, `<user>: hello`},
		{`quillon (76561198000000001) connected`, `quillon left`, `<user> left`},
		{`Running as TOWER9\quillon`, `tower9: quillon`, `<computer>: <user>`},
		{`C:\Users\Quill\x and C:\Users\Quill Abt\x`, `Quill Abt and Quill`, `<user> and <user>`},

		{`Benutzer: Велимир`, `user velimir, \u0412\u0435\u043b\u0438\u043c\u0438\u0440`, `user <user>, <user>`},
		{`C:\Users\Quillon Abt\x`, `C:\Temp\QUILLO~1\x`, `C:\Temp\<user>\x`},

		// Parts of words are others, and so are those of dotted names.
		{`/home/quillon/x`, `quillons quillonia tranquillon quillon2`, `quillons quillonia tranquillon quillon2`},
		{`/home/quillon/x`, `quillon.betterdoors in Mods/quillon.betterdoors, at Mods.Quillon ()`, `quillon.betterdoors in Mods/quillon.betterdoors, at Mods.Quillon ()`},
		{`/home/quillon/x`, `wrote quillon.txt. By quillon.`, `wrote <user>.txt. By <user>.`},

		// What everybody's log has is not learned.
		{`C:\Users\user\x /home/steam/x C:\Users\Default User\x`, `the user has a default user of Steam`, `the user has a default user of Steam`},
		{`C:\Users\me\x`, `for me`, `for me`},
		{`C:\Users\42\x`, `42 pawns`, `42 pawns`},
		{`HOSTNAME=localhost`, `localhost`, `localhost`},
		{`C:\Users\<*>\x and /home/${USER}/x`, `USER and <*>`, `USER and <*>`},

		// Nor are the authors of mods, who built them at home.
		{`at A.B () in C:\Users\quillon\source\repos\X\X.cs:12`, `quillon.harmony by quillon`, `quillon.harmony by quillon`},
		{`/Users/quillon/Projects/X/obj/Release/X.pdb`, `by quillon`, `by quillon`},
	} {
		t.Run(c.teaches+" "+c.in, func(t *testing.T) {
			var n scrub.Names
			require.Equal(t, c.in, n.Text(c.in), "nothing is known yet")
			n.Learn(c.teaches)
			require.False(t, n.Learn(c.teaches), "twice")
			require.Equal(t, c.want, n.Text(c.in))
			require.Equal(t, c.want, n.Text(c.want), "a mark is none")
		})
	}
}

// TestNamesAreBounded: the names that come first are learned.
func TestNamesAreBounded(t *testing.T) {
	var n scrub.Names
	for i := range 1000 {
		n.Learn(fmt.Sprintf("/home/quill%d/x", i))
	}
	require.Equal(t, "<user> <user> quill64", n.Text("quill0 quill63 quill64"))
	n = scrub.Names{}
	long := strings.Repeat("q", 100)
	n.Learn("/home/" + long + "/x")
	require.Equal(t, long, n.Text(long))
}

// TestNamesMarkNoMark: no name that can be learned is in a mark.
func TestNamesMarkNoMark(t *testing.T) {
	var n scrub.Names
	for _, kind := range scrub.Kinds() {
		n.Learn(`C:\Users\` + strings.Trim(string(kind), "<>") + `\x`)
	}
	for _, kind := range scrub.Kinds() {
		require.Equal(t, string(kind), n.Text(string(kind)))
	}
}

func TestCut(t *testing.T) {
	var n scrub.Names
	for _, text := range []string{`in C:\Users\Eva\x`, "/home/tom.k/y", `C:\Users\Public\z`, `D:\Documents and Settings\Mara M\q`, "/Users/"} {
		n.Learn(text)
	}
	for text, want := range map[string][]string{
		"nothing here":            {"nothing here"},
		"":                        {""},
		"eva Eva EVA":             {"", " ", " ", ""},
		"evangelist Maraschino":   {"evangelist Maraschino"},
		"by Mara (M) Eva.":        {"by ", " (M) ", "."},
		"to a@b.c now":            {"to ", " now"},
		"to joe.hansen@<*>, late": {"to ", ", late"},
		"bad \xff byte":           {"bad ", " byte"},
		"the Public one":          {"the Public one"},
		"Eva@x.y":                 {"", ""},
		"on DESKTOP-0A1B2C3":      {"on ", ""},
		"token=0a1b2c3d":          {"token=", ""},
	} {
		require.Equal(t, want, n.Cut(text), text)
	}
}

// TestNamesHome: the home of the user is removed whatever its form, and a home of many machines stays.
func TestNamesHome(t *testing.T) {
	for _, c := range []struct{ home, in, want string }{
		{"/media/people/quillon", "/media/people/quillon/a.log, Quillon", "<user>/a.log, <user>"},
		{"/tmp/x/Users/Quillon/", "/tmp/x/Users/Quillon/a.log", "<user>/a.log"},
		{"/srv/jo", "/srv/jo/a.log, /srv/job", "<user>/a.log, /srv/job"},
		{`D:\People\Jo`, `D:\People\Jo\a d:/people/jo/a D:\\People\\Jo\\a`, `<user>\a <user>/a <user>\\a`},
		{"/srv/www/home", "/srv/www/home/a.log", "/srv/www/home/a.log"},
		{"/root", "/root/a.log", "/root/a.log"},
		{"/", "/a.log", "/a.log"},
		{"", "a.log", "a.log"},
	} {
		var n scrub.Names
		n.Home(c.home)
		require.Equal(t, c.want, n.Text(c.in), c.home)
	}
}

func TestNamesLearnWithoutCost(t *testing.T) {
	var n scrub.Names
	n.Learn("/home/quillon/x")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		n.Learn("Could not resolve cross-reference to Verse.ThingDef")
		n.Text("Could not resolve cross-reference to Verse.ThingDef")
	}))
}

func FuzzNames(f *testing.F) {
	f.Add(`C:\Users\Quill Abt\x`, `quill_abt, Quill.Abt.txt`)
	f.Add(" ", "000000000000000000000000000000000\n~")
	f.Add("/home/\xff\x00a/x", "\xff\x00a")
	f.Add(`/home/ſteam-ıd/x USERNAME=Kelvin`, `steam-id K`)
	f.Fuzz(func(t *testing.T, teaches, s string) {
		var n scrub.Names
		n.Learn(teaches)
		s = scrub.Text(s)
		once := n.Text(s)
		require.Equal(t, once, n.Text(once))
	})
}

// TestNamesAreOwn holds that names outlive the memory of the text that taught them.
func TestNamesAreOwn(t *testing.T) {
	taught := []byte(`C:\Users\quillon\x, for user quillon`)
	var n scrub.Names
	n.Learn(unsafe.String(&taught[0], len(taught)))
	copy(taught, strings.Repeat(`\M`, len(taught)))
	require.Equal(t, `<user> left`, n.Text(`quillon left`))
}

// TestKindsOfLines reads lines by classes: of each, the marked texts are private, and a line without any stays.
func TestKindsOfLines(t *testing.T) {
	for line := range strings.Lines(string(testkit.Must(os.ReadFile("testdata/kinds.txt")))) {
		line = strings.TrimSuffix(line, "\n")
		in := strings.NewReplacer("‹", "", "›", "").Replace(line)
		if strings.HasPrefix(line, "#") || in == line {
			require.Equal(t, line, scrub.Text(line))
			continue
		}
		for _, part := range strings.Split(line, "‹")[1:] {
			value, _, _ := strings.Cut(part, "›")
			require.NotContains(t, scrub.Text(in), value, line)
		}
	}
}

func TestStrict(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"NullReferenceException: Object reference not set to an instance of an object":            "NullReferenceException: Object reference not set to an instance of an object",
		"  at Verse.Pawn.Tick (System.Int32 x) [0x00012] in <24d25868955f4df08b02c73b55f389fe>:0": "  at Verse.Pawn.Tick (System.Int32 x) [0x00012] in <24d25868955f4df08b02c73b55f389fe>:0",
		`at A.B () in C:\Users\<user>\src\Secret Project\x.cs:12`:                                 "at A.B ()",
		"  at Verse.Pawn.Tick": "  at Verse.Pawn.Tick",
		"at (wrapper dynamic-method) Verse.Pawn.Tick_Patch2(Verse.Pawn)": "at (wrapper dynamic-method) Verse.Pawn.Tick_Patch2(Verse.Pawn)",
		"at the.mill":                          "at …",
		"Unity 2019.4.30f1":                    "Unity 2019.4.30f1",
		"loaded version 1.4.3704 of Quillonia": "loaded version 1.4.3704 of …",
		`could not open "my diary of june" in /srv/quill/saves`: "could not open … in …",
		"<user>: hello all, call me at 555 1234":                "<user>: …",
		"the server at <address> closed the connection 4815":    "the server at <address> closed the connection …",
		"quillon joined <*> times":                              "… joined <*> times",
	} {
		require.Equal(t, want, scrub.Strict(in), in)
		require.Equal(t, want, scrub.Strict(want), "twice")
	}
}
