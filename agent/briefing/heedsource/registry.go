package heedsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/text"
)

// Rows implements [briefing.Registry]: facts about the game, its engine and the machine, as the log has them, without
// the command line, then the mods in load order, each with its package and versions. The registry has no filters.
func (s *source) Rows(_ context.Context, _ *briefing.Input, q *briefing.RegistryQuery) (briefing.Found, error) {
	var found briefing.Found
	if len(q.Filters) > 0 {
		return found, errors.New("the registry " + registryEnvironment + " has no filters")
	}
	row := func(id, title string, kind briefing.Kind, texts []string) {
		f := briefing.Fragment{
			Source: briefing.SourceRegistry, SourceID: registryEnvironment + "/" + id, Title: title, Section: "Environment",
		}
		for _, s := range texts {
			if s != "" {
				f.Lines = append(f.Lines, briefing.Line{Text: text.Safe(s, maxLineChars), Data: true, Kind: kind})
			}
		}
		found.Fragments = append(found.Fragments, f)
	}
	if f := s.Environment(); f != (capture.Facts{}) {
		row("facts", "where the game runs, as its log says", briefing.Prose, []string{
			f.Game, f.Engine, f.Loader, f.Platform, f.Runtime, f.Language, f.System, f.CPU, f.Memory, f.Graphics,
			f.GraphicsAPI, f.GraphicsMemory, f.GraphicsDriver,
		})
	}
	var mods []string
	if s.Mods != nil {
		for i, m := range s.Mods() {
			line := fmt.Sprintf("%d. %s", i+1, m.Title())
			if m.PackageID != "" && m.PackageID != m.Title() {
				line += " (" + m.PackageID + ")"
			}
			if m.Versions != "" {
				line += " " + m.Versions
			}
			mods = append(mods, line)
		}
	}
	if len(mods) > 0 {
		row("mods", text.Count(len(mods), "mod")+", in load order", briefing.Hex, mods) // ids, mostly
	}
	return found, nil
}
