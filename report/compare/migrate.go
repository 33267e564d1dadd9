package compare

import (
	"slices"

	"github.com/heedlog/heed/internal/text/template"
	"github.com/heedlog/heed/signature"
)

// Migrated is what became of a baseline of an earlier version of signatures.
type Migrated struct {
	Baseline *Baseline
	Joined   int // groups that are one with another one now
	Dropped  int // groups without a template, which nothing could be known by

	// Unsure are groups that may not be recognized: where version 1 masked a part of a template, what stood there decides
	// now, and the baseline does not hold it.
	Unsure []Known
}

// Migrate masks the templates of a baseline of an earlier version of signatures again. Day, note and rate of each group
// stay; b does not change.
func (c *Collector) Migrate(b *Baseline) *Migrated {
	next := *b
	next.Signatures, next.Masking, next.Entries = signature.Version, c.normalizer.Version(), nil
	m := &Migrated{Baseline: &next}
	owner := map[signature.Signature]int{} // the entry that has a template
	for i := range b.Entries {
		k := b.Entries[i]
		k.Templates = nil
		into, unsure := -1, true
		var own []signature.Signature
		for _, text := range b.Entries[i].Templates {
			masked := c.masked(text)
			if masked == "" {
				continue
			}
			unsure = unsure && template.Stays(text, c.masked) >= 0
			sig := signature.Of([]byte(masked))
			if first, ok := owner[sig]; ok {
				if into < 0 {
					into = first
				}
			} else if !slices.Contains(own, sig) {
				own = append(own, sig)
				k.Templates = append(k.Templates, masked)
			}
		}
		switch {
		case into >= 0:
			m.Joined++
			next.Entries[into].join(&k)
		case len(k.Templates) == 0:
			m.Dropped++
			continue
		default:
			into = len(next.Entries)
			k.Signature = own[0]
			next.Entries = append(next.Entries, k)
			if unsure {
				m.Unsure = append(m.Unsure, k)
			}
		}
		for _, sig := range own {
			owner[sig] = into
		}
	}
	slices.SortFunc(next.Entries, func(x, y Known) int { return compareSignatures(x.Signature, y.Signature) })
	return m
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
	room := MaxForms - len(k.Templates)
	k.Templates = append(k.Templates, o.Templates[:min(room, len(o.Templates))]...)
}
