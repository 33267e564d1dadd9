package rules_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// A cond is a random condition with its text and its meaning. Meaning panics
// with errFails where evaluation fails.
type cond struct {
	text string
	eval func(*rules.Input) bool
}

var errFails = errors.New("fails")

func holds(c cond, in *rules.Input) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if r != any(errFails) {
				panic(r)
			}
			ok = false
		}
	}()
	return c.eval(in)
}

var modelVariables = []struct {
	name string
	of   func(*rules.Input) string
}{
	{"template", func(in *rules.Input) string { return in.Template }},
	{"frames", func(in *rules.Input) string { return in.Frames }},
	{"source", func(in *rules.Input) string { return in.Source }},
	{"phase", func(in *rules.Input) string { return in.Phase }},
	{"message", func(in *rules.Input) string { return in.Message }},
	{"stack", func(in *rules.Input) string { return in.Stack }},
	{"operation", func(in *rules.Input) string { return in.Operation }},
	{"method", func(in *rules.Input) string {
		if in.Kind == event.KindOperation {
			return in.Source
		}
		return ""
	}},
}

func drawCond(t *rapid.T, depth int) cond {
	kind := rapid.IntRange(0, 12).Draw(t, "condition")
	if depth == 0 && kind > 9 {
		kind -= 5
	}
	word := func() string { return rapid.SampledFrom(words).Draw(t, "word") }
	variable := func() (string, func(*rules.Input) string) {
		v := rapid.SampledFrom(modelVariables).Draw(t, "variable")
		return v.name, v.of
	}
	switch kind {
	case 0:
		l := event.Level(rapid.IntRange(0, 5).Draw(t, "level"))
		return cond{fmt.Sprintf("level == %q", l), func(in *rules.Input) bool { return in.Level == l }}
	case 1:
		k := event.Kind(rapid.IntRange(0, 3).Draw(t, "kind"))
		return cond{fmt.Sprintf("kind != %q", k), func(in *rules.Input) bool { return in.Kind != k }}
	case 2:
		a := event.Status(rapid.IntRange(0, 17).Draw(t, "status"))
		b := event.Status(rapid.IntRange(0, 17).Draw(t, "status"))
		return cond{fmt.Sprintf("status in [%q, %q]", a, b), func(in *rules.Input) bool {
			return in.Status == a ||
				in.Status == b
		}}
	case 3:
		name, get := variable()
		w := word()
		return cond{fmt.Sprintf("%s == %q", name, w), func(in *rules.Input) bool { return get(in) == w }}
	case 4:
		name, get := variable()
		w := cmp.Or(word(), "a") // "" is in every text, and refused
		return cond{
			fmt.Sprintf("%s contains %q", name, w),
			func(in *rules.Input) bool { return strings.Contains(get(in), w) },
		}
	case 5:
		name, get := variable()
		return cond{fmt.Sprintf("contains_any(%s, ab)", name), func(in *rules.Input) bool {
			return get(in) != "" &&
				strings.ContainsAny(get(in), "ab")
		}}
	case 6:
		name, get := variable()
		return cond{fmt.Sprintf("%s not in ab", name), func(in *rules.Input) bool { return get(in) != "a" && get(in) != "b" }}
	case 7:
		name, get := variable()
		w := cmp.Or(word(), "a")
		return cond{
			fmt.Sprintf("%s startsWith %q", name, w),
			func(in *rules.Input) bool { return strings.HasPrefix(get(in), w) },
		}
	case 8: // fails unless the text has a b
		name, get := variable()
		return cond{fmt.Sprintf(`split(%s, "b")[1] == "a"`, name), func(in *rules.Input) bool {
			parts := strings.Split(get(in), "b")
			if len(parts) < 2 {
				panic(errFails)
			}
			return parts[1] == "a"
		}}
	case 9:
		return cond{"in_play", func(in *rules.Input) bool { return in.Phase == "play" || in.Message == "a" }}
	case 10:
		a := drawCond(t, depth-1)
		return cond{"not (" + a.text + ")", func(in *rules.Input) bool { return !a.eval(in) }}
	case 11:
		a, b := drawCond(t, depth-1), drawCond(t, depth-1)
		return cond{"(" + a.text + " or " + b.text + ")", func(in *rules.Input) bool { return a.eval(in) || b.eval(in) }}
	}
	a, b := drawCond(t, depth-1), drawCond(t, depth-1)
	return cond{"(" + a.text + " and " + b.text + ")", func(in *rules.Input) bool { return a.eval(in) && b.eval(in) }}
}

type modelRule struct {
	cond
	id          string
	disposition event.Disposition
	severity    string
	cont        bool
	tags        []string
	exceptions  []cond
	dropped     bool
}

// matches reports whether the condition holds and no exception does.
func (r *modelRule) matches(in *rules.Input) bool {
	for _, e := range r.exceptions {
		if holds(e, in) {
			return false
		}
	}
	return holds(r.cond, in)
}

func (r *modelRule) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nrules:\n  - id: %s\n    when: |\n      %s\n    tags: [%s]\n", r.id, r.text, strings.Join(r.tags, ", "))
	for i, e := range r.exceptions {
		if i == 0 {
			b.WriteString("    exceptions:\n")
		}
		fmt.Fprintf(&b, "      - |\n        %s\n", e.text)
	}
	if r.cont {
		b.WriteString("    continue: true\n")
	} else {
		fmt.Fprintf(&b, "    disposition: %s\n", r.disposition)
		if r.severity != "" {
			fmt.Fprintf(&b, "    severity: %s\n", r.severity)
		}
	}
	return b.String()
}

