package heedsource

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
)

// maxRows bounds an answer to a query without a bound.
const maxRows = 1000

// registry is a [briefing.Registry] of a few rows.
type registry struct {
	filters []string                                            // at most one
	rows    func(filters map[string]string) []briefing.Fragment // in a fixed order
}

// Rows returns the rows that satisfy the filter, in order: as many as fit, and the beginning of the next.
func (r *registry) Rows(_ context.Context, in *briefing.Input, q *briefing.RegistryQuery) (briefing.Found, error) {
	var found briefing.Found
	for _, name := range slices.Sorted(maps.Keys(q.Filters)) {
		if !slices.Contains(r.filters, name) {
			return found, unknownFilter(name, r.filters)
		}
	}
	left := in.Tokens
	for _, f := range r.rows(q.Filters) {
		if found.More = len(found.Fragments) == cmp.Or(q.MaxRows, maxRows) || in.Tokens > 0 && left < 0; found.More {
			break
		}
		left -= cost(in, &f)
		found.Fragments = append(found.Fragments, f) // the last is cut at a line
	}
	return found, nil
}

// fragment returns the fragment of a row. Its section is its heading in Markdown.
func fragment(registry, id, section, title string, lines []briefing.Line) briefing.Fragment {
	return briefing.Fragment{
		Source: briefing.SourceRegistry, SourceID: registry + "/" + escaped(id), Title: title, Lines: lines, Section: section,
	}
}

// modRegistry has the mods that a game runs with, in load order.
func modRegistry(mods func() []capture.ListedMod) briefing.Registry {
	return &registry{[]string{"mod"}, func(filters map[string]string) (rows []briefing.Fragment) {
		list, key := mods(), blame.Key(filters["mod"])
		for i := range list {
			m := &list[i]
			if filters["mod"] == "" || key != "" && (blame.Key(m.Name) == key || blame.Key(m.PackageID) == key) {
				rows = append(rows, showMod(m, i+1, len(list)))
			}
		}
		return rows
	}}
}

func showMod(m *capture.ListedMod, place, of int) briefing.Fragment {
	title := "mod " + named(m.Title())
	if m.PackageID != "" && m.PackageID != m.Title() {
		title += ", package " + named(m.PackageID)
	}
	if m.WorkshopID != "" {
		title += ", workshop " + named(m.WorkshopID)
	}
	title += fmt.Sprintf(", number %d of %d in load order", place, of)
	var lines []briefing.Line
	if m.Versions != "" {
		lines = append(lines, briefing.Line{Text: text.Safe(m.Versions, maxLineChars), Data: true, Kind: briefing.Hex})
	}
	f := fragment(registryMods, cmp.Or(m.PackageID, m.Name), "Mod", title, lines)
	f.Refs = map[string]string{"blame": m.Title()}
	return f
}

// environmentRegistry has facts about the game's run, and its mods.
func environmentRegistry(facts func() capture.Facts, mods func() []capture.ListedMod) briefing.Registry {
	return &registry{rows: func(map[string]string) (rows []briefing.Fragment) {
		if f := facts(); f != (capture.Facts{}) {
			rows = append(rows, showEnvironment(&f))
		}
		if mods != nil {
			if list := mods(); len(list) > 0 {
				rows = append(rows, showMods(list))
			}
		}
		return rows
	}}
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
	return fragment(registryEnvironment, registryMods, "Environment", title, lines)
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
	return fragment(registryEnvironment, "facts", "Environment", "where the game runs, as its log says", lines)
}
