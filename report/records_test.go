package report

import (
	"testing"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/schema"
)

// BenchmarkRecord writes a record as JSON by appending, and by encoding/json.
func BenchmarkRecord(b *testing.B) {
	r := Record{
		File: "Player.log", StartLine: 12, EndLine: 34, Kind: "log", Layout: "unity-2022.3", Split: "frame",
		Level:   event.LevelError,
		LevelBy: "console", Signature: 0xfedcba9876543210, Template: "could not load <*>\nat Some.Frame\nat Other.Frame",
		Disposition: event.Blocking, Severity: event.SeverityError, Rule: "load.failed", Phase: "play",
	}
	buf := make([]byte, 0, 1024)
	for name, write := range map[string]func(){
		"append": func() { buf = AppendRecord(buf[:0], &r) },
		"json":   func() { buf = appendJSON(buf[:0], versionedRecord{schema.Version, r}) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write()
			}
		})
	}
}
