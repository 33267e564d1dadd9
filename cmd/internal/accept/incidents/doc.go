// Package incidents replays logs whose incidents a person judged, and acknowledges each item that blocks at once, as
// "heed replay --ack auto" does. Its table has one row for each log:
//
//	HEED_TESTS=full go test ./cmd/internal/accept/incidents -v
//
// A stop is an item that blocks; it belongs to the incident of its cause. "none" counts stops by entries without an
// incident, "missed" counts incidents without a stop, and "most" is the highest number of stops of one incident. The
// judgement consists of line numbers; the logs are not part of the project. The policy of acknowledgements was tuned on
// those in testdata/judged.txt, and not on those in testdata/unused.txt.
package incidents
