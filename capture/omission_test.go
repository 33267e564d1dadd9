package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

func TestOmission(t *testing.T) {
	for message, want := range map[string]uint64{
		"last message repeated 12 times":                                     12,
		"message repeated 3 times: [ no paper ]":                             3,
		"Previous message repeated 4 times.":                                 4,
		"Suppressed 1843 messages from press.service":                        1843,
		"net_ratelimit: 9 callbacks suppressed":                              9,
		"press: 12 printk messages dropped":                                  12,
		"** 12 printk messages dropped **":                                   12,
		"imjournal: 345 messages lost due to rate-limiting":                  345,
		"Missed 5 kernel messages":                                           5,
		"[Lamps] 7 similar messages were suppressed":                         7,
		"The message of the press was lost":                                  0,
		"3 messages are read":                                                0,
		"Player 7 sent a message, and the press of the east wing dropped it": 0,
		"Dropped 3 lamps":                                                    0,
	} {
		assert.Equal(t, want, omission(message), message)
	}
	in := doc("Apr  5 10:00:00 lamp press[1]: no paper", "Apr  5 10:00:02 lamp last message repeated 12 times",
		"Apr  5 10:00:03 lamp press[1]: on")
	recs := records(t, in)
	require.Len(t, recs, 4)
	want := event.Notice{Status: event.StatusRunCut, Count: 12, Pos: 2, Detail: recs[2].Message}
	require.Equal(t, want.Entry(), recs[2].Entry)
}

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
