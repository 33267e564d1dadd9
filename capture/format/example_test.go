package format_test

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/capture/format"
)

// A family of logs: its program prints its name and version first.
func Example() {
	acme := format.Format{
		Name: "acme",
		Detect: func(line string) format.Evidence {
			if strings.HasPrefix(line, "Acme Engine v") {
				return format.Banner
			}
			return format.None
		},
		Facts: func(f *format.Facts, line string) {
			if version, ok := strings.CutPrefix(line, "Acme Engine v"); ok {
				format.Learn(&f.Engine, "Acme "+version)
			}
		},
	}
	var f format.Facts
	line := "Acme Engine v2.1"
	acme.Facts(&f, line)
	fmt.Println(acme.Detect(line) == format.Banner, f.Engine)
	// Output: true Acme 2.1
}
