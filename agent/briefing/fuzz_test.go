package briefing

import (
	"errors"
	"testing"
	"unicode/utf8"
)

// FuzzParse: any bytes are a template or errors, never both and never neither. Errors have places in order; a template
// is valid with its defaults, and applies to the requests that it names.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		complete, "", "template_id: x\npipeline: [{type: attention}]", "{}", "a: &a [*a]", "? ? ?", "- - - -", "[[[[[",
		"template_id: x\npipeline:\n- type: custom\n  config: {handler: h, args: {a: 1e9, b: 0x1F, c: 2026-01-02, d: ~, e: .inf, <<: {f: 1}}}",
		"template_id: x\npipeline: [{type: file_read, config: {paths: [., a//b, 'x y', ../z]}}]\ncache_ttl: 1h2m3.5s",
		"template_id: x\npipeline: [{type: halting, share: 1_0.5e-1}]\nbudget: {timeout: -0s, max_queries: 0o17}",
		"{\"template_id\": \"x\", \"pipeline\": [{\"type\": \"ledger_query\", \"config\": {\"filters\": {\"a\": \"$work_order\"}}}]}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		template, err := Parse("f", data)
		if (template == nil) == (err == nil) {
			t.Fatalf("template %v, error %v", template, err)
		}
		if err != nil {
			all := err.(interface{ Unwrap() []error }).Unwrap()
			if len(all) > maxErrors+1 {
				t.Fatalf("%d errors", len(all))
			}
			var last *Error
			for i, err := range all {
				e, _ := errors.AsType[*Error](err)
				if e.Msg == "" || !utf8.ValidString(e.Error()) {
					t.Fatalf("bad message %q", e.Error())
				}
				if e.Line < 0 || e.Column < 0 || e.Line == 0 && e.Column > 0 {
					t.Fatalf("bad position %d:%d", e.Line, e.Column)
				}
				if i > 0 && i < maxErrors && (e.Line < last.Line || e.Line == last.Line && e.Column < last.Column) {
					t.Fatalf("%v after %v", e, last)
				}
				last = e
			}
			return
		}
		a := template.AppliesTo
		r := Request{AgentClass: a.AgentClass, FrameworkID: a.FrameworkID, Tier: a.Tier}
		if got, _, err := resolve([]*Template{template}, &r); got != template || err != nil {
			t.Fatalf("resolved to %v, error %v", got, err)
		}
		whole := *template
		if whole.Pipeline = merged(template, &Contract{}); len(whole.Pipeline) != len(template.Pipeline) {
			t.Fatalf("%d stages of %d", len(whole.Pipeline), len(template.Pipeline))
		}
		if err := check(&whole); err != nil {
			t.Fatalf("with defaults: %v", err)
		}
	})
}
