// Command accept measures the effect of heed with simulated games, agents and hosts:
//
//	go run ./cmd/internal/accept brief       facts of a fault that briefs hold
//	go run ./cmd/internal/accept steering    the time from a line of a log to a request to the model of an agent
//
// Each has flags: "go run ./cmd/internal/accept brief -h". Tests print three more tables:
//
//	HEED_TESTS=full go test ./cmd/internal/accept/agent -run Table -v -args -seeds 20      agents on a broken game
//	HEED_TESTS=full go test ./cmd/internal/accept/agent -run Field -v -args -field.calls 300   bridges in the field
//	HEED_TESTS=full go test ./cmd/internal/accept/agent -run Incidents -v                  stops in real logs
//
// The exit status is 2 for an error.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/heedlog/heed/cmd/internal/accept/brief"
	"github.com/heedlog/heed/cmd/internal/accept/steering"
)

var commands = map[string]func(args []string, stdout, stderr io.Writer) error{
	"brief": brief.Run, "steering": steering.Run,
}

func main() {
	err := errors.New("want a command: brief or steering; the others are tests")
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		err = commands[os.Args[1]](os.Args[2:], os.Stdout, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "accept:", err)
		os.Exit(2)
	}
}
