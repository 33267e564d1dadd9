// Package incidents replays logs whose incidents a person judged, and acknowledges each item that blocks at once, as
// "heed replay --ack auto" does. Its table has one row for each log:
//
//	HEED_TESTS=full go test ./cmd/internal/accept/incidents -v
//
// A stop is an item that blocks; it belongs to the incident of its cause. "none" counts stops by entries without an
// incident, "missed" counts incidents without a stop, and "most" is the highest number of stops of one incident. The
// judgement consists of line numbers; the logs are not part of the project. The policy of acknowledgements was tuned on
// those in testdata/judged.txt. Those in testdata/unused.txt are not a clean held-out set: their stops were read before
// the change of loads was chosen, and ranges of their incidents were widened after the first run.
package incidents
