package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
)

// pagesEvery is in how many steps, on average, a page of the journal is read once: it is a third of the cost.
const pagesEvery = 4

// neighbors is how many entries on each side of a cause are kept with it.
const neighbors = 8

// check checks everything that must hold after a step.
func (m *model) check() error {
	s := m.engine.Stats()
	was := m.stats
	m.stats = s
	if err := s.Check(); err != nil {
		return err
	}
	if err := cmp.Or(m.counts(&s), m.bounds(&s)); err != nil {
		return err
	}
	if s.Coalesce.Evicted != was.Coalesce.Evicted {
		for _, it := range m.items {
			if !it.gone {
				_, known := m.engine.Item(it.id)
				it.gone = !known
			}
		}
	}
	if err := m.opened(&s); err != nil {
		return err
	}
	if err := m.verdicts(); err != nil {
		return err
	}
	acking := m.acking
	m.acking = false
	if refused := s.Journal.Pinned.Refused; refused != was.Journal.Pinned.Refused && m.setup.Pinned == 0 && !acking {
		return errors.New("evidence: a pin was refused though there is room")
	}
	return m.history(&s)
}

// counts compares the accounting with the model's own.
func (m *model) counts(s *heed.Stats) error {
	c := &s.Coalesce
	got := []uint64{
		s.Received, s.Ignored, s.Folded, s.Logs, s.Operations, s.States, s.Notices, s.Host, c.ByDisposition[event.Advisory],
		c.ByDisposition[event.Blocking], c.Opened,
	}
	want := []uint64{
		uint64(len(m.entries)), m.ignored, m.folded[event.Advisory] + m.folded[event.Blocking],
		m.kinds[event.KindLog], m.kinds[event.KindOperation], m.kinds[event.KindState], m.kinds[event.KindNotice],
		m.kinds[event.KindHost],
		m.folded[event.Advisory], m.folded[event.Blocking], uint64(len(m.items)),
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("conservation: counts %d, the model's are %d", got, want)
	}
	if s.Phase != m.phase || s.Blind != (len(m.blind) > 0) || s.Blind && s.BlindRule != m.blind[0] {
		return fmt.Errorf("phase %q, blind by %q; the model says %q, %q", s.Phase, s.BlindRule, m.phase, m.blind)
	}
	return nil
}

// bounds checks that nothing is larger than it may be.
func (m *model) bounds(s *heed.Stats) error {
	c, j, cl := &s.Coalesce, &s.Journal, &s.Classify
	cfg := &m.cfg.Coalesce
	for _, b := range []struct {
		what     string
		is, most int
	}{
		{"open items", c.Open, cfg.MaxOpen},
		{"items", c.Open + c.Remembered, cfg.MaxOpen + cfg.MaxRemembered},
		{"operations", c.Operations, cfg.MaxOperations},
		{"consumers", c.Consumers, cfg.MaxConsumers},
		{"pending updates", c.UpdatesPending, c.Open + c.Remembered},
		{"entries in the tail", j.Tail.Entries, m.cfg.Journal.Entries},
		{"bytes in the tail", j.Tail.Bytes, m.cfg.Journal.Bytes},
		{"firsts", j.Firsts.Entries, m.cfg.Journal.Firsts},
		{"pinned entries", j.Pinned.Entries, m.cfg.Journal.Pinned},
		{"pins", j.Pins, m.cfg.Journal.Pinned},
		{"signatures", cl.Signatures, m.cfg.Signatures},
		{"groups", cl.Groups.Signatures, m.cfg.Groups.Signatures},
	} {
		if b.is > b.most {
			return fmt.Errorf("bounds: %d %s: at most %d are allowed", b.is, b.what, b.most)
		}
	}
	// Items own evidence while they are known, and in two pins: as advisory, and
	// as blocking.
	if most := 2 * (c.Open + c.Remembered); j.Pins > most+c.Open {
		return fmt.Errorf("bounds: %d pins of %d items", j.Pins, c.Open+c.Remembered)
	}
	return nil
}

