// Package live holds the commands that run during a game, or ask a running heed: wrap, serve, follow, current, ack,
// tail and status. [Main] is the program heed.
package live
