package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// SchemaVersion is the version of the JSON that this package writes, documents,
// lines and records alike: "schemaVersion" in each. It rises when a field goes,
// or means something else; new fields do not change it. See [Schema].
const SchemaVersion = 1

// UpdateLine is one line of the JSON lines form, and one element of
// "updates" of the document.
type UpdateLine struct {
	Update      string            `json:"update"` // opened, updated or cleared
	Attention   heed.Attention    `json:"attention"`
	Line        uint64            `json:"line"`       // of the entry that prompted the update
	CauseLine   uint64            `json:"cause_line"` // of the first entry at the item's highest disposition
	Rule        string            `json:"rule"`       // that decided about the cause
	Reason      string            `json:"reason"`
	Disposition event.Disposition `json:"disposition"` // the highest that the item reached
	Groups      int               `json:"groups"`
	OpenedLine  uint64            `json:"opened_line"`
	Predecessor string            `json:"predecessor,omitempty"`
	Blame       []string          `json:"blame,omitempty"` // mods that the cause points at
	File        string            `json:"file"`
}

func updateLine(file string, u *heed.Update) UpdateLine {
	return UpdateLine{
		Update: u.Kind, Attention: safeAttention(u.Attention),
		Line: u.Pos, CauseLine: u.Attention.Cause.Pos, Rule: u.Attention.Cause.Rule, Reason: string(u.Reason),
		Disposition: u.Attention.Disposition, Groups: u.Attention.Groups, OpenedLine: u.Attention.OpenedPos,
		Predecessor: u.Attention.Predecessor, Blame: safeAll(u.Attention.Blame), File: safe(file),
	}
}

// safeAttention returns a with every text made fit to be shown, also after a
// reader has decoded the JSON and prints it. The engine sees to its summaries
// and samples; names of operations and methods come from the host as they are.
func safeAttention(a heed.Attention) heed.Attention {
	a.CausalOperationID = safe(a.CausalOperationID)
	a.CausalMethod = safe(a.CausalMethod)
	a.Summary = safe(a.Summary)
	sample := make([]heed.Sample, len(a.Sample))
	for i, s := range a.Sample {
		s.Message = safe(s.Message)
		sample[i] = s
	}
	a.Sample = sample
	return a
}

// AppendUpdate appends u as one JSON object and a line feed. Its "attention"
// has exactly the fields of GABP's attention item.
func AppendUpdate(dst []byte, file string, u *heed.Update) []byte {
	return appendJSON(dst, struct {
		SchemaVersion int `json:"schemaVersion"`
		UpdateLine
	}{SchemaVersion, updateLine(file, u)})
}

// Record is one record of a capture with what the engine made of it.
type Record struct {
	File        string            `json:"file"`
	StartLine   int               `json:"start_line"` // 1-based, of lines split on \n
	EndLine     int               `json:"end_line"`
	Kind        string            `json:"kind"`   // log, context, operation, state or notice
	Layout      string            `json:"layout"` // in which the record was read
	Split       string            `json:"split"`  // what the end of the record rests on
	Level       event.Level       `json:"level"`
	LevelBy     string            `json:"level_by"`            // what the level rests on
	RefState    string            `json:"ref_state,omitempty"` // what became of a stack reference; empty if there is none
	Cut         uint64            `json:"cut,omitempty"`       // bytes of text that were left out
	Signature   signature.ID      `json:"signature"`
	Template    string            `json:"template"` // head, then a line per frame
	Disposition event.Disposition `json:"disposition"`
	Severity    event.Severity    `json:"severity"`
	Rule        string            `json:"rule"`
	Escalated   bool              `json:"escalated,omitempty"` // by repetition: the rule by itself is less urgent
	Phase       string            `json:"phase"`               // that the record saw

	// Blame lists the mods that the record points at, the likeliest first. Their
	// names need no escapes.
	Blame []heed.Suspect `json:"blame,omitempty"`
}

