//go:build race

package capture

// raceDetector says that the tests run under the race detector, which makes
// sync.Pool, and so encoding/json, drop what it should keep.
const raceDetector = true
