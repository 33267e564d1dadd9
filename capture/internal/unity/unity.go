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
	"github.com/heedlog/heed/capture/internal/begins"
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

// CrashLine looks at a line of a crash report:
//
//	Press of Some Company [version: Unity 2031.2.3f1_0123456789ab]
//	D:\Games\Press\PressWin64.exe, run by somebody.
//	16000 MB physical memory [7800 MB free].
//	Process:               Press [1234]
//	OS Version:            macOS 13.1 (22C65)
func (s *Start) CrashLine(line string) {
	version, _, _ := strings.Cut(format.Word(line, " [version: Unity "), "_")
	if format.IsLongVersion(version) {
		format.Learn(&s.Facts.Engine, "Unity "+version)
	}
	line = strings.TrimLeft(line, " \t")
	path, _, isWindows := strings.Cut(line, ".exe, run by ")
	memory, _, isMemory := strings.Cut(line, " physical memory [")
	switch name, value, _ := strings.Cut(line, ": "); {
	case isWindows:
		s.ran(path[strings.LastIndexAny(path, `/\`)+1:], "Windows")
	case isMemory && memory[0]-'1' < 9 && strings.HasSuffix(memory, " MB"):
		format.Learn(&s.Facts.Memory, memory)
	case name == "Process":
		process, _, _ := strings.Cut(value, " [")
		s.ran(strings.TrimLeft(process, " \t"), "macOS")
	case name == "OS Version":
		format.Learn(&s.Facts.System, value)
	}
}

// ran learns the name of the program that crashed, and its platform.
func (s *Start) ran(program, platform string) {
	s.program = cmp.Or(s.program, letters(format.Shorten(program, maxGameLine)))
	format.Learn(&s.Facts.Platform, platform)
}

// Line looks at a line of a log, which has no spaces at its end.
func (s *Start) Line(line string) {
	if s.window > 0 {
		s.window--
		s.graphics(line)
	}
	name, value, _ := strings.Cut(line, ": ")
	switch {
	case strings.HasPrefix(line, BannerPath):
		s.folder(strings.Trim(line[len(BannerPath):], "'"))
		format.Learn(&s.Facts.Runtime, "Mono")
	case strings.HasPrefix(line, BannerVersion):
		if version, _, _ := strings.Cut(value, " "); format.IsLongVersion(version) {
			format.Learn(&s.Facts.Engine, "Unity "+version)
		}
	case line == "GfxDevice: creating device client" || strings.HasPrefix(line, "GfxDevice: creating device client;"):
		s.window = maxWindow
	case name == "Initializing Metal device caps":
		format.Learn(&s.Facts.Graphics, value)
		format.Learn(&s.Facts.GraphicsAPI, "Metal")
	case name == "Command line arguments":
		format.Learn(&s.Facts.Arguments, value)
	case name == "Processor" && processor.MatchString(value):
		format.Learn(&s.Facts.CPU, value)
	default:
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
	switch {
	case line == "OpenGL:", begins.Any(line, "GLX Extensions: ", "OPENGL LOG: "):
		s.gl = true
	case strings.HasPrefix(line, "Begin MonoManager"):
		s.window = 0
	}
	name, value, _ := strings.Cut(strings.TrimLeft(line, " \t"), ": ")
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
	if s.Facts.Game != "" || s.program == "" || len(line) > maxGameLine || strings.IndexByte(line, '.') < 0 {
		return
	}
	g := named.FindStringSubmatch(line)
	if g == nil || !format.IsLongVersion(g[2]) || g[3] == "" && strings.Count(g[2], ".") < 2 {
		return
	}
	name := letters(g[1])
	if build, ok := strings.CutPrefix(s.program, name); ok && name != "" && isBuild(build) {
		format.Learn(&s.Facts.Game, strings.Join(strings.Fields(g[1]+" "+g[2]+g[3]), " "))
	}
}

// named matches the name of a game and its version, "Foo 1.2.3 rev45" or "Foo version: 1.2.3 build 45", and nothing
// else. A version without a number of a build has three numbers.
var named = regexp.MustCompile(`^(\S.*?):?(?:\s+(?i:version):?)?\s+(\S+)(\s+rev\d+|\s+(?i:build)\s+\d+)?$`)

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

// processor matches names that makers of processors give. A line about a
// processor may be about one in the game.
var processor = regexp.MustCompile(`^(?:Intel|AMD |Apple |Qualcomm|ARM|VIA )| CPU .*Hz$`)
