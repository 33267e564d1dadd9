package capture

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/event"
)

// Facts is what a capture reveals of where it was made; see [format.Facts].
type Facts = format.Facts

// The bounds of an [Environment].
const (
	maxBeginning = 2000 // records that are looked at: loaders and mods speak before the game does
	maxWindow    = 24   // lines about the graphics card
	maxDevices   = 8    // among which it chooses one
	maxGameLine  = 100  // bytes: a longer line is a sentence
)

// Environment gathers the facts that the beginning of a capture has about where it
// was made: the game, the engine, the machine. Of a kind the first fact counts. Only
// forms count that the engine, the game or a loader writes for everybody: a fact that
// is wrong would be worse than none, and so the name of a game has to be that of the
// folder that the engine names, since mods print names and versions as well.
//
// The zero value is ready. It keeps a few hundred bytes, whatever the log holds, and
// costs a comparison for each record after the first 2,000. An Environment is for one
// goroutine.
type Environment struct {
	facts   Facts
	records int
	window  int    // lines to come about the graphics card
	gl      bool   // where it has said that OpenGL is used
	program string // name of the game's data folder, in small letters and digits
	devices []device
	origin  origin
}

// device is a graphics card that Vulkan offers.
type device struct{ handle, name string }

// Facts returns what is known.
func (e *Environment) Facts() Facts { return e.facts }

// programName returns the name of the game's program, without what it was built for, in small
// letters and digits; "" while it is not known. The game's own code often has
// the same name, and is no mod's: see LearnGame of package blame.
func (e *Environment) programName() string {
	const shortest = 3 // of names that name anything
	for i := shortest; i < len(e.program); i++ {
		if isBuild(e.program[i:]) {
			return e.program[:i]
		}
	}
	return e.program
}

// Observe looks at the next record of a capture. It keeps nothing of rec. A notice of
// [event.StatusRestarted] begins another run of the game, which has facts of its own; what
// the capture is, and whether it has its beginning, stays. It returns Environment.programName
// with the record that reveals it, which an engine learns then, and "" with all others.
func (e *Environment) Observe(rec *Record) (program string) {
	known := e.program
	e.observe(rec)
	if e.program == known {
		return ""
	}
	return e.programName()
}

func (e *Environment) observe(rec *Record) {
	if rec.Kind == event.KindNotice && rec.Status == event.StatusRestarted {
		*e = Environment{origin: e.origin}
	}
	if e.records == maxBeginning {
		e.origin.observeLate(rec)
		return
	}
	e.records++
	e.origin.observe(rec)
	if m := rec.machine; m != nil {
		format.Learn(&e.facts.CPU, m.CPU)
		format.Learn(&e.facts.System, m.System)
		format.Learn(&e.facts.Memory, m.Memory)
	}
	if rec.Source == reportSource || rec.LevelBy == evidenceCrash {
		e.crashReport(rec.Message)
	}
	if rec.IsLog() {
		own := formatOf(rec.Family).Facts
		for line, rest := "", rec.Message; rest != ""; {
			line, rest, _ = strings.Cut(rest, "\n")
			if own != nil {
				own(&e.facts, strings.TrimRight(line, " \t\r"))
			}
			if line == "" || !e.mayTell(line[0]) {
				continue
			}
			if line = strings.TrimRight(line, " \t\r"); line != "" {
				e.line(line)
			}
		}
	}
}

