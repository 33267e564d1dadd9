package signature

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		config Config
		field  string
	}{
		{Config{MaxFrames: -1}, "Config.MaxFrames"},
		{Config{LoggerFrames: []string{"Acme.", ""}}, "Config.LoggerFrames"},
	} {
		n, err := New(c.config)
		require.ErrorContains(t, err, "signature: "+c.field)
		require.Nil(t, n)
	}
}

func TestProtect(t *testing.T) {
	n, err := New(Config{Protect: []string{"H2O", "42", "Monday", "secret", "com.acme.x86.V3", "", "two words", "ab", "草", "ms"}})
	require.NoError(t, err)
	for _, c := range []struct{ text, want string }{
		{"42 of H2O2 and H2O", "42 of <*> and H2O"},
		{"Monday or Tuesday", "Monday or <*>"},
		{"'secret' and 'other' key=secret key=other", "'secret' and <*> key=secret key=<*>"},
		{"-42 and com.acme.x86.V3 and x.H2O", "<*> and com.acme.x86.V3 and x.H2O"},
		{"'two words' and H2O.7", "<*> and <*>"},
		{"for user secret", "for user secret"},
		{"k=草 k=木 code=木", "k=草 k=<*> code=木"},
		{"5 ms and 5 s", "<*> ms and <*>"},
	} {
		require.Equal(t, c.want, string(n.AppendTemplate(nil, c.text, "")), "%q", c.text)
	}
}

func TestLoggerFrames(t *testing.T) {
	n, err := New(Config{LoggerFrames: []string{"press.log"}})
	require.NoError(t, err)
	python := "  File \"acme/press.py\", line 3, in log_error\n  File \"acme/press.py\", line 5, in run"
	require.Equal(t, "x\nat press.run", string(n.AppendTemplate(nil, "x", python)))

	stack := "Acme.Log:Error (string)\nAcme.Logger:Write (string)\n  at UnityEngine.Debug.LogError (object)\nAcme.Press:Run ()"
	for _, c := range []struct {
		loggers []string
		want    string
	}{
		{nil, "x\nat Acme.Log.Error\nat Acme.Logger.Write\nat Acme.Press.Run"},
		{[]string{}, "x\nat Acme.Log.Error\nat Acme.Logger.Write\nat UnityEngine.Debug.LogError\nat Acme.Press.Run"},
		{[]string{"Acme.Log."}, "x\nat Acme.Logger.Write\nat UnityEngine.Debug.LogError\nat Acme.Press.Run"},
		{[]string{"Acme.Log:", "at Acme.Logger"}, "x\nat UnityEngine.Debug.LogError\nat Acme.Press.Run"},
		{append(DefaultLoggerFrames(), "Acme.Log"), "x\nat Acme.Press.Run"},
	} {
		n, err := New(Config{LoggerFrames: c.loggers})
		require.NoError(t, err)
		require.Equal(t, c.want, string(n.AppendTemplate(nil, "x", stack)), "%q", c.loggers)
	}

	n, err = New(Config{LoggerFrames: []string{"Acme.Log."}})
	require.NoError(t, err)
	made := "  at DMD<>?12.Acme.Log.Error ()\n  at Acme.DMD<Log.Error ()\n  at Acme.DMD<>?1.Loud.Error ()\n  at Acme.Log ()"
	require.Equal(t, "x\nat Acme.Loud.Error\nat Acme.Log", string(n.AppendTemplate(nil, "x", made)))
}

func TestMaxFrames(t *testing.T) {
	var stack strings.Builder
	for i := range 20 {
		fmt.Fprintf(&stack, "  at Acme.Press.Run%d ()\n", i)
	}
	for _, c := range []struct{ max, want int }{{0, defaultMaxFrames}, {1, 1}, {8, 8}, {20, 20}, {1000, 20}} {
		n, err := New(Config{MaxFrames: c.max})
		require.NoError(t, err)
		require.Equal(t, c.want, strings.Count(string(n.AppendTemplate(nil, "x", stack.String())), "\n"),
			"MaxFrames %d", c.max)
	}
}

func TestVersion(t *testing.T) {
	version := func(c Config) uint64 {
		n, err := New(c)
		require.NoError(t, err)
		return n.Version()
	}
	base := version(Config{})
	require.Equal(t, base, version(Config{MaxFrames: defaultMaxFrames, Protect: []string{}}))
	require.Equal(t, version(Config{Protect: []string{"a1", "b2"}}), version(Config{Protect: []string{"b2", "a1", "b2"}}))
	seen := map[uint64]bool{base: true}
	for _, c := range []Config{
		{MaxFrames: 1},
		{Protect: []string{"a1"}},
		{Protect: []string{"a1", "b2"}},
		{Protect: []string{"a1b2"}},
		{LoggerFrames: []string{}},
		{LoggerFrames: []string{"a1"}},
		{LoggerFrames: append(DefaultLoggerFrames(), "Acme.")},
	} {
		v := version(c)
		require.False(t, seen[v], "%+v", c)
		seen[v] = true
	}
}

