// Package agent lets scripted agents act on a game whose tools say "success" while its log has faults. What goes wrong
// is a plan, who reads the log a policy:
//
//	none        nobody reads the log
//	naive       the game's mod blocks on each error that is logged; it is given the true levels
//	aggregator  the same, and an item that is open counts further errors and holds five of them
//	heed        heed before the game, which sees the log file alone: the agent hears of a fault on a result, or at its
//	            next call
//	steer       the same, and what blocks stops the agent's turn while it thinks, as over ACP: it is prompted again, with
//	            what it works on and the item. A call to the game is waited for, for 30 s, and then left
//	brief       the same, with a brief of 600 tokens in place of the item's summary
//	mcp         heed between the agent and a game that is a server of MCP
//	hook        heed reads the log; before a call, the agent's host asks whether it is denied, and after it for a text
//	acp         heed reads the log, and an item that blocks stops the agent's turn while it thinks. No call is held back
//
// The latter three run in virtual time only. There, no text after a call counts as "clean".
//
// naive and aggregator are models of what mods and bridges in the field do, not the programs themselves.
//
//	distinct    each fault has a site of its own
//	same, few   all faults have one site, or one of three
//	background  as distinct, and an exception comes by itself, at a rate between 1 in 3 s and 1 in 2 min, from before
//	            the agent comes or from later on
//	periodic    the same, every 31 s
//	noise       as distinct, and errors that are none are logged all the time
//	load        as distinct, and once or twice the game is loaded, with 50 faults at different sites in 20 to 60 s. A
//	            call made in the load is answered after it; the state can be read in it
//	load-late   as distinct, and a call loads the game, with a fault; the log has no end of a load, and another fault
//	            comes 60 ms after every second of the next 100 results
//	slow        as distinct, and two calls of five take 5 s to 2 min, with a line in the log every 10 s
//	nolog       as distinct, and heed looks for the log where it is not
//	variants    as background, and the faults of calls are the exception that comes by itself, with other codes
//
// One call of twenty, at random, has a fault: during the call, 0, 5, 30 or 300 ms after its result, as a flood of 150
// records after it, or 3 to 15 s after it. One of six logs as an error what is none. The agent thinks for 2 to 20 s
// before each thing it does.
//
// # What is true
//
// A fault breaks the state of the game from its first record on, until the agent reads it. A fault that breaks a state
// that still held is an incident. A call on a state that was broken before it was made is stale. A stop is false where
// the state was as it had been read.
//
// The exception that comes by itself breaks the state when it comes first, and changes nothing after that. The faults
// of a load are one incident: an agent that has read the state during the load knows that it is broken until the load
// has ended. Where faults came after that reading, the state is broken once more when the load has ended.
//
// A call was wrongly told to be clean where its result was clean although an urgent record had been written from its
// start to the mod's result, or where its final verdict is clean although one was written up to 2 s after that. Urgent
// is what the default rules do not ignore.
//
// A fault that shows right after a result, late by so much, is found on the result, before the next call, or later: the
// three counts of a cell. An idle read is one for the sake of a result that did not show anything new. A call under a
// standing item had a verdict with that reason. An agent that was stopped twenty times in a step leaves it out, so that
// some policies make fewer calls.
//
// Tokens are those of all text about attention that the agent was given, four bytes each, and of thinking that was
// stopped, which is paid for again: 50 a second. "stopped" is the latter in seconds. The time to recover is that from a
// fault that broke the state to the reading that found it; what no reading found is not in it. A turn is a step. An
// agent that is prompted thinks as before anything else it does, acknowledges and reads the state; then it thinks again
// about its step. A steer is false where the state was as it had been read, or where the item had been cleared. A call
// that was left goes on in the game, and nobody sees its result.
//
// # Running it
//
// The table is made in virtual time, since agents think and faults return in seconds and minutes; TestBars holds the
// rates of heed, at 0.15, 0.5 and 2 to 20 s of thinking, and without -seeds with few games:
//
//	HEED_TESTS=full go test ./cmd/internal/accept/agent -run Table -v -args -seeds 20 -think 500ms
//	HEED_TESTS=full go test ./cmd/internal/accept/agent -run Bars -args -seeds 20
//
// The command runs the same games, agents and plans as processes, in real time, with the program heed:
//
//	go run ./cmd/internal/accept agent -plan same -policy heed -calls 100 -think 1s
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/heedlog/heed/cmd/internal/accept/stage"
	"github.com/heedlog/heed/gabp"
)

// The policies.
const (
	policyNone       = "none"
	policyNaive      = "naive"
	policyAggregator = "aggregator"
	policyHeed       = "heed"
	policySteer      = "steer"
	policyBrief      = "brief"
	policyMCP        = "mcp"
	policyHook       = "hook"
	policyACP        = "acp"
)

var policies = []string{policyNone, policyNaive, policyAggregator, policyHeed, policySteer, policyBrief}

// ways are the policies without a bridge, ofHeed those with heed, steered those that stop the agent's turn.
var (
	ways    = []string{policyMCP, policyHook, policyACP}
	ofHeed  = append([]string{policyHeed, policySteer, policyBrief}, ways...)
	steered = []string{policySteer, policyBrief, policyACP}
)