// regroup follows merges of groups.
func (m *model) regroup() {
	g := m.engine.Stats().Classify.Groups
	unions := g.Signatures - g.Groups
	if unions == m.unions {
		return
	}
	m.unions = unions
	for _, it := range m.items {
		if it.gone {
			continue
		}
		changed := false
		for _, e := range slices.Concat(it.held, it.late) {
			if now := (group{e.rule, m.engine.Group(e.sig), e.group.variant}); now != e.group {
				e.group, changed = now, true
			}
		}
		if changed {
			it.hold(it.held)
			it.merged = true
		}
	}
}

// opened checks every open item, and that no other one is.
func (m *model) opened(s *heed.Stats) error {
	m.open = m.engine.Open(m.open[:0])
	now := map[string]bool{}
	for i := range m.open {
		a := &m.open[i]
		it := m.byID[a.ID]
		switch {
		case it == nil:
			return fmt.Errorf("identity: item %s was opened by nothing", a.ID)
		case it.cleared:
			return fmt.Errorf("identity: item %s was cleared and is open again", a.ID)
		case a.State != coalesce.Open || a.ClearedBy != "" || a.Blocking && a.Disposition != event.Blocking,
			!a.Blocking && a.Disposition == event.Blocking && !m.mayDefer(it):
			return fmt.Errorf("state: %s is %s, %q, blocking=%v", a.ID, a.State, a.ClearedBy, a.Blocking)
		}
		now[a.ID] = true
		if err := m.agree(a, it); err != nil {
			return err
		}
		if it.seen && it.worst == a.Disposition && it.cause != a.Cause.Seq {
			return fmt.Errorf("causality: the cause of %s went from %d to %d, and it stayed %s", a.ID, it.cause, a.Cause.Seq,
				a.Disposition)
		}
		if !it.seen || it.cause != a.Cause.Seq {
			it.lost = s.Journal.Pinned.Refused != m.refused
		}
		it.seen, it.worst, it.cause = true, a.Disposition, a.Cause.Seq
		if err := m.evidence(a, it); err != nil {
			return err
		}
		if a.Disposition == event.Advisory && m.passed(m.cfg.Coalesce.AdvisoryTTL, it.alive) {
			return fmt.Errorf("windows: %s is advisory, open, and quiet since %d", a.ID, it.alive.seq)
		}
		if it.past && it.before == nil && a.Disposition == event.Advisory {
			return fmt.Errorf("runs: %s is advisory, open, and of an earlier run", a.ID)
		}
		if !it.vague && !it.blurred && it.scope != digest && it.over() {
			return fmt.Errorf("resolution: every rule of %s is resolved", a.ID)
		}
	}
	m.refused = s.Journal.Pinned.Refused
	for _, it := range m.items {
		if it.cleared || now[it.id] {
			continue
		}
		it.cleared = true
		a, known := m.engine.Item(it.id)
		if !known {
			it.gone = true
			continue
		}
		it.by = a.ClearedBy
		if a.State == coalesce.Open {
			return fmt.Errorf("state: %s is open, and not among the open ones", it.id)
		}
		if a.ClearedBy == coalesce.ReasonRestarted && (!it.past || !it.vague && !m.endsWithRun(it)) {
			return fmt.Errorf("runs: %s was cleared for another run", it.id)
		}
		if a.Disposition == event.Blocking && (a.ClearedBy == coalesce.ReasonExpired ||
			a.ClearedBy == coalesce.ReasonEvicted && !it.past) {
			return fmt.Errorf("state: %s blocked, and was cleared by %s", it.id, a.ClearedBy)
		}
		if a.ClearedBy == coalesce.ReasonResolved && !it.vague && !it.blurred && !it.over() {
			return fmt.Errorf("resolution: %s was cleared as resolved, and is not", it.id)
		}
		if err := m.agree(&a, it); err != nil {
			return err
		}
	}
	return nil
}

// mayDefer reports whether an open item need not block before a load is over.
func (m *model) mayDefer(it *item) bool {
	return it.vague || m.loadMay() && it.scope == other && it.severity < event.SeverityFatal
}

// over reports whether every rule at the item's disposition is resolved.
func (it *item) over() bool {
	for _, r := range it.rules {
		if r.disposition == it.disposition && !r.resolved {
			return false
		}
	}
	return true
}

