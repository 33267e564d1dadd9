package scrub

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBits(t *testing.T) {
	const digits, small, capitals = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	r := rand.New(rand.NewPCG(1, 2))
	var common []string
	for word := range strings.FieldsSeq(vocabularyText) {
		common = append(common, word)
	}
	random := func(letters string, length int) func() string {
		return func() string {
			var b strings.Builder
			for range length {
				b.WriteByte(letters[r.IntN(len(letters))])
			}
			return b.String()
		}
	}
	name := func() string {
		var b strings.Builder
		for range 4 {
			b.WriteString(title(common[r.IntN(len(common))]))
		}
		return b.String() + strconv.Itoa(r.IntN(100))
	}
	for _, c := range []struct {
		text           string
		word           func() string
		bits, from, to int // so many of 1,000 words have the bits
	}{
		{"random, two cases", random(digits+small+capitals, 32), certain, 950, 1000},
		{"random, two cases, short", random(digits+small+capitals, 16), expected, 850, 1000},
		{"random, one case", random(digits+small, 40), expected, 850, 1000},
		{"a hash", random("0123456789abcdef", 40), certain, 950, 1000},
		{"names", name, certain, 0, 0},
		{"names", name, expected, 0, 60},
	} {
		n := 0
		for range 1000 {
			w := shapeOf(c.word())
			if w.isRandom(c.bits) {
				n++
			}
		}
		require.GreaterOrEqual(t, n, c.from, c.text)
		require.LessOrEqual(t, n, c.to, c.text)
	}
}

// TestLongLines: each of many homes in one line is found.
func TestLongLines(t *testing.T) {
	const homes = 500
	require.Equal(t, homes, strings.Count(Text(strings.Repeat(`C:\Users\ab `, homes)), string(User)))
}
