package signature

// Texts with what becomes of them. All of them are our own. They feed the
// tables, the golden ids and the fuzzers.

// headCases are single lines.
var headCases = []struct{ text, want string }{
	// Words, space and punctuation.
	{"", ""},
	{"   \t \r ", ""},
	{"hello", "hello"},
	{"  two   words\t\tand  more \r", "two words and more"},
	{"a\x00b\x1bc\x7fd", "a b c d"},
	{"Straße, Ёлка, 草原, 초원!", "Straße, Ёлка, 草原, 초원!"},
	{"nothing-here is_variable/at_all (really) [no] {not} <even> this*", "nothing-here is_variable/at_all (really) [no] {not} <even> this*"},
	{"TCP/IP and read/write and/or", "TCP/IP and read/write and/or"},
	{"...", "..."},
	{"it's the pawns' own doing, don't ask", "it's the pawns' own doing, don't ask"},

	// Tokens with a digit.
	{"5", "<*>"},
	{"Muffalo31415 is hungry", "<*> is hungry"},
	{"Tried to start Job_12345678 for Lord_321", "Tried to start <*> for <*>"},
	{"Thing_Turret_Rusty5550123 has no target", "<*> has no target"},
	{"took 3.75 of 4", "took <*> of <*>"},
	{"temperature -12 now +3", "temperature <*> now <*>"},
	{"progress 87% done", "progress <*>% done"},
	{"version 2.7.1828-rev4 beta", "version <*> beta"},
	{"Ёлка12 и 草原7号", "<*> и 草原<*>号"},
	{"无法加载Human12345的引用", "无法加载<*>的引用"},
	{"fell over......0", "fell over......<*>"},
	{"x.5.", "<*>."},
	{"node-7a/eth0 went down", "<*> went down"},
	{"take 1st and 2nd", "take <*> and <*>"},
	{"part 3of9", "part <*>"},

	// Runs of variables.
	{"moved to (166, 0, 143)", "moved to (<*>)"},
	{"bounds (0.5, 1.25), (3, 4)", "bounds (<*>), (<*>)"},
	{"ids 4, 8; 15 - 16 | 23:42", "ids <*>"},
	{"1 2 3 go", "<*> go"},
	{"[4] [5]", "[<*>] [<*>]"},
	{"f(1)(2)", "f(<*>)(<*>)"},
	{"size 1920 x 1080", "size <*> x <*>"},
	{"a 5, b 6, c 7", "a <*>, b <*>, c <*>"},
	{"<*> <*>, <*>", "<*>"},
	{"lost <*> of them", "lost <*> of them"},

	// Units.
	{"took 12 ms", "took <*>"},
	{"took 12ms", "took <*>"},
	{"4711 bytes sent, 18 KB/s", "<*> sent, <*>"},
	{"9 minutes 30 seconds left", "<*> left"},
	{"5 s=3", "<*>=<*>"},
	{"5 members", "<*> members"},
	{"ms 5 ms ms", "ms <*>"},
	{"at 10:15 PM UTC sharp", "at <*> sharp"},

	// Hexadecimal numbers, ids and addresses.
	{"address 0x7ffe1234 of deadbeef", "address <*> of <*>"},
	{"mask FFFFFFFF ffffff", "mask <*> ffffff"},
	{"session 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ended", "session <*> ended"},
	{"could not load data-0000012345678ABC.dll", "could not load <*>"},
	{"hw fe:ab:0c:de:ad:be up", "hw <*> up"},
	{"ip fe80::c4ff:fe12:3456 and ::1", "ip <*> and ::<*>"},
	{"not ab:cd:ef an address", "not ab:cd:ef an address"},
	{"peer 10.0.0.7:8080 and mail.example.com:25", "peer <*> and <*>"},
	{"resolving ns.example.org failed", "resolving <*> failed"},
	{"java.net and System.Net stay", "<*> and System.Net stay"},

	// Words that hold a digit by name.
	{"Could not load UnityEngine.Texture2D named Grass", "Could not load UnityEngine.Texture2D named Grass"},
	{"cast System.Int32 to Vector3", "cast System.Int32 to Vector3"},
	{"System.Int32.F7", "<*>"},
	{"read as UTF-8, sum MD5", "read as UTF-8, sum MD5"},
	{"List`1 of Dictionary`2[Foo,Bar]", "List`1 of Dictionary`2[Foo,Bar]"},
	{"List`1x Foo7`1", "List`1x <*>"},

	// Codes.
	{"answered with status 404", "answered with status 404"},
	{"answered with status 500 after 31 ms", "answered with status 500 after <*>"},
	{"failed, code: 7, retry 2", "failed, code: 7, retry <*>"},
	{"errorCode=-16 exit_code 3 barcode 5", "errorCode=-16 exit_code 3 barcode <*>"},
	{"[HRESULT = 0x8badf00d - NOT_FOUND]", "[HRESULT = 0x8badf00d - NOT_FOUND]"},
	{"[device error was 8007000e]", "[device error was 8007000e]"},
	{"it was 12 who said so", "it was <*> who said so"},
	{"errno 2, errno 13", "errno 2, errno 13"},
	{"status  (7) 8", "status (7) <*>"},
	{"status.code:503", "status.code:503"},

	// Paths and URLs.
	{"read /var/lib/game/save.xml twice", "read <*> twice"},
	{"from /10.77.7.244:4711 to /tmp.", "from <*> to <*>."},
	{"GET /v2/items?id=7&x=y HTTP/1.1", "GET <*> HTTP/1.1"},
	{"see https://example.com/a/b?q=1#top, please", "see <*>, please"},
	{"(file:///C:/x.txt)", "(<*>)"},
	{"at C:/Games/My Game 1.4/Data/Mods and on", "at <*> and on"},
	{`at C:\Program Files (x86)\Tool\bin\t.exe, line 5`, "at <*>, line <*>"},
	{`found D:\a\b.dll from E:\c d\e.dll`, "found <*> from <*>"},
	{`Save folder is C:\Users\anna\AppData\Some Studio\Game by Some Studio`, "Save folder is <*> by Some Studio"},
	{`\\server\share\dir and \\?\Volume\x`, "<*> and <*>"},
	{"loading ./bin/run.sh and ../lib", "loading <*> and <*>"},
	{"texture at Things/Building/Wall missing", "texture at <*> missing"},
	{"patch Defs/Plants.xml applied", "patch <*> applied"},
	{"</li> is no path", "</li> is no path"},
	{"a // comment", "a // comment"},

	// Quotations.
	{`No def named "Wall Lamp" found`, "No def named <*> found"},
	{"Texture '' is empty", "Texture <*> is empty"},
	{"can't open 'a b' or 'c'", "can't open <*> or <*>"},
	{`"GET /index HTTP/1.1" 200`, `"GET <*> HTTP/1.1" <*>`},
	{`he said "this is not a name at all"`, `he said "this is not a name at all"`},
	{`"no such user anna here" was for 'user for user anna ..'`, `<*> was for <*>`},
	{`{"level": "warn", "n": 5, 'k7': "x"}`, `{"level": "warn", "n": <*>, '<*>': <*>}`},
	{`never "closed`, `never "closed`},
	{`size 5"x7"`, `size <*>"<*>"`},
	{`""""`, `<*>""`},
	{`relation "Friend" of Anna`, "relation <*> of Anna"},

	// Keys and values.
	{"uid=0 tty=console rhost=198.51.100.7 user=anna", "uid=<*> tty=<*> rhost=<*> user=<*>"},
	{"empty= next= x=", "empty= next= x="},
	{"enabled=true target=null mode=fast", "enabled=true target=null mode=<*>"},
	{"a = b; a==b; a => b", "a = b; a==b; a => b"},
	{"path=/usr/bin color=草原 n='q r'", "path=<*> color=<*> n=<*>"},
	{"5=x", "<*>=<*>"},
	{"k=v=w", "k=<*>=<*>"},

	// Tokens that tell what happened.
	{"Exception of type 'System.OutOfMemoryException' was thrown.", "Exception of type 'System.OutOfMemoryException' was thrown."},
	{`{"type":"System.NullReferenceException","at":"press"}`, `{"type":"System.NullReferenceException","at":<*>}`},
	{"error=NullReferenceException at boot", "error=NullReferenceException at boot"},
	{"cause=System.ServiceModel.FaultException`1, inner=json.JSONDecodeError", "cause=System.ServiceModel.FaultException`1, inner=json.JSONDecodeError"},
	{"'Acme7Exception' '/srv/InkError' 'a/InkError' 'InkError7' 'InkError`7a' 'InkError`' 'Terror' 'errors'", "<*>"},
	{"k=Acme7Exception k=a/InkError k=InkError`7a k=InkError` k=Terror k=an_error", "k=<*> k=<*> k=<*> k=InkError` k=<*> k=<*>"},
	{"level=error state=Stopped door=OPEN link=uP result=success", "level=error state=Stopped door=OPEN link=<*> result=success"},
	{"Service 'started', mode \"on\", 'Inactive' or 'on hold' or 'starting'", "Service 'started', mode \"on\", 'Inactive' or <*> or <*>"},
	{`5 "on" 6 'off'7 user='up' for user "down"`, `<*> "on" <*> 'off'<*> user='up' for user "down"`},

	// Days, months, accounts, tags, brackets.
	{"on Sun Oct  5 07:41:12 2031 it rained", "on <*> it rained"},
	{"Monday we rest, in May 5 we work, we May not", "<*> we rest, in <*> we work, we May not"},
	{"Login refused for invalid user anna from 10.0.0.1", "Login refused for invalid user <*> from <*>"},
	{"session closed for user  root", "session closed for user <*>"},
	{"the user interface", "the user interface"},
	{"<color=#ff8800>Anna</color> is <b>angry</b>", "<*>Anna<*> is <*>angry<*>"},
	{"<color=red>7</color> left", "<*> left"},
	{"<color> <size=12> <li>", "<*> <li>"},
	{"connection from 10.0.0.1 () and 10.0.0.2 (host)", "connection from <*> (<*>) and <*> (host)"},
	{"call Foo () now", "call Foo () now"},

	// Bytes that are no text.
	{"\xff\xfe5 \xc3\x28 \xe0", "\xff\xfe<*> \xc3( \xe0"},
	{"one\u0085two\u2028three", "one\u0085two\u2028three"},
}