// agree compares what is said of an item with the entries that it holds.
func (m *model) agree(a *heed.Item, it *item) error {
	if it.vague {
		return nil
	}
	differ := func(what string, is, want any) error {
		return fmt.Errorf("item %s: %s is %v, the model says %v", it.id, what, is, want)
	}
	var cause *entry
	if i := slices.IndexFunc(it.held, func(e *entry) bool { return e.Seq == a.Cause.Seq }); i >= 0 {
		cause = it.held[i]
	}
	switch total := uint64(len(it.held) + len(it.late)); {
	case a.TotalUrgentEntries != total:
		return differ("conservation: the number of entries", a.TotalUrgentEntries, total)
	case a.OpenedAtSequence != it.first:
		return differ("the entry that opened it", a.OpenedAtSequence, it.first)
	case a.OpenedPos != it.held[0].Pos:
		return differ("the position that opened it", a.OpenedPos, it.held[0].Pos)
	case a.Disposition != it.disposition:
		return differ("the disposition", a.Disposition, it.disposition)
	case cause == nil || !it.severer && cause != it.tally.worst || a.Cause.Rule != cause.rule || a.Cause.Pos != cause.Pos:
		return differ("causality: the cause", a.Cause, it.tally.worst)
	case a.DiagnosticsCursor != a.Cause.Seq-1:
		return differ("the cursor", a.DiagnosticsCursor, a.Cause.Seq-1)
	case a.CausalOperationID != cause.OperationID && (!it.severer || a.CausalOperationID != ""):
		return differ("causality: the operation", a.CausalOperationID, cause.OperationID)
	case a.CausalOperationID != "" && a.AfterOperation != "":
		return differ("causality: the operation before it", a.AfterOperation, "nothing")
	case a.Severity < it.severity, !it.severer && a.Severity != it.severity:
		return differ("the severity", a.Severity, it.severity)
	case !it.severer && a.StateInvalidated != it.invalidates:
		return differ("invalid state", a.StateInvalidated, it.invalidates)
	case a.Groups > it.distinct() || a.GroupsExact && a.Groups < it.distinct() ||
		!a.GroupsExact && !it.blurred && len(it.late) == 0:
		return differ("the number of groups", a.Groups, it.distinct())
	case len(a.Sample) == 0 || len(a.Sample) > m.cfg.Coalesce.MaxSamples || a.Sample[0].Rule != a.Rule:
		return differ("the number of samples", len(a.Sample), "the dominant one among a few")
	case !it.severer && a.Prelude != it.prelude():
		return differ("the prelude", a.Prelude, it.prelude())
	}
	if !it.blurred && !it.severer {
		for i := range a.Sample {
			x := &a.Sample[i]
			var sum tally
			for g, t := range it.groups {
				if g.whole() == (group{rule: x.Rule, sig: x.Signature}) {
					sum.count, sum.severity = sum.count+t.count, max(sum.severity, t.severity)
				}
			}
			if x.RepeatCount < uint64(sum.count) || !it.cleared && x.RepeatCount != uint64(sum.count) ||
				sum.count == 0 || x.Level != sum.severity {
				return differ("conservation: a sample", *x, sum)
			}
			variants := uint64(0)
			for _, v := range x.Variants {
				variants += v.Count
			}
			if x.Variants != nil && variants != x.RepeatCount {
				return differ("conservation: the variants of a sample", variants, x.RepeatCount)
			}
		}
	}
	if !it.cleared && !it.blurred && !it.severer {
		own := it.rules[a.Rule]
		for rule, r := range it.rules {
			if own == nil || r.disposition == it.disposition && r.outweighs(rule, own, a.Rule) {
				return differ("the dominant rule", a.Rule, rule)
			}
		}
	}
	if !it.cleared && a.LatestSequence != it.held[len(it.held)-1].Seq {
		return differ("the latest entry", a.LatestSequence, it.held[len(it.held)-1].Seq)
	}
	return nil
}

// prelude counts the entries before the cause.
func (it *item) prelude() uint64 {
	return uint64(slices.Index(it.held, it.tally.worst))
}

// distinct returns how many groups the item's entries have, with or without a counter.
func (it *item) distinct() int {
	groups := map[group]bool{}
	for _, e := range slices.Concat(it.held, it.late) {
		groups[e.group.whole()] = true
	}
	return len(groups)
}

