package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/frame"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/template"
	"github.com/heedlog/heed/signature"
)

// dispositions are the sections of a report, the weightiest first.
var dispositions = [...]event.Disposition{event.Blocking, event.Advisory, event.Ignore}

// rowKey is what one row counts: a shape that one rule decided about. One shape may
// have several rows of a disposition, since rules may ask for the phase or the
// level.
type rowKey struct {
	sig  signature.Signature
	rule string
}

// row counts the entries of one shape, or of a group of them, about which one rule decided.
type row struct {
	Row // not escaped; without the signature and the disposition, which the table has

	sig      signature.Signature // that names the group
	says     string              // of its first entry, where that is urgent, in a line and shortened
	kept     string              // the same scrubbed, if says is not
	evidence [][]blame.Kind      // against each of Blame, the strongest first
	patchers []string            // of the code in the first entry's stack, where Blame has none
	accused  coalesce.Accused    // of all entries
	group    signature.Signature // that its latest entry was put into
	phase    string              // of the game before its first entry
	members  []signature.ID      // of the group that it is, once the log has ended
	variants map[string]uint64   // of a group while rows are folded: entries by what they decide differently
	stretch  int                 // number of the stretch of its latest entry
	recent   uint64              // entries in that
}

// asked is how many entries of a row are asked for names that are private.
const asked = 16

// flood is how many entries of a row may fill a log, so that the mod and the text of one are kept.
const flood = 50

// attribute records the suspects of the first entry that deserve to be named.
func (r *row) attribute(suspects []heed.Suspect) {
	r.Blame = blame.Likely(suspects)
	if len(r.Blame) == 0 {
		r.patchers = patchers(suspects)
	}
	for i := range r.Blame { // they are the first
		var kinds []blame.Kind
		for _, e := range suspects[i].Evidence {
			kinds = append(kinds, e.Kind)
		}
		slices.Sort(kinds)
		r.evidence = append(r.evidence, slices.Compact(kinds))
	}
}

// maxPatchers is how many mods may have changed the code of one stack trace for them
// to be listed: of more, any may be there by chance.
const maxPatchers = 2

// patchers returns the suspects that changed code that was running, nil if they are too many to mean anything.
func patchers(suspects []heed.Suspect) []string {
	var names []string
	for i := range suspects {
		if slices.ContainsFunc(suspects[i].Evidence, func(e blame.Evidence) bool { return e.Kind == blame.Patch }) {
			names = append(names, suspects[i].Mod)
		}
	}
	if len(names) > maxPatchers {
		return nil
	}
	return names
}

// evidenceAgainst returns the kinds of evidence against one of Blame, the strongest first.
func (r *row) evidenceAgainst(name string) []blame.Kind {
	if i := slices.Index(r.Blame, name); i >= 0 {
		return r.evidence[i]
	}
	return nil
}

// maxSays bounds the text of an entry that a row keeps, in characters.
const maxSays = 240

// headOf returns a copy of the first line of a message, with the next line if that is indented or a colon ends the
// first.
func headOf(message string) string {
	message, thrown := frame.Thrown(message)
	message = strings.ToValidUTF8(message[:min(len(message), 4*maxSays)], "")
	head, rest, _ := strings.Cut(message, "\n")
	if head = strings.TrimSpace(head); strings.HasSuffix(head, ":") || strings.HasPrefix(rest, " ") {
		next, _, _ := strings.Cut(rest, "\n")
		head += " " + strings.TrimSpace(next)
	}
	thrown = strings.ToValidUTF8(thrown[:min(len(thrown), maxSays)], "")
	return strings.Clone(oneSpace(strings.TrimSpace(head + " " + thrown)))
}

// maxTemplate bounds the part of a template that a row keeps. The full table
// then holds at most 48 MiB of text, in the worst case only: templates that
// the engine still holds are shared with it.
const maxTemplate = 512

// table counts entries by signature within one disposition.
type table struct {
	rows    *simplelru.LRU[rowKey, *row] // the row that was counted longest ago is evicted
	latest  *row                         // that was counted
	entries uint64                       // all, with the entries of evicted rows
	groups  []*row                       // the rows by group, once the log has ended
	byKey   map[rowKey]*row              // groups

	evicted        uint64 // rows
	evictedEntries uint64 // entries that they had counted
}

func newTable(limit int) *table {
	t := &table{}
	t.rows, _ = simplelru.NewLRU(limit, func(_ rowKey, row *row) { // limit is positive
		t.evicted++
		t.evictedEntries += row.Count
	})
	return t
}