// AppendRecord appends r as one JSON object and a line feed. A log has a
// record for nearly every line, so it is written without encoding/json and,
// unless text has to be escaped, without allocating.
func AppendRecord(dst []byte, r *Record) []byte {
	dst = strconv.AppendInt(append(dst, `{"schemaVersion":`...), SchemaVersion, 10)
	dst = appendField(dst, `,"file":`, r.File)
	dst = strconv.AppendInt(append(dst, `,"start_line":`...), int64(r.StartLine), 10)
	dst = strconv.AppendInt(append(dst, `,"end_line":`...), int64(r.EndLine), 10)
	dst = appendField(dst, `,"kind":`, r.Kind)
	dst = appendField(dst, `,"layout":`, r.Layout)
	dst = appendField(dst, `,"split":`, r.Split)
	dst = appendField(dst, `,"level":`, r.Level.String())
	dst = appendField(dst, `,"level_by":`, r.LevelBy)
	if r.RefState != "" {
		dst = appendField(dst, `,"ref_state":`, r.RefState)
	}
	if r.Cut > 0 {
		dst = strconv.AppendUint(append(dst, `,"cut":`...), r.Cut, 10)
	}
	dst = append(dst, `,"signature":"`...)
	dst = appendID(dst, r.Signature)
	dst = appendTemplate(append(dst, `","template":`...), r.Template)
	dst = appendField(dst, `,"disposition":`, r.Disposition.String())
	dst = appendField(dst, `,"severity":`, r.Severity.String())
	dst = appendField(dst, `,"rule":`, r.Rule)
	if r.Escalated {
		dst = append(dst, `,"escalated":true`...)
	}
	dst = appendField(dst, `,"phase":`, r.Phase)
	if len(r.Blame) > 0 {
		dst = text.AppendJSON(append(dst, `,"blame":`...), marshal(r.Blame))
	}
	return append(dst, "}\n"...)
}

// appendField appends what comes before a value, and text as a JSON string.
func appendField(dst []byte, before, text string) []byte {
	dst = append(append(dst, before...), '"')
	return append(appendQuoted(dst, safe(text)), '"')
}

// appendTemplate appends a template as a JSON string, line by line as
// [safeLines] would have it.
func appendTemplate(dst []byte, template string) []byte {
	dst = append(dst, '"')
	for {
		line, rest, more := strings.Cut(template, "\n")
		dst = appendQuoted(dst, safe(line))
		if !more {
			return append(dst, '"')
		}
		dst, template = append(dst, `\n`...), rest
	}
}

// appendQuoted appends text that package text has seen to as it stands
// between the quotes of a JSON string: without controls, two characters are
// left to escape.
func appendQuoted(dst []byte, text string) []byte {
	for i := range len(text) {
		if b := text[i]; b == '"' || b == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	return dst
}

// appendID appends the 16 hexadecimal digits of an id.
func appendID(dst []byte, id signature.ID) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[id>>shift&15])
	}
	return dst
}

// AppendRecordText appends r as one line of text.
func AppendRecordText(dst []byte, r *Record) []byte {
	dst = append(dst, safe(r.File)...)
	dst = append(dst, ':')
	dst = append(dst, number(uint64(r.StartLine))...)
	if r.EndLine != r.StartLine {
		dst = append(dst, '-')
		dst = append(dst, number(uint64(r.EndLine))...)
	}
	for _, field := range [...]string{r.Disposition.String(), r.Severity.String(), r.Level.String(), r.Rule, phaseName(r.Phase)} {
		dst = append(append(dst, '\t'), field...)
	}
	dst = appendID(append(dst, '\t'), r.Signature)
	dst = appendOneLine(append(dst, '\t'), r.Template)
	return append(dst, '\n')
}

// phaseName keeps columns of text where a log has not entered a phase yet.
func phaseName(phase string) string {
	if phase == "" {
		return "-"
	}
	return safe(phase)
}

