package briefing

import (
	"cmp"
	"path"
	"reflect"
	"time"
)

// stageTypes has a configuration of each type of stages, with the values of fields that a template leaves out.
var stageTypes = map[string]any{
	"tier_select":       tierSelect{Strategy: HighestFirst},
	"ledger_query":      LedgerQuery{MaxEntries: 20, Filters: map[string]string{}},
	"registry_query":    RegistryQuery{MaxRows: 20, Filters: map[string]string{}},
	"file_read":         FileRead{MaxSizeBytes: 64 << 10},
	"horizontal_search": horizontalSearch{MaxResults: 10},
	"structuring":       structuring{Strategy: Hierarchical},
	"halting":           halting{Relax: 0.5},
	"custom":            custom{},
	"attention":         AttentionQuery{MaxItems: 5},
}

// stage is one step of a pipeline.
type stage struct {
	Stage    string // its name, in the trace
	Type     string
	Disabled bool
	Config   any // a pointer to the type of configuration that stageTypes has for Type

	// Share is the part of the tokens left that the stage may use, more than 0 and at most 1; 0 means 1.
	Share float64

	// Of an assembly.
	ran  bool       // its latest run neither was skipped nor failed
	kept []Fragment // by all its runs
}

// newStage returns a stage whose configuration, a pointer, gets the defaults of its type for fields that are zero.
func newStage(name, kind string, config any) stage {
	v, defaults := reflect.ValueOf(config).Elem(), reflect.ValueOf(stageTypes[kind])
	for i := range v.NumField() {
		if f := v.Field(i); f.IsZero() {
			f.Set(defaults.Field(i))
		}
	}
	if c, ok := config.(*FileRead); ok {
		for i, name := range c.Paths {
			c.Paths[i] = path.Clean(name)
		}
	}
	return stage{Stage: cmp.Or(name, kind), Type: kind, Config: config}
}

// meets reports whether a stage runs with the configuration of a required one.
func (s *stage) meets(required *stage) bool {
	return !s.Disabled && reflect.DeepEqual(s.Config, required.Config)
}

// tierSelect sets the tiers that later stages read. It returns no fragments.
type tierSelect struct {
	Tiers    []string `json:"tiers" yaml:"tiers"`
	Strategy string   `json:"strategy" yaml:"strategy"` // [HighestFirst] (also "") or [AllParallel]
}

// The strategies of tierSelect.
const (
	HighestFirst = "highest_first" // the first tier that has anything
	AllParallel  = "all_parallel"  // all of them
)

// LedgerQuery selects entries of a ledger.
//
// Values of filters, here and in [RegistryQuery], and the query of a search may hold variables: $agent, $class,
// $framework, $tier, $work_order, $session, and $attention.NAME, the first value called NAME in Refs of the fragments
// of attention found so far. A stage one of whose variables has no value is skipped.
type LedgerQuery struct {
	EventType  string            `json:"eventType,omitempty" yaml:"event_type"`   // a kind of entry that the ledger knows; empty: any
	Tier       string            `json:"tier,omitempty" yaml:"tier"`              // empty: the tiers of tierSelect
	MaxEntries int               `json:"maxEntries,omitempty" yaml:"max_entries"` // 0: 20
	Recency    time.Duration     `json:"recency,omitempty" yaml:"recency"`        // before the latest entry; 0: any
	Filters    map[string]string `json:"filters,omitempty" yaml:"filters"`        // signature, operation (with its parts), rule, disposition
}

// RegistryQuery selects rows of a registry.
type RegistryQuery struct {
	Registry string            `json:"registry" yaml:"registry"`
	Filters  map[string]string `json:"filters,omitempty" yaml:"filters"`
	MaxRows  int               `json:"maxRows,omitempty" yaml:"max_rows"` // 0: 20
}

// FileRead reads files below the roots of [Config].
type FileRead struct {
	Paths        []string `json:"paths" yaml:"paths"`                           // relative to a root
	MaxSizeBytes int64    `json:"maxSizeBytes,omitempty" yaml:"max_size_bytes"` // 0: 64 KiB
}

// horizontalSearch searches several sources for what resembles a query.
type horizontalSearch struct {
	Query              string   `json:"query" yaml:"query"`
	Tiers              []string `json:"tiers,omitempty" yaml:"tiers"`
	Sources            []string `json:"sources,omitempty" yaml:"sources"` // names of searchers; empty: all
	MaxResults         int      `json:"maxResults" yaml:"max_results"`    // 0: 10
	RelevanceThreshold float64  `json:"relevanceThreshold,omitempty" yaml:"relevance_threshold"`
}

// structuring orders the fragments, drops duplicates, and cuts.
type structuring struct {
	Strategy  string `json:"strategy" yaml:"strategy"`              // [Chronological], [ByRelevance] or [Hierarchical] (also "")
	MaxTokens int    `json:"maxTokens,omitempty" yaml:"max_tokens"` // 0: all that the budget allows
}

// The strategies of structuring.
const (
	Chronological = "chronological"
	ByRelevance   = "relevance"
	Hierarchical  = "hierarchical" // as found, and details after their heads
)

// halting ends the pipeline, or runs its searches again.
type halting struct {
	MinFragments          int     `json:"minFragments,omitempty" yaml:"min_fragments"`
	MinTokens             int     `json:"minTokens,omitempty" yaml:"min_tokens"`
	SatisfactionThreshold float64 `json:"satisfactionThreshold,omitempty" yaml:"satisfaction_threshold"` // share of the required context
	MaxReruns             int     `json:"maxReruns,omitempty" yaml:"max_reruns"`
	Relax                 float64 `json:"relax,omitempty" yaml:"relax"` // factor on thresholds, divisor of limits, in each rerun: less than 1; 0: 0.5
}

// custom calls a registered [handler].
type custom struct {
	Handler string `json:"handler" yaml:"handler"`
	Args    args   `json:"args,omitempty" yaml:"args"`
}

type args map[string]any

// AttentionQuery selects open items.
type AttentionQuery struct {
	Least        string        `json:"least,omitempty" yaml:"least"` // the least urgent disposition
	MaxItems     int           `json:"maxItems" yaml:"max_items"`    // others are named in one line; 0: 5
	Neighbors    int           `json:"neighbors,omitempty" yaml:"neighbors"`
	ClearedSince time.Duration `json:"clearedSince,omitempty" yaml:"cleared_since"`

	// Parts are the details of an item, the most important first: the last are cut first. The source names them.
	Parts []string `json:"parts,omitempty" yaml:"parts"`
}
