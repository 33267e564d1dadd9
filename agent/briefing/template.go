package briefing

import (
	"cmp"
	_ "embed"
	"maps"
	"path"
	"reflect"
	"slices"
	"time"
)

// Template describes how a context is assembled. It is read only once a [Service] has it. [Parse] reads one from YAML,
// whose keys are the tags.
type Template struct {
	TemplateID string        `yaml:"template_id"`
	AppliesTo  appliesTo     `yaml:"applies_to"`
	Pipeline   []stage       `yaml:"pipeline"`
	Budget     budget        `yaml:"budget"`
	Fallback   fallback      `yaml:"fallback"`
	CacheTTL   time.Duration `yaml:"cache_ttl"` // 0: [DefaultCacheTTL]; negative: none, in YAML 0s
	Tokens     Tokens        `yaml:"chars_per_token"`
	Scrub      bool          `yaml:"scrub"` // private data is removed, by [Config].Scrub
}

// appliesTo are the keys of a template: each that is not empty must equal the request's.
type appliesTo struct {
	AgentClass  string `yaml:"agent_class"`
	FrameworkID string `yaml:"framework_id"`
	Tier        string `yaml:"tier"`
}

// budget bounds a context. 0 is no bound.
type budget struct {
	MaxContextTokens int           `yaml:"max_context_tokens"`
	MaxQueries       int           `yaml:"max_queries"`
	Timeout          time.Duration `yaml:"timeout"`
}

// fallback decides about a context that exceeded its budget or is empty.
type fallback struct {
	OnTimeout string `yaml:"on_timeout"` // [ReturnPartial] (also ""), [Fail] or [UseCached]
	OnEmpty   string `yaml:"on_empty"`   // [ProceedEmpty] (also "") or [Fail]
}

// The values of fallback.
const (
	ReturnPartial = "return_partial"
	UseCached     = "use_cached"
	ProceedEmpty  = "proceed_empty"
	Fail          = "fail"
)

// Tokens are the runes that make a token. An estimate is their number divided, rounded up for each line. The keys are
// default, which is [DefaultCharsPerToken] if it is missing; prose, stack and hex, for ASCII in lines of a [Kind]; and
// scripts, for runes in any line: cjk, cyrillic, common (digits, signs), …. In YAML a number is the default alone.
type Tokens map[string]float64

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

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 7, which editors know best) of a template. Editors complete and check with it
// while a file is written; [Parse] holds files to it, and then checks relations between parts. The bytes are the
// caller's.
func Schema() []byte { return slices.Clone(schema) }

// canonical returns a copy of a configuration with its defaults, so that equal ones are deeply equal.
func canonical(config any) any {
	v := reflect.New(reflect.TypeOf(config).Elem())
	v.Elem().Set(reflect.ValueOf(config).Elem())
	switch c := v.Interface().(type) {
	case *tierSelect:
		c.Tiers, c.Strategy = slices.Clone(c.Tiers), cmp.Or(c.Strategy, defaultTiers)
	case *LedgerQuery:
		c.MaxEntries, c.Filters = cmp.Or(c.MaxEntries, defaultMaxEntries), maps.Collect(maps.All(c.Filters))
	case *RegistryQuery:
		c.MaxRows, c.Filters = cmp.Or(c.MaxRows, defaultMaxRows), maps.Collect(maps.All(c.Filters))
	case *FileRead:
		c.MaxSizeBytes, c.Paths = cmp.Or(c.MaxSizeBytes, defaultMaxSizeBytes), append([]string{}, c.Paths...)
		for i, p := range c.Paths {
			c.Paths[i] = path.Clean(p)
		}
	case *horizontalSearch:
		c.MaxResults = cmp.Or(c.MaxResults, defaultMaxResults)
	case *structuring:
		c.Strategy = cmp.Or(c.Strategy, defaultStructuring)
	case *halting:
		c.Relax = cmp.Or(c.Relax, defaultRelax)
	case *AttentionQuery:
		c.MaxItems = cmp.Or(c.MaxItems, defaultMaxItems)
	}
	return v.Interface()
}

// minimalDefault returns the template for requests to which no other applies: the contract's requirements alone.
func minimalDefault() *Template {
	return &Template{
		TemplateID: "minimal-default",
		Pipeline: []stage{{
			Stage: typeHalting, Type: typeHalting, Config: &halting{SatisfactionThreshold: 1},
		}},
		Budget: budget{MaxContextTokens: defaultMaxContextTokens, MaxQueries: defaultMaxQueries},
	}
}

// The budget of [minimalDefault].
const (
	defaultMaxContextTokens = 4000
	defaultMaxQueries       = 20
)
