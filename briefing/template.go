package briefing

import "time"

// Template describes how a context is assembled. It is read only once a [Service] has it.
type Template struct {
	TemplateID string
	AppliesTo  AppliesTo
	Pipeline   []Stage
	Budget     Budget
	Fallback   Fallback
	CacheTTL   time.Duration // 0: [DefaultCacheTTL]; negative: none
	Tokens     Tokens
}

// AppliesTo are the keys of a template: each that is not empty must be that of the request.
type AppliesTo struct {
	AgentClass  string
	FrameworkID string
	Tier        string
}

// Budget bounds a context. 0 is no bound.
type Budget struct {
	MaxContextTokens int
	MaxQueries       int
	Timeout          time.Duration
}

// Fallback is what becomes of a context whose budget was exceeded, or that has nothing.
type Fallback struct {
	OnTimeout string // [ReturnPartial] (also ""), [Fail] or [UseCached]
	OnEmpty   string // [ProceedEmpty] (also "") or [Fail]
}

// The values of [Fallback].
const (
	ReturnPartial = "return_partial"
	UseCached     = "use_cached"
	ProceedEmpty  = "proceed_empty"
	Fail          = "fail"
)

// Tokens are the runes that make a token. An estimate is their number divided, rounded up for each line.
type Tokens struct {
	CharsPerToken float64            // 0: [DefaultCharsPerToken]
	Kinds         map[Kind]float64   // of lines of a kind
	Scripts       map[string]float64 // of the runes of a script, whatever the line: cjk, hangul, cyrillic, …
}

// The defaults of templates.
const (
	DefaultCacheTTL      = time.Minute
	DefaultCharsPerToken = 4
)
