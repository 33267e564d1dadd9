package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/safetext"
)

// TextOptions shapes the text form of a report.
type TextOptions struct {
	// Width is the number of columns to fill, at least [MinWidth]; 0 to cut and wrap
	// nothing.
	Width int
	// Top bounds the rows of each section of the table of signatures, 0 for
	// all that are held.
	Top int

	// Color marks what matters with colors, for a terminal.
	Color bool

	// Rows is the height of the screen that the text goes to, 0 for none: what is
	// longer repeats at its end what matters, which has scrolled out of sight.
	Rows int
}

// What the text form shows before it says how many more there are: the first
// screen has to answer by itself.
const (
	textCauses  = 4  // causes told in full
	textAlso    = 12 // causes told in a line each
	textUpdates = 20 // rows of the timeline's beginning, and again of its end
)

// labelIndent is the column at which text beside a label begins.
const labelIndent = 12

// AppendText appends the report as text: what deserved attention, the timeline
// of updates, the table of signatures, the accounting.
func (r *Replay) AppendText(dst []byte, o TextOptions) []byte {
	t := text{Replay: r, options: o.wideEnough(), out: dst}
	v := r.Verdict()
	t.headline(v)
	if r.end.Lines > 0 {
		t.attention()
		t.updates()
		t.signatures()
		t.accounting()
		t.again(v, len(dst))
	}
	return t.out
}

// MinWidth is the narrowest text, in columns: what is narrower is not read anyhow.
const MinWidth = 20

// wideEnough returns o with a width in which text can be read.
func (o TextOptions) wideEnough() TextOptions {
	if o.Width > 0 {
		o.Width = max(o.Width, MinWidth)
	}
	return o
}

// heading appends the line that begins a part of a text.
func (o *TextOptions) heading(dst []byte, in style, format string, args ...any) []byte {
	if !o.Color {
		in = plain
	}
	dst = append(dst, '\n')
	dst = appendStyled(dst, fit(fmt.Sprintf(format, args...), o.Width), in)
	return append(dst, '\n')
}

// text is the state of one rendering.
type text struct {
	*Replay
	options TextOptions
	out     []byte
}

func (t *text) printf(format string, args ...any) { t.out = fmt.Appendf(t.out, format, args...) }

// styled appends text in a style, where colors are wanted.
func (t *text) styled(s string, in style) {
	if !t.options.Color {
		in = plain
	}
	t.out = appendStyled(t.out, s, in)
}

// wrapped appends text, wrapped and indented below itself, in a style.
func (t *text) wrapped(s string, indent int, in style) {
	if !t.options.Color || in == plain {
		t.out = appendWrapped(t.out, s, t.options.Width, indent)
		return
	}
	t.out = appendPainted(t.out, appendWrapped(nil, s, t.options.Width, indent), in)
}

// labeled prints text beside a label, wrapped and indented below itself.
func (t *text) labeled(label, s string) { t.labeledIn(label, s, plain) }

func (t *text) labeledIn(label, s string, in style) { t.wrapped(s, t.label(label), in) }

// label prints a label and returns the column at which the text for it begins.
// Where there is little room that is the next line.
func (t *text) label(label string) (indent int) {
	t.printf("  ")
	if t.options.Width == 0 || t.options.Width >= 3*labelIndent {
		t.styled(fmt.Sprintf("%-*s", labelIndent-2, label), faint)
		return labelIndent
	}
	if label != "" {
		t.styled(label, faint)
		t.printf("\n  ")
	}
	t.printf("  ")
	return 4
}

// sentence prints one sentence, indented and wrapped.
func (t *text) sentence(in style, format string, args ...any) {
	t.printf("  ")
	t.wrapped(fmt.Sprintf(format, args...), 2, in)
}

// section begins a part of the report.
func (t *text) section(in style, format string, args ...any) {
	t.out = t.options.heading(t.out, in, format, args...)
}

func (t *text) headline(v *Verdict) {
	file := safetext.Text(t.config.File, 0)
	if t.end.Lines == 0 && t.unread == "" && !t.end.Interrupted {
		t.styled(fitEnd(file, t.options.Width-len(": empty, not a single line")), strong)
		t.printf(": empty, not a single line\n")
		return
	}
	about := fmt.Sprintf(": %s, %s, %s", t.end.Layout, count(uint64(t.end.Lines), "line"), count(t.records, "record"))
	if w := t.options.Width; w > 0 {
		file = fitEnd(file, max(w-cells.StringWidth(about), min(w/2, cells.StringWidth(file))))
		about = fit(about, w-cells.StringWidth(file))
	}
	t.styled(file, strong)
	t.printf("%s\n", about)
	t.sentence(stateStyles[v.State], "%s", v.lead())
	t.glance(v)
}

