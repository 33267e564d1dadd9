package coalesce

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// Arrival returns the decision about the entry of an agent's arrival, called consumer, for [Coalescer.Attach]: advisory
// if open items become a digest, else ignored. No item becomes one while another agent is attached.
func (c *Coalescer) Arrival(consumer string) event.Decision {
	d := event.Decision{Rule: attachRule}
	if len(c.before(consumer)) > 0 {
		d.Disposition, d.Severity = event.Advisory, event.SeverityInfo
	}
	return d
}

// before returns the open items that an agent which arrives now gets as a digest, in the order of precedence. An item
// that blocks and was delivered to it stays: to connect again acknowledges nothing.
func (c *Coalescer) before(consumer string) []*item {
	v := c.consumer(consumer)
	for i := range c.Consumers.List {
		if i != v && c.Consumers.List[i].Attached {
			return nil
		}
	}
	return slices.DeleteFunc(c.ordered(), func(it *item) bool {
		return c.persists(it) || it.blocking() && it.Delivered[v] > 0
	})
}

// persists reports whether an open item from before an agent arrived is still true of the game: it has a group that
// invalidates state and came since the last load, is a blindness that lasts, or was raised by the host.
func (c *Coalescer) persists(it *item) bool {
	return it.Scope == scopeHost || it.Scope == scopeBlind && c.Counts.Blind ||
		it.Scope != scopeBlind && slices.ContainsFunc(it.Counters.Rows, func(r *counter) bool {
			return r.Invalidates && r.Last.seq > c.FreshSince
		})
}

// Attach records that an agent has arrived, with the entry about that, decided by [Coalescer.Arrival]. Items from
// before that are not true any more are cleared and become one item, which the entry opens.
func (c *Coalescer) Attach(consumer string, in *Input) Folded {
	if past := c.before(consumer); len(past) > 0 {
		in.digest, in.Summary = c.digestAll(past)
	}
	c.Consumers.List[c.consumer(consumer)].Attached = true
	return c.Fold(in)
}

// BeginRun records that the host started the game again, after the entry about that was folded. All running operations
// are abandoned and all agents detached, so that [Coalescer.Attach] sums up the items that are still open.
func (c *Coalescer) BeginRun() {
	for _, o := range c.Operations.Order {
		if o.running() {
			c.abandon(o)
		}
	}
	c.survey()
	for i := range c.Consumers.List {
		c.Consumers.List[i].Attached = false
	}
	for i := range c.Items {
		switch it := &c.Items[i]; {
		case it.open() && it.Scope == scopeDigest && slices.Max(it.Delivered) > 0: // it was shown
			c.clear(it, reasonAttached)
		case it.open() && it.Scope.plain():
			clear(it.Delivered)
		}
	}
}

// digestAll clears items that do not hold any more, and returns their digest with its text.
func (c *Coalescer) digestAll(past []*item) (d *digest, title string) {
	d = &digest{From: past[0].Opened}
	var named []string
	for _, it := range past {
		o := it.Digest
		if it.Scope != scopeDigest {
			m := c.members(it)[0]
			o = digest{1, it.Total, it.Opened, []counter{it.Counters.group(it.dominant(m.Rule))}}
			if len(named) < c.Config.MaxNamed {
				named = append(named, m.Title)
			}
		}
		d.Items, d.Entries = d.Items+o.Items, d.Entries+o.Entries
		if o.From.Seq < d.From.Seq {
			d.From = o.From
		}
		d.Samples = append(d.Samples, o.Samples[:min(len(o.Samples), c.Config.MaxSamples-len(d.Samples))]...)
		c.clear(it, reasonAttached)
	}
	title = "before you connected: " + text.Count(d.Items, "item") + " with " + text.Count(d.Entries, "entry", "entries")
	if len(named) == 0 {
		return d, title
	}
	title += " (" + strings.Join(named, ", ")
	if rest := d.Items - len(named); rest > 0 {
		title += " and " + strconv.Itoa(rest) + " more"
	}
	return d, title + ")"
}

// attachRule is the rule of a digest.
const attachRule = "host.attached"
