package capture

import (
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
