package bridge

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/heedlog/heed/gabp"
)

// maxText bounds an argument that is text, in characters, where its parameter does not.
const maxText = 256

// kind is what a parameter takes.
type kind uint8

const (
	textKind kind = iota
	integerKind
	flagKind
	wordsKind  // a list of words, of enum
	cursorKind // text, or a number in this epoch
)

// param describes a parameter of a tool. Its schema and its parsing are derived from it.
type param struct {
	name, doc string
	alias     string // another accepted name, "" for none
	kind      kind
	required  bool

	enum []string // of textKind and wordsKind
	min  int64    // of integerKind
	max  int64    // of integerKind; characters of textKind
	def  int64    // of integerKind, where positive
}

// wantCursor is what a cursorKind wants.
const wantCursor = `a cursor as "next" gave it, or an integer from 0, such as the diagnosticsCursor of an item`

// Refused is the data of an error that refuses the arguments of a tool: those of [gabp.BadArgument], with more where
// the form is right.
type Refused struct {
	Path   string `json:"path"` // of the argument at fault: "arguments.id"
	Want   string `json:"want"`
	Got    string `json:"got"`
	Reason string `json:"reason,omitempty"` // "not_found", "epoch" or "beyond"

	// Oldest and Latest are the cursors to continue from, where one was refused: with everything that is held, and with
	// what comes from now on.
	Oldest string `json:"oldest,omitempty"`
	Latest string `json:"latest,omitempty"`
}

// notHeld refuses an argument that names something that is not held any more, or never was.
func notHeld(name, want, got string) *gabp.Error {
	return gabp.BadArgument(name, want, got).WithData(Refused{
		Path: "arguments." + name, Want: want, Got: got, Reason: "not_found",
	})
}

// notAfter refuses the argument after, and names the cursors to continue from; of says what they are of.
func notAfter(reason, got, of, oldest, latest string) *gabp.Error {
	want := fmt.Sprintf("a cursor such as %q for all %s, or %q for new %s", oldest, of, latest, of)
	return gabp.BadArgument("after", want, got).WithData(Refused{
		Path: "arguments.after", Want: want, Got: got, Reason: reason, Oldest: oldest, Latest: latest,
	})
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
		case p.def > 0:
			a[p.name] = p.def
		}
	}
	return a, nil
}

// parse reads a value that follows the schema.
func (p *param) parse(raw json.RawMessage) any {
	switch p.kind {
	case integerKind:
		n, _ := parseInteger(raw)
		return n
	case flagKind:
		return string(raw) == "true"
	case wordsKind:
		var words []string
		_ = json.Unmarshal(raw, &words)
		return words
	case cursorKind:
		if n, ok := parseInteger(raw); ok {
			return strconv.FormatInt(n, 10)
		}
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// parseInteger parses a number without a fraction, in any notation, as JSON Schema defines an integer.
func parseInteger(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, n <= maxInteger
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) || math.Abs(f) > maxInteger {
		return 0, false
	}
	return int64(f), true
}
