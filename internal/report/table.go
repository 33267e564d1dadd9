package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
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
	evidence []kinds             // against each of Blame
	patchers []string            // of the code in the first entry's stack, where Blame has none
	accused  coalesce.Accused    // of all entries
	group    signature.Signature // that its latest entry was put into
	phase    string              // of the game before its first entry
	members  []signature.ID      // of the group that it is, once the log has ended
	stretch  int                 // number of the stretch of its latest entry
	recent   uint64              // entries in that
}

// kinds is a set of kinds of evidence.
type kinds uint16

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
		var set kinds
		for _, e := range suspects[i].Evidence {
			set |= 1 << e.Kind
		}
		r.evidence = append(r.evidence, set)
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

// evidenceAgainst returns the kinds of evidence against one of Blame, those that
// weigh most first, which is the order in which package blame declares them.
func (r *row) evidenceAgainst(name string) []blame.Kind {
	i := slices.Index(r.Blame, name)
	if i < 0 {
		return nil
	}
	var all []blame.Kind
	for kind := range blame.Patch + 1 {
		if r.evidence[i]>>kind&1 != 0 {
			all = append(all, kind)
		}
	}
	return all
}

// maxSays bounds the text of an entry that a row keeps, in characters.
const maxSays = 240

// headOf returns the first line of a message, with the next line if that is indented or a colon ends the first.
func headOf(message string) string {
	message = strings.ToValidUTF8(message[:min(len(message), 4*maxSays)], "")
	head, rest, _ := strings.Cut(message, "\n")
	if head = strings.TrimSpace(head); strings.HasSuffix(head, ":") || strings.HasPrefix(rest, " ") {
		next, _, _ := strings.Cut(rest, "\n")
		head += " " + strings.TrimSpace(next)
	}
	return oneSpace(head)
}

// maxTemplate bounds the part of a template that a row keeps. The full table
// then holds at most 48 MiB of text, in the worst case only: templates that
// the engine still holds are shared with it.
const maxTemplate = 512

// table counts entries by signature within one disposition.
type table struct {
	rows    *simplelru.LRU[rowKey, *row] // the row that was counted longest ago is evicted
	entries uint64                       // all, with the entries of evicted rows
	groups  []*row                       // the rows by group, once the log has ended
	byKey   map[rowKey]*row              // groups

	evicted        uint64 // rows
	evictedEntries uint64 // entries that they had counted
	gone           map[goneMod]*coalesce.AccusedMod
}

// goneMod is a mod that evicted rows of a rule accuse.
type goneMod struct{ rule, name string }

// maxGone bounds the mods that are counted for evicted rows.
const maxGone = 4096

func newTable(limit int) *table {
	t := &table{gone: map[goneMod]*coalesce.AccusedMod{}}
	t.rows, _ = simplelru.NewLRU(limit, func(_ rowKey, row *row) { // limit is positive
		t.evicted++
		t.evictedEntries += row.Count
		for _, a := range row.accused {
			key := goneMod{row.Rule, a.Name}
			if before := t.gone[key]; before != nil {
				before.Entries += a.Entries
			} else if len(t.gone) < maxGone {
				t.gone[key] = &a
			}
		}
	})
	return t
}

// add counts one entry, of a signature that is in the given group, and returns
// its row and whether that is new. The template is asked for when it is.
func (t *table) add(key rowKey, group signature.Signature, severity event.Severity, line uint64,
	of func(signature.Signature) (string, bool),
) (*row, bool) {
	t.entries++
	if row, ok := t.rows.Get(key); ok {
		row.Count++
		row.Last = line
		row.Severity = max(row.Severity, severity)
		row.group = group
		return row, false
	}
	row := &row{
		Row: Row{Forms: 1, Rule: key.rule, Severity: severity, Count: 1, First: line, Last: line}, sig: key.sig,
		group: group,
	}
	template, _ := of(key.sig)
	row.Template = text.Clip(template, maxTemplate)
	t.rows.Add(key, row)
	return row, true
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
	variants := make(map[*row]heed.Variants)
	t.groups, t.byKey = []*row{}, make(map[rowKey]*row, len(rows))
	for _, r := range rows {
		key := rowKey{sig: group(r.group), rule: r.Rule}
		g := t.byKey[key]
		if g == nil {
			first := *r
			first.sig = key.sig
			first.members = []signature.ID{r.sig.ID}
			if r.detail != nil {
				own := *r.detail
				first.detail = &own
			}
			g = &first
			t.byKey[key] = g
			variants[g] = addVariant(nil, r, variant)
			t.groups = append(t.groups, g)
			continue
		}
		variants[g] = addVariant(variants[g], r, variant)
		g.Forms++
		if len(g.members) < summary.MaxMembers {
			g.members = append(g.members, r.sig.ID)
		}
		g.Count += r.Count
		g.Last = max(g.Last, r.Last)
		g.Severity = max(g.Severity, r.Severity)
		if len(g.Blame) == 0 {
			g.Blame, g.evidence = r.Blame, r.evidence
		}
		g.says = cmp.Or(g.says, r.says)
		if g.detail != nil {
			g.detail.merge(r.detail)
		}
		switch {
		case g.Template == "":
			g.Template = r.Template
		case r.Template != "":
			g.Template = template.Common(g.Template, r.Template)
		}
	}
	for g, all := range variants {
		if len(all) > 1 {
			g.Variants = mostFrequent(all)
		}
	}
}

// addVariant adds the entries of a row to the variants of its group.
func addVariant(all heed.Variants, r *row, variant func(template string) string) heed.Variants {
	v := heed.Variant{Count: r.Count, Others: r.Template == ""} // of a template that is no longer stored
	if !v.Others {
		v.Value = text.Safe(variant(r.Template), maxVariantText)
	}
	same := func(o heed.Variant) bool { return o.Others == v.Others && o.Value == v.Value }
	i := slices.IndexFunc(all, same)
	if i < 0 && len(all) >= maxCounted && !v.Others {
		v.Value, v.Others = "", true
		i = slices.IndexFunc(all, same)
	}
	if i < 0 {
		return append(all, v)
	}
	all[i].Count += v.Count
	return all
}

// mostFrequent returns up to maxVariants of the variants of a group, and the others as one; nil where it has but one.
// It changes all.
func mostFrequent(all heed.Variants) heed.Variants {
	var known []string
	for _, v := range all {
		if !v.Others {
			known = append(known, v.Value)
		}
	}
	if len(known) < 2 {
		return nil
	}
	all = all.Shown(known)
	if len(known) > maxVariants {
		others := heed.Variant{Others: true}
		for _, v := range all[maxVariants:] {
			others.Count += v.Count
		}
		all = append(all[:maxVariants], others)
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

// held returns the rows that the table has: by group once it was folded.
func (t *table) held() []*row {
	if t.groups != nil {
		return slices.Clone(t.groups)
	}
	return t.rows.Values()
}

// top returns the n rows with the most entries, or all where n is not
// positive; of equals, first the one with the first line.
func (t *table) top(n int) []*row {
	rows := t.held()
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
