// Package files finds and reads the files that a person names, or means: logs by path, folder, pattern or game, and
// rule files. Each read is bounded, since a device may have no end.
//
// It holds no state. A found log need not exist: a game may be about to write it.
package files
