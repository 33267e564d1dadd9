// Package godot knows the logs of games on Godot.
//
//	Godot Engine v4.2.1.stable.official - https://godotengine.org
//	SCRIPT ERROR: Invalid call. Nonexistent function 'turn' in base 'Nil'.
//	   at: _ready (res://widget.gd:12)
package godot

import (
	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
)

// Format is the family of the logs of games on Godot.
var Format = format.Format{
	Name: "godot", Detect: versions.Detect("SCRIPT ERROR: ", "USER ERROR: ", "(res://"), Facts: versions.Facts,
}

var versions = begins.Versions{begins.Engine("Godot Engine v", "Godot")}
