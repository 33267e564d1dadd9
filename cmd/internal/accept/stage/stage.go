// Package stage builds heed, connects to games and prints tables for the acceptance programs.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/heedlog/heed/gabp"
)

// Heed returns the path of a program heed. It builds the program from this tree into dir if path is "".
func Heed(path, dir string, stderr io.Writer) (string, error) {
	if path != "" {
		return path, nil
	}
	path = filepath.Join(dir, "heed")
	build := exec.Command("go", "build", "-o", path, "github.com/heedlog/heed/cmd/heed")
	build.Stderr = stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building heed: %w", err)
	}
	return path, nil
}

// NewBridge returns a free address of the loopback interface and a new token, for a game to be started.
func NewBridge(ctx context.Context) (gabp.Bridge, error) {
	l, err := gabp.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return gabp.Bridge{}, err
	}
	return gabp.Bridge{Address: l.Addr().String(), Token: gabp.NewToken(), GameID: "colony"}, l.Close()
}

// Env returns the environment variables of a bridge for a game that it starts, as NAME=value.
func Env(b gabp.Bridge) []string {
	return []string{
		gabp.EnvPort + "=" + strconv.Itoa(b.Port()), gabp.EnvToken + "=" + b.Token, gabp.EnvGame + "=" + b.GameID,
	}
}

// Table writes rows in aligned columns. A tab ends each cell.
func Table(w io.Writer, rows []byte) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, err := tw.Write(rows)
	return errors.Join(err, tw.Flush())
}

// Connect waits until the game listens.
func Connect(ctx context.Context, b gabp.Bridge, name string) (*gabp.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		c, err := gabp.Dial(ctx, b.Address, gabp.ClientConfig{
			Token: b.Token, Name: name, Limits: gabp.Limits{HelloTimeout: 20 * time.Second},
		})
		if err == nil || ctx.Err() != nil {
			return c, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