func drawInput(t *rapid.T) rules.Input {
	text := func(name string) string { return rapid.SampledFrom(words).Draw(t, name) }
	in := rules.Input{
		Template: text("template"), Frames: text("frames"), Source: text("source"),
		Phase:   rapid.SampledFrom(phases).Draw(t, "phase"),
		Message: text("message"), Stack: text("stack"), Operation: text("operation"),
		ByCaller: rapid.Bool().Draw(t, "by caller"),
	}
	// Mostly entries that can exist, sometimes others.
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		in.Kind = event.Kind(rapid.IntRange(0, 5).Draw(t, "kind"))
		in.Level = event.Level(rapid.IntRange(0, 7).Draw(t, "level"))
		in.Status = event.Status(rapid.IntRange(0, 20).Draw(t, "status"))
		return in
	}
	in.Status = event.Status(rapid.IntRange(0, int(event.StatusRestarted)).Draw(t, "status"))
	if in.Kind = in.Status.Kind(); in.Kind == event.KindLog {
		in.Level = event.Level(rapid.IntRange(0, 5).Draw(t, "level"))
	}
	return in
}

// TestPlanAndDecideEqualTheModel compares, for random sets and entries, three
// ways to the same decision: a plan made of the cacheable half of the entry
// alone; every rule in order; and a model that knows nothing of expressions.
func TestPlanAndDecideEqualTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "rules")
		model := make([]*modelRule, n)
		for i := range model {
			r := &modelRule{
				cond: drawCond(t, 2), id: fmt.Sprintf("r%d", i),
				disposition: event.Disposition(rapid.IntRange(0, 2).Draw(t, "disposition")),
				severity:    rapid.SampledFrom([]string{"", "", "info", "fatal"}).Draw(t, "severity"),
				cont:        rapid.IntRange(0, 3).Draw(t, "continue") == 0,
				tags:        rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), 1, 2, rapid.ID).Draw(t, "tags"),
			}
			for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "exceptions") {
				r.exceptions = append(r.exceptions, drawCond(t, 1))
			}
			model[i] = r
		}
		set := compileModel(t, model)
		ev := set.NewEvaluator()
		for range 10 {
			in := drawInput(t)
			want := modelDecision(model, &in)
			require.Equal(t, want, ev.Evaluate(&in).Decision)

			cacheable := in
			cacheable.Message, cacheable.Stack, cacheable.Operation = "poison", "poison", "poison"
			p := ev.Plan(&cacheable)
			got := ev.Decide(&p, &in)
			require.Equal(t, want, got.Decision)
			require.Equal(t, want, ev.Decide(&p, &in).Decision, "a plan changes with use")
			if got.Rule != nil {
				require.Equal(t, got.Decision.Rule, got.Rule.ID)
			}
		}
	})
}

// compileModel compiles each rule as a file of its own, so that one may cover
// another, and drops rules that are refused because they can never match.
func compileModel(t *rapid.T, model []*modelRule) *rules.Set {
	prelude := rules.File{Name: "prelude", Data: []byte("version: 1\nlists: {ab: [a, b]}\nmacros: {in_play: 'phase == \"play\" or message == \"a\"'}\n")}
	for {
		files := []rules.File{prelude}
		for _, r := range model {
			if !r.dropped {
				files = append(files, rules.File{Name: r.id, Data: []byte(r.yaml())})
			}
		}
		set, err := rules.Compile(files...)
		if err == nil {
			return set
		}
		for _, e := range errorsOf(t, err) {
			r := model[slices.IndexFunc(model, func(r *modelRule) bool { return r.id == e.Rule })]
			r.dropped = true
			// What is refused must indeed be so for all that can exist.
			for range 20 {
				in := drawInput(t)
				if in.Kind != in.Status.Kind() || in.Kind != event.KindLog && in.Level != 0 || in.Level > event.LevelFatal ||
					in.Status > event.StatusRestarted {
					continue
				}
				switch {
				case e.Field == "when" && strings.Contains(e.Msg, "never true"):
					require.False(t, holds(r.cond, &in), "%s: %+v", r.text, in)
				case strings.Contains(e.Msg, "the rule can never match"):
					require.False(t, r.matches(&in), "%s: %+v", e, in)
				default:
					require.Regexp(t, "never true|never apply where|is the same as", e.Msg)
					var i int
					testkit.Must(fmt.Sscanf(e.Field, "exceptions[%d]", &i))
					if !strings.Contains(e.Msg, "is the same as") {
						require.False(t, holds(r.exceptions[i-1], &in) && holds(r.cond, &in), "%s: %+v", e, in)
					}
				}
			}
		}
	}
}

func modelDecision(model []*modelRule, in *rules.Input) event.Decision {
	var tags []string
	for _, r := range model {
		if r.dropped || !r.matches(in) {
			continue
		}
		for _, tag := range r.tags {
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		if r.cont {
			continue
		}
		d := event.Decision{Rule: r.id, Disposition: r.disposition, Tags: tags}
		switch {
		case r.severity != "":
			d.Severity, _ = event.Parse[event.Severity](r.severity)
		case in.Level >= event.LevelWarning && in.Level <= event.LevelFatal:
			d.Severity = in.Level.Severity()
		default:
			d.Severity = map[event.Disposition]event.Severity{
				event.Advisory: event.SeverityWarning,
				event.Blocking: event.SeverityError,
			}[r.disposition]
		}
		return d
	}
	d := builtinDefault(in)
	d.Tags = tags
	return d
}

// builtinDefault asks a set without rules, whose answers TestBuiltinDefaults
// pins.
func builtinDefault(in *rules.Input) event.Decision {
	set := testkit.Must(rules.Compile())
	return set.NewEvaluator().Evaluate(in).Decision
}
