package scrub_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/text/scrub"
)

// TestKindsOfLines has lines of one class in several languages, quotes and places: "‹…›" is private in them.
func TestKindsOfLines(t *testing.T) {
	for class, lines := range map[string][]string{
		"a sign-in sentence": {
			`Logged in OK as ‹quill_abt›`, `Launching as ‹quillon›`, `connecté en tant que ‹quillon›`,
			`Вы вошли под именем ‹quill_abt›`, `Iniciando sesión como ‹quillon›...`, `Login efetuado: ‹quillon›`,
			`Giriş yapıldı: ‹quill_abt›`, `ログインユーザー: ‹quill_abt›`, `[Auth] Benutzer ‹quillon› erfolgreich angemeldet`,
			`O usuário ‹quillon› entrou`, `running under account WORKGROUP\‹Quillon›`,
		},
		"a greeting": {
			`Moin ‹Quillon›, alles neu`, `Bon retour parmi nous, ‹Quillon› !`, `Здравствуйте, ‹Велимир›! Новостей нет`,
			`Üdvözöljük, ‹Velimir›!`, `欢迎您，‹墨香›`, `Hej igen, ‹Quillon›`,
		},
		"an account of a platform": {
			`Steam account: ‹quill_abt›`, `Konto Ubisoft: ‹Quillon.Abtwell›`, `Compte Steam : ‹quill_abt›`, `Cuenta de Xbox: ‹quill_abt›`,
			`Аккаунт Epic: ‹quill_abt›`, `PSN Online ID: ‹quill_abt›`, `Riot: ‹Quillon#NA1› signed in`, `Telegram: @‹quill_abt›`,
		},
		"an element, a setting and an option": {
			`<DisplayName>‹Quillon Abtwell›</DisplayName>`, `<Player><Name>‹Quillon Abtwell›</Name></Player>`,
			`<Host><Name>‹QUILLRIG›</Name></Host>`, `<User name="‹Quillon.Abtwell›" lang="en"/>`,
			`<Setting name="PlayerName" value="‹quillon›"/>`, `<key>LoginName</key><string>‹quillon›</string>`,
			`--steamlogin ‹quill_abt› +quit`, `--player-name ‹quillon›`, `-nick ‹quillon› -team 2`, `Full Name    ‹Quillon Abtwell›`,
			`--uuid ‹0a1b2c3d4e5f60718293a4b5c6d7e8f9› --demo`, `System.getProperty("user.name") = ‹quillon›`,
		},
		"a line of a server": {
			`[Voice] ‹Tía Quilla› moved from channel A to channel B`, `Verified GUID (‹0a1b2c3d4e5f60718293a4b5c6d7e8f9›) of player #4 ‹Quillon Abtwell›`,
			`[Panel] User ‹ops-quillon› executed command: list`, `[TeamSpeak] client '‹quillon›'(id:4) entered`, `Disconnecting ‹quillon›: Outdated`,
			`Removed ‹quillon› from the whitelist`, `/msg ‹quillon› hello`, `‹quillon› moved too quickly! 1,2,3`, `Client #4 (‹Quillon›) dropped`,
			`received stateChanged peerID(3) username(‹quillon›)`, `LogNet: Join succeeded: ‹Quillon›`,
		},
		"a computer in a private network": {
			`java.net.UnknownHostException: ‹quillbox›`, `java.net.UnknownHostException: ‹quill-horn-pc›: Name or service not known`,
			`getaddrinfo ENOTFOUND ‹quillbox.lan›`, `ping: ‹quillbox›: Temporary failure`, `USERDNSDOMAIN=‹ad.quillhorn.local›`,
			`2026-01-12T10:22:33+01:00 ‹quillbox› valheim[33]: start`, `FreeBSD ‹quillbox› 14.0-RELEASE`, `running on host ‹quillbox›`,
			`resolve ‹quillbox›.speedport.ip`, `Connecting to ‹quillhorn›.aternos.me`, `Connecting to ‹smp.quillhorn.example›:25565`,
			`Could not reach ‹quillbox›.local`, `mount ‹nas.quill›.home:/games`,
		},
		"a number of a machine": {
			`Seriennummer Mainboard: ‹8QX558OXV7VO›`, `Numer seryjny dysku: ‹8QX558OX›`, `Serien-Nr. ‹8QX558OXV7›`,
			`a=candidate:1 1 UDP 2130706431 ‹10.13.0.77› 51020 typ host`, `c=IN IP4 ‹10.13.0.77›`, `tun0 ‹10.8.0.77›`,
		},
		"a secret after a compound": {
			`serverPass=‹bluequill›`, `"rcon_pwd": "‹bluequill›"`, `AdminPass: ‹k7Qm2pX9›`, `+gsltoken ‹9F3B7A1C55DE8842›`,
			`cookie: ‹k7Qm2pX9vT4w›`, `-Drcon.password=‹k7Qm!2pX9›`, `-Dauth=‹k7Qm!2pX9›`, `keystorePassword=‹k7Qm!2pX9›`,
			"password\t‹k7Qm2pX9›", `| password | ‹k7Qm2pX9› |`, `Passwort ..... : ‹bluequill›`,
		},
		"columns, brackets and verbs": {
			"Username\t‹quillon›", `| User name | ‹Quillon Abtwell› |`, `Benutzername ..... : ‹quillon›`, `username is ‹quillon›`,
			`Player [‹quillon›] joined`, `Account name was changed to ‹Quillon›`, `Host name - ‹quillbox›`, `Hostname ....... ‹quillbox›`,
			`Seriennummer | ‹8QX558OX› |`,
		},
		"an address": {
			`IP-Adresse: ‹10.13.37.77›`, `IP 地址：‹10.13.37.77›`, `Сервер: ‹10.13.37.77›`, `соединение от ‹10.13.37.77›`,
			`‹10.13.37.77› - - [01/Jan/2026] "GET /"`, `file:///home/‹%D0%9F%D1%91%D1%82%D1%80›/x`,
		},
	} {
		for _, line := range lines {
			got := scrub.Text(strings.NewReplacer("‹", "", "›", "").Replace(line))
			for _, part := range strings.Split(line, "‹")[1:] {
				value, _, _ := strings.Cut(part, "›")
				require.NotContains(t, got, value, class)
			}
		}
	}
}

// TestHarmlessLines has lines in which nothing is private, though a word in them is one before a private value.
func TestHarmlessLines(t *testing.T) {
	for line := range strings.Lines(harmless) {
		line = strings.TrimSuffix(line, "\n")
		require.Equal(t, line, scrub.Text(line))
	}
}

const harmless = `[The Dead Man's Switch] reactor built
Quest "Grandma's Tablet" started, the Devil's Pixel shader
Crafting machine "Ore Washer" is idle, <Machine name="Crusher" tier="2"/>
{"machine":"Crusher","tier":2}
Display name of mod: Better Beds
"displayName": "Copper Ore"
Hello Neighbor mod loaded, Welcome mat placed
Guard joined combat, Wolf was slain by Bear
[Chat] Loading: ok, [Team] Score: 4
L'hôte a quitté la partie
Bienvenue sur le serveur, Willkommen bei uns, Witamy na stronie
Receiver.Holder:PostDraw, Pawn.get_Holder: TRANS: x
time 01:02:03:04:05:06
entry 6C0FCA9BB403BFA732123BDD391BA084 kept
java.net.UnknownHostException: api.example.com
server=eu-west, server: Lobby01, device=GPU0
Customer Jane ordered soup, subject: Update
Incorrect key tools.damage.ap was corrected
`
