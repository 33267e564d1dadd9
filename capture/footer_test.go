package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/heedlog/heed/event"
)

// TestFooterEverywhere reads logs in which all that managed code logs has a footer, and logs in which it does not.
func TestFooterEverywhere(t *testing.T) {
	for _, c := range []struct {
		name, banner, between string
		want                  event.Level
	}{
		{"another game", "Lamps", "", event.LevelUnknown},
		{"the game", "RimWorld", "", event.LevelWarning},
		{"lines without a footer", "RimWorld", "Lamp %d is lit\nLamp %[1]d is dark\n", event.LevelWarning},
	} {
		var log strings.Builder
		fmt.Fprintf(&log, "Mono path[0] = 'C:/%s_Data/Managed'\nInitialize engine version: 2019.4.20f1 (6dd1c08eedfa)\n", c.banner)
		for i := range 40 {
			fmt.Fprintf(&log, "Lamp %d burns \n%s\n\n", i, footer)
			if c.between != "" {
				fmt.Fprintf(&log, c.between, i)
			}
		}
		records := records(t, log.String())
		last := records[len(records)-1]
		if c.between != "" {
			assert.Equal(t, event.LevelInfo, last.Level, c.name)
			last = records[len(records)-3]
		}
		assert.Equal(t, c.want, last.Level, "%s: %s", c.name, last.Message)
	}
}

// TestHeadsInUnity reads levels in the heads that mods write in a log of Unity's.
func TestHeadsInUnity(t *testing.T) {
	for line, want := range map[string]event.Level{
		"2031-04-05 10:00:00 ERROR no lamp": event.LevelError,
		"*** WARNING *** no lamp":           event.LevelWarning,
		"Error: no lamp":                    event.LevelUnknown,
		"No lamp (ERROR)":                   event.LevelUnknown,
	} {
		recs := records(t, doc("Mono path[0] = '/opt/x'", line))
		assert.Equal(t, want, recs[1].Level, line)
	}
}
