package steering

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"

	"github.com/heedlog/heed/cmd/internal/accept/stage"
	"github.com/heedlog/heed/gabp"
)

// game is a game that logs its standard input and whose mod has one tool, until it is interrupted.
func game(path string) error {
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(log, os.Stdin) }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b, _, err := gabp.BridgeFromEnv(os.Getenv)
	if err != nil {
		return err
	}
	l, err := gabp.Listen(ctx, b.Address)
	if err != nil {
		return err
	}
	tools, mux := &gabp.Tools{}, &gabp.Mux{}
	tool := gabp.Tool{Name: "colony/build", Description: "builds"}
	err = tools.Add(tool, func(context.Context, *gabp.Call) (any, error) {
		return map[string]bool{"done": true}, nil
	})
	if err != nil {
		return err
	}
	tools.Register(mux)
	app := gabp.App{Name: "Colony", Version: "1"}
	mod, err := gabp.NewServer(gabp.ServerConfig{Token: b.Token, AgentID: "mod", App: app, Mux: mux})
	if err != nil {
		return err
	}
	return mod.Serve(ctx, l)
}

// itemID is the id of an item in a result or a refusal.
var itemID = regexp.MustCompile(`"attentionId":"([^"]+)"`)

// wrap is a bridge that starts the game by "heed wrap", as it would start the game itself, and an agent that calls its
// tool.
func (h *host) wrap(ctx context.Context) error {
	bridge, err := stage.NewBridge(ctx)
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, h.heed, "wrap", "--no-config", "--state", h.dir, "--log", h.log, "--linger", "1ms", "--",
		h.self, "steering", "-role", "game", "-log", h.log)
	c.Env = append(os.Environ(), stage.Env(bridge)...)
	c.Stdin, c.Stderr = h.game, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Start(); err != nil {
		return err
	}
	defer c.Wait() //nolint:errcheck // it is interrupted
	client, err := stage.Connect(ctx, bridge, "bridge")
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	defer client.Close() //nolint:errcheck // the game ends
	return h.work(ctx, func(ctx context.Context, _ []string) (string, error) {
		result, err := client.CallTool(ctx, "colony/build", struct{}{})
		if refused, ok := errors.AsType[*gabp.Error](err); ok { // as a model gets it
			return refused.Message + string(refused.Data), nil
		}
		return string(result), err
	}, func(ctx context.Context, messages []string) (string, error) {
		m, err := last(itemID, fmt.Sprint(messages))
		if err != nil {
			return "", err
		}
		return "acknowledged", client.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: m[1]}, nil)
	})
}
