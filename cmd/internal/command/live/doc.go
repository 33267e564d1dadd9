// Package live holds the commands that stand beside a running game, or ask a heed that does:
// wrap, serve, follow, current, ack, tail and status. [Main] is the program heed.
package live
