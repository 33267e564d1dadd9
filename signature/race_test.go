//go:build race

package signature

// raceDetector says that the tests run under the race detector, with which a scanner of spans is not kept on the stack.
const raceDetector = true
