// Command classify-replay replays captured logs through heed's engine and
// shows what would have had an agent's attention, why, how often and where.
//
//	classify-replay Player.log
//
// See "classify-replay --help" for its commands and flags. The exit status is
// the highest that applies:
//
//	0    done; also when the log went blind, which the report then says
//	1    a finding: one that --fail-on or --exit-code asked for, or of "rules lint" or "rules test"
//	2    wrong usage, or rules that do not load or fail their tests
//	3    input that could not be read, or output that could not be written, to its end
//	130  interrupted; what was known by then is printed
package main

import "github.com/heedlog/heed/cmd/internal/command"

func main() { command.Main() }
