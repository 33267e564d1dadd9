// Command bench measures heed:
//
//	go run ./bench storm         one storm of lines through an engine
//	go run ./bench replay        the cost of each stage of a replay
//	go run ./bench contention    the wait of goroutines that log at once
//	go run ./bench compare       the hot path, compared with a committed baseline
//
// Each has flags: "go run ./bench storm -h". The exit status is 1 if compare finds a figure that is worse, and 2 for
// another error.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/heedlog/heed/bench/compare"
	"github.com/heedlog/heed/bench/contention"
	"github.com/heedlog/heed/bench/replay"
	"github.com/heedlog/heed/bench/storm"
)

var commands = map[string]func(args []string, stdout, stderr io.Writer) error{
	"storm": storm.Run, "replay": replay.Run, "contention": contention.Run, "compare": compare.Run,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		if errors.As(err, new(*compare.SlippedError)) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		if command := commands[args[0]]; command != nil {
			return command(args[1:], os.Stdout, os.Stderr)
		}
	}
	return errors.New("want a command: storm, replay, contention or compare")
}
