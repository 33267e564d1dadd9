// Package unity knows the lines that the engine Unity writes at the start of a log, and its reports of crashes.
//
//	Mono path[0] = 'C:/Games/Foo/FooWin64_Data/Managed'
//	Initialize engine version: 2022.3.35f1 (011206c7a712)
//	Foo 1.2.3 rev45
package unity

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heedlog/heed/capture/format"
)

// BannerPath and BannerVersion open every log of the engine, in this order, with at most a few lines between and before
// them.
const (
	BannerPath    = "Mono path[0] = "
	BannerVersion = "Initialize engine version: "
)

const (
	maxWindow   = 24  // lines about the graphics card
	maxGameLine = 100 // bytes: a longer line is a sentence
)

// Start gathers the facts in the lines that the engine writes at its start. The zero value is ready.
type Start struct {
	Facts format.Facts

	window  int    // lines to come about the graphics card
	gl      bool   // where it has said that OpenGL is used
	program string // name of the game's data folder, in small letters and digits
}

// Program returns the name of the game's program, without its build, in small
// letters and digits; "" while it is not known. The game's own code often has
// the same name, and is no mod's: see LearnGame of package blame.
func (s *Start) Program() string {
	const shortest = 3 // of names that name anything
	for i := shortest; i < len(s.program); i++ {
		if isBuild(s.program[i:]) {
			return s.program[:i]
		}
	}
	return s.program
}

