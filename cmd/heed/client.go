package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/gabp"
)

// tokenEnv is the environment variable with the token of a heed that runs.
const tokenEnv = "HEED_TOKEN"

// clientName is what the commands that talk to a running heed call themselves. They
// are people who look on, and not the agent.
const clientName = "heed-cli"

// askTimeout bounds each question to a running heed.
const askTimeout = 10 * time.Second

// clientFlags say which heed is meant.
type clientFlags struct {
	state string
	addr  string
	game  string
	pid   int
	json  bool
}

func (f *clientFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.state, "state", "", "look for a running heed in `DIR`")
	flags.StringVar(&f.addr, "addr", "", "talk to the heed at `ADDR`, with the token in "+tokenEnv+" or "+gabp.EnvToken)
	flags.StringVar(&f.game, "game", "", "the heed of the game with this `ID`")
	flags.IntVar(&f.pid, "pid", 0, "the heed that is this process")
	flags.BoolVar(&f.json, "json", false, "print JSON")
}

// connect says hello to the heed that is meant.
func (p *program) connect(ctx context.Context, f *clientFlags) (*gabp.Client, error) {
	dial := func(address, token string) (*gabp.Client, error) {
		return gabp.Dial(ctx, address, gabp.ClientConfig{
			Token: token, Name: clientName, Version: version(),
			// heed holds a welcome back until the game's mod is there.
			Limits: gabp.Limits{HelloTimeout: askTimeout, RequestTimeout: tailWait + askTimeout},
		})
	}
	if f.addr != "" {
		token := cmp.Or(p.getenv(tokenEnv), p.getenv(gabp.EnvToken))
		if token == "" {
			return nil, failed(exitUsage, fmt.Errorf("--addr needs the token in %s", tokenEnv))
		}
		client, err := dial(f.addr, token)
		if err != nil {
			return nil, failed(exitNone, err)
		}
		return client, nil
	}
	dir := stateDir(f.state)
	if dir == "" {
		var err error
		if dir, err = defaultState(p.getenv); err != nil {
			return nil, failed(exitUsage, err)
		}
	}
	runs, err := dir.running()
	if err != nil {
		return nil, failed(exitNone, err)
	}
	var found []*gabp.Client
	var names []string
	var refused error
	for _, r := range runs {
		if f.pid != 0 && r.PID != f.pid || f.game != "" && r.Game != f.game {
			continue
		}
		client, err := dial(r.Address, r.Token)
		if errors.Is(err, syscall.ECONNREFUSED) { // it was killed: it listens before it leaves word
			_ = os.Remove(dir.runPath(r.PID))
			continue
		}
		if err != nil {
			refused = errors.Join(refused, fmt.Errorf("process %d: %w", r.PID, err))
			continue
		}
		found = append(found, client)
		names = append(names, fmt.Sprintf("--pid %d (%s %s)", r.PID, r.Command, r.Game))
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if refused != nil {
			return nil, failed(exitNone, refused)
		}
		return nil, failed(exitNone, fmt.Errorf("no running heed was found in %s", dir))
	}
	for _, client := range found {
		_ = client.Close()
	}
	return nil, failed(exitUsage, fmt.Errorf("several are running: use %s", strings.Join(names, " or ")))
}

// clientCommand makes a command that talks to a running heed.
func (p *program) clientCommand(cmd *cobra.Command, f *clientFlags, ask func(ctx context.Context, c *gabp.Client, args []string) error) *cobra.Command {
	f.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := untilInterrupted(cmd.Context())
		defer stop()
		client, err := p.connect(ctx, f)
		if err != nil {
			return err
		}
		defer client.Close() //nolint:errcheck // what was asked was answered
		err = ask(ctx, client, args)
		if e, ok := errors.AsType[*gabp.Error](err); ok && e.Code == gabp.CodeMethodNotFound {
			return failed(exitNone, fmt.Errorf("this heed does not answer that: %w", err))
		}
		if _, ok := errors.AsType[*statusError](err); err != nil && !ok && ctx.Err() == nil {
			return failed(exitNone, err)
		}
		return err
	}
	return cmd
}

// printJSON prints a value as JSON, on a line.
func (p *program) printJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(append(data, '\n'))
	return err
}

func (p *program) printf(format string, args ...any) {
	// A reader that is gone ends the program by its own signal.
	_, _ = fmt.Fprintf(p.stdout, format, args...)
}

func (p *program) currentCommand() *cobra.Command {
	var f clientFlags
	return p.clientCommand(&cobra.Command{
		Use:   "current",
		Short: "Prints what a running heed wants to be looked at first",
		Args:  cobra.NoArgs,
	}, &f, func(ctx context.Context, c *gabp.Client, _ []string) error {
		var r gabp.CurrentResult
		if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &r); err != nil {
			return err
		}
		if r.Attention != nil && r.Attention.Blocking {
			p.status = exitFinding
		}
		if f.json {
			return p.printJSON(r)
		}
		p.printItem(r.Attention)
		return nil
	})
}

func (p *program) ackCommand() *cobra.Command {
	var f clientFlags
	return p.clientCommand(&cobra.Command{
		Use:   "ack ID",
		Short: "Acknowledges an item of a running heed",
		Args:  oneArg("the item to acknowledge; \"heed current\" shows its id"),
	}, &f, func(ctx context.Context, c *gabp.Client, args []string) error {
		var r gabp.AckResult
		// An acknowledgement is up to what was shown: this client has to be shown it.
		if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, nil); err != nil {
			return err
		}
		if err := c.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: args[0]}, &r); err != nil {
			return err
		}
		if !r.Acknowledged {
			p.status = exitFinding
		}
		if f.json {
			return p.printJSON(r)
		}
		if r.Acknowledged {
			p.printf("%s is acknowledged\n", r.AttentionID)
		} else {
			p.printf("%s is not open\n", r.AttentionID)
		}
		p.printItem(r.CurrentAttention)
		return nil
	})
}

// printItem prints an item. A server of heed's has made its texts harmless; another
// may be at the address.
func (p *program) printItem(a *gabp.Attention) {
	if a == nil {
		p.printf("nothing is open\n")
		return
	}
	kind := "advisory"
	if a.Blocking {
		kind = "BLOCKING"
	}
	p.printf("%s  %s  %s\n  %s\n", safe(a.AttentionID), kind, safe(a.Severity), safe(a.Summary))
	if a.StateInvalidated {
		p.printf("  what was known of the game's state may not hold: read it again\n")
	}
	for _, s := range a.Sample {
		p.printf("  %6d × %-7s %s\n", s.RepeatCount, safe(s.Level), safe(s.Message))
	}
}