// frameCases are single lines of stacks, with the frame they show, if any.
var frameCases = []struct{ line, want string }{
	{"  at Acme.Works.Press.Run (System.Int32 n) [0x00012] in <5a0c7e11d2f34b6899aabbccddeeff01>:0 ", "Acme.Works.Press.Run"},
	{" at Acme.Works.Press.Run () [0x00000] in <5a0c7e11d2f34b6899aabbccddeeff01>:0", "Acme.Works.Press.Run"},
	{"at Acme.Works.Press.Run () <0x40f3b + 0x0005f> in <filename unknown>:0", "Acme.Works.Press.Run"},
	{"at Acme.Works.Press..ctor () [0x00000] in <ab>:0", "Acme.Works.Press..ctor"},
	{"  at (wrapper dynamic-method) Acme.Works.Press.Acme.Works.Press.Run_Patch0(Acme.Works.Press,int)", "Acme.Works.Press.Run"},
	{"  at (wrapper dynamic-method) Acme.Works.Press.Run_Patch17 (Acme.Works.Press)", "Acme.Works.Press.Run"},
	{"  at (wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition.Acme.Press.Run_Patch1(object)", "Acme.Press.Run"},
	{"MonoMod.Utils.DynamicMethodDefinition:Acme.Press.Run_Patch1():0", "Acme.Press.Run"},
	{"  at (wrapper dynamic-method) Acme.Press.DMD<DMD<Run_Patch1>?-987654321::Run_Patch1>(Acme.Press)", "Acme.Press.Run"},
	{"  at DMD<>?1234567890.Acme.Press+<get_All>d__4.MoveNext_Patch0 (Acme.Press+<get_All>d__4 this) [0x0004d] in <ab>:0", "Acme.Press/<get_All>d.MoveNext"},
	{"  at (wrapper managed-to-native) System.Reflection.MonoMethod.InternalInvoke(System.Reflection.MonoMethod,object)", "System.Reflection.MonoMethod.InternalInvoke"},
	{"(wrapper managed-to-native) Acme.Press.Stamp(intptr)", "Acme.Press.Stamp"},
	{"(wrapper runtime-invoke) object:runtime_invoke_void__this__ (object,intptr)", "object.runtime_invoke_void__this__"},
	{"Acme.Log:Error (string)", "Acme.Log.Error"},
	{"UnityEngine.StackTraceUtility:ExtractStackTrace ()", ""},
	{"UnityEngine.Debug:LogError(Object)", ""},
	{"Acme.Works.Press:Run():0", "Acme.Works.Press.Run"},
	{"Acme.Works.Press:Run () (at Assets/Press.cs:31)", "Acme.Works.Press.Run"},
	{"Acme.Works.Press+<>c:<Start>b__6_1():0", "Acme.Works.Press/<>c.<Start>b"},
	{"Acme.Works.Press/<>c__DisplayClass82_0:<Bake>b__0 (Acme.Ink)", "Acme.Works.Press/<>c__DisplayClass.<Bake>b"},
	{"  at Acme.Press.<Sum>g__Local|7_0 (System.Int32 n)", "Acme.Press.<Sum>g__Local"},
	{"  at Acme.Press+<<Sum>b__1>d__2.MoveNext ()", "Acme.Press/<<Sum>b>d.MoveNext"},
	{"  at Acme.List`1[T].Add (T item)", "Acme.List`1.Add"},
	{"  at Acme.List`1+Node[T].Add (T item)", "Acme.List`1/Node.Add"},
	{"System.Collections.Generic.List`1[[Acme.Thing, Works, Version=2.5.1234.5678, Culture=neutral]]..ctor(IEnumerable`1 collection)", "System.Collections.Generic.List`1..ctor"},
	{"Acme.F+<>c__DisplayClass1_0`1[[Acme.A, B, Version=0.1.2.345]]:<Get>b__3():0", "Acme.F/<>c__DisplayClass.<Get>b"},
	{"0x00000123456789AB (Mono JIT Code) (wrapper managed-to-native) Acme.Texture2D:Make (Acme.Texture2D,int)", "Acme.Texture2D.Make"},
	{"0x00000123456789AB (Mono JIT Code) System.Linq.Enumerable/PressIterator`2<TInk_REF, TPaper_REF>:ToArray ()", "System.Linq.Enumerable/PressIterator`2.ToArray"},
	{"0x00007FF712345678 (EnginePlayer) EngineMain", ""},
	{"0x00007FF787654321 (EnginePlayer) (function-name not available)", ""},
	{"#3  0x00000000401ddc in acme_press_run (n=5)", "acme_press_run"},
	{"#4  0x00000000401ddc in (Unknown)", ""},
	{"\tat com.acme.works.Press.run(Press.java:17)", "com.acme.works.Press.run"},
	{"\tat com.acme.works.Press.lambda$main$0(Press.java:3)", "com.acme.works.Press.lambda$main"},
	{"    at Object.<anonymous> (/srv/press.js:10:5)", "Object.<anonymous>"},
	{"    at async Press.run (file:///srv/press.js:10:5)", "Press.run"},
	{"    at new Press (press.js:3:1)", "Press"},
	{"    at press.js:3:1", "press.js"},
	{"main.(*Press).Run(0xc000012345, 0x3)", "main.Press.Run"},
	{"acme.org/works/press.Run.func1.2(...)", "acme.org/works/press.Run.func."},
	{"created by acme.org/works.Start in goroutine 7", ""},
	{`  File "/srv/acme/press.py", line 31, in run`, "press.run"},
	{`  File "press.py", line 3, in <module>`, "press.<module>"},
	{`  File "C:\acme\my-press.py", line 3, in run`, "my-press.run"},
	{`  File "3d$.py", line 3, in run`, ""},
	{`  File "func1.py", line 3, in run`, "func.run"},
	{`  File "k_Patch1", line , in run`, "k.run"},
	{"  at Acme.<>f__AnonymousType0`2.get (), ", "Acme.<>f__AnonymousType.get"},
	{"  at Acme.<<>`<>1.Run ()", "Acme.<<>`<>1.Run"},
	{`  File "press.py", run`, ""},
	{`  File "press.py", line 3`, ""},
	{"   --- End of inner exception stack trace ---", ""},
	{"[Ref 1A2B3C4D] Duplicate stacktrace, see ref for original", ""},
	{" [0x00006] in <0badcafe12345678900000000000abcd>:0", ""},
	{"    - POSTFIX acme.press: Void Acme.Patch:Postfix(Press p)", ""},
	{"Parameter name: key", ""},
	{"at the beginning of the day", ""},
	{"at home (again)", "home"},
	{"note: this (thing)", ""},
	{"Acme.Run(Some words - more): failed", ""},
	{"Whole XML:", ""},
	{"", ""},
}

