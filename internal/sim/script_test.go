package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
)

// Verb says what a [Step] does.
type Verb string

// The verbs. In brackets stand the fields of a [Step] that they read.
const (
	Log       Verb = "log"       // [Text Level Op Source] a log record
	Storm     Verb = "storm"     // [Text N Op Yes] N records of a mode: same, ids, distinct, abc; Yes drains after each
	Op        Verb = "op"        // [Op Status Parent Method Yes] an event of an operation; Yes: by its caller
	State     Verb = "state"     // [Status Text] an event of the game
	Notice    Verb = "notice"    // [Status] a notice about the evidence
	Raise     Verb = "raise"     // [Text Disposition Op Yes] the host reports under the key Text; Yes: state is invalid
	Clear     Verb = "clear"     // [Item] the host ends an item
	Ack       Verb = "ack"       // [Item By Through]
	View      Verb = "view"      // [By]
	Delivered Verb = "delivered" // [By Item Through]
	Attach    Verb = "attach"    // [By]
	Detach    Verb = "detach"    // [By]
	Drain     Verb = "drain"     // the updates
	Reread    Verb = "reread"    // the game's state is read again
	Expect    Verb = "expect"    // [For] a sign of life; the next is due after For
	Advance   Verb = "advance"   // [For] the clock goes on, and the host tells the engine
	Pass      Verb = "pass"      // [For] the clock goes on, and nobody tells
	Verdict   Verb = "verdict"   // [Op]
	Open      Verb = "open"      // every open item
	Read      Verb = "read"      // [Through N] a page of N records after the cursor Through
	Restart   Verb = "restart"   // the engine is restored from a snapshot of itself
	Stats     Verb = "stats"
)

var verbs = []Verb{
	Log, Storm, Op, State, Notice, Raise, Clear, Ack, View, Delivered, Attach, Detach, Drain, Reread, Expect, Advance,
	Pass,
	Verdict, Open, Read, Restart, Stats,
}

// Step is one call of an engine. A field that its verb does not read is zero.
type Step struct {
	Verb        Verb
	Text        string
	Level       event.Level
	Source      string
	Op          string
	Parent      string
	Method      string
	Status      event.Status
	Disposition event.Disposition

	// Item is the id of an item, or "^n": the one that was opened n items before
	// the latest; or "open": the open one that comes first.
	Item string
	By   string // a consumer

	// Through is a sequence number; one that is negative counts back from the
	// latest.
	Through int64
	N       int
	For     time.Duration
	Yes     bool
}

// Script is a sequence of calls of one engine.
type Script struct {
	Setup Setup
	Steps []Step
}

// Clock says who knows the time in a script.
type Clock string

// The clocks.
const (
	Clockless  Clock = "none"
	EntryClock Clock = "entries" // every entry has a time
	HostClock  Clock = "host"    // only the host, which tells it by [Advance]
)

// Setup is how the engine of a script is made. Of the numbers, zero is the
// engine's default.
type Setup struct {
	Clock Clock

	// Hasty makes all windows short, so that they pass within a script.
	Hasty bool

	Open, Remembered, Groups, Operations, Samples, Named, Consumers int
	Entries, Bytes, Firsts, Quota, Pinned                           int
	Signatures                                                      int
}

// numbers returns the numeric fields of s by name, in order.
func (s *Setup) numbers() []number {
	return []number{
		{"open", &s.Open},
		{"remembered", &s.Remembered},
		{"groups", &s.Groups},
		{"operations", &s.Operations},
		{"samples", &s.Samples},
		{"named", &s.Named},
		{"consumers", &s.Consumers},
		{"entries", &s.Entries},
		{"bytes", &s.Bytes},
		{"firsts", &s.Firsts},
		{"quota", &s.Quota},
		{"pinned", &s.Pinned},
		{"signatures", &s.Signatures},
	}
}

type number struct {
	name string
	v    *int
}

// String returns the line that [Parse] reads.
func (s *Setup) String() string {
	words := []string{"new", "clock=" + string(cmp.Or(s.Clock, Clockless))}
	if s.Hasty {
		words = append(words, "windows=hasty")
	}
	for _, n := range s.numbers() {
		if *n.v != 0 {
			words = append(words, n.name+"="+strconv.Itoa(*n.v))
		}
	}
	return strings.Join(words, " ")
}

func (s *Setup) set(key, value string) error {
	switch key {
	case "clock":
		s.Clock = Clock(value)
		if !slices.Contains([]Clock{Clockless, EntryClock, HostClock}, s.Clock) {
			return fmt.Errorf("clock %q: want none, entries or host", value)
		}
		return nil
	case "windows":
		s.Hasty = value == "hasty"
		if !s.Hasty {
			return fmt.Errorf("windows %q: want hasty, or nothing", value)
		}
		return nil
	}
	for _, n := range s.numbers() {
		if n.name == key {
			v, err := strconv.Atoi(value)
			*n.v = v
			return err
		}
	}
	return fmt.Errorf("unknown setting %q", key)
}

// field is a field of a step in the text form.
type field struct {
	name string
	get  func(*Step) string // "" for zero
	set  func(*Step, string) error
}

// valueField is a field whose text form is the form that fmt prints.
func valueField[T comparable](name string, parse func(string) (T, error), of func(*Step) *T) field {
	var zero T
	return field{name, func(s *Step) string {
		if *of(s) == zero {
			return ""
		}
		return fmt.Sprint(*of(s))
	}, func(s *Step, v string) (err error) {
		*of(s), err = parse(v)
		return err
	}}
}

