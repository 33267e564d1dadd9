package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/fleet/beam/pipeline"
	"github.com/heedlog/heed/fleet/population"
)

func TestOutcome(t *testing.T) {
	c := &pipeline.Config{JSON: "a.json", HTML: "a.html", Patterns: [3][]string{{"logs/*/x.log"}}}
	r := &population.Report{Logs: 3, Players: 2, Failures: []population.Failure{{}}, MoreFailures: 1}
	require.Equal(t, "3 logs of 2 players read, 2 failures; the report is in a.json, a.html; a player is a folder in logs/",
		outcome(c, r))
	r.Players, c.HTML = 1, ""
	require.Contains(t, outcome(c, r), "in a.json; a player is a folder in logs/, so that all logs are of one: ")
	c.Player = "x"
	require.Contains(t, outcome(c, r), "players are by --player")
}

func TestProgress(t *testing.T) {
	require.Equal(t, "3 logs with 12 MB read so far", progress(3, 12_345_678))
}

func TestCause(t *testing.T) {
	require.Equal(t, "disk full", cause(errors.New("job failed:\n1: DataSource\n\tcaused by:\ndisk full\n")))
}
