package signature

import (
	"fmt"
	"strings"
)

// Texts on both sides of every boundary that the specification draws: each
// byte of a class and those next to it, each word of a list, each length and
// one more. They are test vectors, so that an implementation that is off by one
// byte, word or length fails one of them.

// byteForms are texts in which a rule asks what class of byte stands at %s.
var byteForms = []string{
	"x%s5", "5%sx", "5 %s 6", "w%s/a", "w /a%sb", "w /a%s", "ab://a%sb", "ab://a%s", "code%s7", "for%suser anna", "%sfor user anna",
	"C:/a%sb/c", "C:/a w%sb/c", "w%s'a b' w", "'a b'%sw", "'a%s' w", "k%s=v", "k=%sv", "5%s()", "May%s5", "ab%sab.com",
}

// byteFrames are the same for the line after the head.
var byteFrames = []string{"AError%sa", "A%sBError: c", "at A%sB ()", "at A[T]%sB", "at A%s3", "A%sB()", "at <A%sB>c", `File "a%sb", line 3, in c`}

// boundaryBytes are all bytes of ASCII but letters and digits, and the ends of
// the ranges that the specification names.
func boundaryBytes() []string {
	bytes := []string{"\x00", "\t", "\x1f", "\x7f", "\x80", "\xbf", "\xc0", "\xdf", "\xe0", "\xff"}
	for b := byte(' '); b < 0x7f; b++ {
		if classes[b]&digit == 0 && !isLetter(b) {
			bytes = append(bytes, string(rune(b)))
		}
	}
	return bytes
}

// boundaryWords has, for each list, a text for each word of it.
var boundaryWords = []struct {
	form string // %s stands for the word
	list []string
}{
	{"%s", wellKnown},
	{"w 5 %s", unitWords},
	{"k='%s'", constantWords},
	{"for %s 5", append([]string{"HRESULT", "eRRno"}, codeWords...)},
	{"for %s: 5", fieldWords},
	{"for %s 'a b'", textWords},
	{`w %s" 200`, append(requestWords, protocols...)},
	{"w %s 5", []string{
		"Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec",
		"January", "February", "April", "June", "July", "August", "September", "October", "November", "December",
		"Mon", "Tue", "Tues", "Wed", "Thu", "Thur", "Thurs", "Fri", "Sat", "Sun",
		"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "May", "March",
	}},
	{"acme.%s", []string{"com", "net", "org", "edu", "gov", "mil", "info", "biz", "local", "localdomain", "internal", "arpa"}},
	{"%s user anna", []string{"for", "invalid", "Invalid", "unknown", "Unknown", "illegal", "Illegal"}},
	{"C:/a %s w/c", []string{"and", "as", "at", "because", "but", "by", "for", "from", "in", "into", "is", "on", "or", "to", "was", "with"}},
}

