package briefing

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"time"
)

// Template describes how a context is assembled. It is read only once a [Service] has it. [Parse] reads one from YAML,
// whose keys are the tags.
type Template struct {
	TemplateID string        `yaml:"template_id"`
	AppliesTo  AppliesTo     `yaml:"applies_to"`
	Pipeline   []Stage       `yaml:"pipeline"`
	Budget     Budget        `yaml:"budget"`
	Fallback   Fallback      `yaml:"fallback"`
	CacheTTL   time.Duration `yaml:"cache_ttl"` // 0: [DefaultCacheTTL]; negative: none, in YAML 0s
	Tokens     Tokens        `yaml:"chars_per_token"`
	Scrub      bool          `yaml:"scrub"` // private data is removed, by [Config].Scrub
}

// AppliesTo are the keys of a template: each that is not empty must be that of the request.
type AppliesTo struct {
	AgentClass  string `yaml:"agent_class"`
	FrameworkID string `yaml:"framework_id"`
	Tier        string `yaml:"tier"`
}

// Budget bounds a context. 0 is no bound.
type Budget struct {
	MaxContextTokens int           `yaml:"max_context_tokens"`
	MaxQueries       int           `yaml:"max_queries"`
	Timeout          time.Duration `yaml:"timeout"`
}

// Fallback is what becomes of a context whose budget was exceeded, or that has nothing.
type Fallback struct {
	OnTimeout string `yaml:"on_timeout"` // [ReturnPartial] (also ""), [Fail] or [UseCached]
	OnEmpty   string `yaml:"on_empty"`   // [ProceedEmpty] (also "") or [Fail]
}

// The values of [Fallback].
const (
	ReturnPartial = "return_partial"
	UseCached     = "use_cached"
	ProceedEmpty  = "proceed_empty"
	Fail          = "fail"
)

// Tokens are the runes that make a token. An estimate is their number divided, rounded up for each line. In YAML it is
// a number, or a mapping of default, the kinds and the scripts.
type Tokens struct {
	CharsPerToken float64            // 0: [DefaultCharsPerToken]
	Kinds         map[Kind]float64   // of ASCII in lines of a kind
	Scripts       map[string]float64 // of runes of a script, whatever the line: cjk, cyrillic, common (digits, signs), …
}

// The defaults of templates.
const (
	DefaultCacheTTL      = time.Minute
	DefaultCharsPerToken = 4
)

// The values of fields of stages that are 0 or "".
const (
	defaultMaxEntries   = 20
	defaultMaxRows      = 20
	defaultMaxSizeBytes = 64 << 10
	defaultMaxResults   = 10
	defaultMaxItems     = 5
	defaultRelax        = 0.5
	defaultTiers        = HighestFirst
	defaultStructuring  = Hierarchical
)

// canonical returns a configuration with its defaults, so that equal ones are deeply equal.
func canonical(c StageConfig) StageConfig {
	switch c := c.(type) {
	case *TierSelect:
		v := *c
		v.Tiers, v.Strategy = slices.Clone(v.Tiers), cmp.Or(v.Strategy, defaultTiers)
		return &v
	case *LedgerQuery:
		v := *c
		v.MaxEntries, v.Filters = cmp.Or(v.MaxEntries, defaultMaxEntries), filters(v.Filters)
		return &v
	case *RegistryQuery:
		v := *c
		v.MaxRows, v.Filters = cmp.Or(v.MaxRows, defaultMaxRows), filters(v.Filters)
		return &v
	case *FileRead:
		v := *c
		v.MaxSizeBytes, v.Paths = cmp.Or(v.MaxSizeBytes, defaultMaxSizeBytes), make([]string, len(c.Paths))
		for i, p := range c.Paths {
			v.Paths[i] = path.Clean(p)
		}
		return &v
	case *HorizontalSearch:
		v := *c
		v.MaxResults = cmp.Or(v.MaxResults, defaultMaxResults)
		return &v
	case *Structuring:
		v := *c
		v.Strategy = cmp.Or(v.Strategy, defaultStructuring)
		return &v
	case *Halting:
		v := *c
		v.Relax = cmp.Or(v.Relax, defaultRelax)
		return &v
	case *AttentionQuery:
		v := *c
		v.MaxItems = cmp.Or(v.MaxItems, defaultMaxItems)
		return &v
	}
	return c
}

// filters returns a copy that is not nil.
func filters(of map[string]string) map[string]string {
	out := make(map[string]string, len(of))
	maps.Copy(out, of)
	return out
}

// minimalDefault is the template for requests that no other applies to: what the contract requires, and no more.
func minimalDefault() *Template {
	return &Template{
		TemplateID: "minimal-default",
		Pipeline: []Stage{{
			Stage: string(TypeHalting), Type: TypeHalting, Config: &Halting{SatisfactionThreshold: 1},
		}},
		Budget: Budget{MaxContextTokens: defaultMaxContextTokens, MaxQueries: defaultMaxQueries},
	}
}

// The budget of [minimalDefault].
const (
	defaultMaxContextTokens = 4000
	defaultMaxQueries       = 20
)
