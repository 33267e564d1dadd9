package logline

import (
	"testing"

	"github.com/heedlog/heed/event"
)

func BenchmarkText(b *testing.B) {
	for name, line := range map[string]string{
		"logger": "2031-04-05 10:00:00,123 ERROR [worker-3] acme.press.Tray - Could not load widget 12 of 300",
		"tag":    "[Widgets] Could not load widget 12 of 300",
		"text":   "Could not load widget 12 of 300",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Text(line, event.LevelError)
			}
		})
	}
}
