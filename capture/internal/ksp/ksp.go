// Package ksp knows the logs of Kerbal Space Program: KSP.log, and the log of its engine.
//
//	[LOG 12:34:56.789] ******* Log Initiated for Kerbal Space Program - 1.12.5.3190 (WindowsPlayer x64) en-us *******
//	Kerbal Space Program - 1.12.5.3190 (WindowsPlayer x64) en-us
package ksp

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
)

// Format is the family of the logs of Kerbal Space Program.
var Format = format.Format{Name: "ksp", Detect: detect, Facts: facts}

// banner returns the version in the first line of a log.
func banner(line string) (version string, ok bool) {
	if !strings.HasPrefix(line, "Kerbal Space Program ") && !strings.Contains(line, " Log Initiated for Kerbal Space Program ") {
		return "", false
	}
	version = format.Word(line, "Kerbal Space Program - ")
	return version, format.IsLongVersion(version)
}

func detect(line string) format.Evidence {
	if _, ok := banner(line); ok {
		return format.Banner
	}
	if strings.HasPrefix(line, "[ModuleManager] ") || strings.HasPrefix(line, "PartLoader: ") {
		return format.Form
	}
	return format.None
}

func facts(f *format.Facts, line string) {
	if version, ok := banner(line); ok {
		format.LearnGame(f, "Kerbal Space Program", version)
	}
}
