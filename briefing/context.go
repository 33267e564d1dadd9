package briefing

import "time"

// Context is what was assembled.
type Context struct {
	Text       string        `json:"text"`
	Hash       string        `json:"hash"` // SHA-256 of Text, in hexadecimal
	Fragments  []Fragment    `json:"fragments"`
	TemplateID string        `json:"templateId"`
	Trace      []StageResult `json:"trace"`
	Used       Used          `json:"used"`
	Warnings   []string      `json:"warnings"`
}

// Source is the kind of source that a fragment is from.
type Source string

// The kinds of sources.
const (
	SourceLedger    Source = "ledger"
	SourceRegistry  Source = "registry"
	SourceFile      Source = "file"
	SourceSearch    Source = "search"
	SourceAttention Source = "attention"
)

// Fragment is a part of a context. A source sets all but Content and TokenEstimate, which the service makes of Title
// and Lines.
type Fragment struct {
	Source   Source `json:"source"`
	SourceID string `json:"sourceId"` // by which the source can be read again: EPOCH/SEQ, path#FROM-TO, ITEM@REVISION

	// Content is the text of the fragment: its heading, then its lines, each ended by a line feed.
	Content       string `json:"content"`
	TokenEstimate int    `json:"tokenEstimate"`

	// Relevance is from 0 to 1 where Scored is true: what a search found. What a stage was configured to return is
	// not scored, and is cut after all that is.
	Relevance float64 `json:"relevance,omitzero"`
	Scored    bool    `json:"scored,omitempty"`

	// Required fragments are never cut: open items that block, and what makes all else doubtful. Where not all of a
	// fragment fits, Short stands for its lines; one that has none is cut at a line, and says how many are not shown.
	Required bool `json:"required,omitempty"`

	Title string `json:"-"` // one line, in the words of the source
	Lines []Line `json:"-"`
	Short []Line `json:"-"`

	// Parent is the SourceID of the fragment that this one details, "" for none.
	Parent string `json:"parent,omitempty"`

	// Seq orders fragments in time, 0 for one that has no place in it.
	Seq uint64 `json:"seq,omitempty"`

	// Refs are values that later stages may use, as $attention.NAME, by name: "signature", by which fragments of one
	// source kind are deduplicated, "operation", "rule", "text" (what a search for related entries looks for), …. "items"
	// are the ids of all items that a fragment names.
	Refs map[string]string `json:"refs,omitempty"`

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

// Status is how a stage ended.
type Status string

// The statuses of stages.
const (
	StatusOK        Status = "ok"
	StatusTruncated Status = "truncated" // it had more than fits
	StatusTimeout   Status = "timeout"
	StatusEmpty     Status = "empty"   // it had nothing
	StatusSkipped   Status = "skipped" // it is disabled, or the pipeline stopped before it
	StatusFailed    Status = "failed"  // Detail has the reason; the pipeline went on
)

// StageResult is what became of one stage. Detail of a halting stage is why it stopped, or did not.
type StageResult struct {
	Stage     string        `json:"stage"`
	Type      StageType     `json:"type"`
	Fragments int           `json:"fragments"` // returned; of structuring and halting, kept
	Tokens    int           `json:"tokens"`    // of these
	Queries   int           `json:"queries"`
	Duration  time.Duration `json:"durationNs"`
	Status    Status        `json:"status"`
	Detail    string        `json:"detail,omitempty"`
}

// Used is what a context cost.
type Used struct {
	Tokens  int           `json:"tokens"`
	Queries int           `json:"queries"`
	Elapsed time.Duration `json:"elapsedNs"`
}
