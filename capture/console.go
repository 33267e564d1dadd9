package capture

import (
	"slices"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
)

var loggers = slices.Concat(unity.Engine.Logs, rimworld.Lines.Logs)

// isLogging reports whether b is a frame of the top of a console's trace.
func isLogging(b []byte) bool {
	_, ok := consoleLevel(b)
	return ok || hasPrefix(b, unity.ConsoleMark)
}

// consoleLevel returns the level that b gives, a frame in Unity's form, if the method logs.
func consoleLevel(b []byte) (event.Level, bool) {
	level := unity.Logged(text(b), loggers)
	return level, level != event.LevelUnknown
}
