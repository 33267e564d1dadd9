package report

import (
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text/scrub"
	"github.com/heedlog/heed/signature"
)

// Document is what there is to report about one log: plain data, scrubbed and escaped, which each form renders
// as it is. What JSON shows of it is exported; the rest serves the other forms.
type Document struct {
	Summary    Summary `json:"summary" jsonschema:"The accounting of the log."`
	Causes     []Cause `json:"causes" jsonschema:"What to look at, the most urgent first; of equals what recurs, then what came first."`
	Signatures []Row   `json:"signatures" jsonschema:"The groups with the most entries, by disposition."`

	// WentBlind is set if evidence was incomplete at any point of the log: a rule decided so, bytes are missing, the
	// beginning of the log among them, or the game stopped writing repeats. A log without a record misses all of it.
	WentBlind bool `json:"-"`

	texts
	file     string       // its name, not escaped: a URI is made of it
	removed  []scrub.Kind // of private text
	scrubbed bool
	rule     func(id string) RuleText // of [Config]
	complete string                   // the class of the style of whether the log is complete
	doubts   []string                 // why the log is not complete, in sentences
	silence  string                   // what there is of a log without a record, "" of another
	details  *details                 // empty without Config.Details
	clock    bool                     // most entries of the log have a time, and the times differ
	excerpts []*excerpt
}

// Summary is the accounting of one log.
type Summary struct {
	File        string `json:"file" jsonschema:"The log, as it was named."`
	Layout      string `json:"layout" jsonschema:"The layout in which it was read."`
	family      string
	Lines       int    `json:"lines" jsonschema:"Lines read."`
	Records     uint64 `json:"records" jsonschema:"Records in those lines."`
	Complete    bool   `json:"complete" jsonschema:"The log was read to its end."`
	Error       string `json:"error,omitempty" jsonschema:"Why it was not read to its end."`
	Interrupted bool   `json:"interrupted,omitempty" jsonschema:"Reading was interrupted."`

	Worst event.Disposition `json:"worst" jsonschema:"The highest disposition that an item reached."`
	Items struct {
		Opened       uint64 `json:"opened" jsonschema:"Attention items."`
		Blocking     uint64 `json:"blocking" jsonschema:"Items that blocked at any time."`
		Advisory     uint64 `json:"advisory" jsonschema:"Items that never blocked."`
		Open         int    `json:"open" jsonschema:"Open at the end of the log."`
		OpenBlocking int    `json:"openBlocking" jsonschema:"Blocking items that are open at the end."`
		Acknowledged uint64 `json:"acknowledged" jsonschema:"Items that were acknowledged."`
		Updates      uint64 `json:"updates" jsonschema:"Updates of items."`
	} `json:"items" jsonschema:"Attention items."`
	Blind struct {
		AtEnd bool   `json:"atEnd" jsonschema:"The log ends blind."`
		Times uint64 `json:"times" jsonschema:"How often evidence was incomplete."`
		Spans []span `json:"spans" jsonschema:"Where: the first spans, and the last."`
	} `json:"blind" jsonschema:"Where evidence is incomplete."`
	Missing []missing `json:"missing" jsonschema:"What is missing, by kind of notice."`

	Headless bool `json:"beginningMissing,omitempty" jsonschema:"The beginning of the log is missing."`

	Entries struct {
		heed.Stats

		Advisory uint64 `json:"advisory" jsonschema:"Folded entries that are advisory."`
		Blocking uint64 `json:"blocking" jsonschema:"Folded entries that are blocking."`
	} `json:"entries" jsonschema:"Entries, and what became of them."`
	Signatures map[string]tableSummary `json:"signatures" jsonschema:"The table of signatures, by disposition."`
	Accounting string                  `json:"accounting" jsonschema:"\"ok\", or which counts do not add up."`

	Verdict     *verdict     `json:"verdict" jsonschema:"What matters about the log."`
	Environment *Environment `json:"environment,omitempty" jsonschema:"Where the log was made, if known."`
}

type tableSummary struct {
	Entries        uint64 `json:"entries" jsonschema:"Entries of the disposition."`
	Rows           int    `json:"rows" jsonschema:"Rows that the table has."`
	Dropped        uint64 `json:"droppedRows" jsonschema:"Rows that were dropped because the table was full."`
	DroppedEntries uint64 `json:"droppedEntries" jsonschema:"Entries that these rows had counted."`

	signatures int
}