// crashReport looks at what a crash report has besides the traces:
//
//	Press of Some Company [version: Unity 2031.2.3f1_0123456789ab]
//	D:\Games\Press\PressWin64.exe, run by somebody.
//	16000 MB physical memory [7800 MB free].
//	Process:               Press [1234]
//	OS Version:            macOS 13.1 (22C65)
func (e *Environment) crashReport(text string) {
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
				format.Learn(&e.facts.Engine, "Unity "+version)
			}
		} else if path, _, ok := strings.Cut(line, ".exe, run by "); ok {
			e.program = cmp.Or(e.program, letters(format.Shorten(path[strings.LastIndexAny(path, `/\`)+1:], maxGameLine)))
			format.Learn(&e.facts.Platform, "Windows")
		} else if size, _, ok := strings.Cut(line, " MB physical memory ["); ok && isNumber(size) && size != "0" {
			format.Learn(&e.facts.Memory, size+" MB")
		} else if name, ok := strings.CutPrefix(line, "Process: "); ok {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " [")
			e.program = cmp.Or(e.program, letters(format.Shorten(name, maxGameLine)))
			format.Learn(&e.facts.Platform, "macOS")
		} else if system, ok := strings.CutPrefix(line, "OS Version: "); ok {
			format.Learn(&e.facts.System, system)
		}
	}
}

// mayTell reports whether a line that begins with first may have a fact that is wanted.
// In a log of many runs, each with a beginning, that is a tenth of what a replay costs.
func (e *Environment) mayTell(first byte) bool {
	return startsFact[first] || e.window > 0 || e.wantsGame()
}

// startsFact has the first bytes of lines whose form gives a fact. Those of the
// graphics card and the game's version begin with anything.
var startsFact = func() (t [256]bool) {
	for _, c := range []byte("CGIMPT[") {
		t[c] = true
	}
	return t
}()

// wantsGame reports whether a line may be the one with the game's version: its name is
// known by that of its program.
func (e *Environment) wantsGame() bool { return e.facts.Game == "" && e.program != "" }

// line looks at a line of a log, which has no spaces at its end.
func (e *Environment) line(line string) {
	if e.window > 0 {
		e.window--
		e.graphics(line)
	}
	if rest, ok := strings.CutPrefix(line, bannerPath); ok {
		e.folder(strings.Trim(rest, "'"))
		format.Learn(&e.facts.Runtime, "Mono")
		return
	}
	if rest, ok := strings.CutPrefix(line, bannerVersion); ok {
		if version, _, _ := strings.Cut(rest, " "); format.IsLongVersion(version) {
			format.Learn(&e.facts.Engine, "Unity "+version)
		}
		return
	}
	switch {
	case line == "GfxDevice: creating device client" || strings.HasPrefix(line, "GfxDevice: creating device client;"):
		e.window = maxWindow
	case strings.HasPrefix(line, "[Vulkan init] "):
		e.vulkan(line[len("[Vulkan init] "):])
	case strings.HasPrefix(line, "Initializing Metal device caps: "):
		format.Learn(&e.facts.Graphics, line[len("Initializing Metal device caps: "):])
		format.Learn(&e.facts.GraphicsAPI, "Metal")
	case strings.HasPrefix(line, "Command line arguments: "):
		format.Learn(&e.facts.Arguments, line[len("Command line arguments: "):])
	case strings.HasPrefix(line, "Processor: "):
		if name := line[len("Processor: "):]; isCPU(name) {
			format.Learn(&e.facts.CPU, name)
		}
	case strings.HasPrefix(line, "Translation data for language "):
		language, rest, _ := strings.Cut(line[len("Translation data for language "):], " has ")
		if number, _, ok := strings.Cut(rest, " errors."); ok && isNumber(number) && len(language) <= maxGameLine {
			format.Learn(&e.facts.Language, language)
		}
	case len(line) <= 2*maxGameLine:
		e.game(line)
	}
}

// folder learns from the path of the game's own code, as in
//
//	C:/Games/Foo/FooWin64_Data/Managed
//	/home/me/foo/Foo_Data/Managed
//	/Applications/Foo.app/Contents/Resources/Data/Managed
//
// what the game was built for, and how its program is called.
func (e *Environment) folder(path string) {
	if e.program != "" || len(path) > 4096 {
		return
	}
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	name, mac := "", false
	for _, p := range parts {
		if app, ok := strings.CutSuffix(p, ".app"); ok {
			name, mac = app, true
		} else if data, ok := strings.CutSuffix(p, "_Data"); ok {
			name, mac = data, false
		}
	}
	if name == "" || len(name) > maxGameLine {
		return
	}
	e.program = letters(name)
	switch {
	case strings.HasPrefix(path, "//"): // a share, of any system
	case len(path) > 2 && isLetter(path[0]) && path[1] == ':':
		format.Learn(&e.facts.Platform, "Windows")
	case mac && path[0] == '/':
		format.Learn(&e.facts.Platform, "macOS")
	case path[0] == '/':
		format.Learn(&e.facts.Platform, "Linux")
	}
}

// graphics looks at a line that the engine may have written about the graphics card.
func (e *Environment) graphics(line string) {
	if strings.HasPrefix(line, "GLX Extensions: ") || strings.HasPrefix(line, "OPENGL LOG: ") || line == "OpenGL:" {
		e.gl = true
		return
	}
	name, value, ok := strings.Cut(strings.TrimLeft(line, " \t"), ": ")
	if !ok {
		if strings.HasPrefix(line, "Begin MonoManager") {
			e.window = 0
		}
		return
	}
	value = strings.TrimSpace(value)
	switch name {
	case "Renderer":
		if at := strings.LastIndex(value, " (ID=0x"); at > 0 && strings.HasSuffix(value, ")") {
			value = value[:at]
		}
		format.Learn(&e.facts.Graphics, value)
	case "Version":
		if value != "" && isDigit(value[0]) {
			if !e.gl && !strings.Contains(value, " Profile)") { // which OpenGL alone has
				return
			}
			value = "OpenGL " + value
		}
		format.Learn(&e.facts.GraphicsAPI, value)
	case "VRAM":
		format.Learn(&e.facts.GraphicsMemory, value)
	case "Driver":
		format.Learn(&e.facts.GraphicsDriver, value)
	}
}

// vulkan learns which graphics card was chosen:
//
//	Physical Device 0000023C4C5D4B80 [0]: "Some Card 2070" deviceType=2 vendorID=10de deviceID=1f02
//	Selected physical device 0000023C4C5D4B80
func (e *Environment) vulkan(text string) {
	if rest, ok := strings.CutPrefix(text, "Physical Device "); ok {
		handle, rest, _ := strings.Cut(rest, " ")
		_, rest, _ = strings.Cut(rest, `"`)
		name, _, ok := strings.Cut(rest, `"`)
		if ok && len(handle) <= 32 && len(e.devices) < maxDevices {
			e.devices = append(e.devices, device{strings.Clone(handle), strings.Clone(name)})
		}
		return
	}
	handle, ok := strings.CutPrefix(text, "Selected physical device ")
	if !ok {
		return
	}
	handle, _, _ = strings.Cut(handle, " ")
	for _, d := range e.devices {
		if d.handle == handle {
			format.Learn(&e.facts.Graphics, d.name)
			format.Learn(&e.facts.GraphicsAPI, "Vulkan")
		}
	}
}

// game looks for the line in which the game prints its version.
func (e *Environment) game(line string) {
	if !e.wantsGame() || len(line) > maxGameLine || strings.IndexByte(line, '.') < 0 {
		return
	}
	own := func(name string) bool { return isProgram(e.program, letters(name)) }
	if name, ok := parseGame(line, own); ok {
		format.Learn(&e.facts.Game, name)
	}
}

// parseGame reads the name of a game and its version, "Foo 1.2.3 rev45" or "Foo
// version: 1.2.3 build 45", and nothing else. Of a line that may be anything, own says
// whether the name is the game's; a version then has three numbers, or a number of a
// build after it.
func parseGame(line string, own func(name string) bool) (text string, ok bool) {
	words := strings.Fields(line)
	at := 1
	for at < len(words) && !format.IsLongVersion(words[at]) {
		at++
	}
	if at >= len(words) {
		return "", false
	}
	name := words[:at]
	if last := strings.ToLower(name[at-1]); at > 1 && (last == "version" || last == "version:") {
		name = name[:at-1]
	}
	version, build := words[at], words[at+1:]
	switch {
	case len(build) == 0:
		ok = own == nil || strings.Count(version, ".") >= 2
	case len(build) == 1:
		number, isRev := strings.CutPrefix(build[0], "rev")
		ok = isRev && isNumber(number)
	case len(build) == 2:
		ok = strings.EqualFold(build[0], "build") && isNumber(build[1])
	}
	title := strings.TrimSuffix(strings.Join(name, " "), ":")
	if !ok || own != nil && !own(title) || letters(title) == "" {
		return "", false
	}
	return strings.Join(append([]string{title, version}, build...), " "), true
}

// isProgram reports whether a program is that of a game: it has its name, perhaps with
// what it was built for.
func isProgram(program, game string) bool {
	rest, ok := strings.CutPrefix(program, game)
	return ok && game != "" && isBuild(rest)
}

// isBuild reports whether rest, which is left of the name of a program behind that of a
// game, says no more than what it was built for.
func isBuild(rest string) bool {
	switch rest {
	case "", "win", "win32", "win64", "windows", "x64", "x86", "64", "32",
		"linux", "linux64", "mac", "osx", "server", "64bit":
		return true
	}
	return false
}

// letters returns the letters and digits of s, small ones for capitals of ASCII.
func letters(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; isLetter(c) || isDigit(c) || c >= utf8.RuneSelf {
			b = append(b, c)
		}
	}
	return string(appendLower(nil, text(b)))
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isCPU reports whether a name is one that makers of processors give. A line about a
// processor may be about one in the game.
func isCPU(name string) bool {
	for _, maker := range [...]string{"Intel", "AMD ", "Apple ", "Qualcomm", "ARM", "VIA "} {
		if strings.HasPrefix(name, maker) {
			return true
		}
	}
	return strings.Contains(name, " CPU ") && strings.HasSuffix(name, "Hz")
}
