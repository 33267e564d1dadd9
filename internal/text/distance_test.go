package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestDistance compares with the plain recursion.
func TestDistance(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		n, m := len(a), len(b)
		cost := 1
		if a[n-1] == b[m-1] {
			cost = 0
		}
		d := min(slow(a[:n-1], b)+1, slow(a, b[:m-1])+1, slow(a[:n-1], b[:m-1])+cost)
		if n > 1 && m > 1 && a[n-1] == b[m-2] && a[n-2] == b[m-1] {
			d = min(d, slow(a[:n-2], b[:m-2])+1)
		}
		return d
	}
	require.Equal(t, 3, distance("kitten", "sitting"))
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching("[abc]{0,6}").Draw(t, "a"), rapid.StringMatching("[abc]{0,6}").Draw(t, "b")
		require.Equal(t, slow(a, b), distance(a, b))
	})
}

func TestNearest(t *testing.T) {
	names := []string{"ack", "color", "fail-on", "format", "top", "width"}
	for word, want := range map[string]string{
		"":        "",
		"colr":    "color",
		"COLOR":   "color",
		"tpo":     "top",
		"widht":   "width",
		"formt":   "format",
		"failon":  "fail-on",
		"form":    "format", // the only one that begins so
		"f":       "",       // two begin so
		"banana":  "",
		"toppppp": "",
	} {
		require.Equal(t, want, Nearest(word, names), word)
	}

	names = []string{"template", "frames", "level", "phase", "warning"}
	for word, want := range map[string]string{
		"templat": "template", "tepmlate": "template", "Template": "template", "frame": "frames", "phsae": "phase",
		"warn": "warning", "temp": "template", "xyz": "", "": "", "l": "", "level": "", "levels": "level",
		strings.Repeat("x", 100): "",
	} {
		require.Equal(t, want, Nearest(word, names), word)
	}
}
