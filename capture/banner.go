package capture

import (
	"bytes"

	"github.com/heedlog/heed/capture/internal/crash"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
)

const (
	bannerPath    = unity.BannerPath
	bannerVersion = unity.BannerVersion
)

// isBanner reports whether b is one of the lines with which the engine opens
// its log, or an upload its header. Nothing that was open before goes on after.
func isBanner(b []byte) bool {
	return hasPrefix(b, bannerPath) || hasPrefix(b, bannerVersion) || hasPrefix(b, rimworld.UploadStart)
}

// versionLayout returns the layout that the engine's version stands for: b is a
// line such as "Initialize engine version: 2019.4.30f1 (e8c891080a1f)". From
// Unity 2020 on there are no footers, so every later version reads like 2022.3,
// the one that is known.
func versionLayout(b []byte) (Layout, bool) {
	g, ok := unity.Generation(text(b))
	return layoutUnity2019_2 + Layout(g), ok
}

// bannerState distinguishes a new run of the engine from the opening of the log.
type bannerState struct {
	seen    bool // the input has had a banner
	opening bool // bannerPath has been read and its bannerVersion not yet
	records int
}

// quietStart is how many records may come before the first banner of a log
// that simply begins: a launcher and the Linux player write a few lines.
const quietStart = 20

// restarted reports whether b, the first line of a record, opens another run.
func (s *bannerState) restarted(b []byte) bool {
	switch {
	case hasPrefix(b, bannerPath):
		restart := s.seen || s.records > quietStart
		s.seen, s.opening = true, true
		return restart
	case hasPrefix(b, bannerVersion):
		restart := !s.opening && (s.seen || s.records > quietStart)
		s.seen, s.opening = true, false
		return restart
	}
	return false
}

// isEngineLine reports whether b is one of the lines that the engine and the
// game print for everybody, at the start and between levels. Some of them leave
// a blank line behind, which is no evidence about what follows.
func isEngineLine(b []byte) bool { return engineLines.begin(b) }

var engineLines = linesOf(func(l *unity.Lines) []string { return l.Own })

// startsRecord reports whether b opens a record of its own wherever it stands,
// so that no list or section before it can claim it: a line with a tag in
// brackets or color, one of the engine's own, a crash, or the common beginning
// of a report of the game's.
func startsRecord(b []byte) bool {
	switch b[0] {
	case '[':
		return bytes.IndexByte(b, ']') > 1
	case 'E', 'T', 'X':
		return recordStarts.begin(b)
	}
	return recordStarts.begin(b) || isEngineLine(b) || isCrashStart(b) || crash.IsCause(text(b))
}

var recordStarts = linesOf(func(l *unity.Lines) []string { return l.Opens })