// entryCases are whole entries.
var entryCases = []struct{ name, message, stack, want string }{
	{"empty", "", "", ""},
	{"head and body", "Could not read 5 defs\nWhole XML: <a>7</a>\nand more", "", "Could not read <*> defs"},
	{"blank lines before the head", "\r\n  \nPress 7 broke\n", "", "Press <*> broke"},
	{
		"stack in the message",
		"Exception ticking Press7 (at (1, 0, 5)): System.NullReferenceException: Object reference not set\r\n" +
			"[Ref 1A2B3C4D]\r\n" +
			"  at Acme.Press.Tick () [0x00012] in <5a0c7e11d2f34b6899aabbccddeeff01>:0 \r\n" +
			"   --- End of inner exception stack trace ---\r\n" +
			"  at (wrapper dynamic-method) Acme.Floor.Acme.Floor.Tick_Patch3(Acme.Floor)\r\n" +
			"    - POSTFIX acme.mod: Void Acme.Patch:Postfix(Floor f)\r\n",
		"",
		"Exception ticking <*> (at (<*>)): System.NullReferenceException: Object reference not set\nat Acme.Press.Tick\nat Acme.Floor.Tick",
	},
	{
		"stack apart", "Press broke", "UnityEngine.StackTraceUtility:ExtractStackTrace ()\nUnityEngine.Debug:LogError (object)\nAcme.Press:Tick ()\n",
		"Press broke\nat Acme.Press.Tick",
	},
	{"no head", "", "  at Acme.Press.Tick ()", "\nat Acme.Press.Tick"},
	{"no head but blank lines", "\n\n  at Acme.Press.Tick ()", "", "\nat Acme.Press.Tick"},
	{"a frame as the head", "at Acme.Press.Tick ()\nat Acme.Floor.Tick ()", "", "at Acme.Press.Tick ()\nat Acme.Floor.Tick"},
	{
		"two-line head", "Exception while running plan Acme.Plan_Daily: \r\r\nSystem.NullReferenceException: Object reference not set\n  at Acme.Press.Tick ()", "",
		"Exception while running plan Acme.Plan_Daily: System.NullReferenceException: Object reference not set\nat Acme.Press.Tick",
	},
	{"two-line head, Java", "Plan 7 failed\njava.lang.IllegalStateException\n\tat com.acme.Press.run(Press.java:17)", "", "Plan <*> failed java.lang.IllegalStateException\nat com.acme.Press.run"},
	{"no two-line head", "Things went wrong:\nExceptional weather: rain", "", "Things went wrong:"},
	{
		"as many frames as count", "deep", "at A.a\nat A.b\nat A.c\nat A.d\nat A.e\nat A.f\nat A.g\nat A.h\nat A.i\nat A.j",
		"deep\nat A.a\nat A.b\nat A.c\nat A.d\nat A.e\nat A.f\nat A.g\nat A.h",
	},
}

