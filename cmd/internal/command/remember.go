package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// HistoryOff is the value of --history with which nothing is remembered.
const HistoryOff = "off"

// RememberFlags say whether sessions are remembered, and where.
type RememberFlags struct {
	Remember bool
	History  string
}

// History stores sessions and answers questions about them.
type History interface {
	Remember(ctx context.Context, s *summary.Session, at time.Time, running bool) (int64, error)
	Known(ctx context.Context, s *summary.Session, group signature.ID, language ...map[string]string) (string, error)

	// Ledger returns the ledger of earlier sessions that a brief of a session reads.
	Ledger(of func() *summary.Session) briefing.Ledger

	Close() error
}

// existing opens the history that there is, for reading, and returns nil where there is none.
func (p *program) existing(ctx context.Context, path string) History {
	if path == HistoryOff || p.host.History == nil {
		return nil
	}
	path, err := files.History(path, p.Getenv)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil
	}
	h, err := p.host.History(ctx, path)
	if err != nil {
		p.Note("what is remembered is not read: %v", err)
		return nil
	}
	return h
}

// register adds the flags to a command.
func (f *RememberFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.Remember, "remember", false, "remember what is read as a session of the game, whatever the log; =false: nothing (default: a game's own log, on a terminal, once you agree)")
	flags.StringVar(&f.History, "history", "", "keep what is remembered in `FILE`, off for nowhere (default: in the user's data folder)")
}

// RegisterLive adds the flags to a command for a running game.
func (f *RememberFlags) RegisterLive(cmd *cobra.Command) {
	f.register(cmd)
	cmd.Flags().Lookup("remember").Usage = "remember the session, as it runs"
}

// registerMemory adds the flags to a command of a program with a history.
func (p *program) registerMemory(cmd *cobra.Command) {
	if p.host.History != nil {
		p.remember.register(cmd)
	}
}

// memory is the history, while logs are read.
type memory struct {
	History

	all bool // not only logs at the games' own places
}

// remembers opens the history if the logs are to be remembered, and returns nil otherwise. If the history cannot be
// opened, the logs are still read. With asks, it asks a person who has not answered before.
func (p *program) remembers(ctx context.Context, names []string, asks bool) *memory {
	f := &p.remember
	if p.host.History == nil {
		return nil
	}
	refused := p.Settings.Value("remember").Origin != settings.Default
	if !f.Remember && (refused || !slices.ContainsFunc(names, files.IsGames)) || f.History == HistoryOff {
		return nil
	}
	path, err := files.History(f.History, p.Getenv)
	if err == nil && !f.Remember && !p.agrees(ctx, path, asks) {
		return nil
	}
	var h History
	if err == nil {
		h, err = p.host.History(ctx, path)
	}
	if err != nil {
		p.Note("nothing is remembered: %v", err)
		return nil
	}
	return &memory{h, f.Remember}
}

// agrees reports whether the person at the terminal agrees to a history in a file: the file exists, or the person
// agrees now. It does not ask again after a refusal. Without a terminal it returns false.
func (p *program) agrees(ctx context.Context, path string, asks bool) bool {
	in, ok := p.Stdin.(*os.File)
	if !ok || !cli.IsTerminal(in) || !cli.IsTerminal(p.Stdout) || !cli.IsTerminal(p.Stderr) || p.Quiet {
		return false
	}
	refused := path + ".refused" // wins: --remember makes a history for one log, too
	if _, err := os.Stat(refused); err == nil {
		return false
	}
	if _, err := os.Stat(path); err == nil || !asks {
		return err == nil
	}
	_, _ = fmt.Fprintf(p.Stderr, "Remember sessions, to say later since when something happens, and with which mods?\n"+
		"Only on this computer, without private names: %s [y/n] ", text.Safe(path, 0))
	answered := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(io.LimitReader(in, 100)).ReadString('\n') // none is no answer
		answered <- strings.ToLower(strings.TrimSpace(answer))
	}()
	answer := ""
	select {
	case answer = <-answered:
	case <-ctx.Done():
	}
	switch answer {
	case "y", "yes":
		p.Note("what is read is remembered; heed history shows it, and remember: false in your file of settings ends it")
		return true
	case "n", "no":
		err := os.MkdirAll(filepath.Dir(refused), 0o700)
		if err == nil {
			err = os.WriteFile(refused, nil, 0o600)
		}
		if err == nil {
			p.Note("nothing is remembered, and you are not asked again; --remember does it for one log, remember: true in " +
				"your file of settings for all")
			return false
		}
		p.Note("nothing is remembered, and you will be asked again: %v", err)
	default:
		p.Note("nothing is remembered, and you will be asked again: answer y or n")
	}
	return false
}

// remembered is a log while it is read.
type remembered struct {
	*summary.Hasher

	scrub   *report.Scrubber
	session *summary.Session // once it was read
}

// begin returns a log to be remembered, and the writer that must get its bytes, or nil and nil.
func (m *memory) begin(p *program, name string, scrub *report.Scrubber) (*remembered, io.Writer) {
	if m == nil || !m.all && !files.IsGames(name) {
		return nil, nil
	}
	if scrub == nil {
		scrub = OwnScrubber(p.Getenv, false)
	}
	r := &remembered{Hasher: summary.NewHasher(), scrub: scrub}
	return r, r
}

// end remembers a log that was read to its end.
func (m *memory) end(ctx context.Context, p *program, r *remembered, name string, rep *report.Replay, set *rules.Set) {
	s := replay.Summarize(rep, r.scrub, set, r.Log(name))
	if s.Log.Bytes == 0 {
		return // an empty log is of no session
	}
	at := s.Ended
	if at.IsZero() {
		at = p.written(name)
	}
	if _, err := m.Remember(ctx, s, at, false); err != nil {
		p.Note("%s is not remembered: %v", name, err)
		return
	}
	r.session = s
}

// written returns when a log was written last, or now where that is not known.
func (p *program) written(name string) time.Time {
	if info, err := os.Stat(name); err == nil {
		return info.ModTime()
	}
	return p.Now()
}

// known returns a sentence from the history about a group of a remembered log.
func (m *memory) known(ctx context.Context, p *program, r *remembered, group signature.ID) string {
	if r.session == nil {
		return ""
	}
	known, err := m.Known(ctx, r.session, group, p.language())
	if err != nil {
		p.Detail("the history does not answer: %v", err)
	}
	return known
}

// close closes the history, if there is one.
func (m *memory) close() {
	if m != nil {
		_ = m.Close() // all sessions are committed
	}
}
