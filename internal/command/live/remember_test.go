package live

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/history"
	"github.com/heedlog/heed/signature"
	"github.com/heedlog/heed/summary"
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
