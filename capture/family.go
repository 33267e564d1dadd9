package capture

import (
	"bytes"
	"slices"
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/bepinex"
	"github.com/heedlog/heed/capture/internal/factorio"
	"github.com/heedlog/heed/capture/internal/godot"
	"github.com/heedlog/heed/capture/internal/ksp"
	"github.com/heedlog/heed/capture/internal/minecraft"
	"github.com/heedlog/heed/capture/internal/papyrus"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/smapi"
	"github.com/heedlog/heed/capture/internal/source"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/capture/internal/unreal"
)

// formats are the families that have a package. A log of none of them is of the family of its layout.
var formats = [...]*format.Format{
	&bepinex.Format,
	&factorio.Format,
	&godot.Format,
	&ksp.Format,
	&minecraft.Format,
	&papyrus.Format,
	&rimworld.Format,
	&smapi.Format,
	&source.Format,
	&unreal.Format,
}

// maxFamily is how many bytes of the name of a family are read from a recording.
const maxFamily = 64

// formatOf returns the format of a family; one without functions for a family that has no package.
func formatOf(family string) *format.Format {
	if i := slices.IndexFunc(formats[:], func(f *format.Format) bool { return f.Name == family }); i >= 0 {
		return formats[i]
	}
	return &format.Format{Name: family}
}

// layoutFamilies are the families of the logs of layouts, as far as a layout shows it.
var layoutFamilies = [layoutCount]string{
	LayoutAuto: "plain", LayoutPlain: "plain", LayoutJSON: "json", layoutUnity2019_2: "unity", layoutUnity2019_4: "unity",
	layoutUnity2022_3: "unity", layoutConsole: "unity", layoutHugsLib: rimworld.Format.Name, layoutCrash: "crash",
}

// detectFormat returns the format of the log that begins with window: the format with the first banner, else the one
// with the most lines of its form, else the format of the layout.
func detectFormat(window []byte, d detection) *format.Format {
	family := layoutFamilies[d.layout]
	switch {
	case d.header: // an upload of RimWorld's
		return formatOf(layoutFamilies[layoutHugsLib])
	case family == "json" && bytes.Contains(window, []byte(unity.BannerVersion)):
		family = "unity" // a recording
	case family == "json" && isRecorded(window):
		return formatOf("")
	}
	var found [len(formats)]int
	best := -1
	lines := text(window)
	if d.layout == LayoutJSON {
		lines = linesOfTexts.Replace(lines)
	}
	for line := range strings.SplitSeq(lines, "\n") {
		line = strings.TrimRight(line, " \t\r")
		for i, f := range formats {
			switch f.Detect(line) {
			case format.Banner:
				return f
			case format.Form:
				if found[i]++; best < 0 || found[i] > found[best] {
					best = i
				}
			}
		}
	}
	if best < 0 {
		return formatOf(family)
	}
	return formats[best]
}

// linesOfTexts puts each text in JSON, and each line of one, on a line of its own.
var linesOfTexts = strings.NewReplacer(`"`, "\n", `\n`, "\n", `\r`, "\n", `\t`, "\n", `\"`, "\n", `\\`, "\n")

// isRecorded reports whether JSON lines are a recording of heed or the events of a host. These name
// their family, or none.
func isRecorded(window []byte) bool {
	return slices.ContainsFunc(recordedKinds, func(kind string) bool {
		return bytes.Contains(window, []byte(`"kind":"`+kind+`"`))
	})
}

var recordedKinds = []string{"log", "operation", "state", "notice", "recording"}

// observeFormat looks for the banner of a family in head, the first line of a record: a launcher may write before the
// program does. A family that a package recognized stays; the family of a layout gives way.
func (r *Reader) observeFormat(head []byte) {
	if r.format.Detect != nil {
		return
	}
	if family := layoutFamilies[r.layout]; r.format.Name != family && family != "json" && family != "plain" {
		r.format = formatOf(family)
	}
	for i := 0; i < len(formats) && r.banner.records < maxBeginning; i++ {
		if formats[i].Detect(text(head)) == format.Banner {
			r.format = formats[i]
			return
		}
	}
}
