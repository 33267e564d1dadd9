package scrub

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// slowText is Text without a look.
func slowText(s string) string {
	for i := range forms {
		s = forms[i].scrub(s, nil)
	}
	return s
}

// lookSeeds are near what the looks look for.
var lookSeeds = []string{
	`C:\Users\Maria\x /home/jo/y TOKEN = "abcd" 76561198000000001 10.0.0.2:80 a@b.cc`,
	"Bearer\tabcdefgh12 BASIC abcdefgh12 https://jo:pass@example.org eyJhbGciOiJI.eyJzdWIiOiIx.abc-def",
	"ghp_0123456789abcdefghijABCD AKIA0123456789ABCDEF sk_live_0123456789 pk_test_0123456789 xoxb-0123456789",
	`"api_key" : 'zzzz' SessionId=zzzz set-cookie:zzzz Credentials=zzzz User Name: zz, HOSTNAME=zz user_domain=zz`,
	"2001:db8::8a2e:370:7334 ::1 fe80::1%eth0 1:2:3:4:5:6:7:8 12:34:56 a::b::c ::ffff:1.2.3.4 1::2.",
	"00:1a:2b:3c:4d:5e 00-1A-2B-3C-4D-5E 00:1a-2b:3c:4d:5e:6f 1.2.3.4.5 at 1.2.3.4. 1.2.3.400",
	`drive_c/users/x \\nas\c$\users\y D:\Documents and Settings\z STEAM_0:1:12345 [U:1:24691] /userdata/123`,
	"to\u212aen=abcd \u017fecret=abcd api\u212aey: abcd 1:2:3:4:5:6:7:\u212a",
	`\\QUILL-PC\share \\?\UNC\srv\users\jo\x \\srv\profiles$\jo \Users\jo\x Users/jo/AppData`,
	"DESKTOP-4F2K9QX laptop-4f2k9qx1 jos-mbp Jo's MacBook a-b.local: jo.fritz.box S-1-5-21-1-2-3-1001",
	"machine-id 0a1b2c3d xuid=2533274800000001 <@123456789012345678> <username>jo</username> \"PersonaName\"\t\t\"jo\" " +
		"GetPersonaName() = jo",
	"jo (76561198000000001) whoami: jo-pc\\jo user: PC\\jo discord jo#1234 mac aabbccddeeff " +
		"123456789:AA0123456789012345678901234567890ab",
	"authorization: digest a=b token: |\n  abcd secret: >- abcd jo(at)example.org jo\\u0040example.org " +
		"jo&#64;example.org psk=abcd",
	`API key: k7Qm2pX9 the password is "hunter42x" pass=hunter42x пароль: hunter42x session id is 9f3b7a1c PIN: 4815 OTP 481516`,
	`SC-4F7K-22PA-99XM-KD3T-8VQH VK7JG-NPHTM-C97JM-9MPGT-3V66T AB3D-EFG2-HJ4K serial SC-4F7K S/N: S5GXNX0T123456A`,
	`UserName: Jo Quillon Licensed to Jo Quillon user DOM\jo whoami DOM\jo identity: <computer>\jo as user jo user jo has joined`,
	"deviceName: JO-RIG hostname is JO-RIG on machine JO-RIG Linux jo-rig 6.1.0 host=jo PC name: Jo drwxr-xr-x 2 jo jo uid=1000(jo)",
	"mac 001A2B3C4D5E ether 001A.2B3C.4D5E ssh jo@rig steam user jo discord user 100000000000004242 jo at example dot org",
	`Token (first run): k7Qm2pX9 api_key -> k7Qm2pX9 API-SCHLÜSSEL: k7Qm2pX9 ПАРОЛЬ: k7Qm2pX9 Пароль: k7Qm2pX9 HASŁO: k7Qm2pX9 apiキー：k7Qm2pX9`,
	`-password abcd +LOGIN jo abcd x_KEY=k7Qm2pX9 Y_KEY=k7Qm2pX9 serverPASSWORD "ab cd" access_token%3Dabcd ＦＯＯ CLÉ API: k7Qm2pX9 JELSZÓ: k7Qm2pX9`,
	`NOME DE USUÁRIO: jo username 'jo' 用户名：jo ANVÄNDARNAMN: jo ИМЯ ПОЛЬЗОВАТЕЛЯ: jo AZUREAD\jo denied for DOM\jo jo@rig:~$ JO%2540EXAMPLE.ORG jo\X40example.org`,
	`SCHLÜSSEL: Jx83PqWv5LtZ JETON D'ACCÈS : Jx83PqWv5LtZ Токен=Jx83PqWv5LtZ MẬT KHẨU: k7Qm2pX9 pin:[U:1: Computer: JO-RIG node JO-PC\jo hello, Jo Quill`,
	"discord.com/api/webhooks/1/a DiscordApp.com/api/v10/webhooks/1/a /run/user/1 /media/x/ /var/home/x",
}

// FuzzLook holds Text to what it does when every expression sees every text.
func FuzzLook(f *testing.F) {
	for _, s := range lookSeeds {
		f.Add(s)
	}
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		require.Equal(t, slowText(s), Text(s))
	})
}

