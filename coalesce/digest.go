package coalesce

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/event"
)

// digest stands for the items that were open before an agent came.
type digest struct {
	items   int
	entries uint64
	from    place // of the first of their entries
	samples []Sample
}

// show makes a, the rendering of the item that stands for them, tell of them.
func (d *digest) show(a *Attention) {
	a.OpenedAtSequence, a.OpenedPos, a.DiagnosticsCursor = d.from.seq, d.from.pos, d.from.seq-1
	a.TotalUrgentEntries += d.entries
	a.Sample = slices.Clone(d.samples)
}

// Past returns how many open items an agent that arrives now, called viewer,
// would get as a digest: none while another is attached, since they are that
// one's to see.
func (c *Coalescer) Past(viewer string) int {
	v := c.viewer(viewer)
	for i := range c.viewers.list {
		if i != v && c.viewers.list[i].attached {
			return 0
		}
	}
	return len(c.past())
}

// past returns the open items that do not stand, in the order of precedence.
func (c *Coalescer) past() []*item { return slices.DeleteFunc(c.ordered(), c.stands) }

// stands reports whether an open item from before an agent came still says
// something about the game as it is: state that was invalidated and has not been
// loaded anew since, blindness that lasts, and what the host itself raised.
func (c *Coalescer) stands(it *item) bool {
	switch it.scope {
	case scopeHost:
		return true
	case scopeBlind:
		return c.blind
	}
	return it.invalidates && it.invalidatedAt > c.freshSince
}

// Attach notes that an agent has arrived. What [Coalescer.Past] counts is
// cleared and becomes one item, which the entry opens; without any, the entry
// must be decided to be ignored.
func (c *Coalescer) Attach(viewer string, in *Input) Folded {
	if c.Past(viewer) > 0 {
		in.digest = c.digestAll()
		in.Summary = in.digest.text
	}
	c.viewers.list[c.viewer(viewer)].attached = true
	return c.Fold(in)
}

// digested is a digest with its text.
type digested struct {
	digest
	text string
}

// digestAll clears what does not stand.
func (c *Coalescer) digestAll() *digested {
	past := c.past()
	d := &digested{digest: digest{from: past[0].opened}}
	var named []string
	for _, it := range past {
		from, samples := it.opened, it.digest.samples
		if it.scope == scopeDigest {
			from = it.digest.from
			d.items += it.digest.items
			d.entries += it.digest.entries
		} else {
			samples = c.samples(it)[:1]
			d.items++
			d.entries += it.total
			if len(named) < c.cfg.MaxNamed {
				named = append(named, it.headline())
			}
		}
		if from.seq < d.from.seq {
			d.from = from
		}
		d.samples = append(d.samples, samples[:min(len(samples), c.cfg.MaxSamples-len(d.samples))]...)
		c.clear(it, ReasonAttached)
	}
	var b strings.Builder
	b.WriteString("before you came, " + count(uint64(d.items), "item", "items") + " with " + count(d.entries, "entry", "entries"))
	for i, h := range named {
		b.WriteString([...]string{": ", ", "}[min(i, 1)])
		b.WriteString(h)
	}
	if rest := d.items - len(named); rest > 0 && len(named) > 0 {
		b.WriteString(" and ")
		b.WriteString(strconv.Itoa(rest))
		b.WriteString(" more")
	}
	d.text = b.String()
	return d
}

// attachRule is the rule that a digest stands under.
const attachRule = "host.attached"

// AttachDecision returns what is decided about the entry of an agent's arrival,
// by whether there is anything to tell it.
func AttachDecision(past int) event.Decision {
	d := event.Decision{Rule: attachRule}
	if past > 0 {
		d.Disposition, d.Severity = event.Advisory, event.SeverityInfo
	}
	return d
}
