package testkit

import "bytes"

// OtherVersion returns a snapshot of an engine whose state has a format that no program reads. Its carry-over is the
// same.
func OtherVersion(snapshot []byte) []byte {
	const magic = "heed\x00sn\n"
	at := bytes.Index(snapshot, []byte(magic))
	if at < 0 {
		panic("BUG: testkit: this is no snapshot")
	}
	other := bytes.Clone(snapshot)
	other[at+len(magic)]++
	return other
}