// evidence checks that the journal yields the cause of an open item first.
func (m *model) evidence(a *heed.Item, it *item) error {
	if it.lost || it.scope == digest || a.Cause.Seq <= m.begun || m.rnd.IntN(pagesEvery) > 0 {
		return nil
	}
	page := m.engine.Read(heed.Cursor{Epoch: Epoch, Seq: a.Cause.Seq - 1}, 1, heed.Filter{})
	if len(page.Records) != 1 || page.Records[0].Seq != a.Cause.Seq {
		return fmt.Errorf("evidence: the cause of %s, entry %d, is lost", a.ID, a.Cause.Seq)
	}
	if m.setup.Pinned != 0 || m.setup.Bytes != 0 || it.before != nil || m.stats.Journal.RefusedNeighbors > 0 {
		return nil
	}
	// What came before it can only be kept where the tail still had it.
	from := max(m.begun, a.Cause.Seq-min(a.Cause.Seq, 1+uint64(min(neighbors, m.cfg.Journal.Entries-1))))
	_, lost, _ := m.engine.Since(heed.Cursor{Seq: from})
	_, gone, _ := m.engine.Since(heed.Cursor{Seq: min(a.Cause.Seq+neighbors, uint64(len(m.entries)))})
	if lost != gone {
		return fmt.Errorf("evidence: %d neighbors of the cause of %s, entry %d, are lost", lost-gone, a.ID, a.Cause.Seq)
	}
	return nil
}

// history checks pages of the journal from cursors that nobody planned.
func (m *model) history(s *heed.Stats) error {
	j, latest := &s.Journal, uint64(len(m.entries))
	if j.Held+j.Lost != latest || j.Latest != latest {
		return fmt.Errorf("journal: %d held and %d lost of %d", j.Held, j.Lost, latest)
	}
	if latest == 0 || m.rnd.IntN(pagesEvery) > 0 {
		return nil
	}
	for _, c := range []heed.Cursor{
		{Seq: latest + 1},
		{Epoch: Epoch, Seq: latest + 1 + m.rnd.Uint64N(1<<40)},
		{Epoch: "other", Seq: 1},
	} {
		page := m.engine.Read(c, 1, heed.Filter{})
		if !errors.Is(page.Err, journal.ErrCursorBeyond) && !errors.Is(page.Err, journal.ErrCursorEpoch) ||
			len(page.Records) > 0 {
			return fmt.Errorf("cursors: %+v was answered", c)
		}
	}
	c := heed.Cursor{Epoch: Epoch, Seq: m.rnd.Uint64N(latest + 1)}
	if m.rnd.IntN(2) == 0 {
		c.Seq = latest - min(latest, m.rnd.Uint64N(40))
	}
	var f heed.Filter
	if m.rnd.IntN(3) == 0 {
		f = heed.Filter{
			MinDisposition: event.Disposition(m.rnd.IntN(3)), MinSeverity: event.Severity(m.rnd.IntN(3)),
			Contains: pick(m.rnd, "", "", "door"),
		}
	}
	if _, err := m.page(c, 1+m.rnd.IntN(12), f); err != nil {
		return err
	}
	if m.setup.Bytes == 0 {
		recent := min(latest-m.begun, uint64(m.cfg.Journal.Entries))
		if _, lost, _ := m.engine.Since(heed.Cursor{Seq: latest - recent}); lost > 0 {
			return fmt.Errorf("journal: %d of the latest %d entries are lost", lost, recent)
		}
	}
	return nil
}

