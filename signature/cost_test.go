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
