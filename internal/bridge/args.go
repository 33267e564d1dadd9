package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/gabp"
)

// maxText bounds an argument that is text, in bytes, where its parameter does not.
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

// param describes a parameter of a tool. Its schema, its parsing and the errors about it are derived from it.
type param struct {
	name, doc string
	alias     string // another accepted name, "" for none
	kind      kind
	required  bool

	enum []string // of textKind and wordsKind
	min  int64    // of integerKind
	max  int64    // of integerKind; bytes of textKind
	def  int64    // of integerKind, where positive
}

// allowed returns a description of the allowed values.
func (p *param) allowed() string {
	switch p.kind {
	case integerKind:
		if p.max == maxInteger {
			return fmt.Sprintf("an integer from %d", p.min)
		}
		return fmt.Sprintf("an integer from %d to %d", p.min, p.max)
	case flagKind:
		return "true or false"
	case wordsKind:
		return "a list of different words from " + strings.Join(p.enum, ", ")
	case cursorKind:
		return `a cursor as "next" gave it, or an integer from 0, such as the diagnosticsCursor of an item`
	}
	if p.enum != nil {
		return "one of " + strings.Join(p.enum, ", ")
	}
	return fmt.Sprintf("a text of 1 to %d bytes", p.bytes())
}

func (p *param) bytes() int64 {
	if p.max == 0 {
		return maxText
	}
	return p.max
}

// Refused is the data of an error that refuses the arguments of a tool.
type Refused struct {
	Field   string `json:"field"`   // the argument at fault
	Allowed string `json:"allowed"` // what it may be
	Reason  string `json:"reason"`  // "unknown", "missing", "invalid", "not_found", "epoch" or "beyond"

	// Oldest and Latest are the cursors to continue from, where one was refused: with everything that is held, and with
	// what comes from now on.
	Oldest string `json:"oldest,omitempty"`
	Latest string `json:"latest,omitempty"`
}

func refuse(data Refused, format string, args ...any) *gabp.Error {
	return gabp.Errorf(gabp.CodeInvalidParams, format, args...).WithData(data)
}

// unfit refuses the value of an argument, and describes the allowed ones.
func unfit(field, allowed string) *gabp.Error {
	return refuse(Refused{Field: field, Allowed: allowed, Reason: "invalid"}, "%s: want %s", field, allowed)
}

// notHeld refuses an argument that names something that is not held any more, or never was.
func notHeld(field, why, allowed string) *gabp.Error {
	return refuse(Refused{Field: field, Allowed: allowed, Reason: "not_found"}, "%s: %s; want %s", field, why, allowed)
}

// invalid refuses the value of a parameter.
func (p *param) invalid() *gabp.Error { return unfit(p.name, p.allowed()) }

// args are the arguments of a call: string, int64, bool or []string by name. Integers with a default are always set.
type args map[string]any

func (a args) has(name string) bool { _, ok := a[name]; return ok }

func (a args) text(name string) string { s, _ := a[name].(string); return s }

func (a args) integer(name string) int { n, _ := a[name].(int64); return int(n) }

func (a args) flag(name string) bool { b, _ := a[name].(bool); return b }

func (a args) words(name string) []string { w, _ := a[name].([]string); return w }

// parseArgs reads the arguments of a call, a JSON object or nothing.
func parseArgs(params []param, raw json.RawMessage) (args, *gabp.Error) {
	members := map[string]json.RawMessage{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &members); err != nil {
			return nil, unfit("arguments", "an object")
		}
	}
	a := args{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		i := slices.IndexFunc(params, func(p param) bool { return p.name == name || p.alias == name && name != "" })
		if i < 0 {
			allowed := "no arguments"
			if len(params) > 0 {
				allowed = "one of " + paramNames(params)
			}
			return nil, refuse(Refused{Field: cmp.Or(cutName(name), "arguments"), Allowed: allowed, Reason: "unknown"},
				"unknown argument %q: want %s", cutName(name), allowed)
		}
		p := &params[i]
		v, ok := p.parse(members[name])
		if !ok {
			return nil, p.invalid()
		}
		if a.has(p.name) && a[p.name] != v {
			return nil, refuse(Refused{Field: name, Allowed: "the same as " + p.name, Reason: "invalid"},
				"%s: use %s or %s, not both", name, p.alias, p.name)
		}
		a[p.name] = v
	}
	for i := range params {
		p := &params[i]
		if a.has(p.name) {
			continue
		}
		if p.required {
			return nil, refuse(Refused{Field: p.name, Allowed: p.allowed(), Reason: "missing"}, "%s is missing: want %s",
				p.name, p.allowed())
		}
		if p.def > 0 {
			a[p.name] = p.def
		}
	}
	return a, nil
}

func paramNames(params []param) string {
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].name
		if params[i].alias != "" {
			names[i] += " or " + params[i].alias
		}
	}
	return strings.Join(names, ", ")
}

// parse reads a value.
func (p *param) parse(raw json.RawMessage) (any, bool) {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" {
		return nil, false
	}
	switch p.kind {
	case integerKind:
		n, ok := parseInteger(raw)
		return n, ok && n >= p.min && n <= p.max
	case flagKind:
		var b bool
		err := json.Unmarshal(raw, &b)
		return b, err == nil
	case wordsKind:
		var words []string
		if json.Unmarshal(raw, &words) != nil || len(words) == 0 || len(words) > len(p.enum) {
			return nil, false
		}
		for i, w := range words {
			if !slices.Contains(p.enum, w) || slices.Contains(words[:i], w) {
				return nil, false
			}
		}
		return words, true
	case cursorKind:
		if n, ok := parseInteger(raw); ok {
			return strconv.FormatInt(n, 10), n >= 0
		}
	}
	var s string
	if json.Unmarshal(raw, &s) != nil || s == "" || int64(len(s)) > p.bytes() {
		return nil, false
	}
	return s, p.enum == nil || slices.Contains(p.enum, s)
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
