package coalesce

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/template"
)

// maxVariants bounds the variants of a group, under a rule, that all items together distinguish.
const maxVariants = 8

// others is the variant of all beyond them; no text that is safe to show is equal.
const others = "\x00"

// asOthers counts an entry among the others of its group where its variant is beyond
// maxVariants: none has it, and some are counted as others, or there are as many already. It reports whether that was
// not known.
func (c *Coalescer) asOthers(in *Input) bool {
	var known [maxVariants]string
	n, exact, more := 0, false, false
	c.index.each(in.Decision.Rule, in.Signature, func(r *counter) {
		switch {
		case r.Variant == in.variant:
			exact = true
		case r.Variant == others:
			more = true
		case n < maxVariants && !slices.Contains(known[:n], r.Variant):
			known[n] = r.Variant
			n++
		}
	})
	if in.variant == others || exact || !more && n < maxVariants {
		return false
	}
	in.variant = others
	return true
}

// Variant is what one variant of a group has counted.
type Variant struct {
	// Value is the words by which it differs from others of its group: log text, safe to show, and untrusted. It
	// may be empty.
	Value string `json:"value,omitempty" jsonschema:"The words by which it differs from the others: log text."`

	// Others reports that these are all further variants together. They have no value.
	Others bool `json:"others,omitempty" jsonschema:"All further variants together."`

	Count uint64 `json:"count" jsonschema:"How many entries it has."`
}

// name returns the value as it is quoted in a text of heed.
func (v Variant) name() string {
	switch {
	case v.Others:
		return "others"
	case v.Value == "":
		return "(none)"
	}
	return safeName(v.Value)
}

// maxName bounds a method or an operation id inside a summary, in characters.
const maxName = 64

// safeName returns a name that a host gave to a method or an operation, or that a mod has. It is in quotes if it could
// be read as words of heed.
func safeName(name string) string {
	plain := !strings.ContainsFunc(name, func(r rune) bool { return !plainRune(r, "/._-:#@") })
	name = text.Safe(name, maxName)
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
}

// variants returns the counts of an item for each variant of the group of a row, the most frequent first. It returns
// nil if all items together know only one.
func (c *Coalescer) variants(it *item, of *counter) Variants {
	several := false
	c.index.each(of.Rule, of.Sig, func(r *counter) { several = several || r.Variant != of.Variant })
	if !several {
		return nil
	}
	var own Variants
	var known []string
	c.index.each(of.Rule, of.Sig, func(r *counter) {
		if r.Variant != others && !slices.Contains(known, r.Variant) {
			known = append(known, r.Variant)
		}
		if r.of == it {
			v := Variant{Value: r.Variant, Others: r.Variant == others, Count: r.Count}
			if v.Others {
				v.Value = ""
			}
			own = append(own, v)
		}
	})
	return own.Shown(known)
}

// Shown puts variants into their order, and cuts their values to the words in which all that are known of the group
// differ. It changes all.
func (all Variants) Shown(known []string) Variants {
	for i := range all {
		if v := &all[i]; !v.Others {
			v.Value = template.Differing(v.Value, known)
		}
	}
	slices.SortFunc(all, func(a, b Variant) int {
		switch {
		case a.Others:
			return 1
		case b.Others:
			return -1
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return all
}

// Variants of one group, the most frequent first, and then the others.
type Variants []Variant

// String names the first few with their counts, and counts the others, as text of heed's own.
func (all Variants) String() string {
	var b strings.Builder
	rest := Variant{Others: true}
	for i, v := range all {
		if i >= maxShownVariants {
			rest.Count += v.Count
			continue
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(v.name() + " ×" + strconv.FormatUint(v.Count, 10))
	}
	if rest.Count > 0 {
		b.WriteString(", " + rest.name() + " ×" + strconv.FormatUint(rest.Count, 10))
	}
	return b.String()
}

// maxShownVariants bounds the variants that are named in a line.
const maxShownVariants = 5
