package briefing

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// attentionPrefix begins a variable that a fragment of attention has.
const attentionPrefix = "attention."

// variables returns the names and values of the variables that a request has.
func (r *Request) variables() []struct{ name, value string } {
	return []struct{ name, value string }{
		{"agent", r.AgentID},
		{"class", r.AgentClass},
		{"framework", r.FrameworkID},
		{"tier", r.Tier},
		{"work_order", r.WorkOrderID},
		{"session", r.SessionID},
	}
}

// queryField is the field of a search that may hold variables.
const queryField = "query"

// texts returns the texts of a stage's configuration that may hold variables, by their names.
func (s *stage) texts() map[string]string {
	switch c := s.Config.(type) {
	case *LedgerQuery:
		return c.Filters
	case *RegistryQuery:
		return c.Filters
	case *horizontalSearch:
		return map[string]string{queryField: c.Query}
	}
	return nil
}

// expand replaces variables in texts by their values. Values are not expanded again. missing is the first variable that
// has no value, as written, "" for none.
func (a *assembly) expand(texts map[string]string) (out map[string]string, missing string) {
	out = make(map[string]string, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		out[name] = replace(texts[name], func(variable string) string {
			value := a.value(variable)
			if value == "" {
				missing = cmp.Or(missing, "$"+variable)
			}
			return value
		})
	}
	return out, missing
}

func (a *assembly) value(name string) string {
	if ref, ok := strings.CutPrefix(name, attentionPrefix); ok {
		for i := range a.found {
			if f := &a.found[i]; f.Source == SourceAttention && f.Refs[ref] != "" {
				return f.Refs[ref]
			}
		}
		return ""
	}
	for _, v := range a.request.variables() {
		if v.name == name {
			return v.value
		}
	}
	return ""
}

// variable is a dollar sign and a word of letters, digits and underscores that does not begin with a digit. After
// attention come a full stop and another word. Two dollar signs are one.
var variable = text.Lazy(`\$(?:\$|attention\.[A-Za-z_]\w*|[A-Za-z_]\w*)`)

// replace calls value for each [variable] in s. A dollar sign before anything else is one.
func replace(s string, value func(name string) string) string {
	return variable().ReplaceAllStringFunc(s, func(found string) string {
		if found == "$$" {
			return "$"
		}
		return value(found[1:])
	})
}
