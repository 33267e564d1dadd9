// Package field measures a bridge and a mod with the habits of those in the field, as package standin has them, over
// real sockets: the bridge dials the mod, or heed before the mod. Its table has one row for each habit:
//
//	go test ./cmd/internal/accept/field -run Table -v -args -calls 300
//
// Failed are calls without a result. The times are of a call as the bridge makes it, which asks heed for its attention
// first; the time to the tools is from the start of the game, whose mod listens at once but in one row. Times are
// printed, failed calls are held to those without heed.
package field
