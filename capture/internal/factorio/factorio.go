// Package factorio knows the logs of Factorio.
//
//	0.001 2024-01-02 03:04:05; Factorio 1.1.100 (build 61640, win64, steam)
//	0.035 Loading mod base 1.1.100 (data.lua)
package factorio

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
)

// Format is the family of Factorio's logs.
var Format = format.Format{Name: "factorio", Detect: detect, Facts: facts}

// banner returns the version in the first line of a log.
func banner(line string) (version string, ok bool) {
	if !strings.HasPrefix(line, " ") {
		return "", false
	}
	version = format.Word(line, "; Factorio ")
	return version, format.IsLongVersion(version)
}

func detect(line string) format.Evidence {
	if _, ok := banner(line); ok {
		return format.Banner
	}
	for _, form := range [...]string{"__base__/", "__core__/", "MainLoop.cpp:"} {
		if strings.Contains(line, form) {
			return format.Form
		}
	}
	return format.None
}

func facts(f *format.Facts, line string) {
	if version, ok := banner(line); ok {
		format.LearnGame(f, "Factorio", version)
	}
	if _, system, ok := strings.Cut(line, " Operating system: "); ok {
		format.Learn(&f.System, system)
	}
}
