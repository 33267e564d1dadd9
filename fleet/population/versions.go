package population

import (
	"cmp"
	"strings"

	"github.com/heedlog/heed/internal/report/summary"
)

// compareVersions orders texts with numbers in them: 1.9 and v1.9 before 1.10.
func compareVersions(a, b string) int {
	whole := cmp.Compare(a, b)
	a, b = strings.TrimLeft(a, "vV"), strings.TrimLeft(b, "vV")
	for a != "" && b != "" {
		i, j := digits(a), digits(b)
		if i > 0 && j > 0 {
			x, y := strings.TrimLeft(a[:i], "0"), strings.TrimLeft(b[:j], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[i:], b[j:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// PartOf returns the part of a log if a population is divided at a version: Before for an older version, After for the
// version itself and newer versions. A game is a name and a version, such as "Press 1.6.4566", and so may the split be,
// for that game only. A "v" before a version does not count.
func PartOf(game, split string) int {
	name, version := summary.Game(game)
	of, at := SplitVersion(split)
	switch {
	case version == "" || of != "" && of != name:
		return Neither
	case compareVersions(strings.TrimLeft(version, "vV"), at) < 0:
		return Before
	}
	return After
}

// SplitVersion returns the game, "" for any, and the version of a split. The version is "" if it is none.
func SplitVersion(split string) (game, version string) {
	game, version = summary.Game(split)
	if version == "" {
		game, version = "", split
	}
	version = strings.TrimLeft(version, "vV")
	if digits(version) == 0 {
		return "", ""
	}
	return game, version
}