// add counts one entry, of a signature that is in the given group, and returns
// its row and whether that is new. The template is asked for when it is.
func (t *table) add(key rowKey, group signature.Signature, severity event.Severity, line uint64,
	of func(signature.Signature) (string, bool),
) (*row, bool) {
	t.entries++
	r := t.latest
	if r == nil || r.sig != key.sig || r.Rule != key.rule {
		r, _ = t.rows.Get(key)
	}
	isNew := r == nil
	if isNew {
		template, _ := of(key.sig)
		r = &row{Row: Row{Forms: 1, Rule: key.rule, First: line, Template: text.Clip(template, maxTemplate)}, sig: key.sig}
		t.rows.Add(key, r)
	}
	t.latest = r
	r.Count++
	r.Last, r.Severity, r.group = line, max(r.Severity, severity), group
	return r, isNew
}

// varied returns text with the variants of the row, where there are several.
func (r *Row) varied(text string) string {
	if len(r.Variants) == 0 {
		return text
	}
	return text + " [" + r.Variants.String() + "]"
}

// head is the first line of the template, in at most limit characters; 0 is no limit.
func (r *Row) head(limit int) string {
	line, _, _ := strings.Cut(r.Template, "\n")
	if line == "" {
		return noTemplate
	}
	return text.Safe(line, limit)
}

// fold makes one row of those whose signatures are one group under one rule. variant returns the variant of a template.
func (t *table) fold(group func(signature.Signature) signature.Signature, variant func(template string) string) {
	rows := t.rows.Values()
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.sig.ID, b.sig.ID), cmp.Compare(a.Rule, b.Rule))
	})
	t.groups, t.byKey = []*row{}, make(map[rowKey]*row, len(rows))
	for _, r := range rows {
		key := rowKey{sig: group(r.group), rule: r.Rule}
		g := t.byKey[key]
		if g == nil {
			first := *r
			first.sig, first.members, first.variants = key.sig, []signature.ID{r.sig.ID}, map[string]uint64{}
			g = &first
			t.byKey[key] = g
			t.groups = append(t.groups, g)
		} else {
			g.join(r)
		}
		value := text.Safe(variant(r.Template), maxVariantText)
		if _, known := g.variants[value]; r.Template != "" && (known || len(g.variants) < maxCounted) {
			g.variants[value] += r.Count
		}
	}
	for _, g := range t.groups {
		g.Variants, g.variants = g.mostFrequent(), nil
	}
}

// join adds a later row of the group.
func (r *row) join(o *row) {
	r.Forms++
	if len(r.members) < summary.MaxMembers {
		r.members = append(r.members, o.sig.ID)
	}
	r.Count += o.Count
	r.Last = max(r.Last, o.Last)
	r.Severity = max(r.Severity, o.Severity)
	if len(r.Blame) == 0 {
		r.Blame, r.evidence = o.Blame, o.evidence
	}
	r.says = cmp.Or(r.says, o.says)
	if len(r.Detail.Sample) == 0 {
		r.Detail.Sample, r.Detail.More = o.Detail.Sample, o.Detail.More
	}
	switch {
	case r.Template == "":
		r.Template = o.Template
	case o.Template != "":
		r.Template = template.Common(r.Template, o.Template)
	}
}

// mostFrequent returns up to maxVariants of the variants of a group, and the others as one; nil where it has but one.
func (r *row) mostFrequent() (all heed.Variants) {
	known := slices.Sorted(maps.Keys(r.variants))
	if len(known) < 2 {
		return nil
	}
	for _, value := range known {
		all = append(all, heed.Variant{Value: value, Count: r.variants[value]})
	}
	all = top(all.Shown(known), maxVariants)
	others := r.Count
	for _, v := range all {
		others -= v.Count
	}
	if others > 0 {
		all = append(all, heed.Variant{Others: true, Count: others})
	}
	return all
}

// maxVariants bounds the variants of a group that are shown, as an item does, the most frequent ones; maxCounted bounds
// the counted ones.
const (
	maxVariants = 8
	maxCounted  = 1 << 10
)

// maxVariantText bounds the value of a variant, in characters.
const maxVariantText = 120

// top returns the n rows with the most entries, or all where n is not
// positive; of equals, first the one with the first line.
func (t *table) top(n int) []*row {
	rows := slices.Clone(t.groups)
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(
			cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.First, b.First),
			cmp.Compare(a.sig.ID, b.sig.ID),
			cmp.Compare(a.sig.Check, b.sig.Check),
			cmp.Compare(a.Rule, b.Rule),
		)
	})
	return top(rows, n)
}

// top returns the first n rows, or all where n is not positive.
func top[T any](rows []T, n int) []T {
	if n > 0 {
		rows = rows[:min(len(rows), n)]
	}
	return rows
}
