package signature

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// repeated returns s over and over, in about n bytes.
func repeated(s string, n int) string { return strings.Repeat(s, n/len(s)+1) }

// TestHostileText runs what makes careless scanners quadratic: openings that
// are never closed, and beginnings of things that look far ahead. With 64 KiB
// of each, a quadratic step would take this test from seconds to minutes. Groups and variants are found of the same.
func TestHostileText(t *testing.T) {
	n := newDefault(t)
	g := newGrouper(t, GrouperConfig{Signatures: 4096})
	size := 4 << 10
	if testkit.IsFull() {
		size = 16 << 10
	}
	fields := []string{"k=v ", "[k=v] ", `{"a":`, `"a b" `, " (", "a=[", "x, ", "a->"}
	for _, list := range [][]string{hostile, headPieces, framePieces, fields} {
		for _, s := range list {
			if s == "" {
				continue
			}
			for _, text := range []string{
				repeated(s, size), repeated(s+" ", size), repeated("5"+s, size), repeated(s+"a", size),
				repeated("a", size) + s, s + repeated("a", size), repeated(" ", size) + s + "a",
			} {
				key := n.Key(text, "")
				template := n.AppendTemplate(nil, text, "")
				require.Equal(t, key, n.Key(string(template), ""), "%.40q", text)
				g.Learn(Of(template), template)
				g.AppendVariant(nil, template)
				line := strings.ReplaceAll(text, "\n", " ")
				n.Key("x", line)
				n.Key("x", "at "+line)
				n.Key("x", "at "+line+"\n"+line+" (a)")
				n.Key("x", "(wrapper dynamic-method) "+line)
			}
		}
	}
}

// BenchmarkKeyBySize shows cost per byte from 20 bytes to 64 KiB.
func BenchmarkKeyBySize(b *testing.B) {
	n := newDefault(b)
	line := "Harvester31415 could not reach (166, 0, 143) because the way through Door_17 is blocked; "
	for _, size := range []int{20, 80, 320, 1280, 5 << 10, 20 << 10, 64 << 10} {
		text := repeated(line, size)[:size]
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				n.Key(text, "")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/byte")
		})
	}
}

// BenchmarkKeyHostile shows cost per byte of text made to be slow.
func BenchmarkKeyHostile(b *testing.B) {
	n := newDefault(b)
	for _, s := range []string{"(", "\"", "'", "<", "=", "a=", "`1", "5 ", "C:/a ", "fe:", "'a", "<color=", "code ", "user ", "for user ", "x", "中"} {
		for _, size := range []int{1 << 10, 64 << 10} {
			text := repeated(s, size)[:size]
			b.Run(fmt.Sprintf("%q/%d", s, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					n.Key(text, "")
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/byte")
			})
		}
	}
}

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
