package briefing

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/yamlfile"
)

// Bounds of a template.
const (
	maxStages = 64  // of a pipeline
	maxList   = 64  // items of a list, filters
	maxReruns = 100 // of a halting stage
	maxText   = 4 << 10

	maxFileBytes = 16 << 20 // read of a file

	minChars, maxChars = 0.01, 1000 // per token
)

// The names that a template may use.
var (
	stageKeys       = []string{"stage", "type", "enabled", "share", "config"}
	kindNames       = []string{Prose: "prose", Stack: "stack", Hex: "hex"}
	ownKeys         = append([]string{byDefault}, kindNames...) // of Tokens; the others are scripts
	tierStrategies  = []string{HighestFirst, AllParallel}
	structurings    = []string{Chronological, ByRelevance, Hierarchical}
	onTimeouts      = []string{ReturnPartial, Fail, UseCached}
	onEmpties       = []string{ProceedEmpty, Fail}
	attentionStages = []string{typeAttention, typeCustom} // that may find fragments of attention
)

// checkRequest returns the errors of a request, nil for none. Its contract follows the rules for stages, but for paths,
// which no root has either.
func checkRequest(r *Request) error {
	var errs problems
	report := reporter(func(field, msg, hint string) {
		if len(errs) < maxErrors && !strings.Contains(field, ".paths[") {
			errs = append(errs, &Error{File: "request", Field: field, Msg: msg, Hint: hint})
		}
	})
	for _, v := range requestVariables {
		if n := len(v.of(r)); n > maxText {
			report(v.name, fmt.Sprintf("has %d bytes, more than the %d allowed", n, maxText), "")
		}
	}
	report.number("max_context_tokens", float64(r.MaxContextTokens), 0, 0)
	required := &r.Contract.RequiredContext
	if n := len(required.LedgerQueries) + len(required.FrameworkRefs) + len(required.FileRefs); n > maxStages {
		report("contract", fmt.Sprintf("requires %d things, more than the %d allowed", n, maxStages), "")
	} else {
		for _, s := range r.Contract.stages() {
			s.checkConfig(report, s.Stage, true)
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// reporter receives an error of a field, and a hint.
type reporter func(field, msg, hint string)

// check reports all errors of a template.
func (t *Template) check(report reporter) {
	if !validName(t.TemplateID) {
		report("template_id", missingOr(t.TemplateID), nameHint)
	}
	report.number("budget.max_context_tokens", float64(t.Budget.MaxContextTokens), 0, 0)
	report.number("budget.max_queries", float64(t.Budget.MaxQueries), 0, 0)
	report.number("budget.timeout", float64(t.Budget.Timeout), 0, 0)
	report.oneOf("fallback.on_timeout", t.Fallback.OnTimeout, onTimeouts)
	report.oneOf("fallback.on_empty", t.Fallback.OnEmpty, onEmpties)
	t.Tokens.check(report)

	switch {
	case len(t.Pipeline) == 0:
		report("pipeline", "has no stages", "write a list of stages, each with a type")
	case len(t.Pipeline) > maxStages:
		report("pipeline", fmt.Sprintf("has %d stages, more than the %d allowed", len(t.Pipeline), maxStages), "")
		return
	}
	names := map[string]int{}
	attention := false
	for i := range t.Pipeline {
		s, at := &t.Pipeline[i], index("pipeline", i)
		s.check(report, at, attention)
		attention = attention || slices.Contains(attentionStages, s.Type) || stageTypes[s.Type] == nil
		name := s.name()
		if first, taken := names[name]; taken {
			report(at, fmt.Sprintf("is called %s, as pipeline[%d] is", yamlfile.Quote(name), first+1),
				"give it a name of its own: stage: NAME")
			continue
		}
		names[name] = i
	}
}

// name returns the name of a stage in a trace.
func (s *stage) name() string { return cmp.Or(s.Stage, s.Type) }

const charsHint = "runes that make a token, such as 4"

func (t Tokens) check(report reporter) {
	const field = "chars_per_token"
	if len(t) > maxList {
		report(field, fmt.Sprintf("has %d kinds and scripts, more than the %d allowed", len(t), maxList), "")
		return
	}
	known := slices.Concat(ownKeys, slices.Sorted(maps.Keys(scriptTables)), []string{scriptCJK})
	for _, name := range slices.Sorted(maps.Keys(t)) {
		switch f := t[name]; {
		case !slices.Contains(known, name):
			report(join(field, name), "unknown kind of text or script", cmp.Or(yamlfile.DidYouMean(name, known),
				strings.Join(ownKeys, ", ")+", cjk, or a script of Unicode such as cyrillic"))
		case !(f >= minChars && f <= maxChars):
			report(join(field, name), fmt.Sprintf("must be from %v to %v", minChars, maxChars), charsHint)
		}
	}
}

// check reports the errors of a stage at a field. attention reports whether an earlier stage may find attention.
func (s *stage) check(report reporter, at string, attention bool) {
	if s.Stage != "" && !validName(s.Stage) {
		report(at+".stage", missingOr(s.Stage), nameHint)
	}
	if !(s.Share >= 0 && s.Share <= 1) {
		report(at+".share", "must be more than 0, and at most 1", "the part of the tokens left that the stage may use")
	}
	if stageTypes[s.Type] == nil {
		types := slices.Sorted(maps.Keys(stageTypes))
		if s.Type == "" {
			report(at+".type", "is missing", "one of "+strings.Join(types, ", "))
		} else {
			report(at+".type", "unknown type "+yamlfile.Quote(s.Type),
				yamlfile.DidYouMean(s.Type, types))
		}
		return
	}
	s.checkConfig(report, at+".config", attention)
}

// checkConfig reports the errors of the configuration of a stage, at a field.
func (s *stage) checkConfig(report reporter, at string, attention bool) {
	switch c := s.Config.(type) {
	case *tierSelect:
		report.list(at+".tiers", c.Tiers, true)
		report.oneOf(at+".strategy", c.Strategy, tierStrategies)
	case *LedgerQuery:
		report.number(at+".max_entries", float64(c.MaxEntries), 0, 0)
		report.number(at+".recency", float64(c.Recency), 0, 0)
		report.filters(at+".filters", c.Filters, attention)
	case *RegistryQuery:
		report.required(at+".registry", c.Registry)
		report.number(at+".max_rows", float64(c.MaxRows), 0, 0)
		report.filters(at+".filters", c.Filters, attention)
	case *FileRead:
		report.list(at+".paths", c.Paths, true)
		for i, p := range c.Paths {
			if p != "" && (!fs.ValidPath(path.Clean(p)) || strings.ContainsAny(p, "\\\x00")) {
				report(index(at+".paths", i), "is not a path below a root",
					"write it relative to the root, with / between folders, and without ..")
			}
		}
		report.number(at+".max_size_bytes", float64(c.MaxSizeBytes), 0, maxFileBytes)
	case *horizontalSearch:
		report.required(at+".query", c.Query)
		report.variables(at+".query", c.Query, attention)
		report.list(at+".tiers", c.Tiers, false)
		report.list(at+".sources", c.Sources, false)
		report.number(at+".max_results", float64(c.MaxResults), 0, 0)
		report.number(at+".relevance_threshold", c.RelevanceThreshold, 0, 1)
	case *structuring:
		report.oneOf(at+".strategy", c.Strategy, structurings)
		report.number(at+".max_tokens", float64(c.MaxTokens), 0, 0)
	case *halting:
		report.number(at+".min_fragments", float64(c.MinFragments), 0, 0)
		report.number(at+".min_tokens", float64(c.MinTokens), 0, 0)
		report.number(at+".satisfaction_threshold", c.SatisfactionThreshold, 0, 1)
		report.number(at+".max_reruns", float64(c.MaxReruns), 0, maxReruns)
		if !(c.Relax >= 0 && c.Relax < 1) {
			report(at+".relax", "must be more than 0, and less than 1", "the factor on thresholds in each rerun")
		}
	case *custom:
		report.required(at+".handler", c.Handler)
	case *AttentionQuery:
		report.number(at+".max_items", float64(c.MaxItems), 0, 0)
		report.number(at+".neighbors", float64(c.Neighbors), 0, 0)
		report.number(at+".cleared_since", float64(c.ClearedSince), 0, 0)
		report.list(at+".parts", c.Parts, false)
	}
}

// number refuses v below least and, unless most is 0, above it.
func (report reporter) number(field string, v, least, most float64) {
	switch {
	case most == 0 && !(v >= least):
		report(field, fmt.Sprintf("must be at least %v", least), "")
	case most != 0 && !(v >= least && v <= most):
		report(field, fmt.Sprintf("must be from %v to %v", least, most), "")
	}
}

// oneOf refuses a text that is not one of names, nor "" for the default.
func (report reporter) oneOf(field, s string, names []string) {
	if s != "" && !slices.Contains(names, s) {
		report(field, "unknown value "+yamlfile.Quote(s), yamlfile.DidYouMean(s, names))
	}
}

func (report reporter) required(field, s string) {
	if s == "" {
		report(field, "is missing", "a stage of this type needs it")
	}
}

// list refuses lists that are too long, and with required empty ones.
func (report reporter) list(field string, list []string, required bool) {
	switch {
	case len(list) == 0 && required:
		report(field, "is missing", "write a list: [a, b]")
	case len(list) > maxList:
		report(field, fmt.Sprintf("has %d items, more than the %d allowed", len(list), maxList), "")
	}
}

// filters refuses too many filters.
func (report reporter) filters(field string, of map[string]string, attention bool) {
	if len(of) > maxList {
		report(field, fmt.Sprintf("has %d filters, more than the %d allowed", len(of), maxList), "")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		report.variables(join(field, name), of[name], attention)
	}
}

// variables refuses variables that can have no value.
func (report reporter) variables(field, s string, attention bool) {
	if len(s) > maxText {
		report(field, fmt.Sprintf("has %d bytes, more than the %d allowed", len(s), maxText), "")
		return
	}
	replace(s, func(name string) string {
		known := []string{"$" + attentionPrefix + "NAME"}
		for _, v := range requestVariables {
			known = append(known, "$"+v.name)
		}
		switch {
		case strings.HasPrefix(name, attentionPrefix):
			if !attention {
				report(field, fmt.Sprintf("$%s has no value here: no stage before this one finds attention", yamlfile.Clip(name)),
					"put a stage of type attention before it")
			}
		case !slices.Contains(known, "$"+name):
			hint := yamlfile.DidYouMean("$"+name, known)
			if name+"." == attentionPrefix {
				hint = "write $attention.NAME, such as $attention.signature"
			}
			report(field, "unknown variable $"+yamlfile.Clip(name), hint)
		}
		return ""
	})
}

const nameHint = "lower-case letters, digits, full stops, _ and -, at most 64"

// missingOr returns the error of a name that is not valid.
func missingOr(name string) string {
	if name == "" {
		return "is missing"
	}
	return yamlfile.Quote(name) + " is not a name"
}

// validName reports whether s may be the id of a template or the name of a stage.
func validName(s string) bool { return yamlfile.ValidName(s, maxName) }
