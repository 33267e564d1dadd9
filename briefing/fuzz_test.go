package briefing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse: any bytes are a template or errors, never both and never neither. Errors have places in order; a template
// is valid with its defaults and by the schema, and applies to the requests that it names.
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
			var errs Errors
			if !errors.As(err, &errs) || len(errs) == 0 || len(errs) > maxErrors+1 {
				t.Fatalf("error of type %T", err)
			}
			for i, e := range errs {
				if e.Msg == "" || !utf8.ValidString(e.Error()) {
					t.Fatalf("bad message %q", e.Error())
				}
				if e.Line < 0 || e.Column < 0 || e.Line == 0 && e.Column > 0 {
					t.Fatalf("bad position %d:%d", e.Line, e.Column)
				}
				if i > 0 && i < maxErrors && (e.Line < errs[i-1].Line ||
					e.Line == errs[i-1].Line && e.Column < errs[i-1].Column) {
					t.Fatalf("%v after %v", e, errs[i-1])
				}
			}
			return
		}
		if err := validate(t, data); err != nil {
			t.Fatalf("the schema refuses it: %v", err)
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

// FuzzExpand: no value is expanded again, and what is left out is named.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "$agent", "$$agent $", "$attention.rule.x$", "$attention.", "$none $session", "$é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := variables{
			&Request{AgentID: "$session", SessionID: "$"},
			[]Fragment{{Source: SourceAttention, Refs: map[string]string{"rule": "$agent"}}},
		}
		out, missing := v.expand(s)
		if missing != "" && (out != "" || missing[0] != '$' || len(missing) == 1) {
			t.Fatalf("%q, missing %q", out, missing)
		}
	})
}

// FuzzAssemble: any request is answered by a context or an error, never both and never neither. A context is within its
// budget, its hash is that of its text, and each line of nothing in it begins as a heading but a fragment. The same
// request gives the same context.
func FuzzAssemble(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"agentClass":"x","maxContextTokens":9}`, `{"templateOverride":"t","maxContextTokens":40}`,
		`{"templateOverride":"none"}`, `{"maxContextTokens":-1}`, `{"workOrderId":"\u001b[2J\n> x","templateOverride":"t"}`,
		`{"contract":{"requiredContext":{"ledgerQueries":[{"tier":"hot","maxEntries":1},{"filters":{"a":"$attention.k"}}],` +
			`"frameworkRefs":[{"registry":"mods"}],"fileRefs":[{"paths":["a","../b"],"maxSizeBytes":3}]}}}`,
	} {
		f.Add([]byte(s))
	}
	root := f.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("[x]\n> y\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	head := piece(SourceAttention, "i@1", 30)
	head.Required, head.Short, head.Refs = true, []Line{{Text: "short"}}, map[string]string{"k": "v"}
	w := &world{
		items: []Fragment{head}, open: []Item{{"i@1", true}},
		entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a\n[b", "b", "c")},
		rows:    map[string][]Fragment{"mods": pieces(SourceRegistry, 10, "m")},
		hits:    map[string][]Fragment{"past": hits(10, map[string]float64{"d": 0.9, "e": 0.3})},
	}
	template := pipeline(stageOpen+", "+stageSearch+", "+stageOrder+", "+stageHalt, "applies_to: {agent_class: x}")
	s := w.service(f, func(c *Config) { c.Roots, c.CacheEntries = []string{root}, -1 }, template)
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Request
		if json.Unmarshal(data, &r) != nil {
			return
		}
		c, err := s.Assemble(t.Context(), r)
		if (c == nil) == (err == nil) {
			t.Fatalf("context %v, error %v", c, err)
		}
		again, againErr := s.Assemble(t.Context(), r)
		if !reflect.DeepEqual(c, again) || fmt.Sprint(err) != fmt.Sprint(againErr) {
			t.Fatalf("first %+v, %v, then %+v, %v", c, err, again, againErr)
		}
		w.asked, w.inputs = nil, nil
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Fatalf("bad message %q", err)
			}
			return
		}
		if most := r.MaxContextTokens; most > 0 && c.Used.Tokens > most {
			t.Fatalf("%d tokens of %d", c.Used.Tokens, most)
		}
		if sum := sha256.Sum256([]byte(c.Text)); hex.EncodeToString(sum[:]) != c.Hash {
			t.Fatal("the hash is not that of the text")
		}
		headings := 0
		for line := range strings.Lines(c.Text) {
			if strings.HasPrefix(line, headingPrefix) {
				headings++
			}
		}
		if headings != len(c.Fragments) || !utf8.ValidString(c.Text) {
			t.Fatalf("%d headings of %d fragments in %q", headings, len(c.Fragments), c.Text)
		}
	})
}
