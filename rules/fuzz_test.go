package rules_test

import (
	"testing"
	"unicode/utf8"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

// FuzzCompile: any bytes give a set or errors, never both and never neither.
// Errors tell a place that is in the file, in order; and a set can be used.
func FuzzCompile(f *testing.F) {
	for _, file := range rules.Defaults() {
		f.Add(file.Data)
	}
	for _, s := range []string{
		"", "version: 1", "version: 1\nrules: [{id: x, when: 'true', disposition: ignore}]",
		"version: 1\nlists: {l: [a, b]}\nmacros: {m: 'phase in l', n: 'm or contains_any(template, l)'}\nrules:\n- {id: x, when: 'n and any(l, # == source)', continue: true, tags: [t]}",
		"version: 1\nrules:\n- id: x\n  when: |\n    split(template, ' ')[1] == 'a'\n    and len(message) % 2 == 1 ? level == 'error' : not (kind in ['log'])\n  disposition: blocking\n  tests: [{match: a b}]",
		"version: 1\nrules:\n- id: x\n  when: \"templat \\\n    == 'a'\"\n  disposition: blocking",
		"a: &a [*a]", "? ? ?", "- - - -", "version: 1\ndefaults: {log: {error: {disposition: blocking}}}",
		"version: 1\nlists: {l: {append: true, items: [a]}}\nmacros: {m: {override: true, when: 'true'}}\nrules: [{id: x, override: true, enabled: false}]",
		"version: 1\nrules: [{id: x, when: 'kind == \"log\"', exceptions: ['phase == \"a\"', {name: b, when: 'message == \"a b\"'}], disposition: ignore, escalate: {after: 3, within: {entries: 9}, to: blocking}}]",
		"version: 1\nrules:\n- {id: a, when: 'template matches \"a(\"', disposition: ignore, resolves: ['a*', b]}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := rules.Compile(rules.File{Name: "f", Data: data})
		if (set == nil) == (err == nil) {
			t.Fatalf("set %v, error %v", set, err)
		}
		if err != nil {
			errs := errorsOf(t, err)
			for i, e := range errs {
				if e.Msg == "" || !utf8.ValidString(e.Error()) {
					t.Fatalf("bad message %q", e.Error())
				}
				if e.Line < 0 || e.Column < 0 || e.Line == 0 && e.Column > 0 {
					t.Fatalf("bad position %d:%d", e.Line, e.Column)
				}
				if i > 0 && len(errs) <= rules.MaxErrors && (e.Line < errs[i-1].Line || e.Line == errs[i-1].Line &&
					e.Column < errs[i-1].Column) {
					t.Fatalf("%v after %v", e, errs[i-1])
				}
			}
			return
		}
		ev := set.NewEvaluator()
		for _, in := range []rules.Input{
			{},
			{
				Template: "a b", Frames: "at a", Message: "a b\nc", Stack: "at a", Level: event.LevelError, Source: "a",
				Phase: "play", Operation: "1",
			},
			{Kind: event.KindOperation, Status: event.StatusFailed, Source: "game/save"},
			{Kind: 9, Status: 99, Level: 9},
		} {
			p := ev.Plan(&in)
			got, want := ev.Decide(&p, &in), ev.Evaluate(&in)
			if got.Rule != want.Rule || got.Decision.Rule != want.Decision.Rule ||
				len(got.Decision.Tags) != len(want.Decision.Tags) {
				t.Fatalf("plan %+v, in order %+v", got, want)
			}
		}
		set.Test()
		rules.Lint(rules.File{Name: "f", Data: data})
	})
}