// Cause is one thing to look at: the attention items that one rule caused at one disposition.
type Cause struct {
	Rule        string            `json:"rule" jsonschema:"The rule that decided about the dominant entries of the items."`
	Disposition event.Disposition `json:"disposition" jsonschema:"The highest disposition of the items."`
	Severity    event.Severity    `json:"severity" jsonschema:"The highest severity of the items."`
	Escalated   bool              `json:"escalated,omitempty" jsonschema:"The rule is this urgent only because of repetition."`
	Invalidates bool              `json:"stateInvalidated" jsonschema:"The game's state may have changed."`
	Summary     string            `json:"summary" jsonschema:"What happened, and in which operation."`
	Why         string            `json:"why,omitempty" jsonschema:"Why it matters, as the rule describes it."`
	Advice      string            `json:"advice,omitempty" jsonschema:"What a player does now, as the rule describes it."`
	Items       uint64            `json:"items" jsonschema:"Attention items."`
	Open        uint64            `json:"open" jsonschema:"Items that are open at the end."`
	Entries     uint64            `json:"entries" jsonschema:"Urgent entries in the items, with those of other rules."`
	First       uint64            `json:"firstLine" jsonschema:"Line of the first of these entries."`
	Last        uint64            `json:"lastLine" jsonschema:"Line of the last entry."`
	Sample      string            `json:"sample,omitempty" jsonschema:"The text of the first item's first sample."`
	Blame       []string          `json:"blame,omitempty" jsonschema:"Mods that at least half of these entries point at."`

	Fate    string        `json:"-"` // whether the items ended, in words
	Samples []heed.Sample `json:"-"`

	what    string // Summary without the operation
	origin  origin
	own     uint64        // of Entries, those that Rule itself decided
	item    string        // id of the first item
	opened  uint64        // line at which that was
	changed string        // a clause that the state of the game or program may have changed, or ""
	parts   []heed.Member // the entries of other rules in the items, the most urgent first
	frames  []string      // of the stack of the group that it began with
	time    time.Time     // of the first entry, where Config.Details asks for it
}

// origin is the operation that an item came from or after; the name is "" without one.
type origin struct{ word, name string }

// Row is a group of signatures that one rule decided about at one disposition.
type Row struct {
	Disposition event.Disposition `json:"disposition" jsonschema:"What the rule decided."`
	Count       uint64            `json:"count" jsonschema:"Entries."`
	First       uint64            `json:"firstLine" jsonschema:"Line of the first entry."`
	Last        uint64            `json:"lastLine" jsonschema:"Line of the last entry."`
	Signature   signature.ID      `json:"signature" jsonschema:"The id of the template that names the group." pattern:"^[0-9a-f]{16}$"`
	Forms       uint64            `json:"forms" jsonschema:"Signatures in the group."`
	Rule        string            `json:"rule" jsonschema:"The rule that decided."`
	Severity    event.Severity    `json:"severity" jsonschema:"The highest severity of the entries."`
	Template    string            `json:"template" jsonschema:"The text with variable parts masked, then a line per stack frame; empty if it is no longer stored."`
	Blame       []string          `json:"blame,omitempty" jsonschema:"Mods that the first entry points at."`
	Variants    heed.Variants     `json:"variants,omitempty" jsonschema:"What the entries decide differently, if they do."`

	Escalated bool   `json:"-"`
	Detail    detail `json:"-"` // empty without Config.Details
	advice    string // of the entries of its rule; "" if they are not urgent
}

// Document returns what there is to report about a replay that has ended, with the top rows of each
// disposition, all that are held where top is not positive; with [Config.Details] 300 at most, as many as a
// page shows. For [Text], [Markdown] and [HTML], the verdict may be in another language, by the English texts.
func (r *Replay) Document(top int, language ...map[string]string) *Document {
	if len(language) > 0 {
		own := *r
		own.texts = language[0]
		return own.Document(top)
	}
	if r.config.Details && (top <= 0 || top > pageRows) {
		top = pageRows
	}
	r.rescrub()
	d := &Document{
		texts: r.texts, file: r.config.File, removed: r.config.Scrub.removed(),
		scrubbed:  r.config.Scrub != nil,
		rule:      r.config.Rule,
		WentBlind: r.wentBlind(),
		Causes:    []Cause{}, Signatures: []Row{},
	}
	for _, c := range r.causes.list() {
		d.Causes = append(d.Causes, r.cause(c))
	}
	d.complete, d.doubts, d.silence = r.completeness(), r.doubts(), r.silence()
	if d.Summary = r.summary(r.verdict()); len(d.Causes) > 0 {
		d.Summary.Worst = d.Causes[0].Disposition
	}
	members := r.causes.all()
	for _, disposition := range dispositions {
		t := r.tables[disposition]
		for _, row := range t.top(top) {
			shown := row.Row
			shown.Disposition, shown.Signature, shown.Rule = disposition, row.sig.ID, safe(row.Rule)
			if shown.Template, shown.Blame = safeLines(row.Template), nil; disposition.Urgent() {
				key := causeKey{row.Rule, disposition}
				shown.Blame, shown.advice = safeAll(row.Blame), r.advice(key, members[key])
			}
			shown.Escalated = r.raised[causeKey{row.Rule, disposition}]
			shown.Detail.Sample = slices.Clone(row.Detail.Sample)
			for i := range shown.Detail.Sample {
				shown.Detail.Sample[i].Text = safe(shown.Detail.Sample[i].Text)
			}
			d.Signatures = append(d.Signatures, shown)
		}
	}
	d.details, d.excerpts = r.details, r.excerpts(d)
	d.clock = 2*r.times.Entries > r.details.total && r.times.Last.After(r.times.First)
	return d
}

