package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
)

// loggerPrefixes are what loggers write in front of a text, by level.
var loggerPrefixes = map[event.Level][]string{
	event.LevelUnknown: {"2031-04-05 10:00:00 ", "[10:00:00] ", "Apr  5 10:00:00 lamp press[12]: ", "[   12.345678] ", "10:00:00.001 - "},
	event.LevelInfo: {
		"2031-04-05 10:00:00,123 INFO [main] ", "I0405 10:00:00.000001   123 press.go:12] ", "<14>Apr  5 10:00:00 lamp press[12]: ",
		"[10:00:00] [Server thread/INFO]: ", "time=2031-04-05T10:00:00Z level=info ", "[INFO] ",
	},
	event.LevelWarning: {
		"2031-04-05 10:00:00,123 WARN [main] ", "W0405 10:00:00.000001   123 press.go:12] ", "W/Press( 123): ",
		"<12>Apr  5 10:00:00 lamp press[12]: ", "[10:00:00] [Server thread/WARN]: ", "[WARN] ",
	},
	event.LevelError: {
		"2031-04-05 10:00:00,123 ERROR [main] ", "2031-04-05T10:00:00.001Z ERROR ", "10:00:00.001 [main] ERROR c.a.Press - ",
		"[10:00:00] [Server thread/ERROR]: ", "2031/04/05 10:00:00 [error] ", "[2031.04.05-10.00.00:001][  7]LogPress: Error: ",
		"2031-04-05 10:00:00.001 | ERROR    | ", "E0405 10:00:00.000001   123 press.go:12] ",
		"04-05 10:00:00.000   123   456 E Press   : ", "<11>Apr  5 10:00:00 lamp press[12]: ", "[Error  :   Loader] ", "ERROR: ",
	},
	event.LevelFatal: {
		"2031-04-05 10:00:00,123 FATAL [main] ", "2031/04/05 10:00:00 [emerg] ", "2031-04-05 10:00:00.001 UTC [123] PANIC:  ",
		"F0405 10:00:00.000001   123 press.go:12] ", "<8>Apr  5 10:00:00 lamp press[12]: ", "[FATAL] ",
	},
}

// TestPrefixChangesNoDecision holds that the texts of the default rules' tests are decided alike with and without
// what loggers write in front of them.
func TestPrefixChangesNoDecision(t *testing.T) {
	set := defaultSet()
	ev := set.NewEvaluator()
	decide := func(d *testDecl, text string, level event.Level) event.Decision {
		other := *d
		other.Message, other.Level = text, level
		return decideTest(set, ev, &other, logline.Of(&other.Entry))
	}
	texts := 0
	for _, test := range set.relink().tests(set) {
		d := test.decl
		if d.Kind != event.KindLog || logline.Text(d.Message, d.Level) != d.Message || strings.TrimSpace(d.Message) == "" {
			continue
		}
		if strings.HasPrefix(d.Message, "[1]") {
			continue // what a shell prints: behind a level it reads as a thread
		}
		texts++
		for level, prefixes := range loggerPrefixes {
			want := decide(d, d.Message, level)
			for _, prefix := range prefixes {
				line, _, _ := strings.Cut(prefix+d.Message, "\n")
				switch h := logline.Parse(line); {
				case level == event.LevelUnknown && h.Leveled:
					continue // behind a time, a word of the text is one
				case level != event.LevelUnknown:
					assert.Equal(t, level, h.Level, line)
				}
				assert.Equal(t, want, decide(d, prefix+d.Message, level), "%q", prefix+d.Message)
			}
		}
	}
	require.Greater(t, texts, 300)
}
