package compare

import (
	"slices"

	"github.com/heedlog/heed/internal/text/template"
	"github.com/heedlog/heed/signature"
)

// Migrate returns a baseline of another version of signatures as this version reads it: each group by its sample, which
// is signed again, and by its templates, which are masked again. Day, note and rate of each group stay; b does not
// change. Unplaced are the groups that may not be recognized: they have no sample, and this version does not mask a
// part of the template that was masked, or nothing of it is left.
func (c *Collector) Migrate(b *Baseline) (next *Baseline, unplaced []Known) {
	copied := *b
	next = &copied
	next.Signatures, next.Masking, next.Entries = signature.Version, c.normalizer.Version(), nil
	for i := range b.Entries {
		k := b.Entries[i]
		placed := false
		k.Templates = nil
		for _, text := range append([]string{k.Sample}, b.Entries[i].Templates...) {
			masked := c.masked(text)
			if masked != "" && len(k.Templates) < MaxForms && !slices.Contains(k.Templates, masked) {
				placed = placed || text == k.Sample || template.Stays(text, c.masked) < 0
				k.Templates = append(k.Templates, masked)
			}
		}
		if !placed {
			unplaced = append(unplaced, b.Entries[i])
		}
		if len(k.Templates) > 0 {
			k.Signature = signature.Of([]byte(k.Templates[0]))
			next.Entries = append(next.Entries, k)
		}
	}
	slices.SortFunc(next.Entries, func(x, y Known) int { return compareSignatures(x.Signature, y.Signature) })
	return next, unplaced
}

func (c *Collector) masked(text string) string {
	return string(c.normalizer.AppendTemplate(nil, text, ""))
}

// join adds another group of the same baseline.
func (k *Known) join(o *Known) {
	if k.Records == o.Records && k.Runs == o.Runs {
		k.Count += o.Count
	} else { // of other logs: the rates are added
		k.Count += uint64(float64(o.Count) / float64(o.Records) * float64(k.Records))
	}
	k.Count = min(k.Count, k.Records)
	if o.Disposition > k.Disposition {
		k.Rule, k.Disposition = o.Rule, o.Disposition
	}
	k.First, k.Expires = min(k.First, o.First), min(k.Expires, o.Expires)
	if k.Note == "" {
		k.Note = o.Note
	} else if o.Note != "" && o.Note != k.Note {
		k.Note += "; " + o.Note
	}
	for _, t := range o.Templates {
		if len(k.Templates) < MaxForms && !slices.Contains(k.Templates, t) {
			k.Templates = append(k.Templates, t)
		}
	}
}
