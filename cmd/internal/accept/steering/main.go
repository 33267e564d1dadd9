// Package steering measures how soon a line of a game's log is in a request to the model of a working agent, and
// whether it is in the next request, for each way in which heed delivers. The programs are real: heed, a host or an
// editor, an agent and a server of tools. The endpoint of the model is a stub, which thinks for a while and then
// asks for a tool.
//
//	go run ./cmd/internal/accept steering -incidents 100
//
// An incident is an exception from a site of its own, logged at a random moment while the agent works. It is found
// where its text is in the body of a request. The next request is the first that begins after the line was written
// and that the model answers: a request of a canceled turn leads to nothing. The agent acknowledges each incident
// before the next comes.
//
//	asks  the agent asks heed every 20 steps, and is told of nothing
//	wrap  "heed wrap" between a bridge, in which the agent works, and a game
//	hook  "heed hook" before and after each tool, as Claude Code calls it
//	mcp   "heed mcp" between the host and a server
//	acp   "heed acp" between an editor and an agent: the turn is canceled, and prompted again
package steering

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed/cmd/internal/accept/stage"
)

// adapters are the ways of delivery, in the order of the table.
var adapters = []string{"asks", "wrap", "hook", "mcp", "acp"}

// Run runs the command with its arguments.
func Run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("steering", flag.ContinueOnError)
	flags.SetOutput(stderr)
	incidents := flags.Int("incidents", 100, "write `N` lines for each way")
	think := flags.Duration("think", 50*time.Millisecond, "let the model think for `TIME`")
	heed := flags.String("heed", "", "the heed `PROGRAM`; default: built from this tree")
	only := flags.String("only", "", "try no other `WAY`")
	role := flags.String("role", "", "be the agent, the server or the game")
	model := flags.String("model", "", "with -role agent: the `URL` of the model")
	logs := flags.String("log", "", "with -role game: write what comes on standard input to `FILE`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch *role {
	case "agent":
		return agent(*model, os.Stdin, os.Stdout)
	case "server":
		return serve(os.Stdin, os.Stdout, server)
	case "game":
		return game(*logs)
	}
	dir, err := os.MkdirTemp("", "heed-steering-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if *heed, err = stage.Heed(*heed, dir, stderr); err != nil {
		return err
	}
	rows := []byte("way\tincidents\tin the next request %\ttime to it, p50 ms\tp95 ms\t\n")
	for _, name := range adapters {
		if *only != "" && name != *only {
			continue
		}
		r, err := try(name, *heed, filepath.Join(dir, name), *incidents, *think)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n := len(r.after)
		rows = fmt.Appendf(rows, "%s\t%d\t%.1f\t%d\t%d\t\n", name, n, 100*float64(r.next)/float64(n),
			r.percentile(50).Milliseconds(), r.percentile(95).Milliseconds())
	}
	return stage.Table(stdout, rows)
}

// result is what one way did.
type result struct {
	next  int             // incidents that were in the next request
	after []time.Duration // from the line to the request that had it
}

func (r *result) percentile(p int) time.Duration {
	slices.Sort(r.after)
	return r.after[min(len(r.after)-1, len(r.after)*p/100)]
}

// endpoint is the stub of a model.
type endpoint struct {
	*httptest.Server
	think time.Duration

	mu      sync.Mutex
	text    string // of the incident that is open, "" for none
	written time.Time
	missed  bool // a request that began after it was written was answered without it
	result  result
	found   chan struct{}
	begun   chan struct{} // closed when the agent asks for the first time
}

// request is a request of an agent to the model: the latest texts of its conversation.
type request struct {
	Messages []string `json:"messages"`
}

// reply is an answer of the model: a tool, and for "ack" the text that asked for it.
type reply struct {
	Tool string `json:"tool"`
}

func newEndpoint(think time.Duration) *endpoint {
	e := &endpoint{think: think, found: make(chan struct{}, 1), begun: make(chan struct{})}
	begin := sync.OnceFunc(func() { close(e.begun) })
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin()
		began := time.Now()
		var q request
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		tool := "build"
		if e.look(strings.Join(q.Messages, "\n"), began) {
			tool = "ack"
		}
		select {
		case <-r.Context().Done(): // the turn was canceled
			return
		case <-time.After(e.think):
		}
		e.answered(began)
		_ = json.NewEncoder(w).Encode(reply{tool})
	}))
	return e
}

