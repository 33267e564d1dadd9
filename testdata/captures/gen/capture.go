package main

import (
	"bytes"
	"fmt"
	"strings"
)

// layout is how a version of the engine marks warnings and errors.
type layout int

const (
	unity2019_2 layout = iota // a line of one space, a footer, an empty line
	unity2019_4               // a space after the text, a footer, an empty line
	unity2022_3               // nothing
)

// capture is a log being written.
type capture struct {
	bytes.Buffer
	layout layout
	eol    string
	source string // the folder of the engine's sources that a footer names
}

func windows(l layout) *capture {
	return &capture{layout: l, eol: "\r\n", source: `C:\buildslave\unity\build\`}
}

// linux writes line ends of \n below what else comes from Windows, as uploads
// do; unix also writes the footers of the system.
func linux(l layout) *capture {
	return &capture{layout: l, eol: "\n", source: `C:\buildslave\unity\build\`}
}
func unix(l layout) *capture { return &capture{layout: l, eol: "\n", source: "./"} }

// line writes a line, or several that are separated by \n.
func (c *capture) line(text string) {
	c.WriteString(strings.ReplaceAll(text, "\n", c.eol))
	c.WriteString(c.eol)
}

func (c *capture) linef(format string, args ...any) { c.line(fmt.Sprintf(format, args...)) }

// lines writes a block that begins and ends with a line break of its own.
func (c *capture) lines(block string) { c.line(strings.Trim(block, "\n")) }

// crcrlf writes a message that itself holds a Windows line end, which then
// stands before the one that ends the line.
func (c *capture) crcrlf(text string) { c.line(text + strings.TrimSuffix(c.eol, "\n")) }

// warn writes a warning or an error, which look alike.
func (c *capture) warn(text string) {
	c.footered(text, fmt.Sprintf(`(Filename: %sRuntime/Export/Debug/Debug.bindings.h Line: %d)`, c.source,
		map[layout]int{unity2019_2: 35, unity2019_4: 39}[c.layout]))
}

func (c *capture) warnf(format string, args ...any) { c.warn(fmt.Sprintf(format, args...)) }

// native writes an error of the engine itself.
func (c *capture) native(text string, line int) {
	c.footered(text, fmt.Sprintf("(Filename:  Line: %d)", line))
}

func (c *capture) footered(text, footer string) {
	switch c.layout {
	case unity2019_2:
		c.line(text + "\n \n" + footer + "\n")
	case unity2019_4:
		c.line(text + " \n" + footer + "\n")
	case unity2022_3:
		c.line(text)
	}
}

// unload writes what the engine prints whenever it loads or leaves a scene.
func (c *capture) unload(files, assets, loaded int) {
	c.linef("Unloading %d Unused Serialized files (Serialized files now loaded: %d)", files, files%7+5)
	c.linef("Unloading %d unused Assets to reduce memory usage. Loaded Objects now: %d.", assets, loaded)
	c.linef(
		"Total: %d.%06d ms (FindLiveObjects: %d.%06d ms CreateObjectMapping: 1.%06d ms MarkObjects: %d.%06d ms  DeleteObjects: 0.%06d ms)",
		loaded/140,
		loaded*7%1000000,
		loaded/9000,
		loaded*3%1000000,
		loaded*11%1000000,
		loaded/150,
		loaded*13%1000000,
		assets*977%1000000,
	)
	c.line("")
}

// fallback writes n lines about libraries that cannot be found and need not be.
func (c *capture) fallback(folder string, n int) {
	for i := range n {
		c.linef("Fallback handler could not load library %s/data-%016X.dll", folder, 0x1B4C0D50000+i*0x1A3F0+0x20)
	}
}

// loading writes the beginning of a load.
func (c *capture) loading(save string, mods ...string) {
	c.linef("Loading game from file %s with mods:", save)
	for _, m := range append([]string{"Ludeon.RimWorld", "Ludeon.RimWorld.Ideology"}, mods...) {
		c.line("  - " + m)
	}
}

// pick goes around a list.
func pick(list []string, i int) string { return list[i%len(list)] }

// colonists are invented, in the scripts that logs are full of.
var colonists = []string{
	"Tobin", "Радомир", "하윤", "Ilsebet", "<color=#B9FF9C>Maren Vale</color>", "Остап", "서진", "Quillon", "Дарина",
	"Old Hob",
}

// mods are invented.
var mods = []string{
	"lowmarsh.lanternfestival", "pikestaff.quarryplus", "pikestaff.brickkilns", "oakapple.riverboats",
	"oakapple.beekeeping",
}