// TestSameFault holds the normaliser of stacks to what it is for.
func TestSameFault(t *testing.T) {
	n := newDefault(t)
	at := func(frames ...string) Signature {
		return n.Signature("Exception ticking Press7: System.NullReferenceException", strings.Join(frames, "\n"))
	}
	base := at(
		"  at Acme.Press.Run (System.Int32 n) [0x00012] in <5a0c7e11d2f34b6899aabbccddeeff01>:0 ",
		"  at (wrapper dynamic-method) Acme.Floor.Acme.Floor.Tick_Patch3(Acme.Floor)",
		"  at Acme.Plan+<>c__DisplayClass82_0.<Make>b__1 () [0x00001] in <5a0c7e11d2f34b6899aabbccddeeff01>:0 ",
	)
	require.Equal(t, base, at(
		" at Acme.Press.Run (System.Int32 count) [0x0004f] in <c0ffee11d2f34b6899aabbccddeeff02>:0",
		"  at (wrapper dynamic-method) Acme.Floor.Acme.Floor.Tick_Patch0(Acme.Floor)",
		"  at Acme.Plan+<>c__DisplayClass91_3.<Make>b__0 () [0x00007] in <c0ffee11d2f34b6899aabbccddeeff02>:0 ",
	), "another build")
	require.Equal(t, base, at(
		"Acme.Press:Run (int)", "Acme.Floor:Tick ()", "Acme.Plan/<>c__DisplayClass82_0:<Make>b__1 ()",
	), "as the console shows it")
	require.NotEqual(t, base, at(
		"  at Acme.Press.Stop (System.Int32 n) [0x00012] in <5a0c7e11d2f34b6899aabbccddeeff01>:0 ",
		"  at (wrapper dynamic-method) Acme.Floor.Acme.Floor.Tick_Patch3(Acme.Floor)",
		"  at Acme.Plan+<>c__DisplayClass82_0.<Make>b__1 () [0x00001] in <5a0c7e11d2f34b6899aabbccddeeff01>:0 ",
	), "another method threw")
	require.NotEqual(t, base, at(), "no stack")
}

func TestDisplay(t *testing.T) {
	n := newDefault(t)
	for _, c := range []struct{ text, want string }{
		{"Muffalo31415 at (166, 0, 143) for 12 ms", "<id> at (<vec>) for <num>"},
		{"data-0000012345678ABC.dll at 0x7ffe12 or cafe12345678", "<id> at <hex> or <hex>"},
		{"3f2504e0-4f89-11d3-9a0c-0305e82c3301", "<uuid>"},
		{"C:/a b/c and https://x.org/?q=1 and /var/x", "<path> and <url> and <path>"},
		{"'a b' key=value of 10.0.0.7:80 or www.acme.com", "<quoted> key=<value> of <host> or <host>"},
		{"on Sun Oct  5 07:41:12 2031 at 12:16 and 2005-01-02", "on <time> at <time> and <time>"},
		{"<*> is <*> or 5 and x9", "<*> is <*> or <num> and <id>"},
		{"Foo7, 12", "<*>"},
		{"status 404", "status 404"},
	} {
		require.Equal(t, c.want, rebuild(t, n, c.text, func(s Span) string { return s.Mask }), "%q", c.text)
	}
}

// TestAppends checks that templates are appended and nothing before them is
// touched.
func TestAppends(t *testing.T) {
	n := newDefault(t)
	dst := append(make([]byte, 0, 64), "before "...)
	got := n.AppendTemplate(dst, "Job_5 done", "Acme.Press:Run ()")
	require.Equal(t, "before <*> done\nat Acme.Press.Run", string(got))
	require.Equal(t, &dst[0], &got[0], "room was enough")
}

func TestAllocations(t *testing.T) {
	n := newDefault(t)
	long := strings.Repeat("Could not resolve Lord_321 at (1, 2, 3) in 'Some Place' x=y ", 500)
	buf := make([]byte, 0, 2*len(long))
	for _, c := range entryCases {
		requireNoAllocations(t, n, buf, c.message, c.stack)
	}
	for _, c := range benchTexts {
		requireNoAllocations(t, n, buf, c.text, benchStack)
	}
	requireNoAllocations(t, n, buf, long, "")
	requireNoAllocations(t, n, buf, "x", strings.Repeat("  at "+strings.Repeat("Acme.", 200)+"Run ()\n", 9))
}

func requireNoAllocations(t *testing.T, n *Normalizer, buf []byte, message, stack string) {
	t.Helper()
	require.Zero(t, testing.AllocsPerRun(10, func() { n.Key(message, stack) }), "Key of %.40q", message)
	require.Zero(t, testing.AllocsPerRun(10, func() { n.AppendTemplate(buf[:0], message, stack) }),
		"AppendTemplate of %.40q", message)
	spans, _ := n.AppendSpans(nil, message)
	if !raceDetector {
		require.Zero(t, testing.AllocsPerRun(10, func() { n.AppendSpans(spans[:0], message) }), "AppendSpans of %.40q",
			message)
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { Of(buf) }))
	if len(message)+len(stack) <= 1024 {
		require.Zero(t, testing.AllocsPerRun(10, func() { n.Signature(message, stack) }), "Signature of %.40q", message)
	}
}

// TestOrigin holds that code without a name is known by its address.
func TestOrigin(t *testing.T) {
	n, err := New(Config{})
	require.NoError(t, err)
	const named = "  at Lamps.Grid.Tick () [0x00012] in <00112233445566778899aabbccddeeff>:0\n"
	first := n.Origin("it failed", "[Ref 1]\n at <0x7a3a7c60 + 0x00000> <unknown method>\n"+named)
	require.Equal(t, first, n.Origin("so did this", " at <0x7a3a7c60 + 0x000c2> <unknown method>\n"))
	require.NotEqual(t, first, n.Origin("it failed", " at <0x237e6d720 + 0x00000> <unknown method>\n"))
	require.Equal(t, n.Origin("it failed", named), n.Origin("it failed", named+" at <0x7a3a7c60 + 0x00000> <unknown method>\n"))
	require.Zero(t, n.Origin("it failed at noon", ""))
}
