package scrub_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/text/scrub"
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
		{`\\nas\users\maria\x`, `\\<computer>\users\<user>\x`},
		{`two: /home/a1/x and /home/b2/y`, `two: /home/<user>/x and /home/<user>/y`},
		{`UserName: maria, ComputerName=MARIA-PC`, `UserName: <user>, ComputerName=<computer>`},
		{`C:\Users\Public\x`, `C:\Users\Public\x`},
		{`/home/deck/.local`, `/home/deck/.local`},
		{`/opt/homes/x`, `/opt/homes/x`},
		{`Textures/Home/Chair`, `Textures/Home/Chair`},
		{`the players/users/list of the api`, `the players/users/list of the api`},

		{`"C:\\\\Users\\\\Maria\\\\x"`, `"C:\\\\Users\\\\<user>\\\\x"`},
		{`\\?\C:\Users\Maria\x`, `\\?\C:\Users\<user>\x`},
		{`file:///C:/Users/Maria%20L/x`, `file:///C:/Users/<user>/x`},
		{`file:///C%3A/Users/Maria/x`, `file:///C%3A/Users/<user>/x`},
		{`C%3A%5CUsers%5CMaria%5CAppData`, `C%3A%5CUsers%5C<user>%5CAppData`},
		{`?path=%2Fhome%2Fmaria%2F.config`, `?path=%2Fhome%2F<user>%2F.config`},
		{`{"path":"\/home\/maria\/x"}`, `{"path":"\/home\/<user>/x"}`},
		{`Z:\home\maria\.steam and Z:/home/maria/.steam`, `Z:\home\<user>\.steam and Z:/home/<user>/.steam`},
		{`/mnt/c/Users/Maria/x, /c/Users/Maria/x, /cygdrive/c/Users/Maria/x`, `/mnt/c/Users/<user>/x, /c/Users/<user>/x, /cygdrive/c/Users/<user>/x`},
		{`\\wsl$\Ubuntu\home\maria\x and \\wsl.localhost\Ubuntu-24.04\home\maria\x`, `\\wsl$\Ubuntu\home\<user>\x and \\wsl.localhost\Ubuntu-24.04\home\<user>\x`},
		{`\\nas\c$\Users\maria\x`, `\\<computer>\c$\Users\<user>\x`},
		{`/Volumes/Disk 1/Users/maria/x; /System/Volumes/Data/Users/maria/x`, `/Volumes/Disk 1/Users/<user>/x; /System/Volumes/Data/Users/<user>/x`},
		{`C:\Users\Maria\OneDrive - Example GmbH\x`, `C:\Users\<user>\OneDrive - <user>\x`},
		{`compatdata/294100/pfx/drive_c/users/steamuser/AppData`, `compatdata/294100/pfx/drive_c/users/steamuser/AppData`},
		{`PATH=/usr/bin:/home/maria/bin`, `PATH=/usr/bin:/home/<user>/bin`},
		{`in C:\Users\Maria\src\Foo.cs:line 12`, `in C:\Users\<user>\src\Foo.cs:line 12`},
		{`USER=maria LOGNAME=maria`, `USER=<user> LOGNAME=<user>`},
		{`MachineName=MARIA-PC; machine gun`, `MachineName=<computer>; machine gun`},
		{`Logged in as maria.`, `Logged in as <user>`},
		{`Mods/Foo/Textures/home/bed`, `Mods/Foo/Textures/home/bed`},

		// More homes.
		{`C:\Users\김민준\AppData and C:\Users\O'Quill\x`, `C:\Users\<user>\AppData and C:\Users\<user>\x`},
		{`C:\Users\MARIAL~1\AppData`, `C:\Users\<user>\AppData`},
		{`HOMEPATH=\Users\maria`, `HOMEPATH=\Users\<user>`},
		{`in Users\maria\AppData\Local\x`, `in Users\<user>\AppData\Local\x`},
		{`C:\Dokumente und Einstellungen\maria\x`, `C:\Dokumente und Einstellungen\<user>\x`},
		{`\\srv01\profiles$\maria\AppData`, `\\<computer>\profiles$\<user>\AppData`},
		{`\\srv01\home$\maria\x and \\srv01\homes\maria\x`, `\\<computer>\home$\<user>\x and \\<computer>\homes\<user>\x`},
		{`\\?\UNC\srv01\users\maria\x`, `\\?\UNC\<computer>\users\<user>\x`},
		{`/home/users/maria/x, /nfs/home/maria/x, /mnt/data/home/maria/x`, `/home/users/<user>/x, /nfs/home/<user>/x, /mnt/data/home/<user>/x`},
		{`/var/services/homes/maria/x`, `/var/services/homes/<user>/x`},
		{`C:\Users\maria\OneDrive - Personal\x`, `C:\Users\<user>\OneDrive - Personal\x`},
		{`Mods/Home/Users/x.png and /Game/Users/list`, `Mods/Home/Users/x.png and /Game/Users/list`},

		// Names that a key tells.
		{`"PersonaName"		"maria l"`, `"PersonaName"		"<user> l"`},
		{`SteamFriends.GetPersonaName() = maria`, `SteamFriends.GetPersonaName() = <user>`},
		{`[Steam] Persona: maria`, `[Steam] Persona: <user>`},
		{`AccountName=maria Gamertag: maria -epicusername="maria"`, `AccountName=<user> Gamertag: <user> -epicusername="<user>"`},
		{`<username>maria l</username>`, `<username><user></username>`},
		{`SUDO_USER=maria`, `SUDO_USER=<user>`},
		{`Running as MARIA-PC\maria`, `Running as <computer>\<user>`},
		{`whoami: maria-pc\maria`, `whoami: <computer>\<user>`},
		{`user: MARIA-PC\maria`, `user: <computer>\<user>`},
		{`user maria (76561198000000001) connected`, `user <user> (<steam-id>) connected`},
		{`player (76561198000000001)`, `player (<steam-id>)`},
		{`Discord user maria#4821, BattleTag: maria#21345`, `Discord user <user>, BattleTag: <user>`},
		{`Wall#4821, thing#12345`, `Wall#4821, thing#12345`},
		{`the user: none, account: none`, `the user: none, account: none`},

		// Computers.
		{`\\DESKTOP-4F2K9QX\share\mods`, `\\<computer>\share\mods`},
		{`"path":"\\\\MARIA-PC\\share\\x"`, `"path":"\\\\<computer>\\share\\x"`},
		{`file://MARIA-PC/share/x and file://localhost/C:/x`, `file://<computer>/share/x and file://localhost/C:/x`},
		{`DESKTOP-4F2K9QX, laptop-q8n2v4tt, WIN-A1B2C3D4E5F`, `<computer>, <computer>, <computer>`},
		{`desktop-shortcut, WIN-CONDITION met, win-streak 12`, `desktop-shortcut, WIN-CONDITION met, win-streak 12`},
		{`marias-macbook.local, Marias-MBP and "Maria's MacBook Pro"`, `<computer>.local, <computer> and "<computer>"`},
		{`MacBook-Pro-von-Maria.local`, `<computer>.local`},
		{`maria-pc.lan maria.fritz.box maria-pc.home.arpa:80`, `<computer>.lan <computer>.fritz.box <computer>.home.arpa:80`},
		{`foo.local variable, this.local, a-b.local.json`, `foo.local variable, this.local, a-b.local.json`},
		{`\\.\pipe\unity \\?\C:\Windows\x \\.\DISPLAY1`, `\\.\pipe\unity \\?\C:\Windows\x \\.\DISPLAY1`},
		{`C:\\buildslave\\unity\\build\\Runtime and \\d+\\.\\d+`, `C:\\buildslave\\unity\\build\\Runtime and \\d+\\.\\d+`},

		// Ids of devices and of other accounts.
		{`owner S-1-5-21-1000000001-2000000002-3000000003-1001`, `owner <id>`},
		{`S-1-5-18 and S-1-1-0`, `S-1-5-18 and S-1-1-0`},
		{`MachineGuid    REG_SZ    00112233-4455-6677-8899-aabbccddeeff`, `MachineGuid    REG_SZ    <id>`},
		{`deviceUniqueIdentifier: 0a1b2c3d4e5f60718293a4b5c6d7e8f9`, `deviceUniqueIdentifier: <id>`},
		{`"deviceId":"0a1b2c3d4e5f", hwid=0a1b2c3d4e5f`, `"deviceId":"<id>", hwid=<id>`},
		{`device id: 0x2504, deviceId=9348, Serial port COM3`, `device id: 0x2504, deviceId=9348, Serial port COM3`},
		{`-epicuserid=0a1b2c3d4e5f xuid=2533274800000001 GalaxyID 46988760000000001`, `-epicuserid=<id> xuid=<id> GalaxyID <id>`},
		{`Discord user id: 100000000000000001, <@100000000000000001>`, `Discord user id: <id>, <@<id>>`},
		{`AccountID=24691357, steam account 24691357`, `AccountID=<id>, steam account <id>`},
		{`steam://joinlobby/294100/109775240000000001/76561198000000001`, `steam://joinlobby/294100/<id>/<steam-id>`},
		{`damage 123456789012345678, seed 76543210987654321`, `damage 123456789012345678, seed 76543210987654321`},

		// Accounts.
		{`SteamID 76561198000000001 joined`, `SteamID <steam-id> joined`},
		{`STEAM_0:1:12345 and [U:1:24691]`, `<steam-id> and <steam-id>`},
		{`/Steam/userdata/24691357/294100/remote`, `/Steam/userdata/<steam-id>/294100/remote`},
		{`workshop/content/294100/2009463077/About`, `workshop/content/294100/2009463077/About`},
		{`id 176561198000000001`, `id 176561198000000001`},

		{`steam_0:1:12345, U:1:24691 and %5BU%3A1%3A24691%5D`, `<steam-id>, <steam-id> and %5B<steam-id>%5D`},
		{`save_76561198000000001.rws`, `save_<steam-id>.rws`},
		{`https://steamcommunity.com/profiles/76561198000000001/ and https://steamcommunity.com/id/maria`, `https://steamcommunity.com/profiles/<steam-id>/ and https://steamcommunity.com/id/<steam-id>`},
		{`https://steamcommunity.com/sharedfiles/filedetails/?id=2009463077`, `https://steamcommunity.com/sharedfiles/filedetails/?id=2009463077`},
		{`userdata\24691357\294100`, `userdata\<steam-id>\294100`},

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

		{`PhysicalAddress: 001A2B3C4D5E`, `PhysicalAddress: <address>`},
		{`my ip is 10.13.37.5; UDP 46.5.12.9->x`, `my ip is <address>; UDP <address>->x`},
		{`/46.5.12.9:25565 lost connection, 10.0.0.2 timed out`, `/<address>:25565 lost connection, <address> timed out`},
		{`bound 172.20.3.9`, `bound <address>`},
		{`::ffff:203.0.113.77`, `::ffff:<address>`},
		{`Updated HugsLib from 9.0.0.0 to 10.0.0.0`, `Updated HugsLib from 9.0.0.0 to 10.0.0.0`},
		{`updated from 1.2.3.4 to 10.2.3.5`, `updated from 1.2.3.4 to 10.2.3.5`},
		{`HugsLib 10.0.1.0, Mod "Foo" (10.1.2.3) loaded`, `HugsLib 10.0.1.0, Mod "Foo" (10.1.2.3) loaded`},
		{`FooMod-10.1.2.3.dll, requires 10.1.0.2 or later`, `FooMod-10.1.2.3.dll, requires 10.1.0.2 or later`},
		{`0Harmony, Version=10.0.0.0, Culture=neutral`, `0Harmony, Version=10.0.0.0, Culture=neutral`},
		{`Windows NT 10.0.19045.0, driver 31.0.15.3623`, `Windows NT 10.0.19045.0, driver 31.0.15.3623`},

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

		{`bearer: abcdef123456`, `bearer: <secret>`},
		{`"Authorization":"Token abcdef123456"`, `"Authorization":"<secret>"`},
		{`"password": "two words", "user": 1`, `"password": "<secret>", "user": 1`},
		{`{\"password\":\"hunter22\"}`, `{\"password\":\"<secret>\"}`},
		{`"password": "", "name": "x y"`, `"password": "", "name": "x y"`},
		{`<password>two words</password>`, `<password><secret></password>`},
		{`args="--token abcdef12"`, `args="--token <secret>"`},
		{`"{\\\"path\\\":\\\"\\\\/home\\\\/maria\\\\/x\\\"}"`, `"{\\\"path\\\":\\\"\\\\/home\\\\/<user>/x\\\"}"`},
		{`run --api-key abcdef --quiet`, `run --api-key <secret> --quiet`},
		{`secretKey=abcd1 encryption_key: abcd1`, `secretKey=<secret> encryption_key: <secret>`},
		{`PHPSESSID=abcd1`, `PHPSESSID=<secret>`},
		{`Set-Cookie: sid=abcd; path=/`, `Set-Cookie: <secret>`},
		{`GET /x?a=1&sig=abcdef12&b=2`, `GET /x?a=1&sig=<secret>&b=2`},
		{`https://abcdef12@example.org/x`, `https://<secret>@example.org/x`},
		{`https://jo:pa@ss@example.org/x`, `https://<secret>@example.org/x`},
		{`GET /x?X-Amz-Signature=abcdef12`, `GET /x?X-Amz-Signature=<secret>`},
		{`bot token MTAxMjM0NTY3ODkwMTIzNDU2.Gabcde.0123456789abcdefghijklmnopqrstuvwxyz`, `bot token <secret>`},
		{`https://example.org/@jo`, `https://example.org/@jo`},
		{`akka.tcp://Executor@example:1`, `akka.tcp://Executor@example:1`},
		{`logname= uid=0 ruser=`, `logname= uid=0 ruser=`},
		{`ssh://git@example.org/x`, `ssh://git@example.org/x`},
		{`cut eyJhbGciOiJIUzI1NiJ9.eyJzdW`, `cut <secret>`},
		{`oauth:0123456789abcdefghij0123456789`, `<secret>`},

		// What people say of a secret, and of what is none.
		{`API key: k7Qm2pX9vT4w`, `API key: <secret>`},
		{`the api key is k7Qm2pX9vT4w`, `the api key is <secret>`},
		{`access token 9f3b7a1c55de expired`, `access token <secret> expired`},
		{`password "hunter42x" rejected`, `password "<secret>" rejected`},
		{`db_pass: hunter42x, pass=hunter42x`, `db_pass: <secret>, pass=<secret>`},
		{`пароль: hunter42x, mot de passe : hunter42x`, `пароль: <secret>, mot de passe : <secret>`},
		{`PIN: 4815, verification code is 481516`, `PIN: <secret>, verification code is <secret>`},
		{`API key is missing, no API key configured`, `API key is missing, no API key configured`},
		{`password is required, render pass = Opaque, pass: 3 of 5`, `password is required, render pass = Opaque, pass: 3 of 5`},
		{`error code: 12345678, key "Steel" not found, Pass 2 took 31ms`, `error code: 12345678, key "Steel" not found, Pass 2 took 31ms`},
		{`Unity serial: SC-4F7K-22PA-99XM-KD3T-8VQH`, `Unity serial: <secret>`},
		{`VK7JG-NPHTM-C97JM-9MPGT-3V66T and AB3DE-FGH2J-KLMN4`, `<secret> and <secret>`},
		{`guid 7B1F0C9A-E4D2-4C0F-8A4D-1B2C3D4E5F60`, `guid 7B1F0C9A-E4D2-4C0F-8A4D-1B2C3D4E5F60`},
		{`hash ABCDE-FGHIJ-KLMNO, 2026-1122-0304-0506`, `hash ABCDE-FGHIJ-KLMNO, 2026-1122-0304-0506`},

		// Names, as people and programs write them.
		{`UserName: Jo Quill, Full name: Jo van der Quill`, `UserName: <user>, Full name: <user>`},
		{`Licensed to Jo Quill, licensed under MIT`, `Licensed to <user>, licensed under MIT`},
		{`Display name: Simple meal`, `Display name: Simple meal`},
		{`Windows user QUILL\jo and WindowsIdentity: QUILL\jo`, `Windows user <computer>\<user> and WindowsIdentity: <computer>\<user>`},
		{`user joq logged in, started by user joq, signed in to Steam as joq`, `user <user> logged in, started by user <user>, signed in to Steam as <user>`},
		{`User: joq, nick=joq, login: joq`, `User: <user>, nick=<user>, login: <user>`},
		{`user not found, user=root, login: required, Player 3 joined`, `user not found, user=root, login: required, Player 3 joined`},
		{`drwxr-xr-x 2 joq users 4096, uid=1000(joq), ssh joq@rig`, `drwxr-xr-x 2 <user> users 4096, uid=1000(<user>), ssh <user>@rig`},
		{`deviceName: QUILL-RIG, "deviceName":"Jo's Steam Deck"`, `deviceName: <computer>, "deviceName":"<computer>"`},
		{`Device name: NVIDIA GeForce RTX 3060`, `Device name: NVIDIA GeForce RTX 3060`},
		{`hostname is QUILL-RIG, on machine QUILL-RIG, Linux quill-rig 6.1.0`, `hostname is <computer>, on machine <computer>, Linux <computer> 6.1.0`},
		{`hostname lookup failed, machine gun, Host: api.example.org`, `hostname lookup failed, machine gun, Host: api.example.org`},
		{`cloud user id 7b1f0c9ae4d24c0f, friend code SW-4242-7171-9393, S/N: S5GXNX0T1234`, `cloud user id <id>, friend code <id>, S/N: <id>`},
		{`MAC 001A2B3C4D5E, ethernet hwaddr 001A.2B3C.4D5E`, `MAC <address>, ethernet hwaddr <address>`},
		{`hash 001A2B3C4D5E, MAC 3, macOS 13.4`, `hash 001A2B3C4D5E, MAC 3, macOS 13.4`},
		{`Kicked 23.45.67.89 and [84.131.20.9]`, `Kicked <address> and [<address>]`},
		{`updated from 1.2.3.4 to 1.2.3.5`, `updated from 1.2.3.4 to 1.2.3.5`},
		{`jo.quill at example dot org, mailto:jo.quill%40example.org`, `<email>, mailto:<email>`},
		{`key ASIAIOSFODNN7EXAMPLE`, `key <secret>`},
		{`https://hooks.slack.com/services/T00/B00/abcDEF`, `https://hooks.slack.com/services/<secret>`},
		{`https://canary.discord.com/api/v10/webhooks/123456/abc-DEF/slack`, `https://canary.discord.com/api/v10/webhooks/<secret>/slack`},
		{
			"-----BEGIN PRIVATE KEY-----\nMIIE\nabc=\n-----END PRIVATE KEY-----\nnext",
			"-----BEGIN PRIVATE KEY-----<secret>-----END PRIVATE KEY-----\nnext",
		},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc", "-----BEGIN RSA PRIVATE KEY-----<secret>"},
		{`  MIIEpAIBAAKCAQEA0a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ0a1B2c3D4e5F`, `  <secret>`},
		{`0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9`, `0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9`},
		{`Unexpected token: StartObject`, `Unexpected token: StartObject`},
		{`ticket: closed`, `ticket: closed`},
		{`Basic training completed, cookie: chocolate`, `Basic training completed, cookie: chocolate`},
		{`Culture=neutral, PublicKeyToken=b77a5c561934e089`, `Culture=neutral, PublicKeyToken=b77a5c561934e089`},

		{`MTAxMjM0NTY3ODkwMTIzNDU2.Gabcde.0123456789abcdefghijklmnopqrstuvwxyz`, `<secret>`},
		{`MyVeryOwnNamespaceOfThings.Models.AnotherVeryLongNameOfAClass`, `MyVeryOwnNamespaceOfThings.Models.AnotherVeryLongNameOfAClass`},
		{`123456789:AA0123456789-0123456789_0123456789a`, `<secret>`},
		{`ya29.a0123456789abcdefghij, GOCSPX-0123456789abcdefghij`, `<secret>, <secret>`},
		{`Authorization: Digest username="jo", response="0a1b2c3d"`, `Authorization: Digest <secret>`},
		{"\"token\":\n  \"0a1b2c3d\"", "\"token\":\n  \"<secret>\""},
		{"token:\n    0a1b2c3d4e", "token:\n    <secret>"},
		{"api_key: >-\n    0a1b2c3d4e", "api_key: >-\n    <secret>"},
		{"Authorization:\r\n Bearer 0a1b2c3d4e", "Authorization:\r\n Bearer <secret>"},
		{`Unexpected token: '}'`, `Unexpected token: '}'`},
		{`psk=0a1b2c3d`, `psk=<secret>`},

		// E-mail.
		{`o'brian@example.org, "maria l"@example.org, jo@[192.0.2.1], jo%40example.org`, `<email>, <email>, <email>, <email>`},
		{`jo@xn--e1afmkfd.xn--p1ai`, `<email>`},
		{`git@example.org:mods/x.git`, `git@example.org:mods/x.git`},
		{`mail maria.l+x@example.co.uk now`, `mail <email> now`},
		{`написать: имя@пример.рф`, `написать: <email>`},
		{`Foo@Bar`, `Foo@Bar`},

		{`maria [at] example [dot] org, maria(at)example.org`, `<email>, <email>`},
		{`maria&#64;example.org maria\u0040example.org`, `<email> <email>`},
		{`Foo@2x.png, error (at <24d2a0b1>:0)`, `Foo@2x.png, error (at <24d2a0b1>:0)`},

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
