//go:build race

package rules

// raceDetector says that the tests run under the race detector, which makes
// sync.Pool, and so package regexp, drop what it should keep.
const raceDetector = true