// look looks for the open incident in a request, and reports whether it is there.
func (e *endpoint) look(text string, at time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text == "" || at.Before(e.written) {
		return false
	}
	if !strings.Contains(text, e.text) {
		return false
	}
	if !e.missed {
		e.result.next++
	}
	e.result.after = append(e.result.after, at.Sub(e.written))
	e.text = ""
	return true
}

// answered records that a request is answered that began at a time.
func (e *endpoint) answered(began time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text != "" && !began.Before(e.written) {
		e.missed = true
	}
}

// acked takes note that the agent has acknowledged the incident, and made a call since.
func (e *endpoint) acked() { e.found <- struct{}{} }

// write logs an incident.
func (e *endpoint) write(lines io.Writer, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := fmt.Fprintf(lines, "Exception ticking %[1]s: System.NullReferenceException: Object reference not set\n"+
		"  at Colony.%[1]s.Tick () [0x00010] in <5a0c7e11d2f34b6885a0c7e11d2f34b6>:0 \n"+
		"  at Verse.TickList.Tick () [0x00024] in <24d2a0b1c3e4f5061728394a5b6c7d8e>:0 \n", text)
	if err != nil {
		return err
	}
	e.text, e.written, e.missed = text, time.Now(), false
	return nil
}

// ask asks the model for its next step.
func ask(ctx context.Context, model string, messages []string) (string, error) {
	body, err := json.Marshal(request{messages[max(0, len(messages)-6):]})
	if err != nil {
		return "", err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, model, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return "", err
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	var r reply
	return r.Tool, json.NewDecoder(res.Body).Decode(&r)
}

// try writes incidents while an agent works, and returns when each was found.
func try(name, heed, dir string, incidents int, think time.Duration) (*result, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	logPath := filepath.Join(dir, "Player.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	model := newEndpoint(think)
	defer model.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &host{heed: heed, self: self, dir: dir, log: logPath, model: model}
	var lines io.Writer = log
	if name == "wrap" { // which knows who writes the log
		in, out, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer func() { _, _ = in.Close(), out.Close() }()
		h.game, lines = in, out
	}
	if name != "mcp" && name != "wrap" {
		stop, err := h.serve(ctx)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	ways := map[string]func(context.Context) error{
		"asks": h.asks, "wrap": h.wrap, "hook": h.hooks, "mcp": h.mcp, "acp": h.acp,
	}
	worked := make(chan error, 1)
	working, stop := context.WithCancel(ctx)
	defer stop()
	go func() { worked <- ways[name](working) }()
	select { // an incident before heed follows the log would be an old one
	case err := <-worked:
		return nil, fmt.Errorf("the agent has ended: %w", err)
	case <-model.begun:
	case <-ctx.Done():
		return nil, errors.New("the agent never began")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range incidents {
		wait := 2 * think
		if n > 0 {
			wait = 2*think + time.Duration(random.Int64N(int64(3*think)))
		}
		time.Sleep(wait)
		if err := model.write(lines, word(random)); err != nil {
			return nil, err
		}
		select {
		case err := <-worked:
			return nil, fmt.Errorf("the agent has ended: %w", err)
		case <-model.found:
		case <-ctx.Done():
			return nil, errors.New("an incident was never found")
		}
	}
	stop()
	if err := <-worked; err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	return &model.result, nil
}

// word returns letters that no other incident has.
func word(r *rand.Rand) string {
	b := make([]byte, 12)
	for i := range b {
		b[i] = byte('a' + r.IntN(26))
	}
	return string(b)
}

// ackCommand is the command in a text by which an agent acknowledges.
var ackCommand = regexp.MustCompile(`heed ack (\S+) --agent (\S+) --through (\d+)`)

// last returns the last match in a text that asks to acknowledge.
func last(re *regexp.Regexp, text string) ([]string, error) {
	all := re.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil, fmt.Errorf("the text does not say how to acknowledge: %s", text)
	}
	return all[len(all)-1], nil
}

// ack runs the command of heed in a text that acknowledges.
func ack(ctx context.Context, heed, dir, text string) error {
	m, err := last(ackCommand, text)
	if err != nil {
		return err
	}
	args := []string{"ack", m[1], "--agent", m[2], "--through", m[3], "--state", dir}
	out, err := exec.CommandContext(ctx, heed, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return nil
}
