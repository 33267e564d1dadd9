// Package godot knows the logs of games on Godot.
//
//	Godot Engine v4.2.1.stable.official - https://godotengine.org
//	SCRIPT ERROR: Invalid call. Nonexistent function 'turn' in base 'Nil'.
//	   at: _ready (res://widget.gd:12)
package godot

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
)

// Format is the family of the logs of games on Godot.
var Format = format.Format{Name: "godot", Detect: detect, Facts: facts}

const banner = "Godot Engine v"

func detect(line string) format.Evidence {
	switch {
	case strings.HasPrefix(line, banner):
		return format.Banner
	case strings.HasPrefix(line, "SCRIPT ERROR: "), strings.HasPrefix(line, "USER ERROR: "),
		strings.Contains(line, "(res://"):
		return format.Form
	}
	return format.None
}

func facts(f *format.Facts, line string) {
	if rest, ok := strings.CutPrefix(line, banner); ok {
		version, _, _ := strings.Cut(rest, " ")
		format.Learn(&f.Engine, "Godot "+version)
	}
}
