package cli

import "io"

// The values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// Colors are the values of --color.
func Colors() []string { return []string{ColorAuto, ColorAlways, ColorNever} }

// Color says whether what is written to w should be colored, as the mode and,
// where that is auto, the environment have it: NO_COLOR (https://no-color.org)
// prevails over CLICOLOR_FORCE, both over what w is; a terminal that is dumb has
// no colors. Where w is a console of Windows, its escapes are turned on; one that
// has none gets no colors.
func Color(mode string, getenv func(string) string, w io.Writer) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case mode == ColorNever, mode == ColorAuto && getenv("NO_COLOR") != "":
		return false
	case mode == ColorAlways, force != "" && force != "0":
		if f, ok := terminal(w); ok {
			enableEscapes(f) // asked for by name: where this fails there is nothing better to do
		}
		return true
	}
	f, ok := terminal(w)
	return ok && getenv("TERM") != "dumb" && enableEscapes(f)
}
