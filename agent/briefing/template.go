package briefing

import (
	_ "embed"
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
	CacheTTL   time.Duration `yaml:"cache_ttl"` // [DefaultCacheTTL] where a file has none
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

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 7, which editors know best) of a template. Editors complete and check with it
// while a file is written; [Parse] holds files to it, and then checks relations between parts. The bytes are the
// caller's.
func Schema() []byte { return slices.Clone(schema) }

// minimalDefault returns the template for requests to which no other applies: the contract's requirements alone.
func minimalDefault() *Template {
	return &Template{
		TemplateID: "minimal-default",
		Pipeline:   []stage{newStage("", "halting", &halting{SatisfactionThreshold: 1})},
		Budget:     budget{MaxContextTokens: 4000, MaxQueries: 20},
		CacheTTL:   DefaultCacheTTL,
	}
}