// hostile texts are what simple code takes too long for or gets wrong.
var hostile = []string{
	"<*><*>", "<*>5", "5<*>", "<<*>>", "<*", "*>", "<*>=x", "x=<*>", "'<*>'", "\"<*>\":", "user <*>", "for user <*>",
	"((((((", "\"\"\"\"\"\"", "''''''", "<<<<<<", "======", "::::::", "//////", "\\\\\\\\", "------", "......", ",,,,,,", "`1`1`1",
	"a'b'c'd", "'a'5", "'a'<*>", "\"a\"<b>", "'Mar'<b>..'", "May <*>", "May 5", "Sun May 5", "C:/a b/c", "C:/a b c", "http://<*>", "http://x<*>y",
	"code 5 code <*>", "error was <*>", "status=<*>", "fe:<*>:12", "ab:12:cd", "a.b:<*>", "a.b:5", "5 ms<*>ms", "<*> ms", "<*> ()", "5 ()",
	"for user", "for user for user x", "\u0085", "\u2028", "\xe2\x80", "\xc2", "5\xff", "\xff5", "中5", "5中", "<color=<*>>", "<color=5><*>",
	"DMD<DMD<DMD<", "at DMD<>?", "(wrapper w) A.::DMD<", "at a::DMD<>?1.5x", "at <>cfunc1_Patch22", "at DMD<MonoMod.Utils.DynamicMethodDefinition::", "at <<<>>>", "at <<>`<>1.", "at <<>`<>‹", "at <<>`<>:", "at <<>`<>>", "at [[[]]]", "at a[b]c", "at a::", "at a:5", "at (*a).b", "(wrapper x", "(wrapper x) ", "at func1.2", "at 12", "at 12.a", "a:b (c)", "a::b (c)",
}
