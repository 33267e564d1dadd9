package heedsource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
)

// The bounds of one row.
const (
	maxRows      = 1000 // of an answer, where the query has no bound
	maxArguments = 24   // of a tool
)

// registry is a [briefing.Registry] over rows in a fixed order.
type registry[T any] struct {
	filters []string // that it has
	rows    func() []T
	is      func(row *T, filter, value string) bool
	show    func(rows []T, i int) briefing.Fragment
}

// Rows returns the rows that satisfy all filters, in order: as many as fit, and the beginning of the next.
func (r *registry[T]) Rows(ctx context.Context, in *briefing.Input, q *briefing.RegistryQuery) (briefing.Found, error) {
	var found briefing.Found
	names := slices.Sorted(maps.Keys(q.Filters))
	for _, name := range names {
		if !slices.Contains(r.filters, name) {
			return found, unknownFilter(name, r.filters)
		}
	}
	limit, left := cmp.Or(q.MaxRows, maxRows), in.Tokens
	rows := r.rows()
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return briefing.Found{}, err
		}
		if slices.ContainsFunc(names, func(name string) bool { return !r.is(&rows[i], name, q.Filters[name]) }) {
			continue
		}
		if len(found.Fragments) == limit {
			found.More = true
			break
		}
		f := r.show(rows, i)
		found.Fragments = append(found.Fragments, f) // the last is cut at a line
		if left -= cost(in, &f); left < 0 && in.Tokens > 0 {
			found.More = true
			break
		}
	}
	return found, nil
}

// registrySections are the headings of rows in Markdown.
var registrySections = map[string]string{
	registryEnvironment: "Environment", registryMods: "Mod", registryTools: "Tool",
}

// fragment returns the fragment of a row.
func fragment(registry, id, title string, lines []briefing.Line) briefing.Fragment {
	return briefing.Fragment{
		Source: briefing.SourceRegistry, SourceID: registry + "/" + escaped(id), Title: title, Lines: lines,
		Section: registrySections[registry],
	}
}

// toolRegistry has the tools of a game, in the order of its list.
func toolRegistry(tools func() []Tool) briefing.Registry {
	return &registry[Tool]{
		filters: []string{"name", "contains"},
		rows:    tools,
		is: func(t *Tool, filter, value string) bool {
			if filter == "name" {
				return t.Name == value
			}
			return strings.Contains(t.Name, value) || strings.Contains(t.Description, value)
		},
		show: func(rows []Tool, i int) briefing.Fragment { return showTool(&rows[i]) },
	}
}

// showTool shows a tool. What it does and which arguments it has is the game's own text: data.
func showTool(t *Tool) briefing.Fragment {
	lines, _ := quoted(nil, t.Description, maxMessageLines, briefing.Prose)
	title := "tool " + named(t.Name)
	arguments, known := argumentsOf(t.Schema)
	switch {
	case !known:
		title += ": its arguments are not known"
	case len(arguments) == 0:
		title += ": no arguments"
	default:
		title += ": " + text.Count(len(arguments), "argument", "arguments")
	}
	for _, a := range arguments[:min(len(arguments), maxArguments)] {
		lines = append(lines, briefing.Line{Text: a.line(), Data: true, Kind: briefing.Stack})
	}
	if more := len(arguments) - maxArguments; more > 0 {
		lines = append(lines, briefing.Line{Text: "and " + text.Count(more, "more argument", "more arguments")})
	}
	f := fragment(registryTools, t.Name, title, lines)
	f.Refs = map[string]string{"method": t.Name}
	return f
}

// argument is an argument of a tool, as its schema describes it.
type argument struct {
	name     string
	required bool
	schema   json.RawMessage
}

// argumentsOf returns the arguments of a schema, the required ones first, in its order, then the others by name; false
// where it does not say which there are.
func argumentsOf(schema []byte) (arguments []argument, known bool) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Type       any                        `json:"type"`
	}
	if json.Unmarshal(schema, &s) != nil || s.Properties == nil && s.Type != "object" {
		return nil, false
	}
	for _, name := range s.Required {
		if schema, ok := s.Properties[name]; ok {
			arguments = append(arguments, argument{name, true, schema})
			delete(s.Properties, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		arguments = append(arguments, argument{name, false, s.Properties[name]})
	}
	return arguments, true
}

func (a *argument) line() string {
	var b bytes.Buffer
	b.WriteString(text.Safe(a.name, maxNameChars))
	if a.required {
		b.WriteString(" (required)")
	}
	b.WriteString(": ")
	if json.Compact(&b, a.schema) != nil {
		panic("BUG: heedsource: JSON that was read is not JSON")
	}
	return text.Safe(b.String(), maxLineChars)
}

// modRegistry has the mods that a game runs with, in load order.
func modRegistry(mods func() []capture.ListedMod) briefing.Registry {
	return &registry[capture.ListedMod]{
		filters: []string{"mod"},
		rows:    mods,
		is: func(m *capture.ListedMod, _, value string) bool {
			key := blame.Key(value)
			return key != "" && (blame.Key(m.Name) == key || blame.Key(m.PackageID) == key)
		},
		show: func(rows []capture.ListedMod, i int) briefing.Fragment { return showMod(&rows[i], i+1, len(rows)) },
	}
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
	f := fragment(registryMods, cmp.Or(m.PackageID, m.Name), title, lines)
	f.Refs = map[string]string{"blame": m.Title()}
	return f
}

// environmentRegistry has where the game runs, and the mods that it runs with.
func environmentRegistry(facts func() capture.Facts, mods func() []capture.ListedMod) briefing.Registry {
	return &registry[briefing.Fragment]{
		rows: func() (rows []briefing.Fragment) {
			if f := facts(); f != (capture.Facts{}) {
				rows = append(rows, showEnvironment(&f))
			}
			if mods != nil {
				if list := mods(); len(list) > 0 {
					rows = append(rows, showMods(list))
				}
			}
			return rows
		},
		is:   func(*briefing.Fragment, string, string) bool { return true },
		show: func(rows []briefing.Fragment, i int) briefing.Fragment { return rows[i] },
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
	return fragment(registryEnvironment, registryMods, text.Count(len(mods), "mod", "mods")+", in load order", lines)
}

// showEnvironment shows what the log says of the game, its engine and the machine, without the command line.
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
	return fragment(registryEnvironment, "facts", "where the game runs, as its log says", lines)
}