// attention tells what deserved attention, cause by cause.
func (t *text) attention() {
	all := t.causes.list()
	shown := min(len(all), textCauses)
	for _, c := range all[:shown] {
		t.cause(c)
	}
	if len(all) == shown {
		return
	}
	t.section(strong, "ALSO")
	g := grid{columns: []column{{title: "LINE", right: true}, {title: "DISPOSITION", style: dispositionStyle}, {title: "ITEMS", right: true}, {title: "ENTRIES", right: true}, {title: "WHAT"}}, minLast: 32, color: t.options.Color}
	rest := all[shown:]
	for _, c := range rest[:min(len(rest), textAlso)] {
		what, _ := t.explain(c)
		if len(c.FirstItem.Blame) > 0 {
			what += "; blame: " + blamed(c.FirstItem.Blame)
		}
		g.add(number(c.First), c.Disposition.String(), number(c.Items), number(c.Entries), what+" ("+c.Rule+t.repetition(c)+")")
	}
	if more := len(rest) - textAlso; more > 0 {
		g.add("...", "", "", "", fmt.Sprintf("(%d more; see json)", more))
	}
	t.out = g.appendTo(t.out, t.options.Width)
}

// repetition says that a rule is as urgent as c only by repetition.
func (r *Replay) repetition(c *Cause) string {
	if r.raised[causeKey{c.Rule, c.Disposition}] {
		return ", escalated by repetition"
	}
	return ""
}

// cause tells one cause in full.
func (t *text) cause(c *Cause) {
	t.section(styleOf(c.Disposition)+";1", "%s %s, first at line %d", strings.ToUpper(c.Disposition.String()), c.Severity, c.First)
	what, why := t.explain(c)
	if c.Invalidates {
		what += "; what is known of the game's state may be stale"
	}
	t.labeled("what", what)
	rule := "rule " + c.Rule + t.repetition(c)
	if why != "" {
		rule += ": " + why
	}
	t.labeled("why", rule)
	if len(c.FirstItem.Blame) > 0 {
		t.labeledIn("blame", blamed(c.FirstItem.Blame), name)
	}
	often := entries(c.Entries)
	if c.Items > 1 {
		often += fmt.Sprintf(" in %d items, the first %s", c.Items, c.FirstItem.ID)
	} else {
		often += " in item " + c.FirstItem.ID
	}
	if c.Last != c.FirstItem.OpenedPos {
		often += fmt.Sprintf(", lines %d to %d", c.FirstItem.OpenedPos, c.Last)
	}
	switch {
	case c.Open > 0 && c.Open == c.Items:
		often += "; open at the end"
	case c.Open > 0:
		often += fmt.Sprintf("; %d open at the end", c.Open)
	}
	t.labeled("often", safetext.Text(often, 0))
	label := "sample"
	for _, s := range c.samples() {
		line := fmt.Sprintf("line %d: %s", s.FirstPos, safetext.Text(s.Message, 0))
		if s.RepeatCount > 1 {
			line = fmt.Sprintf("line %d, %d times: %s", s.FirstPos, s.RepeatCount, safetext.Text(s.Message, 0))
		}
		indent := t.label(label)
		if t.options.Width > 0 {
			line = fit(line, t.options.Width-indent)
		}
		t.printf("%s\n", line)
		label = ""
	}
}

// samples returns the entry that was the first cause, and the most frequent
// other one of the largest item.
func (c *Cause) samples() []heed.Sample {
	var samples []heed.Sample
	if len(c.FirstItem.Sample) > 0 {
		samples = append(samples, c.FirstItem.Sample[0])
	}
	var most *heed.Sample
	for i := range c.Largest.Sample {
		s := &c.Largest.Sample[i]
		if s.Signature != c.FirstItem.Cause.Signature && (most == nil || s.RepeatCount > most.RepeatCount) {
			most = s
		}
	}
	if most != nil {
		samples = append(samples, *most)
	}
	return samples
}

