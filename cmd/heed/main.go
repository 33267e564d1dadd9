// Command heed accompanies a running game and turns the flood of its log into attention for the agent that plays or
// tests it.
//
//	heed wrap -- GAME ARGS
//
// See "heed --help" for its commands. The exit status of "heed wrap" is the
// game's, 128 and the number of the signal that ended it, or
//
//	125  heed itself could not do its work
//	126  the game's program cannot be started
//	127  the game's program was not found
//
// or 2 if it was not started. The exit status of the other commands is
//
//	0    done; of "serve" and "follow" also: asked to end
//	1    a finding: with "current" something blocking is open, with "ack" it was not acknowledged
//	2    wrong usage, or rules or settings that do not load
//	3    no running heed was found, it does not answer, or a recording or a history could not be written to its end
//	130  interrupted
package main

import "github.com/heedlog/heed/cmd/internal/command/live"

func main() { live.Main() }
