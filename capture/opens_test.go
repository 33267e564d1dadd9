package capture

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzOpens holds what is found out about a line by its first byte, or along the way,
// to the predicates themselves.
func FuzzOpens(f *testing.F) {
	for _, s := range []string{
		"(Filename:  Line: 580)", bannerPath + "'/x'", bannerVersion + "2019.4.30f1 (0)", contextStart + "Monday",
		"#3  0x007f3a00000000 in raise", "0x00007FF0DECADE00 (KERNEL32) BaseThreadInitThunk", "[Ref 5EED0003]",
		"Crash!!!", "A crash has been intercepted by the crash handler.", "\tNative Crash Reporting", "Got a SIGSEGV while executing native code.",
		"Debug info from gdb:", "Received signal SIGSEGV", "Native stacktrace:", "========== OUTPUTTING STACK TRACE", "* Assertion at mini.c:42",
		"Parameter name: x", "Actual value was 3", "File name: 'x'", "Object name: x", "Could not load file or assembly x", "---> x", "<---", "=> x",
		"file: x", "Source file: x", "The top operation is the one that failed", "Add a delegate to SceneManager.sceneLoaded",
		"Memory overview", "Constructors and field initializers will be executed from the loading thread",
		"Don't use this function in the constructor or field initializers", "XML:", "with error: x", "[End of stack trace]",
		"Your script should either check if it is null or you should not destroy the object",
		"Field contents: x", "Root node: x", "Whole XML:", "Note: Creation of internal variant of shader x", "ShaderProgram is unsupported, x",
		"Foo.Bar:Baz (int)", "Foo.Bar.Baz(int)", "System.List`1[[Foo.Bar, Assembly, Version=1.0]]..ctor(IEnumerable`1 c)", "a> b(int)", "Foo (int)",
		"Foo at offset 0 in file:line:column <filename unknown>:0:0", "plain prose (with a remark)", "word", "word ",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			t.Skip("lines that are looked at are not blank")
		}
		_, _, ref := parseRef(b)
		for may, is := range map[uint8]bool{
			mayFooter: isFooter(b), mayBanner: isBanner(b), mayNative: isEngineFrame(b), mayRef: ref, mayCrash: isCrashStart(b),
			mayDetail: isExceptionDetail(b), mayGoOnForm: isKnownContinuation(b) || isXMLSection(b) || isShaderNote(b),
		} {
			require.False(t, is && opens[b[0]]&may == 0, "bit %#x for %q", may, b)
		}
		frame, prose := frameOrProse(b)
		require.False(t, prose && (frame || isUnityFrame(b) || isOffsetFrame(b) || isDottedCall(b)), "%q is no prose", b)
		require.Equal(t, proseBySearch(b), isProse(b), "%q", b)
		n := len(b) - len(bytes.TrimLeft(b, "\x00"))
		require.Equal(t, n, zeros(b))
	})
}

// proseBySearch is isProse in two steps: where the first word ends, and what is in it.
func proseBySearch(b []byte) bool {
	word := bytes.IndexByte(b, ' ')
	return word >= 0 && word+1 < len(b) && b[word+1] != '(' && b[word+1] != 'a' && !bytes.ContainsAny(b[:word], "([<")
}
