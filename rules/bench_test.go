package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

// syntheticSet returns n rules of the usual forms: beginnings, parts, lists,
// and a test of level or phase here and there. No two share a text.
func syntheticSet(tb testing.TB, n int) *rules.Set {
	var b strings.Builder
	b.WriteString("version: 1\nlists: {mods: [Analyzer, Profiler, Dubs]}\nrules:\n")
	for i := range n {
		var when string
		switch i % 4 {
		case 0:
			when = fmt.Sprintf(`template startsWith "Could not load item%d "`, i)
		case 1:
			when = fmt.Sprintf(`template contains "failed in step%d:" and phase != "menu"`, i)
		case 2:
			when = fmt.Sprintf(`contains_any(template, ["broken part%d", "lost part%d"]) and source not in mods`, i, i)
		case 3:
			when = fmt.Sprintf(`level in ["error", "fatal"] and (template endsWith "in room%d" or frames contains "at Room%d.Tick")`, i, i)
		}
		fmt.Fprintf(&b, "  - {id: r%d, disposition: blocking, when: '%s'}\n", i, when)
	}
	set, err := rules.Compile(rules.File{Name: "f", Data: []byte(b.String())})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// textFor returns a template that rule i of n decides.
func textFor(i int) string {
	switch i % 4 {
	case 0:
		return fmt.Sprintf("Could not load item%d now", i)
	case 1:
		return fmt.Sprintf("something failed in step%d: no reason", i)
	case 2:
		return fmt.Sprintf("there is a lost part%d somewhere", i)
	}
	return fmt.Sprintf("an object vanished in room%d", i)
}

// BenchmarkPlan is what the first entry of a signature costs.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{1, 10, 200, 1000, 10_000} {
		set := syntheticSet(b, n)
		ev := set.NewEvaluator()
		for _, bc := range []struct{ name, template, want string }{
			{"last", textFor(n - 1), fmt.Sprintf("r%d", n-1)},
			{"none", "Started the <*> and found nothing wrong with it", "default.log.error"},
		} {
			b.Run(fmt.Sprintf("rules=%d/match=%s", n, bc.name), func(b *testing.B) {
				in := rules.Input{Template: bc.template, Level: event.LevelError, Phase: "play", Source: "Unity"}
				b.ReportAllocs()
				for b.Loop() {
					p := ev.Plan(&in)
					if got := ev.Decide(&p, &in); got.Decision.Rule != bc.want {
						b.Fatal(got.Decision.Rule)
					}
				}
			})
		}
	}
}

// BenchmarkDecide is what every further entry costs here.
func BenchmarkDecide(b *testing.B) {
	for _, bc := range []struct{ name, when string }{
		{"cached", `template startsWith "a"`},
		{"per-entry", `template startsWith "a" and message contains "b"`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			set, err := rules.Compile(rules.File{Name: "f", Data: []byte("version: 1\nrules: [{id: x, disposition: blocking, when: '" + bc.when + "'}]")})
			if err != nil {
				b.Fatal(err)
			}
			ev := set.NewEvaluator()
			in := rules.Input{Template: "a <*>", Message: "a b"}
			p := ev.Plan(&in)
			b.ReportAllocs()
			for b.Loop() {
				if got := ev.Decide(&p, &in); got.Decision.Rule != "x" {
					b.Fatal(got.Decision.Rule)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.Run("defaults", func(b *testing.B) {
		files := rules.Defaults()
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			set, err := rules.Compile(files...)
			if err != nil {
				b.Fatal(err)
			}
			n = len(set.Rules())
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(max(n, 1)), "µs/rule")
	})
	b.Run("rules=10000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n := len(syntheticSet(b, 10_000).Rules()); n != 10_000 {
				b.Fatal(n)
			}
		}
	})
}
