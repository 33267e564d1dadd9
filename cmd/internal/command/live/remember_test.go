package live

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// fillHistory makes a history of thirteen sessions: from the tenth on ExampleMod is there, and saving fails. With a
// text, that is what it says.
func fillHistory(file, says string) (err error) {
	first := time.Date(2026, 1, 1, 20, 0, 0, 0, time.Local)
	ctx := context.Background()
	h, err := history.Open(ctx, history.Config{Path: file, Now: func() time.Time { return first.AddDate(0, 1, 0) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	mods := []capture.ListedMod{{Mod: blame.Mod{Name: "Core"}}, {Mod: blame.Mod{Name: "Roads"}, Versions: "1.0"}}
	for n := range 13 {
		at := first.AddDate(0, 0, n)
		s := &summary.Session{
			Version: summary.Version, Signatures: signature.Version, Began: at.Add(-90 * time.Minute), State: "healthy",
			Headline: "No problem was found.", Lines: 400 + n, Records: 300, Complete: true,
			Facts: capture.Facts{Game: "Colony 1.2.3"},
			Log:   summary.Log{Name: "Player.log", Bytes: 9, Hash: summary.Hash(n)},
		}
		if n == 5 {
			mods = []capture.ListedMod{mods[0], {Mod: mods[1].Mod, Versions: "1.1"}}
		}
		if n == 9 {
			mods = append(mods, capture.ListedMod{Mod: blame.Mod{Name: "ExampleMod"}})
		}
		if n >= 9 {
			s.State, s.Headline = "broken", "Broken since line 87."+says
			s.Groups = []summary.Group{{
				Signature: 0x6a9e85b89ab77698, Template: "Could not save <*>", Sample: "Could not save Colony17" + says,
				Disposition: event.Blocking, Severity: event.SeverityError, Rule: "saving.failed" + says,
				Count: 3, First: 87, Last: 99,
			}}
		}
		s.Groups = append(s.Groups, summary.Group{
			Signature: 1, Template: "Loading <*>", Rule: "default", Count: uint64(20 + n), First: 1, Last: 80,
			Sample: "Loading maps",
		})
		s.Mods = mods
		if _, err := h.Remember(ctx, s, at, false); err != nil {
			return err
		}
	}
	return nil
}

// fillHistoryMain is a program of scripts.
func fillHistoryMain() {
	if err := fillHistory(os.Args[1], strings.Join(os.Args[2:], " ")); err != nil {
		panic(err)
	}
}

// TestKept: what could not be written is written later, and what a person had forgotten is not remembered again.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "h.db")
	require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
	k := &keeper{path: path, opened: []string{"1"}, h: &host{
		program: newProgram(nil, io.Discard, io.Discard), losses: map[string]error{},
		session: testkit.Must(session.New(session.Config{})), log: slog.New(slog.DiscardHandler),
	}}
	sessions := func() int { return len(testkit.Must(k.history.Sessions(t.Context(), "", 0))) }
	run := kept{gameRun: &gameRun{}, summary: &summary.Session{Version: summary.Version}, at: time.Now()}
	k.ended = []kept{run}
	require.NoError(t, k.close())
	require.ErrorContains(t, k.h.losses["history.stopped"], "nothing is remembered: ")
	require.NoError(t, os.Remove(filepath.Dir(path)))
	require.True(t, k.opens())
	require.NoError(t, k.history.Close())
	require.NoError(t, k.close())
	require.ErrorContains(t, k.h.losses["history.stopped"], "closed", "a session that was not remembered at the end is an error")
	require.Len(t, k.ended, 1)
	k.history = nil
	k.write()
	require.Empty(t, k.h.losses)
	require.Empty(t, k.ended)
	require.Empty(t, k.opened)
	require.Equal(t, 1, sessions())
	testkit.Must(k.history.Forget(t.Context(), history.Which{All: true}))
	for range 2 {
		require.NoError(t, k.put(&run))
		require.Zero(t, sessions())
	}
	run.gameRun = &gameRun{}
	require.NoError(t, k.put(&run))
	require.Equal(t, 1, sessions())
	require.NoError(t, k.close())
}