// cause returns c for a document.
func (r *Replay) cause(c *cause) Cause {
	out := c.Cause
	out.Rule, out.Blame, out.Escalated = safe(c.Rule), likely(c.own()), r.raised[causeKey{c.Rule, c.Disposition}]
	out.origin, out.own, out.Fate = c.operation(), c.own().Entries, r.words(r.fateOf(c))
	out.item, out.opened = safe(c.FirstItem.ID), c.FirstItem.OpenedPos
	rule := r.config.Rule(c.Rule).described(c.Rule, c.own().Severity)
	out.what, out.Summary, out.Why = rule.Summary, rule.Summary, rule.Why
	out.Advice = r.advice(causeKey{c.Rule, c.Disposition}, c.own())
	if out.Invalidates {
		out.changed = r.words(changed)
	}
	if out.origin.name != "" {
		out.Summary += "; " + out.origin.word + " " + out.origin.name
	}
	for _, s := range c.FirstItem.Sample {
		if s.Rule == c.Rule && len(out.Samples) < 2 {
			s.Message = safe(s.Message)
			out.Samples = append(out.Samples, s)
		}
	}
	if m := &c.FirstItem.Members[0]; out.Samples == nil && m.Message != "" { // the item kept samples of other rules
		out.Samples = []heed.Sample{{FirstPos: m.First, RepeatCount: m.Entries, Message: safe(m.Message)}}
	}
	if out.Samples != nil {
		out.Sample = out.Samples[0].Message
	}
	for _, m := range c.others() {
		part := *m
		part.Title, part.Rule = r.config.Rule(m.Rule).described(m.Rule, m.Severity).Summary, safe(m.Rule)
		out.parts = append(out.parts, part)
	}
	group := r.config.Group(c.FirstItem.Members[0].Signature)
	if row := r.tables[c.Disposition].byKey[rowKey{group, c.Rule}]; row != nil {
		out.frames = safeAll(row.Frames())
	}
	out.time = r.details.causes[causeKey{c.Rule, c.Disposition}]
	return out
}

// first returns the first n parts, and how many more there are; that takes as much room as one, so that
// one more is shown.
func (c *Cause) first(n int) (parts []heed.Member, more int) {
	if len(c.parts) > n+1 {
		return c.parts[:n], len(c.parts) - n
	}
	return c.parts, 0
}

// table returns the counts of a disposition.
func (d *Document) table(of event.Disposition) tableSummary { return d.Summary.Signatures[of.String()] }

// rows returns the rows of a disposition.
func (d *Document) rows(of event.Disposition) []Row {
	return slices.DeleteFunc(slices.Clone(d.Signatures), func(r Row) bool { return r.Disposition != of })
}

// summary returns the accounting of the replay.
func (r *Replay) summary(v *verdict) Summary {
	st := &r.end.Stats
	s := Summary{
		File: safe(r.config.File), Layout: r.end.Layout, family: safe(r.family), Lines: r.end.Lines, Records: r.records,
		Complete: r.unread == "" && !r.end.Interrupted, Error: r.unread, Interrupted: r.end.Interrupted,
		Missing: r.noticed(), Signatures: map[string]tableSummary{}, Accounting: "ok",
		Verdict: v, Environment: r.environment, Headless: r.end.Headless,
	}
	s.Items.Blocking = r.causes.byDisposition[event.Blocking]
	s.Items.Advisory = r.causes.byDisposition[event.Advisory]
	s.Items.Opened = s.Items.Blocking + s.Items.Advisory
	s.Items.Open, s.Items.OpenBlocking = st.Coalesce.Open, st.Coalesce.OpenBlocking
	s.Items.Acknowledged, s.Items.Updates = st.Coalesce.Acknowledged, r.updates
	s.Blind.AtEnd, s.Blind.Times, s.Blind.Spans = r.blind.now, r.blind.count, append([]span{}, r.blind.spans...)
	s.Entries.Stats = *st
	s.Entries.Advisory = st.Coalesce.ByDisposition[event.Advisory]
	s.Entries.Blocking = st.Coalesce.ByDisposition[event.Blocking]
	for _, d := range dispositions {
		t := r.tables[d]
		s.Signatures[d.String()] = tableSummary{
			Entries: t.entries, Rows: len(t.groups), Dropped: t.evicted,
			DroppedEntries: t.evictedEntries, signatures: t.rows.Len(),
		}
	}
	if err := st.Check(); err != nil {
		s.Accounting = err.Error()
	}
	return s
}