// describe says in heed's own words, or those of the rule's author, what
// happened and why it matters.
func (r *Replay) describe(rule string, severity event.Severity) (what, why string) {
	if r.config.Rule != nil {
		what, why = r.config.Rule(rule)
		what, why = safetext.Text(oneSpace(what), 0), safetext.Text(oneSpace(why), 0)
	}
	kind, key, isDefault := defaultRule(rule)
	switch {
	case what != "":
	case isDefault && kind == event.KindLog.String():
		what = "a log record of level " + key
	case isDefault:
		what = "an entry of kind " + kind + ": " + strings.ReplaceAll(key, "_", " ")
	default:
		what = "something of severity " + severity.String()
	}
	if why == "" && isDefault {
		why = "no rule knows it, so its kind decided"
	}
	return what, why
}

// explain says what happened, in which operation, and why it matters.
func (r *Replay) explain(c *Cause) (what, why string) {
	what, why = r.describe(c.Rule, c.Severity)
	if word, origin := c.operation(); origin != "" {
		what += "; " + word + " " + origin
	}
	return what, why
}

// operation names the operation that the first item came from or after, and ""
// without one. The name is the host's.
func (c *Cause) operation() (word, name string) {
	a := &c.FirstItem
	if name := cmp.Or(a.CausalMethod, a.CausalOperationID); name != "" {
		return "from", safetext.Text(name, maxName)
	}
	if name := cmp.Or(a.AfterMethod, a.AfterOperation); name != "" {
		return "after", safetext.Text(name, maxName)
	}
	return "", ""
}

// maxName bounds the name of an operation in a sentence, in characters.
const maxName = 64

// defaultRule takes the id apart that stands for a rule where none matched,
// such as "default.log.error".
func defaultRule(id string) (kind, key string, ok bool) {
	rest, ok := strings.CutPrefix(id, "default.")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ".")
}

// oneSpace folds white space, line feeds included, to single spaces.
func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// updates prints the timeline. Updates of one item that follow its opening, or
// each other, are folded into one row with the state after the last of them.
func (t *text) updates() {
	if t.timeline.total == 0 {
		return
	}
	t.section(strong, "TIMELINE of %s", count(t.timeline.total, "update"))
	g := grid{columns: []column{
		{title: "LINE", right: true},
		{title: "UPDATE"},
		{title: "ITEM"},
		{title: "DISPOSITION", style: dispositionStyle},
		{title: "COUNT", right: true, style: only(strong)},
		{title: "GROUPS", right: true},
		{title: "SUMMARY"},
	}, minLast: 32, color: t.options.Color}
	first, last := t.timeline.ends()
	left := t.timeline.left()
	rows := fold(nil, first)
	if left == 0 {
		rows, last = fold(rows, last), nil
	}
	tail := fold(nil, last)
	if len(rows)+len(tail) > 2*textUpdates || left > 0 {
		if len(tail) < textUpdates && left == 0 {
			tail = rows
		}
		tail = tail[max(0, len(tail)-textUpdates):]
		rows = rows[:min(len(rows), textUpdates)]
		left = t.timeline.total
		for _, r := range slices.Concat(rows, tail) {
			left -= r.updates
		}
	}
	add := func(r *updateRow) {
		a := &r.last.Attention
		line, kind := number(r.first.Pos), r.first.Kind.String()
		if r.updates > 1 {
			line += "-" + number(r.last.Pos)
			kind = fmt.Sprintf("%s +%d", kind, r.updates-1)
		}
		g.add(line, kind, safetext.Text(a.ID, 0), a.Disposition.String()+" "+a.Severity.String(),
			number(a.TotalUrgentEntries), strconv.Itoa(a.Groups), safetext.Text(a.Summary, 0))
	}
	for i := range rows {
		add(&rows[i])
	}
	if left > 0 {
		g.add("...", "", "", "", "", "", fmt.Sprintf("(%s left out; see jsonl)", count(left, "update")))
	}
	for i := range tail {
		add(&tail[i])
	}
	t.out = g.appendTo(t.out, t.options.Width)
}

// updateRow is a run of updates of one item, from its opening or in its life.
type updateRow struct {
	first, last *heed.Update
	updates     uint64
}

// fold appends the runs among updates to rows.
func fold(rows []updateRow, updates []heed.Update) []updateRow {
	for i := range updates {
		u := &updates[i]
		if n := len(rows); n > 0 && u.Kind.String() == updated && rows[n-1].last.Attention.ID == u.Attention.ID {
			rows[n-1].last = u
			rows[n-1].updates++
			continue
		}
		rows = append(rows, updateRow{first: u, last: u, updates: 1})
	}
	return rows
}

