package capture

import (
	"bytes"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/unity"
)

// versionLayout returns the layout of the engine's version: b is a
// line such as "Initialize engine version: 2019.4.30f1 (e8c891080a1f)". From
// Unity 2020 on there are no footers, so every later version reads like 2022.3.
func versionLayout(b []byte) (Layout, bool) {
	g, ok := unity.Generation(text(b))
	return layoutUnity2019_2 + Layout(g), ok
}

// bannerState distinguishes a new run of the engine from the opening of the log.
type bannerState struct {
	seen    bool // the input has had a banner
	opening bool // unity.BannerPath has been read and its unity.BannerVersion not yet
	records int

	first []byte // the line with which the program of a family opened the log
	at    int    // records before that line, or before its latest repeat
}

// again reports whether b, the first line of a record, repeats the banner of a family but for the digits, so that it
// opens another run. A copy of each line directly below it does not.
func (s *bannerState) again(b []byte, detect func(string) format.Evidence) bool {
	if len(s.first) == 0 {
		if s.records < maxBeginning && detect(text(b)) == format.Banner {
			s.first, s.at = bytes.Clone(b), s.records
		}
		return false
	}
	if s.records-s.at < 3 || !sameButDigits(b, s.first) {
		return false
	}
	s.at = s.records
	return true
}

// sameButDigits reports whether two lines are the same without their digits.
func sameButDigits(a, b []byte) bool {
	if x, y := a[len(a)-1], b[len(b)-1]; x != y && !isDigit(x) && !isDigit(y) {
		return false // as most lines, of which the head is the same
	}
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		for i < len(a) && isDigit(a[i]) {
			i++
		}
		for j < len(b) && isDigit(b[j]) {
			j++
		}
		if i == len(a) || j == len(b) || a[i] != b[j] {
			return i == len(a) && j == len(b)
		}
	}
}

// quietStart is how many records may come before the first banner of a log
// that simply begins: a launcher and the Linux player write a few lines.
const quietStart = 20

// restarted reports whether b, the first line of a record, opens another run.
func (s *bannerState) restarted(b []byte) bool {
	path := hasPrefix(b, unity.BannerPath)
	if !path && !hasPrefix(b, unity.BannerVersion) {
		return false
	}
	restart := (path || !s.opening) && (s.seen || s.records > quietStart)
	s.seen, s.opening = true, path
	return restart
}