// Run runs the command with its arguments.
func Run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	calls := flags.Int("calls", 100, "let each agent make `N` calls")
	seed := flags.Uint64("seed", 1, "plan by `SEED`")
	plan := flags.String("plan", string(planDistinct), "what goes wrong: a `PLAN`")
	only := flags.String("policy", "", "run no other `POLICY`; with -game, that of its mod")
	think := flags.Duration("think", time.Second, "let agents think for `TIME` before what they do; 0: 2 to 20 s")
	heed := flags.String("heed", "", "the heed `PROGRAM`; default: built from this tree")
	asJSON := flags.Bool("json", false, "print a line of JSON for each policy")
	game := flags.String("game", "", "be the game, with its log at `PATH`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !slices.Contains(planNames, planName(*plan)) {
		return fmt.Errorf("-plan %s: use one of %v", *plan, planNames)
	}
	if *only != "" && !slices.Contains(policies, *only) {
		return fmt.Errorf("-policy %s: use one of %v", *only, policies)
	}
	if *game != "" {
		return runGame(newPlan(planName(*plan), *seed, *calls), *seed, *game, *only)
	}
	dir, err := os.MkdirTemp("", "heed-agent-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if *heed == "" && (*only == "" || slices.Contains(ofHeed, *only)) {
		if *heed, err = stage.Heed("", dir, stderr); err != nil {
			return err
		}
	}
	t := trial{dir: dir, heed: *heed, plan: planName(*plan), calls: *calls, seed: *seed, think: pace(*think)}
	var rows []*outcome
	for _, p := range policies {
		if *only != "" && p != *only {
			continue
		}
		r, err := t.run(p)
		for again := 0; errors.Is(err, stage.ErrNotUp) && again < 2; again++ { // another process can take the address first
			r, err = t.run(p)
		}
		if err != nil {
			return fmt.Errorf("policy %s: %w", p, err)
		}
		rows = append(rows, &r)
		if *asJSON {
			if err := json.NewEncoder(stdout).Encode(r); err != nil {
				return err
			}
		}
	}
	if *asJSON {
		return nil
	}
	return table(stdout, rows)
}

// trial is one plan, to be run under each policy.
type trial struct {
	dir   string
	heed  string
	plan  planName
	calls int
	seed  uint64
	think pace
}

// run starts the game as a bridge does, and lets an agent act on it.
func (t *trial) run(policyName string) (res outcome, err error) {
	self, err := os.Executable()
	if err != nil {
		return res, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Hour)
	defer cancel()
	logPath := filepath.Join(t.dir, policyName+".log")
	command := []string{
		self, "agent", "-game", logPath, "-policy", policyName, "-plan", string(t.plan),
		"-calls", fmt.Sprint(t.calls), "-seed", fmt.Sprint(t.seed),
	}
	if slices.Contains(ofHeed, policyName) {
		followed := logPath
		if t.plan == planNoLog {
			followed += ".elsewhere"
		}
		command = append([]string{
			t.heed, "wrap", "--no-config", "--log", followed, "--state", filepath.Join(t.dir, policyName+".state"), "--",
		}, command...)
	}
	bridge, err := stage.NewBridge(ctx)
	if err != nil {
		return res, err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), stage.Env(bridge)...)
	cmd.Stderr = os.Stderr
	end, err := cmd.StdinPipe()
	if err != nil {
		return res, err
	}
	if err := cmd.Start(); err != nil {
		return res, err
	}
	ended := make(chan struct{})
	var status error
	go func() {
		status = cmd.Wait()
		close(ended)
	}()
	defer func() {
		_ = end.Close()
		<-ended
		if status != nil && err == nil {
			err = fmt.Errorf("the game: %w", status)
		}
	}()
	client, err := stage.Connect(ctx, bridge, "bench-agent", ended)
	if err != nil {
		return res, err
	}
	defer func() { _ = client.Close() }()

	methods := client.Welcome().Capabilities.Methods
	a := &agent{
		client: client, asks: slices.Contains(methods, gabp.MethodAttentionCurrent),
		random: rand.New(rand.NewPCG(t.seed, 4)), think: t.think, trace: func(string, ...any) {},
	}
	if slices.Contains(steered, policyName) {
		events, err := stage.Connect(ctx, bridge, observer, ended)
		if err != nil {
			return res, err
		}
		defer func() { _ = events.Close() }()
		if a.talk, err = converse(ctx, events, policyName, func() {}); err != nil {
			return res, err
		}
	}
	if err := a.run(ctx, t.calls); err != nil {
		return res, err
	}
	raw, err := client.CallTool(ctx, "colony/score", nil)
	if err != nil {
		return res, err
	}
	res = outcome{Plan: t.plan, Policy: policyName, Think: t.think, tally: a.tally, Wrong: -1}
	return res, json.Unmarshal(raw, &res.score)
}

// runGame is the process of the game. It ends when its standard input does.
func runGame(p *plan, seed uint64, logPath, policyName string) error {
	b, ok, err := gabp.BridgeFromEnv(os.Getenv)
	if err != nil || !ok {
		return fmt.Errorf("the game was not told where to listen: %w", err)
	}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l, err := gabp.Listen(ctx, b.Address)
	if err != nil {
		return err
	}
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	return newGame(ctx, p, seed, 0, log, policyName).serve(l, b.Token)
}
