// Package incidents replays logs whose incidents a person judged, to an agent that acknowledges what blocks as soon as it
// does: "heed replay --ack auto". Its table has one row for each log:
//
//	HEED_TESTS=full go test ./cmd/internal/accept/incidents -v
//
// A stop is an item that blocks, and belongs to the incident of its cause. "none" are stops by entries that belong to no
// incident, "missed" are incidents without a stop, "most" is the number of stops of one incident. The judgement is in
// testdata/judged.txt, line numbers alone; the logs are none of this project's.
package incidents
