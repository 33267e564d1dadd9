package signature

import (
	"fmt"
	"strings"
	"testing"
)

// benchTexts are texts of the kinds that fill logs, with the template that each
// must have: a benchmark that computes something else measures nothing.
var benchTexts = []struct{ name, text, want string }{
	{
		"reference", "Could not resolve reference to object with loadID Lord_321 of type Acme.Hive.Lord",
		"Could not resolve reference to object with loadID <*> of type Acme.Hive.Lord",
	},
	{
		"cell", "Harvester31415 tried to walk to (166, 0, 143) but the way is blocked.",
		"<*> tried to walk to (<*>) but the way is blocked.",
	},
	{
		"network", "10.77.3.12:4711:Lost the thread of chunk_6120044917730021855 on its way to /10.77.9.4:",
		"<*>:Lost the thread of <*> on its way to <*>:",
	},
	{
		"words", "The quick brown fox jumps over the lazy dog and then it does so again and again",
		"The quick brown fox jumps over the lazy dog and then it does so again and again",
	},
	{
		"keys", "session closed; uid=7 euid=7 tty=console ruser=anna rhost=198.51.100.7 port=22 plan=nightly",
		"session closed; uid=<*> euid=<*> tty=<*> ruser=<*> rhost=<*> port=<*> plan=<*>",
	},
}

func BenchmarkKey(b *testing.B) {
	n, _ := New(Config{})
	for _, c := range benchTexts {
		b.Run(fmt.Sprintf("%s=%d", c.name, len(c.text)), func(b *testing.B) {
			if got := string(n.AppendTemplate(nil, c.text, "")); got != c.want {
				b.Fatalf("template %q, want %q", got, c.want)
			}
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				n.Key(c.text, "")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.text)), "ns/byte")
		})
	}
}

// benchStack is a stack of ten frames, longer than what counts by default.
var benchStack = strings.Repeat(
	"  at Acme.Works.Press.Run (System.Int32 count, Acme.Works.Plan plan) [0x00012] in <5a0c7e11d2f34b6899aabbccddeeff01>:0 \n"+
		"  at (wrapper dynamic-method) Acme.Works.Floor.Acme.Works.Floor.Tick_Patch3(Acme.Works.Floor)\n", 5)

func BenchmarkKeyStack(b *testing.B) {
	n, _ := New(Config{})
	b.SetBytes(int64(len(benchStack)))
	b.ReportAllocs()
	for b.Loop() {
		n.Key("Exception while running", benchStack)
	}
}
