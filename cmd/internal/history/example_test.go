package history_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// A group is new since a mod was added.
func Example() {
	dir, err := os.MkdirTemp("", "history")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	ctx := context.Background()
	day := time.Date(2026, 11, 1, 20, 0, 0, 0, time.UTC)
	h, err := history.Open(ctx, history.Config{
		Path: filepath.Join(dir, "history.db"), Now: func() time.Time { return day.AddDate(0, 1, 0) },
	})
	if err != nil {
		panic(err)
	}
	defer h.Close() //nolint:errcheck // it was read from last

	mods := []capture.ListedMod{{Mod: blame.Mod{Name: "Core"}}}
	for n := range 13 {
		s := &summary.Session{
			Version: summary.Version, State: "healthy", Signatures: signature.Version, Complete: true,
			Facts: capture.Facts{Game: "Colony 1.2.3"}, Log: summary.Log{Name: "Player.log", Bytes: 1, Hash: summary.Hash(n)},
		}
		if n == 9 {
			mods = append(mods, capture.ListedMod{Mod: blame.Mod{Name: "ExampleMod"}})
		}
		if n >= 9 {
			s.State = "broken"
			s.Groups = []summary.Group{{Signature: 7, Template: "cannot save <*>", Count: 1}}
		}
		s.Mods = mods
		if _, err := h.Remember(ctx, s, day.AddDate(0, 0, n), false); err != nil {
			panic(err)
		}
	}
	now := &summary.Session{Facts: capture.Facts{Game: "Colony 1.2.3"}, Mods: mods, Signatures: signature.Version}
	fmt.Println(h.Known(ctx, now, 7))
	// Output:
	// suspect: ExampleMod, in 4 of 4 sessions with it and in 0 of 9 without; it changed only once, so anything else that changed then looks the same; new since 10 November, when ExampleMod was added <nil>
}