// signatures prints the table of signatures, a section per disposition.
func (t *text) signatures() {
	t.section(strong, "SIGNATURES by disposition")
	for _, d := range dispositions {
		table := t.tables[d]
		if table.entries == 0 {
			continue
		}
		rows := table.top(t.options.Top)
		held := len(table.held())
		heading := fmt.Sprintf("%s: %s of %s", d, entries(table.entries), count(uint64(table.rows.Len())+table.forgotten, "signature"))
		if held < table.rows.Len() {
			heading += " in " + count(uint64(held), "group")
		}
		if len(rows) < held {
			heading += fmt.Sprintf(", the %d most frequent (--top 0 shows all)", len(rows))
		}
		t.printf("\n")
		t.sentence(styleOf(d), "%s", heading)
		g := grid{columns: []column{
			{title: "COUNT", right: true, style: only(strong)},
			{title: "FIRST", right: true},
			{title: "LAST", right: true},
			{title: "FORMS", right: true},
			{title: "SIGNATURE", style: only(faint)},
			{title: "RULE", limit: 40},
			{title: "TEMPLATE"},
		}, minLast: 60, color: t.options.Color}
		blame := slices.ContainsFunc(rows, func(r *Row) bool { return len(r.Blame) > 0 })
		if blame {
			g.columns = slices.Insert(g.columns, 6, column{title: "BLAME", limit: 24, style: only(name)})
		}
		for _, row := range rows {
			cells := []string{number(row.Count), number(row.First), number(row.Last), number(row.Forms), row.Signature.ID.String(), row.Rule}
			if blame {
				cells = append(cells, blamed(row.Blame))
			}
			g.add(append(cells, oneLine(row.Template))...)
		}
		t.out = g.appendTo(t.out, t.options.Width)
		if table.forgotten > 0 {
			t.sentence(plain, "%s with %s did not fit into the table; a row that was forgotten and came back shows less than there was",
				count(table.forgotten, "row"), entries(table.forgottenEntries))
		}
	}
}

// blamed shows the names of mods, which hold no comma.
func blamed(names []string) string { return safetext.Text(strings.Join(names, ", "), 0) }

// noTemplate stands for a template that the engine has forgotten.
const noTemplate = "(template no longer held)"

// oneLine shows a canonical template in one line.
func oneLine(template string) string { return string(appendOneLine(nil, template)) }

// appendOneLine appends a canonical template in one line: its frames follow the
// head.
func appendOneLine(dst []byte, template string) []byte {
	if template == "" {
		return append(dst, noTemplate...)
	}
	for {
		line, rest, more := strings.Cut(template, "\n")
		dst = append(dst, safetext.Text(line, 0)...)
		if !more {
			return dst
		}
		dst, template = append(dst, " | "...), rest
	}
}

// accounting shows that nothing went missing unnoticed.
func (t *text) accounting() {
	s := &t.end.Stats
	t.section(strong, "ACCOUNTING")
	kinds := []string{count(s.Logs, "log record")}
	for _, k := range []struct {
		n    uint64
		name string
	}{{s.Operations, "operation event"}, {s.States, "state event"}, {s.Notices, "notice"}} {
		if k.n > 0 {
			kinds = append(kinds, count(k.n, k.name))
		}
	}
	t.labeled("received", fmt.Sprintf("%s: %s", entries(s.Received), strings.Join(kinds, ", ")))
	t.labeled("decided", fmt.Sprintf("%d ignored, %d folded into items: %d advisory, %d blocking",
		s.Ignored, s.Folded, s.Coalesce.ByDisposition[event.Advisory], s.Coalesce.ByDisposition[event.Blocking]))
	t.labeled("items", fmt.Sprintf("%d opened, %d open, %d cleared, %d of them acknowledged; %s",
		s.Coalesce.Opened, s.Coalesce.Open, s.Coalesce.Cleared, s.Coalesce.Acknowledged, count(t.timeline.total, "update")))
	if err := s.Check(); err != nil {
		t.labeledIn("WRONG", "these counts do not add up, which is a bug of heed: "+err.Error(), alarm)
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// count returns n and a noun that takes a plain s in the plural.
func count(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

func entries(n uint64) string { return verb(n, "entry", "entries") }

func verb(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}
