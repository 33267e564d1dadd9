package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"regexp"

	"github.com/heedlog/heed/gabp"
)

// game is a game that logs what comes on standard input and whose mod has one tool, until it is interrupted.
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
	tools := new(gabp.Tools)
	err = gabp.AddTool(tools, gabp.Tool{Name: "colony/build", Description: "Builds."},
		func(context.Context, *gabp.Call, struct{}) (string, error) { return "built", nil })
	if err != nil {
		return err
	}
	mux := new(gabp.Mux)
	tools.Register(mux)
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: b.Token, AgentID: "colony-mod", App: gabp.App{Name: "Colony", Version: "1"}, Mux: mux,
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", b.Address)
	if err != nil {
		return err
	}
	return server.Serve(ctx, l)
}

// itemID is the id of an item in a result or a refusal.
var itemID = regexp.MustCompile(`"attentionId":"([^"]+)"`)

// wrap is a bridge that starts the game by "heed wrap", as it would start the game itself, and an agent that calls its
// tool.
func (h *host) wrap(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(addr)
	token := gabp.NewToken()
	c := exec.CommandContext(ctx, h.heed, "wrap", "--no-config", "--state", h.dir, "--log", h.log, "--linger", "1ms", "--",
		self, "-role", "game", "-log", h.log)
	c.Env = append(os.Environ(), gabp.EnvPort+"="+port, gabp.EnvToken+"="+token)
	c.Stdin, c.Stderr = h.game, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Start(); err != nil {
		return err
	}
	defer c.Wait() //nolint:errcheck // it is interrupted
	var client *gabp.Client
	for client == nil {
		client, err = gabp.Dial(ctx, addr, gabp.ClientConfig{Token: token, Name: "bridge"})
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	defer client.Close() //nolint:errcheck // the game ends
	return h.work(ctx, func(ctx context.Context, _ []string) (string, error) {
		result, err := client.CallTool(ctx, "colony/build", struct{}{})
		if refused, ok := errors.AsType[*gabp.Error](err); ok { // what a model is given of it
			return refused.Message + string(refused.Data), nil
		}
		return string(result), err
	}, func(ctx context.Context, messages []string) (string, error) {
		all := itemID.FindAllStringSubmatch(fmt.Sprint(messages), -1)
		if len(all) == 0 {
			return "", fmt.Errorf("the text does not name the item: %s", messages)
		}
		return "acknowledged", client.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: all[len(all)-1][1]}, nil)
	})
}
