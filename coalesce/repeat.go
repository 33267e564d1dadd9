package coalesce

// again is where the entry folded last was counted, in the item of the ambient
// burst, while another one like it changes nothing but counts.
//
// It holds while version is that of the Coalescer. Else only Fold makes items grow
// worse or gather other bursts, and Fold forgets it.
type again struct {
	version uint64 // 0: not known
	row     *counter
}

// Repeat is Fold for an entry that differs from the one folded last in Seq, Time
// and Pos alone: of a log, with no operation named, one that ends and begins
// nothing. It takes half the time where the ambient burst holds that already.
func (c *Coalescer) Repeat(in *Input) Folded {
	e := in.Entry
	c.now.seq, c.pos = e.Seq, e.Pos
	c.tick(e.Time)
	c.sweep()
	it := c.episode.item
	if c.again.version != c.version || c.thorough || it.total+1 >= it.nextCount || c.cfg.AmbientQuiet.passed(c.episode.last, c.now) {
		f := c.Fold(in)
		c.remember(in)
		return f
	}
	c.stats.Received++
	c.stats.Folded++
	c.stats.ByDisposition[in.Decision.Disposition]++
	c.save(it)
	it.count(c.now, e.Pos, &c.cfg)
	c.again.row.again(c.now, e.Pos)
	c.episode.last = c.now
	c.wake(it)
	return Folded{ID: it.id, Owner: it.number}
}

// remember sets again for what was just folded, if the next one like it goes into
// the ambient item, as destination says, and no further than repeat.
func (c *Coalescer) remember(in *Input) {
	it := c.episode.item
	if it == nil || !in.Decision.Disposition.Urgent() {
		return
	}
	if row := it.counters.find(in.Decision.Rule, in.Signature); row != nil && !row.worsens(&in.Decision) && it.unmoved(&in.Decision) {
		c.again = again{version: c.version, row: row}
	}
}
