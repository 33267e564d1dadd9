// Package factorio knows the logs of Factorio.
//
//	0.001 2024-01-02 03:04:05; Factorio 1.1.100 (build 61640, win64, steam)
//	0.035 Loading mod base 1.1.100 (data.lua)
package factorio

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
)

// Format is the family of Factorio's logs.
var Format = format.Format{
	Name: "factorio", Detect: versions.Detect("__base__/", "__core__/", "MainLoop.cpp:"), Facts: facts,
}

var versions = begins.Versions{begins.Game("; Factorio ", "Factorio")}

func facts(f *format.Facts, line string) {
	versions.Learn(f, line)
	if _, system, ok := strings.Cut(line, " Operating system: "); ok {
		format.Learn(&f.System, system)
	}
}