// page reads one page and accounts for every entry between its two cursors.
func (m *model) page(c heed.Cursor, limit int, f heed.Filter) (heed.Page, error) {
	page := m.engine.Read(c, limit, f)
	latest := uint64(len(m.entries))
	held, lost, err := m.engine.Since(c)
	rest, gone, _ := m.engine.Since(page.Next)
	between := page.Next.Seq - c.Seq
	switch {
	case page.Err != nil || err != nil:
		return page, fmt.Errorf("cursors: %+v is refused: %w", c, errors.Join(page.Err, err))
	case held+lost != latest-c.Seq:
		return page, fmt.Errorf("cursors: after %d, %d held and %d lost of %d", c.Seq, held, lost, latest-c.Seq)
	case page.Next.Seq < c.Seq || page.Next.Seq > latest || page.Next.Seq == c.Seq && c.Seq < latest ||
		page.More != (page.Next.Seq < latest):
		return page, fmt.Errorf("cursors: from %d to %d of %d, more=%v", c.Seq, page.Next.Seq, latest, page.More)
	case page.Lost != lost-gone || page.Lost+(held-rest) != between:
		return page, fmt.Errorf("cursors: from %d to %d, %d lost and %d held; %d by counting", c.Seq, page.Next.Seq,
			page.Lost, held-rest, lost-gone)
	case page.LostBefore != min(page.Next.Seq, max(m.begun, c.Seq))-c.Seq:
		return page, fmt.Errorf("cursors: from %d to %d, %d lost before entry %d", c.Seq, page.Next.Seq, page.LostBefore,
			m.begun+1)
	case len(page.Records) > limit:
		return page, fmt.Errorf("cursors: %d records, at most %d were asked for", len(page.Records), limit)
	}
	last := c.Seq
	for i := range page.Records {
		r := &page.Records[i]
		if r.Seq <= last || r.Seq > page.Next.Seq {
			return page, fmt.Errorf("cursors: record %d between %d and %d", r.Seq, last, page.Next.Seq)
		}
		last = r.Seq
		if err := m.record(r); err != nil {
			return page, err
		}
	}
	// Without a filter every held entry is there; with one, all that match.
	plain := f.MinDisposition == 0 && f.MinSeverity == 0 && f.Contains == ""
	if plain && uint64(len(page.Records)) != between-page.Lost {
		return page, fmt.Errorf("cursors: from %d to %d, %d records and %d lost", c.Seq, page.Next.Seq, len(page.Records),
			page.Lost)
	}
	if plain || page.Lost > 0 || m.setup.Bytes != 0 {
		return page, nil
	}
	matching := 0
	for _, e := range m.entries[c.Seq:page.Next.Seq] {
		if e.disposition >= f.MinDisposition && e.severity >= f.MinSeverity && strings.Contains(e.Message, f.Contains) {
			matching++
		}
	}
	if matching != len(page.Records) {
		return page, fmt.Errorf("cursors: from %d to %d, %d records match %+v, the model says %d", c.Seq, page.Next.Seq,
			len(page.Records), f, matching)
	}
	return page, nil
}

// record compares a record with the entry that was given.
func (m *model) record(r *journal.Record) error {
	e := m.entries[r.Seq-1]
	d := &r.Decision
	if r.Kind != e.Kind || r.Status != e.Status || r.Pos != e.Pos || r.Count != e.Count || !r.Time.Equal(e.Time) ||
		d.Rule != e.rule && m.setup.Bytes == 0 || d.Disposition != e.disposition || d.Severity != e.severity ||
		d.Invalidates != e.invalidates || r.Signature != e.sig {
		return fmt.Errorf("journal: record %+v, the entry is %+v", r, e)
	}
	if m.setup.Bytes == 0 && (r.OperationID != e.OperationID || r.Parent != e.Parent || r.Source != e.Source ||
		e.Kind != event.KindHost && r.Message != e.Message) {
		return fmt.Errorf("journal: text of record %+v, the entry is %+v", r, e)
	}
	return nil
}

// end pages through the whole journal: every held entry once, in order, and
// with those that are lost, all.
func (m *model) end() error {
	var c heed.Cursor
	var seen, lost uint64
	for {
		page, err := m.page(c, 1+m.rnd.IntN(50), heed.Filter{})
		if err != nil {
			return err
		}
		seen += uint64(len(page.Records))
		lost += page.Lost
		if c = page.Next; !page.More {
			break
		}
	}
	s := m.engine.Stats().Journal
	if seen != s.Held || lost != s.Lost || seen+lost != uint64(len(m.entries)) {
		return fmt.Errorf("cursors: %d seen and %d lost of %d, with %d held and %d lost", seen, lost, len(m.entries), s.Held,
			s.Lost)
	}
	return nil
}
