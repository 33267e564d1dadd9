// Package unreal knows the logs of games on Unreal Engine.
//
//	Log file open, 01/02/24 03:04:05
//	[2024.01.02-03.04.05:678][  0]LogInit: Engine Version: 4.27.2-18319896+++UE4+Release-4.27
//	[2024.01.02-03.04.05:678][  0]LogInit: ExecutableName: Foo-Win64-Shipping.exe
package unreal

import (
	"regexp"
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
)

// Format is the family of the logs of games on Unreal Engine.
var Format = format.Format{Name: "unreal", Detect: detect, Facts: facts}

// begun matches a line of the engine's start, after the time and the frame.
var begun = regexp.MustCompile(`^(?:\[[^]]*\]\[[^]]*\])?LogInit: (.*)`)

// category matches the name of a part of the engine in front of a text.
var category = regexp.MustCompile(`^(?:.{0,47}\])?Log[A-Z][^ ]*: `)

func detect(line string) format.Evidence {
	return begins.Evidence(strings.HasPrefix(line, "Log file open, ") || begun.MatchString(line),
		strings.Contains(line, "Log") && category.MatchString(line))
}

func facts(f *format.Facts, line string) {
	begun := begun.FindStringSubmatch(line)
	if begun == nil {
		return
	}
	name, value, _ := strings.Cut(begun[1], ": ")
	switch name {
	case "Engine Version":
		version, _, _ := strings.Cut(value, "+")
		format.Learn(&f.Engine, "Unreal Engine "+version)
	case "ExecutableName":
		game, _, _ := strings.Cut(strings.TrimSuffix(value, ".exe"), "-")
		format.Learn(&f.Game, game)
	case "OS":
		system, rest, _ := strings.Cut(value, ", CPU: ")
		cpu, gpu, _ := strings.Cut(rest, ", GPU: ")
		format.Learn(&f.System, system)
		format.Learn(&f.CPU, cpu)
		format.Learn(&f.Graphics, gpu)
	case "Command Line":
		format.Learn(&f.Arguments, value)
	}
}
