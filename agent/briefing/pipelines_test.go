package briefing

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestPipelines plays the scripts of a file. A script begins with "== NAME", and describes a world: pieces of sources,
// of ten tokens or :N, with a relevance ~R, a signature =S, and ! where they are required; the items that are open, !
// where they block; and the time that each query takes. Then come templates: a pipeline, with more keys, and a request,
// each with what came of it: all lines of the trace, all queries that were asked, ids, warnings, costs, or an error.
func TestPipelines(t *testing.T) {
	for name, script := range testkit.Scripts(t, "testdata/pipelines.txt") {
		t.Run(name, func(t *testing.T) {
			w := &world{
				entries: map[string][]Fragment{}, rows: map[string][]Fragment{}, hits: map[string][]Fragment{},
				now: time.Unix(1000, 0),
			}
			setup, runs, _ := strings.Cut(script, "pipeline ")
			for line := range strings.Lines(setup) {
				w.describe(strings.TrimSpace(line))
			}
			for run := range strings.SplitSeq(runs, "\npipeline ") {
				w.asked = nil
				w.run(t, strings.Split(strings.TrimSpace(run), "\n"))
			}
		})
	}
}

// describe reads a line that describes the world.
func (w *world) describe(line string) {
	what, list, _ := strings.Cut(line, ":")
	kind, name, _ := strings.Cut(what, " ")
	switch kind {
	case "ledger":
		w.entries[name] = described(SourceLedger, list)
	case "registry":
		w.rows[name] = described(SourceRegistry, list)
	case "searcher":
		w.hits[name] = described(SourceSearch, list)
	case "items":
		w.items = described(SourceAttention, list)
	case "open":
		for id := range strings.FieldsSeq(list) {
			id, blocks := strings.CutSuffix(id, "!")
			w.open = append(w.open, Item{id, blocks})
		}
	case "takes":
		w.takes = testkit.Must(time.ParseDuration(name))
	}
}

// described returns the pieces of a list.
func described(source, list string) (fs []Fragment) {
	for i, word := range strings.Fields(list) {
		word, required := strings.CutSuffix(word, "!")
		word, signature, _ := strings.Cut(word, "=")
		word, relevance, scored := strings.Cut(word, "~")
		word, size, sized := strings.Cut(word, ":")
		tokens := 10
		if sized {
			tokens = testkit.Must(strconv.Atoi(size))
		}
		f := piece(source, word, tokens)
		if f.Seq = uint64(i + 1); required {
			f.Required, f.Short = true, []Line{{Text: "short"}}
		}
		if scored {
			f.Relevance = testkit.Must(strconv.ParseFloat(relevance, 64))
		}
		if signature != "" {
			f.Refs = map[string]string{"signature": signature}
		}
		fs = append(fs, f)
	}
	return fs
}

// run assembles a context by a template, and holds it to what a script says of it.
func (w *world) run(t *testing.T, lines []string) {
	stages := strings.NewReplacer("HOT", stageHot, "MODS", stageMods, "SEARCH", stageSearch, "OPEN", stageOpen, "ORDER",
		stageOrder, "HALT", stageHalt).Replace(lines[0])
	var more []string
	var r Request
	want := map[string][]string{}
	for _, line := range lines[1:] {
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "with":
			more = append(more, rest)
		case "request":
			require.NoError(t, json.Unmarshal([]byte(rest), &r))
		default:
			want[kind] = append(want[kind], rest)
		}
	}
	text := pipeline(stages, more...)
	s := w.service(t, nil, text)
	c, err := s.Assemble(t.Context(), r)
	require.Equal(t, testkit.Must(Parse("", []byte(text))), s.config.Templates[0], "the template is as it was")
	if want["error"] != nil {
		require.Nil(t, c)
		require.ErrorContains(t, err, want["error"][0])
		return
	}
	require.NoError(t, err, lines[0])
	shown := ""
	for i := range c.Fragments {
		if shown += " " + c.Fragments[i].SourceID; c.Fragments[i].Scored {
			shown += fmt.Sprintf("~%v", c.Fragments[i].Relevance)
		}
	}
	for kind, got := range map[string][]string{
		"trace": trace(c), "asked": w.asked, "warning": c.Warnings, "ids": {strings.TrimSpace(shown)},
		"tokens": {strconv.Itoa(c.Used.Tokens)}, "queries": {strconv.Itoa(c.Used.Queries)},
		"elapsed": {c.Used.Elapsed.String()},
	} {
		if want[kind] != nil {
			require.Equal(t, want[kind], got, "%s of %s", kind, lines[0])
		}
	}
	require.True(t, want["warnings"] == nil || len(c.Warnings) == 0, c.Warnings)
}

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