// TestLookMissesNothing does so with texts that are made of what forms are made of.
func TestLookMissesNothing(t *testing.T) {
	parts := []string{
		":", "::", ".", "-", "/", `\`, `\\`, "@", "=", " ", "\t", "\n", `"`, "'", "%", "_", "[U:1:", "]", "<", ",", "é", "\xff", "\u212a", "\u017f",
		"0", "12", "255", "1234", "a", "fe80", "g", "x", "Zz", "abcdefghij0123456789", "eyJhbGciOiJI", "C:", "Users",
		"home", "run/user", "media", "var",
		"Documents and Settings", "drive_c", "c$", "userdata", "STEAM_0", "7656119", "8000000001", "://", "Bearer", "basic",
		"token", "API", "Key", "Session", "id",
		"Secret", "password", "PWD", "cookie", "Credentials", "user", "Name", "host", "domain", "logname", "ghp_",
		"github_pat_", "glpat-", "xoxb-", "AKIA", "sk-",
		"%40", "%2f", "%5c", "%3a", "--", "oauth:", "u%3a1", "/mnt/c", `\"`, "OneDrive - ", "logged in as", "xapp-", "PRIVATE KEY", "-----BEGIN ", "&sig=", "</",
		"</token>", "digest ", "null", "</", "persona", "machine", "wsl$", "cookie: a=", "https://", "?key=",
		"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWX",
		"> ", "|", "psk", "()", "\"\t\"", "whoami", "running as ", "account", "<computer>", `\\QUILL\a`, "?", "UNC", "desktop-", "4F2K9QX", "s-MBP", "'s Mac", ".local", ".lan", "-pc",
		".fritz.box", "S-1-5-21-", "-1234-", "machine-id", "device_id", "serial number", "xuid", "gamertag", "<@", "mac ",
		"aabbccddeeff", ":AA", "&#64;", "\\u0040", "(at)", "[dot]",
		"digest", "authorization", "file://", "smb://", "profiles$", " (76561198000000001)", "discord ", "#1234",
		"<username>", "MTAxMjM0NTY3ODkwMTIzNDU2", ".Gabcde.",
		" is ", "user", "joined", "passwort", "pin", "k7Qm2pX9", "4815", "AB3DE", "-FGH2J", "Jo ", "Quillon", "full name", "device name",
		" machine ", "Linux ", " 6.1", "drwxr-xr-x 2 ", "uid=1(", "ssh ", "steam ", "signed in ", "as ", "by ", " dot ", " at ", "serial ",
		"sk_live_", "discord.com/api/webhooks/", "00:1a", ":2b", "-3c", "v", "version", "at", "host",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := ""
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(parts), 0, 14).Draw(t, "parts") {
			s += p
		}
		require.Equal(t, slowText(s), Text(s))
	})
}

// TestHints: a hint has a pair to be found by, and no case.
func TestHints(t *testing.T) {
	for i := range forms {
		f := &forms[i]
		for _, h := range f.hints {
			require.GreaterOrEqual(t, len(h), 2, "%s: %s", f.kind, f.expr)
			require.Equal(t, strings.ToLower(h), h, "%s: %s", f.kind, f.expr)
		}
		require.False(t, f.hints == nil && f.may == nil, "every text sees %s", f.expr)
	}
}

// TestCleanTextIsNotCopied: where no look sees a form, no expression is asked and nothing
// is allocated.
func TestCleanTextIsNotCopied(t *testing.T) {
	for _, name := range []string{"prose", "frame", "key", "assem", "stack"} {
		s := texts[name]
		require.Equal(t, s, Text(s), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { Text(s) }), name)
	}
}

// TestFormsTeach: each form that is to teach names has a text here of which it does.
func TestFormsTeach(t *testing.T) {
	texts := []string{
		`C:\Users\quillon\x`, `D:\Dokumente und Einstellungen\quillon\x`, `\Users\quillon\x`, `Users/quillon/AppData`, `\\srv01\profiles$\quillon\x`,
		`/home/quillon/x`, `/media/quillon/x`, `%2Fhome%2Fquillon`, `UserName: quillon`, `gamertag=quillon`, `ComputerName=QUILLTOWER`,
		`<username>quillon</username>`, `SUDO_USER=quillon`, `Logged in as quillon`, `whoami: TOWER9\quillon`, `Running as TOWER9\quillon`,
		`User: TOWER9\quillon`, `user="TOWER9\quillon"`, `Account: TOWER9\quillon`, `User: <computer>\quillon`,
		`Full name: Jo Quillon`, `device name is QUILLTOWER`, `hostname is QUILL-TOWER`, `user quillon has joined`,
		`quillon (76561198000000001)`, `\\QUILLTOWER\share`, `smb://quilltower/x`,
	}
	taught := map[int]bool{}
	for _, s := range texts {
		for i := range forms {
			if forms[i].teaches {
				forms[i].scrub(s, func(string, int, int) { taught[i] = true })
			}
		}
		var n Names
		require.True(t, n.Learn(s), s)
	}
	for i := range forms {
		require.Equal(t, forms[i].teaches, taught[i], "%v", forms[i].expr)
	}
}