// Summary is the accounting of one log.
type Summary struct {
	File        string `json:"file"`
	Layout      string `json:"layout"`
	Lines       int    `json:"lines"`
	Records     uint64 `json:"records"`
	Complete    bool   `json:"complete"` // read to its end
	Error       string `json:"error,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`

	// Worst is the highest disposition that an item reached.
	Worst event.Disposition `json:"worst"`
	Items struct {
		Opened       uint64 `json:"opened"`
		Blocking     uint64 `json:"blocking"` // that ever blocked
		Advisory     uint64 `json:"advisory"` // that never did
		Open         int    `json:"open"`     // at the end
		OpenBlocking int    `json:"open_blocking"`
		Acknowledged uint64 `json:"acknowledged"`
		Updates      uint64 `json:"updates"`
	} `json:"items"`
	Blind struct {
		AtEnd bool       `json:"at_end"`
		Times uint64     `json:"times"`
		Spans []spanLine `json:"spans"` // the first, and the last
	} `json:"blind"`
	Missing []missingLine `json:"missing"`

	// Headless says that the beginning of the log is missing.
	Headless bool `json:"beginning_missing,omitempty"`

	Entries struct {
		Received   uint64 `json:"received"`
		Logs       uint64 `json:"logs"`
		Operations uint64 `json:"operations"`
		States     uint64 `json:"states"`
		Notices    uint64 `json:"notices"`
		Ignored    uint64 `json:"ignored"`
		Folded     uint64 `json:"folded"`
		Advisory   uint64 `json:"advisory"` // of the folded
		Blocking   uint64 `json:"blocking"`
	} `json:"entries"`
	Signatures map[string]sectionLine `json:"signatures"` // by disposition
	// Accounting is "ok", or the laws of conservation that the counts break.
	Accounting string `json:"accounting"`

	Verdict *Verdict `json:"verdict"`

	// Environment is where the log was made; nil where it does not tell.
	Environment *Environment `json:"environment,omitempty"`
}

type spanLine struct {
	From uint64 `json:"from_line"`
	To   uint64 `json:"to_line,omitempty"` // none: to the end; that of from_line: something is missing there
	Rule string `json:"rule"`
}

type missingLine struct {
	Status event.Status `json:"status"`
	Times  uint64       `json:"times"`
	Amount uint64       `json:"amount"`
	First  uint64       `json:"first_line"`
	Last   uint64       `json:"last_line"`
}

type sectionLine struct {
	Entries          uint64 `json:"entries"`
	Rows             int    `json:"rows"`
	Forgotten        uint64 `json:"forgotten_rows"`
	ForgottenEntries uint64 `json:"forgotten_entries"`
}

// Summary returns the accounting of the replay.
func (r *Replay) Summary() Summary {
	st := &r.end.Stats
	s := Summary{
		File: safe(r.config.File), Layout: r.end.Layout, Lines: r.end.Lines, Records: r.records,
		Complete: r.unread == "" && !r.end.Interrupted, Error: r.unread, Interrupted: r.end.Interrupted,
		Worst: r.Worst(), Missing: []missingLine{}, Signatures: map[string]sectionLine{}, Accounting: "ok",
		Verdict: r.Verdict(), Environment: r.environment, Headless: r.end.Headless,
	}
	s.Items.Opened = r.causes.items
	s.Items.Blocking = r.causes.byDisposition[event.Blocking]
	s.Items.Advisory = r.causes.byDisposition[event.Advisory]
	s.Items.Open, s.Items.OpenBlocking = st.Coalesce.Open, st.Coalesce.OpenBlocking
	s.Items.Acknowledged, s.Items.Updates = st.Coalesce.Acknowledged, r.timeline.total
	s.Blind.AtEnd, s.Blind.Times, s.Blind.Spans = r.blind.now, r.blind.count, []spanLine{}
	for _, span := range r.blind.spans {
		s.Blind.Spans = append(s.Blind.Spans, spanLine(span))
	}
	for _, m := range r.noticed() {
		s.Missing = append(s.Missing, missingLine(*m))
	}
	s.Entries.Received, s.Entries.Ignored, s.Entries.Folded = st.Received, st.Ignored, st.Folded
	s.Entries.Logs, s.Entries.Operations, s.Entries.States, s.Entries.Notices = st.Logs, st.Operations, st.States, st.Notices
	s.Entries.Advisory, s.Entries.Blocking = st.Coalesce.ByDisposition[event.Advisory], st.Coalesce.ByDisposition[event.Blocking]
	for _, d := range dispositions {
		t := r.tables[d]
		s.Signatures[d.String()] = sectionLine{Entries: t.entries, Rows: t.size(), Forgotten: t.forgotten, ForgottenEntries: t.forgottenEntries}
	}
	if err := st.Check(); err != nil {
		s.Accounting = err.Error()
	}
	return s
}

