package bridge

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/schema"
)

// maxText bounds an argument that is text, in characters, if its parameter has no bound.
const maxText = 256

// param is a parameter of a tool. Its schema decides which values it takes, and so their types.
type param struct {
	name     string
	alias    string // another accepted name, "" for none
	required bool
	schema   schema.Schema
}

// textArg takes a text of at most so many characters.
func textArg(name string, most int, doc string) param {
	return param{name: name, schema: schema.Schema{
		Description: doc, Type: "string", MinLength: new(1), MaxLength: new(most),
	}}
}

// idArg takes the id of an item, or its number, as a text or an integer.
func idArg(name, doc string) param {
	p := textArg(name, maxText, doc)
	p.schema.Type, p.schema.Minimum, p.schema.Maximum = []string{"string", "integer"}, new(1.0), new(float64(maxInteger))
	return p
}

// oneOfArg takes one of some words.
func oneOfArg(name string, list []any, doc string) param {
	return param{name: name, schema: schema.Schema{Description: doc, Type: "string", Enum: list}}
}

// wordsArg takes a list of some words.
func wordsArg(name string, list []any, doc string) param {
	return param{name: name, schema: schema.Schema{
		Description: doc, Type: "array", MinItems: new(1), UniqueItems: true,
		Items: &schema.Schema{Type: "string", Enum: list},
	}}
}

// integerArg takes an integer of a range. It has the value def if it is not given, unless that is 0.
func integerArg(name string, least, most, def int64, doc string) param {
	p := param{name: name, schema: schema.Schema{
		Description: doc, Type: "integer", Minimum: new(float64(least)), Maximum: new(float64(most)),
	}}
	if def > 0 {
		p.schema.Default = def
	}
	return p
}

// flagArg takes true or false.
func flagArg(name, doc string) param {
	return param{name: name, schema: schema.Schema{Description: doc, Type: "boolean"}}
}

// cursorArg takes a cursor: a text, or a number in this epoch.
func cursorArg(name, doc string) param {
	return param{name: name, schema: schema.Schema{
		Description: doc, Type: []string{"string", "integer"}, Minimum: new(0.0), Maximum: new(float64(maxInteger)),
		MinLength: new(1), MaxLength: new(2 * maxText),
	}}
}

// needed returns the parameter, which must be given.
func (p param) needed() param { p.required = true; return p }

// or returns the parameter, which must be given under its name or another.
func (p param) or(alias string) param { p.required, p.alias = true, alias; return p }

// wantCursor describes the values of a parameter for a cursor.
const wantCursor = `a cursor as "next" gave it, or an integer from 0, such as the diagnosticsCursor of an item`

// Refused is the data of an error that refuses the arguments of a tool: the data of [gabp.BadArgument], and more if the
// form is right.
type Refused struct {
	Path   string `json:"path"` // of the argument at fault: "arguments.id"
	Want   string `json:"want"`
	Got    string `json:"got"`
	Reason string `json:"reason,omitempty"` // "not_found", "epoch" or "beyond"

	// Oldest and Latest are the cursors to continue from if a cursor was refused: with all held entries, and with new
	// entries.
	Oldest string `json:"oldest,omitempty"`
	Latest string `json:"latest,omitempty"`
}

// notHeld refuses an argument that names something that is not held any more, or never was.
func notHeld(name, want, got string) *gabp.Error {
	return Refused{Reason: "not_found"}.about(name, want, got)
}

// about returns the error that refuses an argument, with more data.
func (r Refused) about(name, want, got string) *gabp.Error {
	r.Path, r.Want, r.Got = "arguments."+name, want, got
	return gabp.BadArgument(name, want, got).WithData(r)
}

// notAfter refuses the argument after, and names the cursors to continue from: of entries or events.
func notAfter(reason, got, of, oldest, latest string) *gabp.Error {
	want := fmt.Sprintf("a cursor such as %q for all %s, or %q for new %s", oldest, of, latest, of)
	return Refused{Reason: reason, Oldest: oldest, Latest: latest}.about("after", want, got)
}

// args are the arguments of a call: string, int64, bool or []string by name. Integers with a default are always set.
type args map[string]any

func (a args) has(name string) bool { _, ok := a[name]; return ok }

func (a args) text(name string) string { s, _ := a[name].(string); return s }

func (a args) integer(name string) int { n, _ := a[name].(int64); return int(n) }

func (a args) flag(name string) bool { b, _ := a[name].(bool); return b }

func (a args) words(name string) []string { w, _ := a[name].([]string); return w }

// parseArgs reads the arguments of a call, which follow its schema.
func parseArgs(params []param, raw json.RawMessage) (args, *gabp.Error) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members)
	a := args{}
	for i := range params {
		p := &params[i]
		for _, name := range []string{p.name, p.alias} {
			value, given := members[name]
			if !given || name == "" {
				continue
			}
			v := p.parse(value)
			if a.has(p.name) && a[p.name] != v {
				return nil, gabp.BadArgument(name, "the same as "+p.name, "another value")
			}
			a[p.name] = v
		}
		switch {
		case a.has(p.name):
		case p.required: // which the schema does not say of one with an alias
			return nil, gabp.BadArgument(p.name, "a text", "nothing")
		case p.schema.Default != nil:
			a[p.name] = p.schema.Default
		}
	}
	return a, nil
}

// parse reads a value that follows the schema.
func (p *param) parse(raw json.RawMessage) any {
	var value any
	_ = json.Unmarshal(raw, &value)
	switch v := value.(type) {
	case float64: // an integer below 2^53
		if p.schema.Type != "integer" { // a cursor or an id
			return strconv.FormatInt(int64(v), 10)
		}
		return int64(v)
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i], _ = v[i].(string)
		}
		return words
	}
	return value
}
