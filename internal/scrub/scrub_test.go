package scrub_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/scrub"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		// User names in paths.
		{`C:\Users\Maria\AppData\LocalLow\Ludeon Studios`, `C:\Users\<user>\AppData\LocalLow\Ludeon Studios`},
		{`C:/Users/Maria Lopez/Documents/x.txt`, `C:/Users/<user>/Documents/x.txt`},
		{`c:\\users\\мария\\x`, `c:\\users\\<user>\\x`},
		{`D:\Documents and Settings\jo\x`, `D:\Documents and Settings\<user>\x`},
		{`Could not find C:\Users\jo`, `Could not find C:\Users\<user>`},
		{`/home/maria/.config/unity3d`, `/home/<user>/.config/unity3d`},
		{`at (/home/maria/x.cs:12)`, `at (/home/<user>/x.cs:12)`},
		{`/home/maria: no such directory`, `/home/<user>: no such directory`},
		{`"/Users/maria lopez/Library/Logs/x"`, `"/Users/<user>/Library/Logs/x"`},
		{`file:///Users/jo/x`, `file:///Users/<user>/x`},
		{`/run/user/1000/pipe`, `/run/user/<user>/pipe`},
		{`/media/maria/disk/x`, `/media/<user>/disk/x`},
		{`~/.wine/drive_c/users/maria/Temp`, `~/.wine/drive_c/users/<user>/Temp`},
		{`\\nas\users\maria\x`, `\\nas\users\<user>\x`},
		{`two: /home/a1/x and /home/b2/y`, `two: /home/<user>/x and /home/<user>/y`},
		{`UserName: maria, ComputerName=MARIA-PC`, `UserName: <user>, ComputerName=<user>`},
		{`C:\Users\Public\x`, `C:\Users\Public\x`},
		{`/home/deck/.local`, `/home/deck/.local`},
		{`/opt/homes/x`, `/opt/homes/x`},
		{`Textures/Home/Chair`, `Textures/Home/Chair`},
		{`the players/users/list of the api`, `the players/users/list of the api`},

		// Accounts.
		{`SteamID 76561198000000001 joined`, `SteamID <steam-id> joined`},
		{`STEAM_0:1:12345 and [U:1:24691]`, `<steam-id> and <steam-id>`},
		{`/Steam/userdata/24691357/294100/remote`, `/Steam/userdata/<steam-id>/294100/remote`},
		{`workshop/content/294100/2009463077/About`, `workshop/content/294100/2009463077/About`},
		{`id 176561198000000001`, `id 176561198000000001`},

		// Addresses.
		{`connecting to 192.168.178.20:27015`, `connecting to <address>:27015`},
		{`peer 10.0.0.2 left`, `peer <address> left`},
		{`server at 5.9.12.7.`, `server at <address>.`},
		{`84.131.200.9 timed out`, `<address> timed out`},
		{`http://8.8.4.4/x`, `http://<address>/x`},
		{`2001:db8::8a2e:370:7334 refused`, `<address> refused`},
		{`[fe80::1%eth0]:80`, `[<address>]:80`},
		{`card 00:1a:2b:3c:4d:5e up`, `card <address> up`},
		{`card 00-1A-2B-3C-4D-5E up`, `card <address> up`},
		{`listening on 127.0.0.1:5000 and 0.0.0.0`, `listening on 127.0.0.1:5000 and 0.0.0.0`},
		{`Harmony 2.3.3.0`, `Harmony 2.3.3.0`},
		{`Assembly-CSharp, Version=1.6.93.18, Culture=neutral`, `Assembly-CSharp, Version=1.6.93.18, Culture=neutral`},
		{`Foo, Version=1.2.3.200`, `Foo, Version=1.2.3.200`},
		{`v10.0.0.2`, `v10.0.0.2`},
		{`1.6.9371.18214`, `1.6.9371.18214`},
		{`at 12:34:56`, `at 12:34:56`},
		{`Verse.Log:Error(String)`, `Verse.Log:Error(String)`},
		{`std::vector::at and a::b::c`, `std::vector::at and a::b::c`},
		{`[::1]:80`, `[::1]:80`},

		// Secrets.
		{`token=0a1b2c3d4e`, `token=<secret>`},
		{`"access_token": "abc.def-123"`, `"access_token": "<secret>"`},
		{`GABP_TOKEN=00112233445566778899aabbccddeeff`, `GABP_TOKEN=<secret>`},
		{`password: hunter22 user=x`, `password: <secret> user=x`},
		{`https://x.org/?api_key=zzzzyyyy&q=1`, `https://x.org/?api_key=<secret>&q=1`},
		{`Authorization: Bearer abcdef123456`, `Authorization: Bearer <secret>`},
		{`sent eyJhbGciOiJI.eyJzdWIiOiIx.abc-def`, `sent <secret>`},
		{`push with ghp_0123456789abcdefghijABCD`, `push with <secret>`},
		{`https://jo:pass@example.org/x`, `https://<secret>@example.org/x`},
		{`https://discord.com/api/webhooks/123456/abc-DEF`, `https://discord.com/api/webhooks/<secret>`},
		{`Unexpected token: expected ';'`, `Unexpected token: expected ';'`},
		{`password = null`, `password = null`},
		{`KeyNotFoundException: key: Steel`, `KeyNotFoundException: key: Steel`},
		{`keyBinding=Escape`, `keyBinding=Escape`},
		{`in <24d2a0b1c3e4f5061728394a5b6c7d8e>:0`, `in <24d2a0b1c3e4f5061728394a5b6c7d8e>:0`},
		{`tokenizer: fast`, `tokenizer: fast`},

		// E-mail.
		{`mail maria.l+x@example.co.uk now`, `mail <email> now`},
		{`написать: имя@пример.рф`, `написать: <email>`},
		{`Foo@Bar`, `Foo@Bar`},

		{``, ``},
		{`plain text`, `plain text`},
	} {
		t.Run(c.in, func(t *testing.T) {
			require.Equal(t, c.want, scrub.Text(c.in))
			require.Equal(t, c.want, scrub.Text(c.want), "twice")
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add(`C:\Users\Maria\x /home/jo/y token=abcd 76561198000000001 10.0.0.2:80 a@b.cc`)
	f.Add(`/home//home/ /home/ x/home/y/ fe80:: password=password=password=`)
	f.Add("/Users/a b c d e/ token: token: token:\x00\xff https://:@x")
	f.Fuzz(func(t *testing.T, s string) {
		once := scrub.Text(s)
		require.Equal(t, once, scrub.Text(once), "scrubbing is idempotent")
		if utf8.ValidString(s) {
			require.True(t, utf8.ValidString(once))
		}
	})
}
