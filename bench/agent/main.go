// Command agent lets scripted agents act on a game whose tools say "success" while
// its log has faults, under three policies side by side:
//
//	none     the log is not read
//	errors   the game's mod blocks on each line that is logged as an error, as mods
//	         with a policy of their own do; it is given the true levels
//	heed     heed wrap before the game's command; it sees the log file alone
//
// The game is a process of its own, which speaks GABP. Faults are planted at known
// calls; they show during a call, right after its reply, as a flood, or late, in the
// middle of a later call's time. The game counts what no agent can know: the calls
// that acted on a state that was broken and not read again.
//
//	go run ./bench/agent -calls 400
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/heedlog/heed/gabp"
)

// The policies.
const (
	policyNone   = "none"
	policyErrors = "errors"
	policyHeed   = "heed"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// result is how one policy did.
type result struct {
	Policy     string       `json:"policy"`
	Executed   int          `json:"executed"`
	Incidents  int          `json:"incidents"`
	StaleShown int          `json:"staleCallsShown"` // on a fault that showed before the call was made
	StaleLate  int          `json:"staleCallsLate"`  // on one that showed while a call was under way
	ToStopMs   float64      `json:"msToStopMedian"`
	Unnoticed  int          `json:"foundByHabit"`
	FalseStops int          `json:"falseStops"`
	Acks       int          `json:"acks"`
	Bytes      int          `json:"attentionBytes"`
	Stale      map[kind]int `json:"staleCalls"`
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	calls := flags.Int("calls", 400, "let each agent make `N` calls")
	seed := flags.Uint64("seed", 1, "plan by `SEED`")
	think := flags.Duration("think", 50*time.Millisecond, "let agents think for `TIME` between two calls")
	heed := flags.String("heed", "", "the heed `PROGRAM`; default: built from this tree")
	asJSON := flags.Bool("json", false, "print a line of JSON for each policy")
	game := flags.String("game", "", "be the game, with its log at `PATH`")
	only := flags.String("policy", "", "run no other `POLICY`; with -game, that of its mod")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *calls < 1 {
		return errors.New("-calls must be at least 1")
	}
	if *game != "" {
		return runGame(*seed, *calls, *game, *only)
	}
	dir, err := os.MkdirTemp("", "heed-agent-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if *heed == "" && (*only == "" || *only == policyHeed) {
		*heed = filepath.Join(dir, "heed")
		build := exec.Command("go", "build", "-o", *heed, "github.com/heedlog/heed/cmd/heed")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building heed: %w", err)
		}
	}
	t := trial{dir: dir, heed: *heed, calls: *calls, seed: *seed, think: *think}
	var results []result
	for _, p := range []string{policyNone, policyErrors, policyHeed} {
		if *only != "" && p != *only {
			continue
		}
		r, err := t.run(p)
		for again := 0; errors.Is(err, errNotUp) && again < 2; again++ { // another process can take the address first
			r, err = t.run(p)
		}
		if err != nil {
			return fmt.Errorf("policy %s: %w", p, err)
		}
		results = append(results, r)
		if *asJSON {
			if err := json.NewEncoder(stdout).Encode(r); err != nil {
				return err
			}
		}
	}
	if *asJSON {
		return nil
	}
	return table(stdout, &t, results)
}

// trial is one plan, to be run under each policy.
type trial struct {
	dir   string
	heed  string
	calls int
	seed  uint64
	think time.Duration
}

// run starts the game as a bridge does, and lets an agent act on it.
func (t *trial) run(policyName string) (res result, err error) {
	self, err := os.Executable()
	if err != nil {
		return res, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	logPath := filepath.Join(t.dir, policyName+".log")
	command := []string{
		self, "-game", logPath, "-policy", policyName, "-calls", fmt.Sprint(t.calls), "-seed", fmt.Sprint(t.seed),
	}
	if policyName == policyHeed {
		command = append([]string{
			t.heed, "wrap", "--no-config", "--log", logPath, "--state", filepath.Join(t.dir, "state"), "--",
		}, command...)
	}
	addr, err := freeAddress(ctx)
	if err != nil {
		return res, err
	}
	bridge := gabp.Bridge{Address: addr, Token: gabp.NewToken(), GameID: "colony"}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), bridge.Env()...)
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
	client, err := connect(ctx, bridge, ended)
	if err != nil {
		return res, err
	}
	defer func() { _ = client.Close() }()

	methods := client.Welcome().Capabilities.Methods
	a := &agent{client: client, think: t.think, asks: slices.Contains(methods, gabp.MethodAttentionCurrent)}
	if err := a.run(ctx, t.calls); err != nil {
		return res, err
	}
	raw, err := client.CallTool(ctx, "colony/score", nil)
	if err != nil {
		return res, err
	}
	var s score
	if err := json.Unmarshal(raw, &s); err != nil {
		return res, err
	}
	res = result{
		Policy: policyName, Executed: s.Executed, Incidents: s.Incidents, StaleLate: s.Stale[late], Stale: s.Stale,
		ToStopMs: median(a.delays), Unnoticed: a.missed, FalseStops: a.falseStops, Acks: a.acks, Bytes: a.bytes,
	}
	for k, n := range s.Stale {
		if k != late {
			res.StaleShown += n
		}
	}
	return res, nil
}

// freeAddress returns an address of the loopback interface that is free.
func freeAddress(ctx context.Context) (string, error) {
	l, err := gabp.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr := l.Addr().(*net.TCPAddr)
	return addr.String(), l.Close()
}

// errNotUp is the error for a game that ended before it accepted a connection.
var errNotUp = errors.New("the game ended before it listened; its own words are above")

// connect waits for the game to listen, or to end.
func connect(ctx context.Context, b gabp.Bridge, ended <-chan struct{}) (*gabp.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		select {
		case <-ended:
			return nil, errNotUp
		default:
		}
		c, err := gabp.Dial(ctx, b.Address, gabp.ClientConfig{
			Token: b.Token, Name: "bench-agent", Limits: gabp.Limits{HelloTimeout: 20 * time.Second},
		})
		if err == nil || ctx.Err() != nil {
			return c, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}

func table(w io.Writer, t *trial, results []result) error {
	out := fmt.Appendf(nil, "%d calls, %s apart, seed %d; %s/%s, %s\n\n",
		t.calls, t.think, t.seed, runtime.GOOS, runtime.GOARCH, runtime.Version())
	if _, err := w.Write(out); err != nil {
		return err
	}
	rows := []byte("policy\tincidents\tstale calls\t… late faults\tms to stop\t" +
		"found by habit\tfalse stops\tacks/incident\tbytes/incident\t\n")
	for _, r := range results {
		n := float64(max(r.Incidents, 1))
		rows = fmt.Appendf(rows, "%s\t%d\t%d\t%d\t%.0f\t%d\t%d\t%.2f\t%.0f\t\n",
			r.Policy, r.Incidents, r.StaleShown, r.StaleLate, r.ToStopMs, r.Unnoticed, r.FalseStops,
			float64(r.Acks)/n, float64(r.Bytes)/n)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := tw.Write(rows); err != nil {
		return err
	}
	return tw.Flush()
}