// CrashReport reads a crash report without its traces:
//
//	Press of Some Company [version: Unity 2031.2.3f1_0123456789ab]
//	D:\Games\Press\PressWin64.exe, run by somebody.
//	16000 MB physical memory [7800 MB free].
//	Process:               Press [1234]
//	OS Version:            macOS 13.1 (22C65)
func (s *Start) CrashReport(text string) {
	const deepest = 40 // lines
	for range deepest {
		if text == "" {
			return
		}
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		line = strings.TrimSpace(line)
		if _, version, ok := strings.Cut(line, " [version: Unity "); ok {
			version, _, _ = strings.Cut(strings.TrimSuffix(version, "]"), "_")
			if version, _, _ = strings.Cut(version, " "); format.IsLongVersion(version) {
				format.Learn(&s.Facts.Engine, "Unity "+version)
			}
		} else if path, _, ok := strings.Cut(line, ".exe, run by "); ok {
			s.program = cmp.Or(s.program, letters(format.Shorten(path[strings.LastIndexAny(path, `/\`)+1:], maxGameLine)))
			format.Learn(&s.Facts.Platform, "Windows")
		} else if size, _, ok := strings.Cut(line, " MB physical memory ["); ok && isNumber(size) && size != "0" {
			format.Learn(&s.Facts.Memory, size+" MB")
		} else if name, ok := strings.CutPrefix(line, "Process: "); ok {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " [")
			s.program = cmp.Or(s.program, letters(format.Shorten(name, maxGameLine)))
			format.Learn(&s.Facts.Platform, "macOS")
		} else if system, ok := strings.CutPrefix(line, "OS Version: "); ok {
			format.Learn(&s.Facts.System, system)
		}
	}
}

// wantsGame reports whether a line may be the one with the game's version: its name is
// known by the name of its program.
func (s *Start) wantsGame() bool { return s.Facts.Game == "" && s.program != "" }

// Line looks at a line of a log, which has no spaces at its end.
func (s *Start) Line(line string) {
	if s.window > 0 {
		s.window--
		s.graphics(line)
	}
	if rest, ok := strings.CutPrefix(line, BannerPath); ok {
		s.folder(strings.Trim(rest, "'"))
		format.Learn(&s.Facts.Runtime, "Mono")
		return
	}
	if rest, ok := strings.CutPrefix(line, BannerVersion); ok {
		if version, _, _ := strings.Cut(rest, " "); format.IsLongVersion(version) {
			format.Learn(&s.Facts.Engine, "Unity "+version)
		}
		return
	}
	switch {
	case line == "GfxDevice: creating device client" || strings.HasPrefix(line, "GfxDevice: creating device client;"):
		s.window = maxWindow
	case strings.HasPrefix(line, "Initializing Metal device caps: "):
		format.Learn(&s.Facts.Graphics, line[len("Initializing Metal device caps: "):])
		format.Learn(&s.Facts.GraphicsAPI, "Metal")
	case strings.HasPrefix(line, "Command line arguments: "):
		format.Learn(&s.Facts.Arguments, line[len("Command line arguments: "):])
	case strings.HasPrefix(line, "Processor: "):
		if name := line[len("Processor: "):]; processor.MatchString(name) {
			format.Learn(&s.Facts.CPU, name)
		}
	case len(line) <= 2*maxGameLine:
		s.game(line)
	}
}

// folder learns from the path of the game's own code, as in
//
//	C:/Games/Foo/FooWin64_Data/Managed
//	/home/me/foo/Foo_Data/Managed
//	/Applications/Foo.app/Contents/Resources/Data/Managed
//
// the platform of the game, and the name of its program.
func (s *Start) folder(path string) {
	folders := dataFolder.FindAllStringSubmatch(path, -1)
	if s.program != "" || len(folders) == 0 {
		return
	}
	last := folders[len(folders)-1]
	s.program = letters(last[1])
	switch {
	case strings.HasPrefix(path, "//"): // a share, of any system
	case len(path) > 2 && path[0]|0x20-'a' < 26 && path[1] == ':':
		format.Learn(&s.Facts.Platform, "Windows")
	case path[0] == '/' && last[2] == ".app":
		format.Learn(&s.Facts.Platform, "macOS")
	case path[0] == '/':
		format.Learn(&s.Facts.Platform, "Linux")
	}
}

var dataFolder = regexp.MustCompile(`(?:^|[/\\])([^/\\]{1,100})(\.app|_Data)\b`)

// graphics looks at a line that the engine may have written about the graphics card.
func (s *Start) graphics(line string) {
	if strings.HasPrefix(line, "GLX Extensions: ") || strings.HasPrefix(line, "OPENGL LOG: ") || line == "OpenGL:" {
		s.gl = true
		return
	}
	name, value, ok := strings.Cut(strings.TrimLeft(line, " \t"), ": ")
	if !ok {
		if strings.HasPrefix(line, "Begin MonoManager") {
			s.window = 0
		}
		return
	}
	value = strings.TrimSpace(value)
	switch name {
	case "Renderer":
		if at := strings.LastIndex(value, " (ID=0x"); at > 0 && strings.HasSuffix(value, ")") {
			value = value[:at]
		}
		format.Learn(&s.Facts.Graphics, value)
	case "Version":
		if value != "" && isDigit(value[0]) {
			if !s.gl && !strings.Contains(value, " Profile)") { // which OpenGL alone has
				return
			}
			value = "OpenGL " + value
		}
		format.Learn(&s.Facts.GraphicsAPI, value)
	case "VRAM":
		format.Learn(&s.Facts.GraphicsMemory, value)
	case "Driver":
		format.Learn(&s.Facts.GraphicsDriver, value)
	}
}

// game looks for the line in which the game prints its version.
func (s *Start) game(line string) {
	if !s.wantsGame() || len(line) > maxGameLine || strings.IndexByte(line, '.') < 0 {
		return
	}
	if g := named.FindStringSubmatch(line); g != nil && isProgram(s.program, letters(g[1])) &&
		format.IsLongVersion(g[2]) && (g[3] != "" || strings.Count(g[2], ".") >= 2) {
		format.Learn(&s.Facts.Game, strings.Join(strings.Fields(g[1]+" "+g[2]+g[3]), " "))
	}
}

// named matches the name of a game and its version, "Foo 1.2.3 rev45" or "Foo version: 1.2.3 build 45", and nothing
// else. A version without a number of a build has three numbers.
var named = regexp.MustCompile(`^(\S.*?):?(?:\s+(?i:version):?)?\s+(\S+)(\s+rev\d+|\s+(?i:build)\s+\d+)?$`)

// isProgram reports whether a program is a game's: it has its name, perhaps with
// a build.
func isProgram(program, game string) bool {
	rest, ok := strings.CutPrefix(program, game)
	return ok && game != "" && isBuild(rest)
}

// isBuild reports whether rest, the name of a program after the name of a game, is
// only its build.
func isBuild(rest string) bool { return slices.Contains(builds, rest) }

var builds = strings.Split(",win,win32,win64,windows,x64,x86,64,32,linux,linux64,mac,osx,server,64bit", ",")

// letters returns the letters and digits of s, small ones for capitals of ASCII.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r-'A' < 26 && r >= 'A':
			return r | 0x20
		case r >= utf8.RuneSelf, r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, s)
}

func isDigit(c byte) bool { return c-'0' < 10 }

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// processor matches names that makers of processors give. A line about a
// processor may be about one in the game.
var processor = regexp.MustCompile(`^(?:Intel|AMD |Apple |Qualcomm|ARM|VIA )| CPU .*Hz$`)
