// Package ksp knows the logs of Kerbal Space Program: KSP.log, and the log of its engine.
//
//	[LOG 12:34:56.789] ******* Log Initiated for Kerbal Space Program - 1.12.5.3190 (WindowsPlayer x64) en-us *******
//	Kerbal Space Program - 1.12.5.3190 (WindowsPlayer x64) en-us
package ksp

import (
	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
)

// Format is the family of the logs of Kerbal Space Program.
var Format = format.Format{
	Name: "ksp", Detect: versions.Detect("[ModuleManager] ", "PartLoader: "), Facts: versions.Facts,
}

var versions = begins.Versions{begins.Game("Kerbal Space Program - ", "Kerbal Space Program")}
