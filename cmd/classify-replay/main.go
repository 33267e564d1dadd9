// Command classify-replay replays captured logs through heed's engine and shows the items that would have had an
// agent's attention, with their cause, frequency and place.
//
//	classify-replay Player.log
//
// See "classify-replay --help" for its commands and flags. The exit status is
// the highest that applies:
//
//	0    done; also when the log went blind, which the report then says
//	1    a finding that --fail-on or --exit-code asked for, or of "rules lint"
//	2    wrong usage, or rules that do not load or fail their tests
//	3    input that could not be read, or output that could not be written, to its end
//	130  interrupted; the results so far are printed
package main

import "github.com/heedlog/heed/cmd/internal/command"

func main() { command.Main() }
