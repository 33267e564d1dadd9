// Package papyrus knows the logs of Papyrus, the scripts of Skyrim, Fallout 4 and Starfield.
//
//	[01/02/2031 - 10:00:00AM] Papyrus log opened (PC)
//	[01/02/2031 - 10:00:05AM] Error: Cannot call Turn() on a None object, aborting function call
//	stack:
//		[PressQuest (1E000D62)].PressQuest.OnUpdate() - "PressQuest.psc" Line 41
package papyrus

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
)

// Format is the family of logs of Papyrus.
var Format = format.Format{Name: "papyrus", Detect: detect}

func detect(line string) format.Evidence {
	return begins.Evidence(strings.Contains(line, "M] Papyrus log opened "), strings.Contains(line, `.psc" Line `))
}
