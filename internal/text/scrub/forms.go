package scrub

import "regexp"

// form is one form of private text. What matches the group "private" is replaced,
// where keep does not want it kept.
type form struct {
	kind Kind

	// hints are strings, in lower case, of which one is in every text that matches,
	// in whatever case; may reports whether a text that has one may match. They are
	// looks that cost less than the expression, which most texts never see.
	hints []string
	may   func(text string) bool

	expr *regexp.Regexp
	keep func(text string, from, to int) bool

	// teaches marks a form that finds names, which [Names] learns.
	teaches bool
}

// forms are in the order in which they are looked for: what an earlier one took out
// is a mark, which no later one matches.
var forms = []form{
	{
		// A signed token of up to three parts, of which the log may have the beginning
		// only; the first begins as {" does in base64.
		kind: Secret, hints: []string{"eyj"},
		expr: regexp.MustCompile(`(?P<private>\beyJ[\w-]{9,}(?:\.[\w-]+\.?[\w-]*|[\w-]{10,}))`),
	},
	{
		// Keys known by their first letters.
		kind: Secret, hints: []string{
			"ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "xapp-", "akia", "asia", "aiza", "npm_",
			"hf_",
			"sk-", "pk_", "rk_", "sk_", "oauth:", "ya29.", "gocspx-", "sg.", "pypi-", "p_v1_", "mfa.", "glsa_", "dckr_pat_",
		},
		expr: regexp.MustCompile(`\b(?P<private>gh[oprsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}|` +
			`A(?:KI|SI)A[0-9A-Z]{16,}|AIza[\w-]{30,}|npm_\w{30,}|hf_\w{30,}|sk-[\w-]{20,}|[spr]k_(?:live|test)_\w{10,}|oauth:[0-9a-z]{20,}|` +
			`ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{20,}|pypi-[\w-]{20,}|dop_v1_[0-9a-f]{40,}|mfa\.[\w-]{60,}|glsa_\w{30,}|dckr_pat_[\w-]{20,})`),
	},
	{
		// The token of a bot: its id, a time and a signature.
		kind: Secret, may: mayBeBot,
		expr: regexp.MustCompile(`\b(?P<private>[MNO][\w-]{22,28}\.[\w-]{6,7}\.[\w-]{27,})`),
		keep: isNoBot,
	},
	{
		// The same of Telegram.
		kind: Secret, hints: []string{":aa"},
		expr: regexp.MustCompile(`\b(?P<private>\d{8,10}:AA[\w-]{33})(?:$|[^\w-])`),
	},
	{
		// A private key, to its end or to that of the text.
		kind: Secret, hints: []string{"private key"},
		expr: regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?P<private>[^<-](?:[^-]|-[^-])*)`),
	},
	{
		// A line of one that stands alone, since a log is shown line by line.
		kind: Secret, may: runOf(60, "+/"),
		expr: regexp.MustCompile(`(?m)^[ \t]*(?P<private>[A-Za-z0-9+/]{60,76}={0,2})[ \t\r]*$`),
		keep: isNoArmor,
	},
	{
		kind: Secret, hints: []string{"bearer", "basic"},
		expr: regexp.MustCompile(`(?i)\b(?:bearer|basic)(?:\s+|\s*[:=]\s*)(?P<private>[\w.~+/=-]{8,})`),
		keep: isPlainWord,
	},
	{
		// An answer to a challenge, which is names and values.
		kind: Secret, hints: []string{"igest"},
		expr: regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?digest\s+(?P<private>\w+=[^\r\n<>]+)`),
	},
	{
		// What stands before the host of a URL: a name, a token, or a name and a
		// password, in which people leave an "@" as it is.
		kind: Secret, hints: []string{"://"}, may: hasAt,
		expr: regexp.MustCompile(`://(?P<private>[^\s/?#<>"']+)@[\pL\pN\[]`),
		keep: isAddressee,
	},
	{
		// All of a cookie, which is names and values.
		kind: Secret, hints: []string{"cookie"},
		expr: regexp.MustCompile(`(?i)\bcookies?["']?\s*[:=]\s*["']?(?P<private>[\w.-]+=[^\r\n"'<>]+)`),
	},
	{
		// A value in quotes may be of several words.
		kind: Secret, hints: secretHints, may: hasSecret,
		expr: regexp.MustCompile(`(?i)` + secretKey + `(?:\\*["'])?(?:\s*(?:=|:|%3d)\s*|\s+)\\*["'](?P<private>[^"'\\<>\r\n]+)\\*["']`),
		keep: isNoQuoted,
	},
	{
		kind: Secret, hints: []string{"</"},
		expr: regexp.MustCompile(`(?i)<[\w.-]*(?:token|password|passwd|pwd|(?:client|app|api|shared)[_-]?secret|api[_-]?key)>(?P<private>[^<>]+)</`),
		keep: isNoSecret,
	},
	{
		kind: Secret, hints: secretHints, may: hasSecret,
		expr: regexp.MustCompile(`(?i)` + secretKey + `(?:\\*["'])?\s*(?:=|:|%3d)\s*(?:[|>][+-]?\s+)?(?:(?:bearer|basic|token|digest)\s+)?[\[(]?(?P<private>[^\s"'&;,<>(){}\[\]]{4,})`),
		keep: isNoSecret,
	},
	{
		// An option of a command; "+login" has the name of the user before its value.
		kind:  Secret,
		hints: []string{"token", "secret", "passw", "passphrase", "apikey", "api-key", "+login"},
		expr:  regexp.MustCompile(`(?i)(?:^|[\s"'(=\[])(?:--?[\w-]*(?:token|secret|password|passwd|passphrase|api-?key)|\+login\s+[^\s"'<>+-]\S*)\s+(?P<private>[^\s"'<>+-][^\s"'<>]{3,})`),
		keep:  isWord,
	},
	{
		// What is said of a secret, as people write it: the value looks like one.
		kind: Secret, hints: []string{
			"key", "token", "secret", "ticket", "sess", "pass", "pw", "code", "credential",
		}, may: hasSpoken,
		expr: regexp.MustCompile(`(?i)(?:^|[^a-z])(?:(?:api|app|access|auth|private|secret|encryption|licen[cs]e|client|server|session|bot|master)[ _-]?(?:key|token|secret|code|pass)|` +
			`(?:[\w-]*_)?(?:pass|pw|pwd)|passcode|pass[ -]?(?:word|phrase)|(?-i:[A-Z][A-Z0-9_]*_KEY)|(?:[\w-]*[_-])?(?:token|ticket|secret)|credentials?)["']?` +
			`(?: \([^()\r\n]{1,24}\))?(?: (?:provided|given|used|received|returned|loaded|entered|for \w+(?: \w+)?))?` + spokenValue),
		keep: isNoMixed,
	},
	{
		// The same in other languages.
		kind: Secret, hints: []string{
			"passwort", "passord", "zugriffstoken", "zugangstoken", "schl", " api", "ароль", "passe", "contrase", "senha", "wachtwoord",
			"kennwort", "asło", "parola", "heslo", "ifre", "senord", "salasana", "jelsz", "adgangskode", "kodeord", "密码", "密碼",
			"パスワード", "비밀번호", "ключ", "密钥", "密鑰", "キー", "ật khẩu", "암호",
		},
		expr: regexp.MustCompile(`(?i)(?:^|[^a-z])(?:passwort|passord|(?:zugriffs|zugangs)token|(?:api|zugangs|lizenz)-?schl(?:ü|ue)ssel|clé (?:d['’])?api|clave(?: de)? api|mot de passe|palavra-passe|` +
			`kennwort|contraseña|senha|wachtwoord|parola|heslo|[sş]ifre|lösenord|salasana|jelsz[oó]|adgangskode|kodeord|(?-i:[Пп]ароль|[Mm]ật khẩu|암호|(?:API|api)[ -]?(?:ключ|密[钥鑰]|キー)|[Hh]asło|密码|密碼|パスワード|비밀번호))["']?(?: ?\pL+){0,2}` + spokenValue),
		keep: isNoMixed,
	},
	{
		// What is random after a word for a key of whatever kind.
		kind: Secret, hints: []string{"key", "token", "secret", "ssel", "jeton", "clé", "clave", "chave", "люч", "окен"}, may: hasRandom,
		expr: regexp.MustCompile(`(?i)(?:key|token|secret|schl(?:ü|ue)ssel|jeton|(?-i:clé|Clé)|clave|chave|(?-i:люч|окен))s?["']?(?:\s+[\pL'’-]+){0,3}(?:\s*(?:[:=：]|[-=]>)\s*|\s+)["'«„“\[(]?(?P<private>[\w+/=~-]{10,})`),
		keep: isNoRandom,
	},
	{
		// A number that is entered once.
		kind: Secret, hints: []string{"pin", "otp", "2fa", "code"},
		expr: regexp.MustCompile(`(?i)\b(?:pin|otp|(?:(?:2|two)[ -]?fa(?:ctor)?|verification|login|auth(?:entication|enticator)?|security|confirmation|steam guard|one[ -]time)[ _-]?(?:code|pin|password))(?:\s*[:=]\s*|\s+(?:is\s+)?)["']?(?P<private>\d{4,8}|\d{3}[ -]\d{3}|[A-Z0-9]{5})\b`),
		keep: isNoCode,
	},
	{
		// Keys of products, known by their shape.
		kind: Secret, may: hasGroups,
		expr: regexp.MustCompile(`(?:^|[^\w-])(?P<private>[A-Z0-9]{2}-(?:[A-Z0-9]{4}-){4}[A-Z0-9]{4}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,5}|[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2,5})(?:$|[^\w-])`),
		keep: isOneKind,
	},
	{
		// A value of the query of a URL.
		kind: Secret, hints: []string{"sig=", "signature=", "key=", "code=", "auth=", "pass=", "credential="},
		expr: regexp.MustCompile(`(?i)[?&](?:[\w-]*[_-])?(?:sig|signature|key|code|auth|pass|credential)=(?P<private>[^\s&"'<>]{6,})`),
	},
	{
		kind: Secret, hints: []string{"discord", "hooks.slack"},
		expr: regexp.MustCompile(`(?i)(?:discord(?:app)?\.com/api/(?:v\d+/)?webhooks|hooks\.slack\.com/[a-z]+)/(?P<private>\d+/[\w-]+|[a-z][\w/-]+)`),
	},
	{
		kind: Email, may: hasAt,
		expr: regexp.MustCompile(`(?P<private>(?:[\pL\pN._%+-]+(?:'[\pL\pN._%+-]+)*|"[^"@\r\n]{1,64}")(?:@|＠|%(?:25)?40|&#(?:64|x40);|&commat;|\\+(?:u00|x)40)` +
			`(?:[\pL\pN-]+(?:\.[\pL\pN-]+)*\.(?:xn--[\pL\pN-]+|\pL{2,})|\[?\d{1,3}(?:\.\d{1,3}){3}\b\]?))`),
		keep: isNoMailbox,
	},
	{
		// One that was to be hidden from machines.
		kind: Email, hints: []string{"[at]", "(at)", " dot "},
		expr: regexp.MustCompile(`(?i)(?P<private>[\pL\pN._+-]+(?: ?[(\[]at[)\]] ?[\pL\pN-]+(?: ?(?:\.|[(\[]dot[)\]]) ?[\pL\pN-]+)+| at [\pL\pN-]+(?: dot [\pL\pN-]+)+))`),
	},
	{
		// The prompt of a shell.
		kind: User, hints: []string{":~", ":/"}, may: hasAt,
		expr: regexp.MustCompile(`(?:^|[\s\[])(?P<private>[\pL_][\pL\pN_.-]*@[\pL\pN][\pL\pN.-]*):[~/]\S*[$#](?:\s|$)`),
	},
	{
		// Homes: the first part below Users or home, on a drive, in a prefix of Wine, or
		// on a share. A name may hold spaces, so it ends at the next separator where there
		// is one on the line.
		kind: User, teaches: true,
		hints: []string{`users\`, "users/", "users%", `home\`, "home/", "home%", `settings\`, "settings/", "settings%", `einstellungen\`},
		expr: regexp.MustCompile(`(?i)(?:\b[a-z](?::|%3a)|drive_c|\\\\[\w.-]+(?:\\+[a-z]\$)?|\\\\wsl(?:\$|\.localhost)[\\/]+[\w.-]+|%(?:systemdrive|homedrive)%)` +
			`(?:[\\/]|%5c|%2f)+(?:users|home|documents and settings|dokumente und einstellungen)(?:[\\/]|%5c|%2f)+` + homeName),
		keep: isSharedHome,
	},
	{
		// The same without the drive.
		kind: User, hints: []string{`users\`}, teaches: true,
		expr: regexp.MustCompile(`(?i)(?:^|[\s"'=(\[])\\+users\\+` + homeName),
		keep: isSharedHome,
	},
	{
		kind: User, hints: []string{`users\`, "users/"}, teaches: true,
		expr: regexp.MustCompile(`(?i)(?:^|[\s"'=(\[])users[\\/]+(?P<private>[^\\/:*?"<>|\r\n%]+)[\\/]+(?:AppData|Documents|Desktop|Downloads|OneDrive|Saved Games|Library)\b`),
		keep: isSharedHome,
	},
	{
		// Homes on a server.
		kind: User, hints: []string{`\\`}, teaches: true,
		expr: regexp.MustCompile(`(?i)\\\\(?:\?\\+UNC\\+)?(?:[\w.-]+|<computer>)\\+(?:users?|homes?|(?:user)?profiles?|redirect\w*|folderredirection)\$?(?:\.v\d)?\\+` + homeName),
		keep: isSharedHome,
	},
	{
		kind: User, hints: []string{"/users", "/home", "/run/user", "/media"}, teaches: true,
		expr: regexp.MustCompile(`(?:^|[^\w.~-])(?:/(?:var|var/services|export|usr|nfs|srv|net|data|System/Volumes/Data|Volumes/[^/\r\n]{1,64}|mnt|(?:mnt/|cygdrive/|host_mnt/)?[a-z]|mnt/[\w.-]+))?` +
			`/(?:homes?\\*/users|homes?|Users|run/user|run/media|media)\\*/(?P<private>[^/\s:"'<>|)\]]+(?: [^/\s:"'<>|)\]]+){0,3}/|[^/\s:"'<>|)\],;]+)`),
		keep: isSharedHome,
	},
	{
		kind: User, hints: []string{"%2fhome", "%2fusers"}, teaches: true,
		expr: regexp.MustCompile(`(?i)%2f(?:home|users)%2f(?P<private>[\w.+-]+(?:%20[\w.+-]+){0,3})`),
		keep: isSharedHome,
	},
	{
		// A folder that is synchronized bears the name of the company.
		kind: User, hints: []string{"onedrive - "},
		expr: regexp.MustCompile(`OneDrive - (?P<private>[^\\/:*?"<>|\r\n]+)`),
		keep: isPersonal,
	},
	{
		// Variables of the environment about the user.
		kind: User, hints: []string{
			"name", "domain", "rtag", "rsona", "utilisateur", "usuario", "nome de usu", "nome utente", "kersnaam", "ndarnamn",
			"пользователя", "用户名", "ユーザー名",
		}, may: hasUser, teaches: true,
		expr: regexp.MustCompile(`(?i)(?:(?:\b|epic)(?:user[_. ]?name|user[_ ]?domain|logname|(?:get)?persona[_ ]?name|persona|account[_ ]?name|login[_ ]?name|gamertag|` +
			`benutzername|nom d['’]utilisateur|nombre de usuario|nome de usu(?:a|(?-i:á))rio|nome utente|gebruikersnaam|användarnamn)|(?-i:мя пользователя|用户名|ユーザー名))` + isGiven + givenName),
		keep: isWord,
	},
	{
		// The names of a person.
		kind: User, teaches: true, hints: append(with([]string{"full", "real", "first", "last", "sur", "given", "family", "display", "user."},
			"name", " name", "_name"), "registered", "licensed to", "welcome", "hello,", "account holder"),
		expr: regexp.MustCompile(`(?:\b(?i:(?:full|real|first|last|sur|given|family|display|user\.)[_ ]?name|registered[_ ]?(?:owner|user)|licensed to|registered to|(?:welcome|welcome back|hello),|account holder)["']?(?:\s*[:=]\s*|\s+(?:is\s+)?)["']?(?P<private>\p{Lu}[\pL'’-]+(?: (?:(?:von|van|de|da|di|der|den|la|le|bin|al) )*\p{Lu}[\pL'’.-]*){1,3}))`),
		keep: isThing,
	},
	{
		kind: Computer, hints: []string{"name"}, may: hasComputer, teaches: true,
		expr: regexp.MustCompile(`(?i)\b(?:computer[_ ]?name|host[_ ]?name|machine[_ ]?name|client[_ ]?name)` + isGiven + `(?P<private>[^\s"',;<>]{2,})`),
		keep: isWord,
	},
	{
		// A device may be the computer, or a part of it, of which the maker says what it is.
		kind: Computer, hints: []string{"device name", "devicename", "device_name"}, teaches: true,
		expr: regexp.MustCompile(`(?i)(?:^|[^\w]|systeminfo\.)device[_ ]?name["']?(?:\s*[:=]\s*|\s+(?:is\s+)?)["']?(?P<private>[^\s"',;<>(][^"',;<>(\r\n]*(?:['’]s [^"',;<>(\r\n]+)?)`),
		keep: isHardware,
	},
	{
		// Names of computers, as people write them.
		kind: Computer, teaches: true, hints: append(with([]string{
			"pc", "netbios", "computer", "host",
			"machine", "client", "server",
		},
			"name", " name", "_name", "-name"), "machine", "computer", " pc", "pc:", "pc=", "pc ", "host=", "linux", "darwin"),
		expr: regexp.MustCompile(`(?i)(?:\b(?:pc|netbios|computer|host|machine|client|server)[ _-]?name(?:\s*[:=]\s*|\s+(?:is\s+)?)["']?|\b(?:on|from|this) (?:the )?(?:machine|computer|pc)\s*:?\s+["']?|\b(?:host=|(?:machine|computer|pc) ?[:=]\s*|name of (?:the |this )?(?:machine|computer|pc):? )["']?|(?:^|\s)(?-i:Linux|Darwin)\s)(?P<private>[\pL\pN][\pL\pN_-]+)`),
		keep: isNoComputer,
	},
	{
		kind: User, hints: []string{"name>", "rtag>"}, teaches: true,
		expr: regexp.MustCompile(`(?i)<(?:user[_-]?name|persona[_-]?name|account[_-]?name|gamertag)>(?P<private>[^<>]+)</`),
		keep: isWord,
	},
	{
		// The domain of an account, which is the computer where there is none.
		kind: Computer, hints: []string{"running as", "whoami"}, teaches: true,
		expr: regexp.MustCompile(`(?i)\b(?:running as|whoami)\s*[:=]?\s*["']?` + ownDomain),
	},
	{
		kind: Computer, hints: []string{
			"user", "ccount", "dentity", "host", "owner",
			"principal", "denied ", "logon ", "login ",
		}, may: hasDomain, teaches: true,
		expr: regexp.MustCompile(`(?i)(?:\b(?:user|account|host|owner|principal|(?:denied|log[io]n(?: failure| failed| attempt)?) (?:for|to|by|of))|identity(?:\.name)?)["']?(?:\s*[:=]\s*|\s+(?:is\s+)?)["']?` + ownDomain),
	},
	{
		// Names that have a number, since others have the name.
		kind: User, hints: []string{"discord", "ttle", "rich presence"},
		expr: regexp.MustCompile(`(?i)\b(?:discord|battle[ _-]?tag|rich presence)\b[^\r\n#]{0,40}?[\s:"'=](?P<private>[\pL\pN_.]{2,32}#\d{4,6})\b`),
	},
	{
		// Names that a word for them is given.
		kind: User, teaches: true, hints: []string{"user", "login", "nick", "er name", "ername", "er_name"}, may: hasName,
		expr: regexp.MustCompile(`(?i)\b(?:(?:sudo_)?user|login|nick(?:[ _]?name)?|player[ _]?name)["']?\s*[:=]\s*["']?` + userName),
		keep: isNoUser,
	},
	{
		// Names after what is said of users, and in listings.
		kind: User, teaches: true, hints: []string{
			"gged in ", "gged on ", "gned in ", "gned on ", "ated as", "running as", "whoami", "as user", "by user", "the user",
			"steam ", "twitch ", "discord ", "epic ", "gog ", "xbox ", "psn ", "rwx", "rw-", "rws", "rwt", "r-x", "r--", "r-s", "r-t",
			"uid=", "gid=", "+login", "-user", "sona name ", "sonaname ", "er name ", "ername ", "icked ", "anned ", "ssh", "scp",
			"sftp", "rsync",
		},
		expr: regexp.MustCompile(`(?i)(?:\b(?:(?:logged|signed) (?:in|on) (?:to \w+ )?|authenticated )as\s*:?\s*(?:user\s+)?["']?|\b(?:running as|whoami)\s*:?\s*["']?(?:[\w.-]+|<computer>)\\+|\b(?:as|by) (?:the )?user\s+["']?|` +
			`\b(?:steam|twitch|discord|epic|gog|xbox|psn) (?:user ?name|user|name|nick ?name|persona(?: name)?|account(?: name)?|channel)(?:\s*:\s*|\s+)["'#]?|` +
			`(?:^|\s)[dl-]r[w-][xst-](?:[r-][w-][xst-]){2}[.+@]?\s+\d+\s+|\b[ug]id=\d+\(|(?:^|\s)(?:\+login|--?user(?:name)?)\s+|\b(?:persona|user) ?name (?:is|(?:set|changed) to)\s+["']?|\b(?:kick|bann)ed (?:user|player|account)\s+["']?|\b(?:ssh|scp|sftp|rsync)\s+(?:[^\s@]+\s+)*)` + userName),
		keep: isNoUser,
	},
	{
		kind: User, teaches: true, hints: []string{
			"logged ", "signed ", "connected", "joined", "left", "kicked", "banned", "authenticated", "timed out", "sudoers",
		},
		expr: regexp.MustCompile(`(?i)\b(?:user|account|player)\s+["']?(?P<private>` + twoNames + `|[\pL\pN_][\pL\pN_.-]+)["']?\s+(?:has |was |is |have )?(?:not in the sudoers|(?:logged|signed) (?:in|on|off|out)|(?:dis|re)?connected|joined|left|kicked|banned|authenticated|timed out)\b`),
		keep: isNoUser,
	},
	{
		// The host of a share.
		kind: Computer, hints: []string{`\\`}, teaches: true,
		expr: regexp.MustCompile(`(?:^|[\s"'=(\[,;])(?:\\\\|\\\\\\\\)(?:\?\\+UNC\\+)?(?P<private>[\pL\pN][\pL\pN_.-]+)\\{1,2}[\pL\pN_]`),
		keep: isNoShare,
	},
	{
		kind: Computer, hints: []string{"e://", "b://"}, teaches: true,
		expr: regexp.MustCompile(`(?i)\b(?:file|smb)://(?P<private>[\pL\pN][\pL\pN_.-]+)/`),
		keep: isNoHost,
	},
	{
		// Names that Windows gives.
		kind: Computer, hints: []string{"ktop-", "ptop-", "win-"},
		expr: regexp.MustCompile(`\b(?P<private>(?:DESKTOP|desktop)-[0-9A-Za-z]{7}|(?:LAPTOP|laptop)-[0-9A-Za-z]{8}|(?:WIN|win)-[0-9A-Za-z]{11})\b`),
		keep: isGivenByNobody,
	},
	{
		// Names that systems make of the name of their owner.
		kind: Computer, hints: []string{
			"s-m", "s-i", "s-pc", "s-l", "s-d", "'s mac", "'s im", "’s mac", "’s im", "-von-",
			"-de-", "-di-", "-van-", "-pc", "-laptop", "-desktop", "-notebook",
		},
		expr: regexp.MustCompile(`(?i)\b(?P<private>[\pL\pN_-]+(?:s-|['’]s )(?:MacBook(?:[ -](?:Pro|Air))?|MBP|MBA|iMac|Mac[ -]mini|Mac|PC|Laptop|Desktop|iPhone|iPad)(?:-\d+)?|` +
			`(?:MacBook|MacBook-Pro|MacBook-Air|iMac|Mac-mini|Mac)-(?:von|de|di|van)-[\pL\pN_-]+|(?-i:[A-Z0-9]{3,}(?:-[A-Z0-9]+)*-(?:PC|LAPTOP|DESKTOP|NOTEBOOK)))(?:$|[^\pL\pN_-])`),
	},
	{
		// The name of an account after its domain: a share has two backslashes before that.
		kind: User, hints: []string{`<computer>\`, `azuread\`, `microsoftaccount\`}, teaches: true,
		expr: regexp.MustCompile(`(?i)(?:(?:^|[^\\])<computer>|\b(?:AzureAD|MicrosoftAccount))\\+(?P<private>[^\s"',;<>\\]{2,})(?:$|[^\\])`),
	},
	{
		// Names in a network at home.
		kind: Computer, hints: []string{".fritz.box", ".home.arpa"},
		expr: regexp.MustCompile(`(?i)(?:^|[^\pL\pN-])(?P<private>[\pL\pN-]+)\.(?:fritz\.box|home\.arpa)\b`),
	},
	{
		// The same under words that others than networks have, too.
		kind: Computer, hints: []string{".local", ".lan"},
		expr: regexp.MustCompile(`(?i)(?:^|[^\pL\pN-])(?P<private>[\pL\pN]+(?:-[\pL\pN]+)+)\.(?:local|localdomain|lan)(?:$|[^\w.-]|\.(?:$|\W))`),
	},
	{
		// Security identifiers of Windows: those of a domain or of the cloud have numbers
		// of their own.
		kind: ID, hints: []string{"s-1-5-21-", "s-1-12-1-"},
		expr: regexp.MustCompile(`(?i)\b(?P<private>S-1-(?:5-21|12-1)(?:-\d+){3,5})(?:$|[^\d-])`),
	},
	{
		// The value of a key for the id of a device, or of an account.
		kind: ID, hints: []string{
			"chine", "vice", "hwid", "dware", "tall", "pic", "duct", "xuid", "laxy", "gog", "discord", "ccount", "rial", "s/n",
			"cloud", "ession", "ytics", "layer", "user", "client", "tising", "droid", "idf", "friend", "steam",
		}, may: hasID,
		expr: regexp.MustCompile(`(?i)(?:\b|[_-])(?:machine[_ -]?(?:gu)?id|device[_ -]?unique[_ -]?id(?:entifier)?|device[_ -]?(?:uu|gu)?id|(?:hw|hardware)[_ -]?id|install(?:ation)?[_ -]?(?:gu)?id|` +
			`epic(?:[_ -]?(?:account|user))?[_ -]?id|product[_ -]?user[_ -]?id|xuid|galaxy[_ -]?(?:user[_ -]?)?id|gog[_ -]?(?:user[_ -]?)?id|discord[_ -]?(?:user[_ -]?)?id|` +
			`(?:steam[_ -]?)?account[_ -]?id|steam[_ ](?:account|hex|id)|serial(?:[_ -]?(?:number|no))?|s/n|(?:advertising|android|analytics|cloud|client|player|user|vendor|session)(?:[_ -]user)?[_ -]?(?:uu|gu)?id|idf[av]|gaid|(?:friend|invite)[_ -]?code|discord(?: user)?)` +
			`["']?(?:\s*[:=]\s*|\s+(?:reg_sz\s+|is\s+)?)["'{(\[]*(?P<private>[0-9a-z][0-9a-z_-]{5,})`),
		keep: isNoID,
	},
	{
		kind: ID, hints: []string{"<@", "nlobby"},
		expr: regexp.MustCompile(`(?:<@!?|(?i:joinlobby)/\d+/)(?P<private>\d{15,20})\b`),
	},
	{
		// Individual accounts: universe 1, type 1.
		kind: SteamID, hints: []string{"7656119"},
		expr: regexp.MustCompile(`(?:^|[^0-9])(?P<private>7656119\d{10})(?:$|[^0-9])`),
	},
	{
		kind: SteamID, hints: []string{"steam_"},
		expr: regexp.MustCompile(`(?i)\b(?P<private>STEAM_[0-5]:[01]:\d+)\b`),
	},
	{
		kind: SteamID, hints: []string{"u:1", "u%3a1"},
		expr: regexp.MustCompile(`(?i)(?:^|[^a-z0-9:]|%5b)(?P<private>\[U:1:\d{3,}\]|U(?::|%3a)1(?::|%3a)\d{3,}\b)`),
	},
	{
		// The name before an account.
		kind: User, hints: []string{"(<steam-id>)", "(7656119"}, teaches: true,
		expr: regexp.MustCompile(`(?:^|[\s"'])(?P<private>[^\s()"'<>:=,]{3,}) \((?:<steam-id>|7656119\d{10})\)`),
		keep: isOrdinaryPart,
	},
	{
		kind: SteamID, hints: []string{"steamcommunity"},
		expr: regexp.MustCompile(`(?i)steamcommunity\.com/id/(?P<private>[\w-]+)`),
	},
	{
		kind: SteamID, hints: []string{"userdata"},
		expr: regexp.MustCompile(`(?i)\buserdata[\\/]+(?P<private>\d{3,})`),
	},
	{
		// Hardware addresses of network cards.
		kind: Address, may: mayBeHardware,
		expr: regexp.MustCompile(`(?i)(?:^|[^0-9a-f:-])(?P<private>[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5})(?:$|[^0-9a-f:-])`),
	},
	{
		// The same without signs, which takes a word.
		kind: Address, hints: []string{"ddress", "ddr", "mac", "ether", "adapter", "nic", "bssid", "lan"},
		expr: regexp.MustCompile(`(?i)\b(?:(?:mac|physical|hardware)[_ ]?addr(?:ess)?|mac|hwaddr|bssid|ether(?:net)?|adapter|nic|w?lan)\b[^\r\n]{0,24}?(?:^|[\s:="'(])(?P<private>[0-9a-f]{12}|[0-9a-f]{4}(?:[.-][0-9a-f]{4}){2})\b`),
		keep: isNumber,
	},
	{
		kind: Address, may: mayBeIPv4,
		expr: regexp.MustCompile(`(?:^|[^\w.])(?P<private>\d{1,3}(?:\.\d{1,3}){3})(?:$|[^\w.]|\.(?:$|\D))`),
		keep: isVersion,
	},
	{
		kind: Address, may: mayBeIPv6,
		expr: regexp.MustCompile(`(?i)(?:^|[^\w:.])(?P<private>[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:%\w+)?)(?:$|[^\w:.]|\.(?:$|\s))`),
		keep: isNoIPv6,
	},
}

// userName matches the name of a user, or of a person.
const userName = `(?P<private>` + twoNames + `|[\pL\pN_][\pL\pN_.$-]+)`

// givenName matches a name in quotes, or a word with the names that follow it.
const givenName = `(?P<private>` + twoNames + `|[^\s"',;<>]{2,})(?:$|[\s"',;<>.!)])`

// spokenValue matches what people write between a word for a secret and its value, and that.
const spokenValue = `(?:\s*(?:[:=：]|[-=]>)\s*|\s+(?:is|was|ist|lautet|est|es|set to|changed to)\s*:?\s*|\s+)["'«„“\[(]?(?P<private>[^\s"'&;,<>(){}\[\]»“”]{4,})`

// twoNames matches the names of a person.
const twoNames = `(?-i:\p{Lu})[\pL'’-]+(?: (?-i:\p{Lu})[\pL'’-]*\pL){1,2}`

// homeName matches the name of a home in a path of Windows.
const homeName = `(?P<private>(?:[^\\/:*?"<>|\r\n%]|%(?:2[0-9a-e]|5[0-9abdef]|[013-46-9a-f][0-9a-f]))+)`

// ownDomain matches the domain before the name of an account: in capitals, or as people
// call computers.
const ownDomain = `(?P<private>[a-z0-9]+(?:-[a-z0-9]+)+|(?-i:[A-Z0-9]+))\\+[\w<]`

// isGiven matches what stands between a name for names and the name, which are spaces where
// the name is quoted.
const isGiven = `(?:\(\))?(?:["']?(?:[\s.]*[:：]\s*|=|\s+=\s+)|"?\s+")["']?`

// secretKey matches a name of a value that is nobody's business, after something that
// is no letter, so that the end of "PublicKeyToken" is none.
const secretKey = `(?:^|[^a-z])(?:[\w-]*[_-])?(?:` +
	`(?:access|auth|refresh|id|api|bot|client|user|session|login)?[_-]?(?:token|secret|ticket)|` +
	`[a-z]*pass(?:word|wd|phrase)|pwd|psk|` +
	`(?:api|access|private|auth|secret|encryption|signing|licen[cs]e|master|shared|account|consumer)[_-]?key|` +
	`(?:[\w-]*sess|session)[_-]?id|credentials?|authorization)`

var secretHints = []string{
	"token", "secret", "passw", "passphrase", "pwd", "psk", "key", "sess", "ticket",
	"credential", "authorization",
}
