package capture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/internal/crash"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
)

// FuzzOpens holds what is found out about a line by its first byte, or along the way,
// to the predicates themselves.
func FuzzOpens(f *testing.F) {
	for _, s := range []string{
		"(Filename:  Line: 580)", bannerPath + "'/x'", bannerVersion + "2019.4.30f1 (0)", rimworld.UploadStart + "Monday",
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
		"Exception in x", "error at x", "E warn", "Error --->", "Level: x", "a at x", "at Foo x", "Rethrow as X", "Could not x", "Couldn't", "Failed to", "Unable to", "Cannot x", "Invalid x", "Error in", "Exception x", "Fatal x",
		"Assertion x", "GC x", "WARNING: x", "Config x", "XML x", "Plugins: x", "Metal: x", "d3d11: x", "Vulkan: x", "x: System.Exception: y",
		"Inner exception: x", "--- Inner Exception", "The exception was: x", "Exception was: x", "Caused by: x", "Index was out of range.",
		"An item with the same key has already been added", "Attempted to divide by zero", "Arithmetic operation resulted in an overflow",
		"Argument cannot be null", "Ambiguous match found", "Collection was modified; x", "Cannot cast from source type to destination type",
		"Exception has been thrown by the target of an invocation", "Input string was not in x", "Nullable object must have a value",
		"Non-static method requires a target", "Object reference not set to an instance of an object",
		"Operation is not valid due to the current state of the object", "Sequence contains no x", "Specified cast is not valid",
		"The given key x present in the dictionary", "The type initializer for x", "The method or operation is not implemented",
		"Unable to cast object of type x", "Value does not fall within the expected range",
		"Sun Apr 05 10:00:00 2031 ERROR x", "at Foo.Bar () <0x0001b>", "at Foo.Bar (int)", "Value cannot be null.",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			t.Skip("lines that are looked at are not blank")
		}
		_, _, ref := rimworld.Ref(text(b))
		nested, _ := nests(b)
		for may, is := range map[uint16]bool{
			mayFooter: unity.IsFooter(text(b)), mayBanner: isBanner(b), mayRef: ref,
			mayCrash:  isCrashStart(b) || crash.IsRest(text(b)),
			mayDetail: isExceptionDetail(b), mayNest: nested,
			mayGoOnForm: isKnownContinuation(b) || isParagraph(b),
			mayFault:    opensFaultWord(b),
		} {
			require.False(t, is && opens[b[0]]&may == 0, "bit %#x for %q", may, b)
		}
		ln := line{text: b}
		require.Equal(t, isFrame(b), ln.isFrame(), "%q", b)
		if opensPlainly(b) {
			exception, _ := exceptionType(b)
			_, level := (&assembly{message: b}).plainLevel()
			require.False(t, exception > 0 || level && b[3] != ' ' || isThrown(b, 0), "%q", b)
		}
		require.Equal(t, opensFault(b), opens[b[0]]&mayFault != 0 && opensFaultWord(b) || namesException(b))
	})
}
