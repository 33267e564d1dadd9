// Package brief measures the true facts about a fault that briefs have. BenchmarkBrief measures their time.
//
//	go run ./cmd/internal/accept brief
//	go run ./cmd/internal/accept brief -data ../shared/data -misses
//
// Quality is measured in two ways. On all logs, briefs of all open items are compared with the first screen of the
// report: its worst, most frequent and first problem, and with the families of records that annotators labeled. And it
// is measured on each item that holds calls back, of the captures in testdata and, if they are there, of logs of
// players. A text about it should have the line of its true cause, the culprit and the operation or phase if they are
// known, and the next step; and it should blame no mod if no culprit is known. The table compares briefs with the texts
// that agents have without them, cut to as many tokens.
package brief

import (
	"flag"
	"io"
	"path/filepath"
	"strings"

	"github.com/heedlog/heed/rules"
)

// Run runs the command with its arguments.
func Run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("brief", flag.ContinueOnError)
	flags.SetOutput(stderr)
	captures := flags.String("captures", "testdata/captures", "the `FOLDER` of the project's captures")
	data := flags.String("data", "../shared/data", "the `FOLDER` of real logs, with rimworld and players in it")
	heldOut := flags.Bool("held", false, "measure also logs on which nothing is developed")
	misses := flags.Bool("misses", false, "list what briefs do not have")
	if err := flags.Parse(args); err != nil {
		return err
	}
	set, err := rules.Compile(rules.Defaults()...)
	if err != nil {
		return err
	}
	q, err := measure(folders{captures: *captures, players: filepath.Join(*data, "players"), heldOut: *heldOut}, set)
	if err != nil {
		return err
	}
	logs, err := logsIn(*captures, filepath.Join(*captures, "../families"), filepath.Join(*data, "rimworld"),
		filepath.Join(*data, "players"))
	if err != nil {
		return err
	}
	named, notNamed, err := measureNamed(logs, filepath.Join(*data, "rimworld"), set)
	if err != nil {
		return err
	}
	text := q.String() + named.String()
	if *misses {
		text = strings.Join(append(append(q.misses, notNamed...), text), "\n")
	}
	_, err = io.WriteString(stdout, text)
	return err
}
