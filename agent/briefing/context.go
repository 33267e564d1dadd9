package briefing

import "time"

// Context is an assembled text with its parts.
type Context struct {
	Text       string        `json:"text" jsonschema:"The content of the fragments, one after another."`
	Hash       string        `json:"hash" pattern:"^[0-9a-f]{64}$" jsonschema:"SHA-256 of the text as format text has it."`
	Fragments  []Fragment    `json:"fragments" jsonschema:"What the text is made of, in its order."`
	TemplateID string        `json:"templateId" jsonschema:"The template by which it was assembled."`
	Trace      []stageResult `json:"trace" jsonschema:"What became of each stage of the template, in order."`
	Used       used          `json:"used"`
	Warnings   []string      `json:"warnings" jsonschema:"What the text may lack, and why."`
}

// The kinds of sources.
const (
	SourceLedger    = "ledger"
	SourceRegistry  = "registry"
	SourceFile      = "file"
	SourceSearch    = "search"
	SourceAttention = "attention"
)

// Fragment is a part of a context. A source sets all but Content and TokenEstimate, which the service makes of Title
// and Lines.
type Fragment struct {
	Source string `json:"source" jsonschema:"The kind of source: ledger, registry, file, search, attention."`

	// SourceID names the part of the source, to read it again.
	SourceID string `json:"sourceId" jsonschema:"What it is of: EPOCH/SEQ, path#FROM-TO, ITEM@REVISION."`

	// Content is the text of the fragment: its heading, then its lines, each ended by a line feed.
	Content       string `json:"content" jsonschema:"Heading, then lines; those of a game or file begin with '> '."`
	TokenEstimate int    `json:"tokenEstimate" jsonschema:"The tokens of the content."`

	// Relevance is from 0 to 1 if Scored is true, for results of searches. Fragments without a score are cut after all
	// others.
	Relevance float64 `json:"relevance,omitzero" minimum:"0" maximum:"1" jsonschema:"Of what a search found."`
	Scored    bool    `json:"scored,omitempty" jsonschema:"Whether it has a relevance: cut before all else."`

	// Required fragments are never left out: open items that block, and gaps of the log. If a fragment does not fit, Short
	// replaces its lines. Without Short it is cut at a line, and says how many lines are left out.
	Required bool `json:"required,omitempty" jsonschema:"Whether it is never cut."`

	// Section names the part of a document that it belongs to, in words for people: a heading of its Markdown.
	Section string `json:"section,omitempty" jsonschema:"The heading that it has in Markdown, if it has one of its own."`

	Title string `json:"-"` // one line, in the words of the source
	Lines []Line `json:"-"`
	Short []Line `json:"-"`

	// Parent is the SourceID of the fragment that this one details, "" for none.
	Parent string `json:"parent,omitempty" jsonschema:"The sourceId of the fragment that this one details."`

	// Seq orders fragments in time; 0 is unknown.
	Seq uint64 `json:"seq,omitempty" jsonschema:"Its place in time."`

	// Refs are values that later stages may use, as $attention.NAME, by name: "signature", by which fragments of one
	// source are deduplicated, "operation", "rule", "text" (for searches of related entries), …. "items" are the ids of
	// all items that a fragment names.
	Refs map[string]string `json:"refs,omitempty" jsonschema:"Values that later stages used, by name."`

	more int // lines that were cut, which Content says
}

// Line is one line of a fragment.
type Line struct {
	Text string
	Data bool // written by a game, a file or a peer, and not by the source itself
	Kind Kind
}

// Kind is the kind of text of a line, by which its tokens are estimated.
type Kind uint8

// The kinds of text.
const (
	Prose Kind = iota
	Stack      // stack traces, code, paths
	Hex        // ids, hashes, addresses, digits
)

// How a stage ended.
const (
	StatusOK        = "ok"
	StatusTruncated = "truncated" // it had more than fits
	StatusTimeout   = "timeout"
	StatusEmpty     = "empty"   // it had nothing
	StatusSkipped   = "skipped" // it is disabled, or the pipeline stopped before it
	StatusFailed    = "failed"  // Detail has the reason; later stages ran
)

// stageResult is the outcome of one stage. Detail of a halting stage is why it stopped, or did not.
type stageResult struct {
	Stage     string        `json:"stage" jsonschema:"Its name in the template."`
	Type      string        `json:"type" jsonschema:"What it does."`
	Fragments int           `json:"fragments" jsonschema:"Returned; of structuring and halting, kept."`
	Tokens    int           `json:"tokens" jsonschema:"Of these fragments."`
	Queries   int           `json:"queries" jsonschema:"Of ledgers, registries and searchers."`
	Duration  time.Duration `json:"durationNs" jsonschema:"In nanoseconds."`
	Status    string        `json:"status" enum:"ok,truncated,timeout,empty,skipped,failed" jsonschema:"How it ended."`
	Detail    string        `json:"detail,omitempty" jsonschema:"Why it ended so."`
}

// used is the cost of a context.
type used struct {
	Tokens  int           `json:"tokens" jsonschema:"As estimated."`
	Queries int           `json:"queries" jsonschema:"Of ledgers, registries and searchers."`
	Elapsed time.Duration `json:"elapsedNs" jsonschema:"In nanoseconds."`
}

// Request asks for a context.
type Request struct {
	AgentID    string `json:"agentId,omitempty"`
	AgentClass string `json:"agentClass,omitempty"` // chooses the template, as FrameworkID and Tier do; any words

	FrameworkID string `json:"frameworkId,omitempty"` // a game, or a set of tools
	Tier        string `json:"tier,omitempty"`        // of the ledger; see [Ledger]

	WorkOrderID string `json:"workOrderId,omitempty"` // an operation, a goal, an item of attention
	SessionID   string `json:"sessionId,omitempty"`

	Contract Contract `json:"contract,omitzero"`

	// TemplateOverride is the id of the template to use, whatever its keys.
	TemplateOverride string `json:"templateOverride,omitempty"`

	// Template is the template to use in place of the service's. Such a context is not kept.
	Template *Template `json:"-"`

	// MaxContextTokens replaces the template's budget of tokens; 0 keeps it.
	MaxContextTokens int `json:"maxContextTokens,omitempty"`

	// Scrub removes private data, as Scrub of a template does.
	Scrub bool `json:"scrub,omitempty"`
}

// Contract has the requirements of the prompt that uses the context.
type Contract struct {
	RequiredContext RequiredContext `json:"requiredContext,omitzero" yaml:"required_context"`
}

// RequiredContext adds stages that the template's pipeline lacks. It displaces none of them.
type RequiredContext struct {
	LedgerQueries []LedgerQuery   `json:"ledgerQueries,omitempty" yaml:"ledger_queries"`
	FrameworkRefs []RegistryQuery `json:"frameworkRefs,omitempty" yaml:"framework_refs"`
	FileRefs      []FileRead      `json:"fileRefs,omitempty" yaml:"file_refs"`
}
