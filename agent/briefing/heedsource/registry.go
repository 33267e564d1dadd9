package heedsource

import (
	"context"
	"errors"
	"strconv"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/text"
)

// environment is a [briefing.Registry] of facts about the game's run, and of its mods.
type environment struct {
	facts func() capture.Facts
	mods  func() []capture.ListedMod // nil for none
}

// Rows returns the facts, then the mods. The registry has no filters.
func (e environment) Rows(_ context.Context, _ *briefing.Input, q *briefing.RegistryQuery) (briefing.Found, error) {
	var found briefing.Found
	if len(q.Filters) > 0 {
		return found, errors.New("the registry " + registryEnvironment + " has no filters")
	}
	if f := e.facts(); f != (capture.Facts{}) {
		found.Fragments = append(found.Fragments, showEnvironment(&f))
	}
	if e.mods != nil {
		if list := e.mods(); len(list) > 0 {
			found.Fragments = append(found.Fragments, showMods(list))
		}
	}
	return found, nil
}

// fragment returns the fragment of a row.
func fragment(id, title string, lines []briefing.Line) briefing.Fragment {
	return briefing.Fragment{
		Source: briefing.SourceRegistry, SourceID: registryEnvironment + "/" + id, Title: title, Lines: lines,
		Section: "Environment",
	}
}

// showMods shows mods in load order, a line each: name, package and versions.
func showMods(mods []capture.ListedMod) briefing.Fragment {
	lines := make([]briefing.Line, len(mods))
	for i := range mods {
		m := &mods[i]
		line := strconv.Itoa(i+1) + ". " + m.Title()
		if m.PackageID != "" && m.PackageID != m.Title() {
			line += " (" + m.PackageID + ")"
		}
		if m.Versions != "" {
			line += " " + m.Versions
		}
		lines[i] = briefing.Line{Text: text.Safe(line, maxLineChars), Data: true, Kind: briefing.Hex} // ids, mostly
	}
	title := text.Count(len(mods), "mod", "mods") + ", in load order"
	return fragment("mods", title, lines)
}

// showEnvironment shows the facts that the log has about the game, its engine and the machine, without the command
// line.
func showEnvironment(f *capture.Facts) briefing.Fragment {
	var lines []briefing.Line
	for _, fact := range []string{
		f.Game, f.Engine, f.Loader, f.Platform, f.Runtime, f.Language, f.System, f.CPU, f.Memory, f.Graphics,
		f.GraphicsAPI, f.GraphicsMemory, f.GraphicsDriver,
	} {
		if fact != "" {
			lines = append(lines, briefing.Line{Text: text.Safe(fact, maxLineChars), Data: true})
		}
	}
	return fragment("facts", "where the game runs, as its log says", lines)
}