// boundaryHeads are heads in groups, one for each boundary.
var boundaryHeads = [][]string{
	// Glue is single, and between narrow bytes.
	{"a.b5", "a..b5", "a.-b5", "a.", ".a5", "a/b", "a/b/c", `a/b\c`, "a`1b5", "a`1`2", "中5", "5中", "\xdf5", "\xe05", "\xe0\xbf5", "\xe0\xc05"},
	// Drives and URLs.
	{"C:/a", "CD:/a", "5:/a", "_:/a", "C:a", `z:\`},
	{"é://a", "\xc3://a", "a`b://a", "a/b://a", "a-b.c+d~e://a", "a5://a", "a:/a", "a:// b", "a://!", "a://b/.", "a://b|c]", "w://a://b"},
	// Hosts with ports.
	{"a.B:5", "a.B:x", "a5.B:5", "a/b.c:5", "a.B/c:5", "ab:5", "a.code:5", "a.barcode:5", "a.errorCode:5", "a-b.C:5", "a.B::5", "a.b.cc:5", "a.cc:5", "a.b.c:5", "a.b.ccc:5", "a.b.-c:5", "a.b.c-:5", "a-b.c-d.ee:5", "A.b.cc:5", "a.b.cc:x", "a/b.c.dd:5", "localhost:5", "localhost:x", "xlocalhost:5"},
	// Addresses.
	{"a:c1", "a:c1:d", "a1:b:c:d:e:f:a:b", "a1:b:c:d:e:f:a:b:c", "abcd:a1:b", "abcde:a1:b", "a1:b:abcd", "a1:b:abcde", "a:b:c"},
	{"a::b1::c", "a:::b1:c", "a1:b:cg", "a1:b:c-d", "a1:b:c.", "a1:b:c-", "a1:b:c:", "::a1:b:c", "code a:c1:d", "errno=a:c1:d", "code ab:c1:d x"},
	// Kept words.
	{"a.Int32", "2D.Int32", "2D.a", "2D", "a-Int32", "a.Int32.b7", "a.Int32.b", "Int32.Int64", "Int32x", "-2D", "a.2D"},
	// Relative paths and extensions.
	{"a/b.x", "a/b.abcde", "a/b.abcdef", "a/b.ab7", "a/.abc", "a.bc/d", "a.b", `a\b.cs`},
	// Hexadecimal words.
	{"abcdefa", "abcdefab", "abcdefabc", "abcdefag", "ABCDEFAB", "abcd_efab", "code abcdefab", "code abcdefab abcdefab"},
	// May, March and hosts.
	{"May  5", "May x5", "May 5th", "March -5", "in May", "May5", "jan", "JAN", "a-b.com", "A.com", "a.com.x", "-.com", "a_b.com", "a..com"},
	{"NaN", "nan", "NaNs", "-NaN", "+NaN", "-inf", "-Inf", "w-inf", "-infinity", "-Infinity", "5 -inf"},
	// Addresses of mail, and components.
	{"a@b.c", "a@b", "a@5.c", "a@b.c/d", "a@b.c5", "a5@b.c", "a5@b", "a5@5.c", "a5@b.c/d", "a@b.c@d.e", "@b.c", "a@-b.c", "a @b.c", "a@b`c.d", "<*>@b.c", "a@中.c"},
	{"a.b/.c", "a/.c", "a.b/.-", "a.b/c.d", "a.b/c", "a/b.cdefgh", "a/b.cdefgh.i", `a.b\c.defghi`, "a.b/..c", "a/../c", "a/./c", "a/../-", "a/...", "a-b/../c", `a/..\\b\\ c`, `a/../b\\ c`, `a/..\c`, `a\../c`},
	// One digit after a key.
	{"on=0", "on=1", "on=2", "on=00", "on = 1", "on :0", "o=0", "_a=0", "a5=0", "5=0", "é=0", "中中=0", "on==0", "\"on\":0", "\"on\": 1", "'on'=0", "(on)=0", "\"on\"\"=0", "on=-0"},
	{"on=0, 5", "on=0,; a", "on=0 5", "on=0-5", "on=0 -5", "on=0:5", "on=0. 5", "on=0 <*>", "on=0 a5", "on=0 ms", "on=0%", "on=0 %", "on=0x", "on=0中", "on=1/2", "on:5 0"},
	{"on=0 up=1 at=0 by=1 to=2", "on=0 up=1 5 at=0 by=1", "on=2 up=1 at=0 by=0 in=0 of=1"},
	// Results.
	{"ed 0", "aed 0", "aaed 0", "AAed 0", "aaED 0", "aaed with 0", "aaed  with 0", "aaed withal 0", "with 0", "aaed: 0", "aaed (0", "aaed 5", "aaed 404", "aaed 604", "aaed 40", "aaed 4041", "aaed -5", "aaed +5", "aaed -5a", "aaed -12345678901", "aaed 0x5", "aaed -0.5"},
	{"aaed 0 b", "aaed 0 B", "aaed 0 for b", "aaed 0 for", "aaed 0 for5", "aaed 0 fore", "aaed 0 <*>", "aaed 0 b5", "aaed 0 5", "aaed 0, b", "aaed 0(b", "aaed 0中", "aaed 0 中", "aaed 0 é", "aaed 0 _", "aaed 0%", "aaed 0 ms", "aaed 0:5", "aaed 0: b"},
	// Numbers of messages.
	{"A123: b", "A12: b", "A123456: b", "A1234567: b", "ABCDEF123: b", "ABCDEFG123: b", "A123:b", "A123", "A0123", "A-123: b", "AB-123: b", "AB-012", "a123: b", "A12a: b", "A123:"},
	// Units.
	{"a5 ms", "5a ms", "5e5 ms", "0x ms", "0xf ms", "<*> ms", "5, ms", "5 ms ms", "'a' ms", "#5 ms", "#5# ms", "5% ms", "a, 5 ms", "-inf ms"},
	// Quotations after a colon.
	{`a: "b c"`, `a:"b c"`, `a : "b c"`, `: "b c"`, `5: "b c"`, `): "b c"`, `中: "b c"`, `"a": "b c"`, `a: 'b c'`, `a: "B c"`, `a: "B C"`, `a: "bB c"`, `a: "b"`, `a: "b 5"`, `a: "5 b"`, `a: "b c5"`, `a: "b c.d"`, `a: "b c."`, `a: "b c/d"`, `a: "b c/.d"`, `a: "b c:d"`, `a: "b c@d.e"`, `a: "b c`},
	{`a: "abcdefab b"`, `a: "Abcdefab b"`, `a: "b abcdefab"`, `a: "b abcdefa"`, `a: "Mon b"`, `a: "May b"`, `a: "b may 5"`, `a: "b c" d "e f"`, `a: "b c \"d e\"" "f g"`, `a: "<*> b"`, `a: "b <*>"`, `a: "b  c"`, `a: "user b"`},
	// Padding.
	{"abcdefg5=", "abcdef5=", "abcdefg5==", "abcdefg5===", "abcdefg5=a", "abcdefg5==,", "abcdefg5=)", "abcdefg5='", "abc-efgh==", "abc-efg==", "abc-efgh=", "abcdefgh==", "k=abcdefgh==", "k=abcdefg=="},
	// Signs before numbers.
	{"<5", "w<5", "<5>", "<5a", "<a5", "<-5", "< 5", "<42", "5 <6", "5 <6>", "#5", "#5#", "##5", "w#5", "#a5", "5 #6# w", "~5", "w~5", "~a5", "~~5", "#5##", "5%", "5 %", "5 %s", "5%s", "5%%", "5, %", "w%"},
	// Addresses with two colons, and in brackets.
	{"::1", "w::1", ":::1", "::12345", "::g1", "::a", "::a:b", "::a:", "::a1:b", "a::1", "a::b", "1::", "a:b::1", "fe80::1%lo", "fe80::1%", "fe80::1%lo-0.5"},
	{"[::1]:5", "[::]:5", "[::]:a", "[::1]", "[::1]:", "[a::b1]:5", "[a::b]:5", "5 [a::b]:5", "[::1%lo]:5", "[1:2]:5", "[::1.2.3.4]:5", "5 [::]:6", "w[::1]:5", "[a1b:c::]:5"},
	{"de:ad:be:ef:fa:ce", "de:ad:be:ef:fa", "de:ad:be:ef:fa:ce:de", "de:ad:be:ef:fa:cef", "1:2:3:4:5:6:7:a", "a:2:3:4:5:6:7", "12:00:04", strings.Repeat("ab:", 19) + "ab", strings.Repeat("ab:", 20) + "ab"},
	// Sizes in other words.
	{"5 KB (6)", "5 KB (6 B)", "5 KB (6  B)", "5 KB (6 w)", "5 KB (a6)", "5 KB  (6)", "5 KB, (6)", "5 (6)", "5% (6)", "5 KB (6) (7)", "5 KB (x86)", "5 KB (2D)", "5 KB (6", "5 KB ()"},
	// Accounts.
	{"for user anna", "xfor user anna", "x-for user anna", "5 for user anna", "'a b'for user anna", "5for user anna", "éfor user anna", "中for user anna", "For user anna"},
	{"for users anna", "for user 'anna b'", "for user (anna", "for user anna.b/c", "for user  anna beth", "foruser anna", "for user user user anna", "for user x86 b", "for user"},
	// Quotations that are sentences.
	{"'GE one'", "'GET one'", "'OPTIONS one'", "'CONTINUE one'", "'GET'", "'GET\tone'", "'GET5 one'", "'Get one'"},
	{"'a b c 9'", "'a b c d 9'", "'a b c d'", "'a b c d e'", "'a  b\tc d 9'", "'one two six morning 9'", "'one two six midnight 9'", "'morning midnight six two 9'", "'a b user d 9'", "'a b users d 9'", "'a B c d 9'"},
	// Quotations that are text.
	{`msg="a b"`, `Msg = "a b"`, `xmsg="a b"`, `err_msg="a b"`, `errMsg="a b"`, `msg "a b"`, `msg, "a b"`, `state "a b"`, `msg='a b'`, `msg=((((="a b"`, `msg=(((="a b"`, `{"msg":"a b"}`, `{"@m":"a b"}`, `{"m":"a b"}`, `@M="a b"`, `msg=" a b"`, `msg=a b`},
	{`msg="a 'b c' d"`, `msg="a 'b" c'`, `msg="a \"b c\" d"`, `msg="a \\"b c" d`, `msg="a!", "b c"`, `msg="/a\" b "c d"`, `msg="/a\\" b "c d"`, `msg="C:\" "c d"`, `k="a \"b" c" d`, `\"a b\" c`, `\"a b" c`, `5, msg="a b!" "c d"`},
	{`"A B"`, `["A B"]`, `["A B"`, `"A B" k=v`, `"A B" k=`, `"A B" k==v`, `"A B" k`, `"A B" 5=v`, `"A B" [k]`, `"A B",`, `"A B" =v`, `w "A B"`, `[w] "A B"`, `[w]"A B"`, `w] ["A B"]`, `w ["A B"]`, `[w]  "A B"  k=v`, `"A \"B\"" k=v`, `'A B' k=v`, `5] "A B"`, `5 "A B"`, `"A B" k-5=v`, `"A B" <*>=v`, `"A B" /k=v`},
	// Quotations that open and close.
	{"'a b' c", "w'a b' c", "5'a b' c", "' a b' c", "'a b ' c", "'a b'c d' e", "'a b'5 d' e", "'a b'<*> d' e", "'a b", "''", "'' c", "\"a 'b\" c'", "'a \"b' c\""},
	// Quoted names of members, and protected words.
	{"{'a': b", "{ 'a': b", ", 'a': b", ",'a':b", "; 'a': b", "['a': b", "('a': b", "{'a' : b", "{'a b': c", "{'中': b", "{'<*>': b", "{'a5': b", "{\"a\": b", "{'a\": b'", "5, 'a': b", "'a': b"},
	{"'Int32' a", "'Int32'a", "'Int32 a'", "\"x86\": 'x87'", "'a.Int32'"},
	// Signs.
	{"-5", "+5", "w -5", "w-5", "w--5", "中-5", "中+5", "é-5", "(-5", "- 5", "-a5", "-5-6", "code -5", "code: +5x w", "code--5", "5-6", "5 -6"},
	// Paths.
	{"/a", "./a", "../a", ".../a", `\a`, `.\a`, `..\a`, "/ a", "//a", "/.a", "/-a", "/中", "5/a", "5 /a", "w/", "w (/a)", "w </a", "w >/a", "w !/a", "w ~/a", "w*/a"},
	{`\\a`, `\\\a`, `\\?\a`, `\\.\a w\c`, `\\?\C:\a w\c.d`, `\\C:a w\c`, `\\C:`, `\\-a`, `\\?a`, `w\\a`, `(\\a w\c)`, `\\?\-`, `\\5:a w\c`},
	// Windows paths that go on.
	{"C:/a w/c", "C:/a w /c", "C:/a w/ c", "C:/a w/", "C:/a  b/c", "C:/a w//c", "C:/a,/c", "C:/a;b/c", "C:/a w\tc/d", "C:/a w c d/e f/g h", `C:\a 'b'\c`},
	{
		"C:/a " + strings.Repeat("b", 61) + "/c", "C:/a " + strings.Repeat("b", 62) + "/c",
		"C:/a " + strings.Repeat("b", 63) + "/c",
	},
	{"C:/a (b/c", "C:/a w)/c", "C:/a (b)/c", "C:/a (b]/c", "C:/a (b [c])/d", "C:/a )b(/c", "C:/a ((b)/c", "C:/a(b)/c)", "C:/a {b}/c"},
	{"C:/a And b/c", "C:/a xand b/c", "C:/a andx b/c", "C:/a and/c", "C:/a (and b)/c", "C:/a,and b/c", "C:/a w is"},
	{"C:/a.b c/d", "C:/a.bcdef c/d", "C:/a.bcdefg c/d", "C:/a.b7 c/d", "C:/a.7b c/d", "C:/.ab c/d", "C:/a. c/d", "C:/a.b_c d/e", "C:/a.é c/d", "C:/a w/c.d e/f", "C:/a!?", "C:/a/.", "C:/!"},
	// Keys and values.
	{"k=v", "k=中", "k =v", "k= v", "k==v", "=v", "(=v", "5=v", "'a b'=v", "k=-v", "k=v5", "k='v'", "k=Int32", "k=x86", "code=v", "code=中", "k=v.w", "k=v=w", "k=May 5", "k=May w"},
	{"k=error", "k=Error", "k=ERROR", "k=eRROR", "k=errors", "k=KeyError", "k=KeyErrors", "k=KeyError`1", "k=KeyError1", "k=A`1.KeyError", "k=A`1b.KeyException", "k=a/KeyError", "k=a-KeyError", "k=Exception", "k=exception"},
	{"'error' w", "\"Error\" w", "'ERROR'w", "'eRROR' w", "'error w'", "'KeyError' w", "'KeyErrors' w", "'A.KeyError`12' w", "'KeyError12' w", "'a/KeyError' w", "('on')", "5 'on' 6", "'on'5"},
	// Empty brackets.
	{"5 ()", "5  ()", "5()", "5 ( )", "5 (a)", "w ()", "5 w ()", "5, ()", "'a b' () w"},
	// Runs, and units.
	{"5, 6", "5 a", "5 a6", "5.6", "5 . 6", "5 (6", "5 _ 6", "5-", "5 -", "5, /a", "5 'a b'", "5 <b>", "5=6", "5;;6 ,"},
	{"5 ms", "5  ms", "5, ms", "5-ms", "5 ms ms", "5 ms, 6 ms", "5 MS", "5 KB/s", "5 KB/s/s", "5 KB/x", `5 KB\s`, "5 x/s", "5 ms. 6", "ms 5", "5\x7fms", "5 ms=6", "5 day/May"},
	// Codes.
	{"code 1234567890", "code 12345678901", "state=123456", "state=1234567", "state=abcdefgh90", "state=abcdefgh901", "code A-5", "code 5-A", "code 5.6", "code 5/6", "state=A-5", "code -5", "state=-5", "state -5", "code 5%", "code 5 %", "code 5 %s", "code 5 ms", "code 5  KB/s", "code 5 x", "code 5, ms", "code -5 ms", "code 5:6", "code 5:a", "code 5: 6", "code abcdefab", "code abcdefabcde"},
	{"AB-0123: a", "AB-123: a", "AB-123:a", "AB-123", "AB-012", "A-012", "ABCDEFG-012", "AB-01", "AB-0123456", "AB-012a", "aB-012", "AB-CD-012", "AB-123:"},
	{"HTTP/1.1 200", `HTTP/1.1" 200`, "HTTP/1.1 2000", "HTTP/1.1 600", "HTTP/1.1 -200", "xHTTP/1.1 200", "HTTP/1.1, 200", "| 200 |", "|  200  |", "| 200", "|200 |", "| 20a |", "5 | 200 | 300"},
	{"k=FOO", "k=FO_O", "k=F", "k=Foo", "k=FOO5", "k=FACEFEED", "k=FACEFEEDS", "k='FOO'", "k=_"},
	// Keywords.
	{"code 5", "codes 5", "barcode 5", "bar_code 5", "bar5code 5", "barCode 5", "BARCode 5", "barCODE 5", "BARCODE 5", "éCode 5", "écode 5", "-code 5", "code 5 6", "code a5 5a", "code, 5", "code 5, code 6", "code  (=#[: 5"},
	{"exit code is 5", "status is: 5", "state is 5", "anexit is 5", "code of a is 5", "5 is 5", "code  is 5", "error is5", "code was was 5"},
	{"error was 5", "Error was 5", "error Was 5", "errorwas 5", "error  was: 5", "terror was 5", "anError was 5", "was 5", "an was 5", "error-was 5", "error was5", "5 code 6", "5 error was 6", "error 5 was 6"},
}

// boundaryEntries are entries with stacks, as groups of one boundary each.
var boundaryEntries = [][2]string{
	// The head.
	{"w\nError", ""},
	{"w\nErrors", ""},
	{"w\nAError (a", ""},
	{"w\nAError  (a", ""},
	{"w\nAError a", ""},
	{"w\n7AError", ""},
	{"w\nA.B+CException: a", ""},
	{"w\nA-BException: a", ""},
	{"w\n\x7f AError \t", ""},
	{"w\n\nAError: a", ""},
	{"\nAError: a\nBError: b", ""},
	{"\nA.B()", ""},
	{"A.B()\nA.B()", ""},
	{"\x7f\nA.B()", ""},
	// What is taken off the beginning.
	{"w", "at async new async A.B ()"},
	{"w", "at newA.B ()\nat new\nat async\nat asyncA ()"},
	{"w", "0x (Mono JIT Code) A:B (c)\n1x (Mono JIT Code) A:B (c)\n0 (Mono JIT Code) A:B (c)"},
	{"w", "# 0x1 in a (b)\n#0x1 in b (b)\n#00x1 in c (b)\n#12\t0x in d (b)\n#1 1 in a (b)\n#1 0x1 on a (b)"},
	{"w", "File \"a/b.py\", line x, in c\nFile \"b.pyc\", line 3, in c\nFile \"-b\", line 3, in c\nFile \"b-\", line 3, in <c>"},
	{"w", "File \"b_Patch12\", line 3, in c\nFile \"b_Patch\", line 3, in c\nFile \"func\", line 3, in func12\nFile \"a\\b7\", line 3, in c"},
	{"w", "(wrapper x) A.B ()\n(wrapper x)A.B ()\n(wrapper x) A.B.A.B.C ()\n(wrapper dynamic-method) A.B.A.C ()\n(wrapper dynamic-method) A:A.B ()\n(wrapper dynamic-method) .A.B ()"},
	{"w", "(wrapper dynamic-method) " + strings.Repeat("a", 511) + "." + strings.Repeat("a", 511) + ".b ()"},
	{"w", "(wrapper dynamic-method) " + strings.Repeat("a", 512) + "." + strings.Repeat("a", 512) + ".b ()"},
	// Parts.
	{"w", "at a1.b ()\nat 12.b ()\nat a.12.b ()\nat func12.b ()\nat Func12.b ()\nat func.b ()\nat func1a.b ()\nat myfunc1.b ()"},
	{"w", "at _Patch1.b ()\nat $1.b ()\nat a$1_Patch2$3.b ()\nat a_patch1.b ()\nat a_Patch.b ()\nat a$.b ()\nat 1_Patch1.b ()\nat func1$1.b ()"},
	{"w", "at <>c__D1_0`1.b ()\nat <>c`1`2.b ()\nat <>`1x.b ()\nat <A_Patch1>b_Patch2.c ()\nat <A>_Patch2.c ()\nat <1>2.c ()\nat <A>g|1_2.c ()\nat <func1>func2.c ()"},
	{"w", "at <<A>b__1>d__2.c ()\nat <A(b)>c ()\nat <A b>c ()\nat <A,\"{;'.:/+b>c.d ()\nat <A>b<C>.d ()\nat <A>b[C].d ()\nat <A>b[C]d ()"},
	{"w", "at A[B[C]].d ()\nat A[B<].d ()\nat A<B[>.d ()\nat A[B][C]<D>.e ()\nat A[B ()\nat A[B]c ()\nat A[B]{ ()\nat A[B]"},
	{"w", "at DMD<A.b ()\nat A.DMD<b>?-12.c ()\nat DMD<>?12.A.b ()\nat DMD<>?A.b ()\nat DMD<DMD<A>\nat A>\nat aDMD<A>b ()"},
	{"w", "at (*A).b ()\nat (*A)b ()\nat (*).b ()\nat (*A.B).c ()\nat (*A7).b ()\nat (*func1).b ()\nat a.(*B).c ()"},
	{"w", "at A:B ()\nat A:7 ()\nat A::B ()\nat A:::B ()\nat A:<B>c ()\nat A:.B ()\nat A: ()\nat A::7 ()"},
	// What follows a name.
	{"w", "at A.B\nat A.B(\nat A.B (\nat A.B  (\nat A.B [0x1\nat A.B [1\nat A.B in c\nat A.B inc"},
	{"w", "at A.B <0x1\nat A.B <1\nat A.B:7\nat A.B: 7\nat A.B>\nat A.B c\nat A.B)\nat -A ()"},
	{"w", "A:B ()\nA:B  ()\nA:B()\nA:B ():7\nA:B (): 7\nA:B () c\nA:B(c) (d)\nA:B:C ()"},
	{"w", "A::B ()\nA::B.C ()\nA`1[B].C ()\nA`1[B].C(d)\nA`1[B].C(d):7\nA[B].C(d)\nA`[B].C(d)\nA`x1[B].C(d)"},
	{"w", "A.B()\nA.B ()\nA.B(c)\nA.B():7\nA()\nA/B(...)\nA+B(0x1, 0x2)\nA.B({0x1})\nA.B(...):7\nA.C(0x1):7"},
	{"w", "A.B(..)\nA.B({1})\nA.B(.... c)\n(*A).B()\n<A>`1[B].C(d)\n<A`1>[B].C(d)\nA`1<B>.C(d)"},
	// Logger frames.
	{"w", "UnityEngine.StackTraceUtility.a ()\nUnityEngine.StackTraceUtilities.a ()\nUnityEngine.Debug.a ()\nUnityEngine.Debugs.a ()\nat UnityEngine.Debug.a ()\nat UnityEngine.DebugLogHandler.a ()\nat UnityEngine.DebugLogHandler ()"},
	{"w", "at UnityEngine.Logger.a ()\nat UnityEngine.Loggers.a ()\nat System.Environment.get_StackTrace ()\nat System.Environment.get_StackTraces ()\nat System.Environment.GetStackTrace ()\nat System.Environment.Exit ()"},
	{"w", "at System.Diagnostics.StackTrace.a ()\nat System.Diagnostics.StackTrace ()\nat unityEngine.Debug.a ()\nat xUnityEngine.Debug.a ()\nat A.UnityEngine.Debug.a ()"},
}

func boundaryTexts() [][2]string {
	var entries [][2]string
	for _, form := range byteForms {
		for _, b := range boundaryBytes() {
			entries = append(entries, [2]string{strings.ReplaceAll(form, "%s", b), ""})
		}
	}
	for _, form := range byteFrames {
		for _, b := range boundaryBytes() {
			entries = append(entries, [2]string{"w\n" + strings.ReplaceAll(form, "%s", b), ""})
		}
	}
	for _, l := range boundaryWords {
		for _, w := range l.list {
			entries = append(entries, [2]string{fmt.Sprintf(l.form, w), ""})
		}
	}
	for _, group := range boundaryHeads {
		for _, text := range group {
			entries = append(entries, [2]string{text, ""})
		}
	}
	return append(entries, boundaryEntries...)
}