// AppendSummary appends {"schemaVersion":…,"summary":…} and a line feed, the last
// line of the JSON lines form of one log.
func (r *Replay) AppendSummary(dst []byte) []byte {
	return appendJSON(dst, struct {
		SchemaVersion int     `json:"schemaVersion"`
		Summary       Summary `json:"summary"`
	}{SchemaVersion, r.Summary()})
}

// rowLine is one row of the table of signatures.
type rowLine struct {
	Disposition event.Disposition `json:"disposition"`
	Count       uint64            `json:"count"`
	First       uint64            `json:"first_line"`
	Last        uint64            `json:"last_line"`
	Signature   signature.ID      `json:"signature"`
	Forms       uint64            `json:"forms"`
	Rule        string            `json:"rule"`
	Severity    event.Severity    `json:"severity"`
	Template    string            `json:"template"`
	Blame       []string          `json:"blame,omitempty"`
}

// causeLine is one thing to look at.
type causeLine struct {
	Rule        string            `json:"rule"`
	Disposition event.Disposition `json:"disposition"`
	Severity    event.Severity    `json:"severity"`
	Escalated   bool              `json:"escalated,omitempty"` // the rule is as urgent as this by repetition only
	Invalidates bool              `json:"state_invalidated"`
	Summary     string            `json:"summary"`
	Why         string            `json:"why,omitempty"`
	Items       uint64            `json:"items"`
	Open        uint64            `json:"open"`
	Entries     uint64            `json:"entries"`
	First       uint64            `json:"first_line"`
	Last        uint64            `json:"last_line"`
	Sample      string            `json:"sample,omitempty"`
	Blame       []string          `json:"blame,omitempty"`
}

// document is the JSON form of one log.
type document struct {
	Summary        Summary      `json:"summary"`
	Causes         []causeLine  `json:"causes"`
	Updates        []UpdateLine `json:"updates"`
	UpdatesLeftOut uint64       `json:"updates_left_out"`
	Signatures     []rowLine    `json:"signatures"`
}

// AppendDocument appends the report as one JSON object, without a line feed:
// the accounting, the causes of attention, the updates as far as they are kept,
// and the top rows of each section of the table of signatures, all of them where
// top is 0. Whoever writes documents wraps them as the schema says:
// {"schemaVersion":1,"files":[…]}.
func (r *Replay) AppendDocument(dst []byte, top int) []byte {
	doc := document{Summary: r.Summary(), Updates: []UpdateLine{}, UpdatesLeftOut: r.timeline.left(), Signatures: []rowLine{}}
	doc.Causes = []causeLine{}
	for _, c := range r.causes.list() {
		line := causeLine{
			Rule: c.Rule, Disposition: c.Disposition, Severity: c.Severity, Invalidates: c.Invalidates,
			Escalated: r.escalated(c.Rule, c.Disposition),
			Items:     c.Items, Open: c.Open, Entries: c.Entries, First: c.First, Last: c.Last,
		}
		line.Summary, line.Why = r.explain(c)
		line.Blame = safeAll(c.FirstItem.Blame)
		if len(c.FirstItem.Sample) > 0 {
			line.Sample = safe(c.FirstItem.Sample[0].Message)
		}
		doc.Causes = append(doc.Causes, line)
	}
	first, last := r.timeline.ends()
	for _, updates := range [][]heed.Update{first, last} {
		for i := range updates {
			doc.Updates = append(doc.Updates, updateLine(r.config.File, &updates[i]))
		}
	}
	for _, d := range dispositions {
		for _, row := range r.tables[d].top(top) {
			doc.Signatures = append(doc.Signatures, rowLine{
				Disposition: d, Count: row.Count, First: row.First, Last: row.Last, Signature: row.Signature.ID, Forms: row.Forms,
				Rule: row.Rule, Severity: row.Severity, Template: safeLines(row.Template), Blame: safeAll(row.Blame),
			})
		}
	}
	return text.AppendJSON(dst, marshal(doc))
}

// appendJSON appends v and a line feed.
func appendJSON(dst []byte, v any) []byte {
	return append(text.AppendJSON(dst, marshal(v)), '\n')
}

// marshal encodes one of this package's own types, none of which can fail. It
// leaves the angle brackets of masks readable: JSON needs no escapes there.
func marshal(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("BUG: report: " + err.Error())
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