func textField(name string, of func(*Step) *string) field {
	return valueField(name, func(v string) (string, error) { return v, nil }, of)
}

func enumField[T comparable](name string, parse func(string) (T, bool), of func(*Step) *T) field {
	return valueField(name, func(v string) (T, error) {
		x, ok := parse(v)
		if !ok {
			return x, fmt.Errorf("unknown %s %q", name, v)
		}
		return x, nil
	}, of)
}

var fields = []field{
	textField("text", func(s *Step) *string { return &s.Text }),
	textField("op", func(s *Step) *string { return &s.Op }),
	enumField("status", event.Parse[event.Status], func(s *Step) *event.Status { return &s.Status }),
	enumField("disposition", event.Parse[event.Disposition], func(s *Step) *event.Disposition { return &s.Disposition }),
	enumField("level", event.Parse[event.Level], func(s *Step) *event.Level { return &s.Level }),
	textField("source", func(s *Step) *string { return &s.Source }),
	textField("parent", func(s *Step) *string { return &s.Parent }),
	textField("method", func(s *Step) *string { return &s.Method }),
	textField("item", func(s *Step) *string { return &s.Item }),
	textField("by", func(s *Step) *string { return &s.By }),
	valueField("through", func(v string) (int64, error) { return strconv.ParseInt(v, 10, 64) },
		func(s *Step) *int64 { return &s.Through }),
	valueField("n", strconv.Atoi, func(s *Step) *int { return &s.N }),
	valueField("for", time.ParseDuration, func(s *Step) *time.Duration { return &s.For }),
	valueField("yes", strconv.ParseBool, func(s *Step) *bool { return &s.Yes }),
}

// String returns the line that [ParseStep] reads.
func (s *Step) String() string {
	var b strings.Builder
	b.WriteString(string(s.Verb))
	for i := range fields {
		v := fields[i].get(s)
		if v == "" {
			continue
		}
		b.WriteString(" " + fields[i].name + "=")
		if strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }) {
			v = strconv.Quote(v)
		}
		b.WriteString(v)
	}
	return b.String()
}

// String returns the text form of s, which [Parse] reads.
func (s *Script) String() string {
	var b strings.Builder
	b.WriteString(s.Setup.String() + "\n")
	for i := range s.Steps {
		b.WriteString(s.Steps[i].String() + "\n")
	}
	return b.String()
}

// ParseStep reads one line of a script: a verb, and the fields that are not
// zero, as in
//
//	log text="Broken door 3" level=error op=x
func ParseStep(line string) (Step, error) {
	verb, pairs, err := parseLine(line)
	if err != nil {
		return Step{}, err
	}
	s := Step{Verb: Verb(verb)}
	if !slices.Contains(verbs, s.Verb) {
		return s, fmt.Errorf("sim: unknown verb %q", verb)
	}
	for _, p := range pairs {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == p[0] })
		if i < 0 {
			return s, fmt.Errorf("sim: %s: unknown field %q", verb, p[0])
		}
		if err := fields[i].set(&s, p[1]); err != nil {
			return s, fmt.Errorf("sim: %s: %s: %w", verb, p[0], err)
		}
	}
	return s, nil
}

// parseLine splits a line into its verb and its pairs of key and value.
func parseLine(line string) (verb string, pairs [][2]string, err error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	for rest = strings.TrimLeft(rest, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || strings.Contains(key, " ") {
			return "", nil, fmt.Errorf("sim: %s: want key=value at %q", verb, rest)
		}
		var value string
		if strings.HasPrefix(after, `"`) {
			quoted, err := strconv.QuotedPrefix(after)
			if err != nil {
				return "", nil, fmt.Errorf("sim: %s: %s: %w", verb, key, err)
			}
			if value, err = strconv.Unquote(quoted); err != nil {
				return "", nil, fmt.Errorf("sim: %s: %s: %w", verb, key, err)
			}
			rest = after[len(quoted):]
		} else {
			value, rest, _ = strings.Cut(after, " ")
		}
		pairs = append(pairs, [2]string{key, value})
	}
	return verb, pairs, nil
}

// passive reports whether a line of a script is prose, output or empty.
func passive(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#' || line[0] == '|'
}

// Parse reads a script. Its first line that counts makes the engine ("new
// clock=none open=2"), the others are steps. Lines that begin with '#' are
// prose, those that begin with '|' are what a replay printed; both are skipped.
// An error names the line.
func Parse(text string) (*Script, error) {
	var s Script
	made := false
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if passive(line) {
			continue
		}
		if !made {
			made = true
			if err := s.Setup.parse(line); err != nil {
				return nil, fmt.Errorf("sim: line %d: %w", number, err)
			}
			continue
		}
		step, err := ParseStep(line)
		if err != nil {
			return nil, fmt.Errorf("sim: line %d: %w", number, err)
		}
		s.Steps = append(s.Steps, step)
	}
	if !made {
		return nil, errors.New(`sim: no script: want a line that begins with "new"`)
	}
	return &s, nil
}

func (s *Setup) parse(line string) error {
	verb, pairs, err := parseLine(line)
	if err != nil {
		return err
	}
	if verb != "new" {
		return fmt.Errorf("%q: want new, which makes the engine", verb)
	}
	*s = Setup{Clock: Clockless}
	for _, p := range pairs {
		if err := s.set(p[0], p[1]); err != nil {
			return err
		}
	}
	return nil
}
