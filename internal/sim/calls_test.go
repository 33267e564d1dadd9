package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

// raised takes in what the host reported.
func (m *model) raised(r *heed.Report, id string) error {
	if r.Disposition.Urgent() != (id != "") {
		return fmt.Errorf("conservation: %s report in item %q", r.Disposition, id)
	}
	e := event.Entry{
		Kind: event.KindHost, Status: event.StatusRaised, Time: r.Time, Source: r.Key, Message: r.Message,
		OperationID: r.OperationID, Pos: r.Pos,
	}
	x := m.acted(e, event.Decision{
		Rule: "host." + r.Key, Disposition: r.Disposition, Severity: r.Severity,
		Invalidates: r.Invalidates,
	})
	m.operate(&e, r.Disposition)
	return m.fold(x, id, hosted)
}

// clear lets the host end an item.
func (m *model) clear(p *player, id string) error {
	before, ok := m.engine.Item(id)
	open := ok && before.State == coalesce.Open
	cleared := m.engine.Clear(id)
	p.say("cleared=%v", cleared)
	if cleared != open {
		return fmt.Errorf("clear: %v, and the item was open: %v", cleared, open)
	}
	if cleared {
		if it := m.byID[id]; it != nil { // what returns of it is new
			for _, e := range it.held {
				delete(m.returns, e.group)
			}
		}
		m.acted(event.Entry{Status: event.StatusWithdrawn, Message: id}, event.Decision{Rule: "host.withdrawn"})
	}
	return nil
}

// advance takes in what the host says of the time.
func (m *model) advance(now time.Time) error {
	if h := &m.heart; !h.by.IsZero() && !h.stalled && !h.busy && !now.Before(h.by) {
		h.stalled = true
		if err := m.lively(event.Entry{Kind: event.KindState, Status: event.StatusStall, Time: now}); err != nil {
			return err
		}
	}
	m.tick(now)
	return nil
}

// know returns the consumer called name, who was just heard of. Where there are as many as
// there may be, the one that was heard of longest ago makes room, of those that are not
// attached first, and nothing was ever delivered to it.
func (m *model) know(name string) *consumer {
	most := m.cfg.Coalesce.MaxConsumers
	if name == "" || most == 1 {
		return m.consumers[0]
	}
	named := func(c *consumer) bool { return c.name == name }
	i := slices.IndexFunc(m.consumers, named)
	v := &consumer{name: name}
	if i >= 0 {
		v = m.consumers[i]
	} else if len(m.consumers) == most {
		i = 1 + max(0, slices.IndexFunc(m.consumers[1:], func(c *consumer) bool { return !c.attached }))
		out := m.consumers[i].name
		for _, it := range m.items {
			delete(it.delivered, out)
			if it.consumer == out {
				it.covers = nil
			}
		}
	}
	if i >= 0 {
		m.consumers = slices.Delete(m.consumers, i, i+1)
	}
	m.consumers = append(m.consumers, v)
	return v
}

// view applies what was delivered to a consumer as the current item.
func (m *model) view(by string, a *heed.Item, ok bool) error {
	consumer := m.know(by).name
	open := m.engine.Open(m.open[:0])
	if ok != (len(open) > 0) || ok && (open[0].ID != a.ID || !same(a, &open[0])) {
		return fmt.Errorf("current: %v %s, of %d open ones", ok, a.ID, len(open))
	}
	for i := range open {
		b := &open[i]
		past := func(a *heed.Item) bool { return a.Blocking && m.byID[a.ID] != nil && m.byID[a.ID].past }
		if b.Blocking && !a.Blocking ||
			b.Blocking == a.Blocking && past(a) == past(b) && a.Members[0].Compare(&b.Members[0]) > 0 {
			return fmt.Errorf("current: %s comes before %s", a.ID, b.ID)
		}
	}
	named := min(max(len(open)-1, 0), m.cfg.Coalesce.MaxNamed)
	for i := range named {
		want := open[i+1].ID + " (" + open[i+1].Disposition.String()
		if strings.Contains(a.Summary, want) {
			continue
		}
		// Only for want of room, and then none of the following either.
		if len(a.Summary) < 2*m.cfg.Coalesce.MaxSummaryTokens || strings.Count(a.Summary,
			" ("+event.Advisory.String()+":")+strings.Count(a.Summary, " ("+event.Blocking.String()+":") != i {
			return fmt.Errorf("current: summary %q does not name %q", a.Summary, want)
		}
		break
	}
	m.looked(consumer, a, ok)
	return nil
}

// same reports whether two renderings are of one item at one time.
func same(a, b *heed.Item) bool {
	return a.TotalUrgentEntries == b.TotalUrgentEntries && a.Cause == b.Cause && a.LatestSequence == b.LatestSequence
}

// looked records that an item was delivered to a consumer as the current one, and the
// others that its summary names.
func (m *model) looked(consumer string, a *heed.Item, ok bool) {
	if !ok {
		return
	}
	it := m.byID[a.ID]
	it.delivered[consumer] = a.LatestSequence
	it.consumer, it.viewed, it.covers = consumer, a.LatestSequence, it.covers[:0]
	_, others, _ := strings.Cut(a.Summary, "; also open: ")
	for _, other := range m.items {
		if strings.HasPrefix(others, other.id+" (") || strings.Contains(others, ", "+other.id+" (") {
			mark := uint64(0)
			if b, held := m.engine.Item(other.id); held {
				mark = b.LatestSequence
			} else {
				other.vague = true
			}
			other.delivered[consumer] = mark
			it.covers = append(it.covers, other.id)
		}
	}
}

// showed applies that an item was delivered to a consumer by other means.
func (m *model) showed(by, id string, through uint64, ok bool) error {
	a, held := m.engine.Item(id)
	if held != ok {
		return fmt.Errorf("delivered: %v, and the item is known: %v", ok, held)
	}
	if it := m.byID[id]; ok && it != nil {
		consumer := m.know(by).name
		it.delivered[consumer] = max(it.delivered[consumer], min(through, a.LatestSequence))
	}
	return nil
}

// attach lets an agent come.
func (m *model) attach(p *player, by string) error {
	v := m.know(by)
	alone := !slices.ContainsFunc(m.consumers, func(c *consumer) bool { return c != v && c.attached })
	past := 0
	shared := false
	open := m.engine.Open(m.open[:0])
	for i := range open {
		it := m.byID[open[i].ID]
		shared = shared || it.shared || it.vague
		if !m.stands(it) && (!open[i].Blocking || it.delivered[v.name] == 0) {
			past++
		}
	}
	id := m.engine.Attach(by, p.time())
	p.say("attached %s", id)
	if !shared && (id != "") != (alone && past > 0) {
		return fmt.Errorf("attach: item %q for %d items from before, alone: %v", id, past, alone)
	}
	v.attached = true
	d := event.Decision{Rule: "host.attached"}
	if id != "" {
		d.Disposition = event.Advisory
	}
	x := m.acted(event.Entry{Status: event.StatusAttached, Time: p.time(), Source: by}, d)
	if err := m.fold(x, id, digest); err != nil || id == "" {
		return err
	}
	m.byID[id].vague = true // it tells of others
	return nil
}

// stands reports whether an item from before an agent came still says something.
func (m *model) stands(it *item) bool {
	switch it.scope {
	case hosted:
		return true
	case blinding:
		return len(m.blind) > 0
	}
	return slices.ContainsFunc(it.held, func(e *entry) bool { return e.invalidates && e.Seq > m.fresh })
}

func (m *model) detach(by string) { m.know(by).attached = false }

// verdicts checks what is said of every operation.
func (m *model) verdicts() error {
	for id, o := range m.ops {
		v := m.engine.Verdict(id)
		if err := m.verdict(&v, o); err != nil {
			return fmt.Errorf("verdict: of %q, %s for %q: %w", id, v.Outcome, v.Reason, err)
		}
	}
	v := m.engine.Verdict("never")
	if v.Known || v.Outcome != coalesce.Unknown || v.Reason != coalesce.ReasonNotKnown {
		return fmt.Errorf("verdict: %s for %q of what was never named", v.Outcome, v.Reason)
	}
	return nil
}

// outcomes are those that go with a reason.
var outcomes = map[coalesce.VerdictReason][]string{
	coalesce.ReasonQuiet:   {coalesce.Clean},
	coalesce.ReasonCharged: {coalesce.Advised, coalesce.Affected},
}

// verdict says what is wrong with a verdict of an operation in its present life.
func (m *model) verdict(v *heed.Verdict, o *operation) error {
	allowed := outcomes[v.Reason]
	if allowed == nil {
		allowed = []string{coalesce.Unknown}
	}
	switch {
	case !slices.Contains(allowed, v.Outcome) || v.Text == "":
		return fmt.Errorf("the outcome goes not with the reason, %q", v.Text)
	case !v.Known:
		if v.Reason != coalesce.ReasonNotKnown || o.seen && len(m.ops) <= m.cfg.Coalesce.MaxOperations {
			return errors.New("it was named")
		}
		return nil
	case v.CleanThrough < o.covered || v.CleanThrough > uint64(len(m.entries)):
		return fmt.Errorf("it goes up to %d, and went up to %d", v.CleanThrough, o.covered)
	case v.AttentionID != "" && m.byID[v.AttentionID] == nil, v.AttentionID == "" && (v.Reason == coalesce.ReasonCharged ||
		v.Reason == coalesce.ReasonBackground || v.Reason == coalesce.ReasonStanding):
		return fmt.Errorf("it names item %q", v.AttentionID)
	}
	if len(m.ops) > m.cfg.Coalesce.MaxOperations {
		return nil // it may be another life
	}
	o.covered = v.CleanThrough
	good := v.Outcome == coalesce.Clean || v.Outcome == coalesce.Advised
	switch {
	case o.touched != 0 && v.Outcome == coalesce.Clean:
		return fmt.Errorf("entry %d fell into its window", o.touched)
	case o.gaps && good && o.seen:
		return errors.New("evidence is missing")
	case (o.doubtful || o.given) && good:
		return errors.New("nobody knows how it ended")
	case o.running() && (v.Final || v.Outcome == coalesce.Clean):
		return errors.New("it runs")
	case v.Reason == coalesce.ReasonRunning && !m.runs(v.Operation):
		return errors.New("it does not run")
	case v.Abandoned != o.given:
		return fmt.Errorf("abandoned: %v", v.Abandoned)
	case o.begun && v.Final == m.windowed(o) && len(o.links) == 0 && !o.given && !o.closed:
		return fmt.Errorf("final: %v, and its window is open: %v", v.Final, m.windowed(o))
	}
	if len(o.links) > 0 {
		return nil
	}
	var worst event.Disposition
	for _, e := range o.named {
		if e.Kind == event.KindHost || e.Status == event.StatusTimedOut || e.Status == event.StatusCancelled {
			continue
		}
		worst = max(worst, e.disposition)
	}
	if worst == event.Blocking && good || worst == event.Advisory && v.Outcome == coalesce.Clean {
		return fmt.Errorf("what names it is %s", worst)
	}
	plain := o.begun && o.touched == 0 && !o.excused && !o.gaps && !o.doubtful && !o.given
	if worst == 0 && plain && v.Outcome != coalesce.Clean &&
		v.Reason != coalesce.ReasonRunning && len(m.blind) == 0 {
		return errors.New("nothing happened in its window")
	}
	return nil
}

// runs reports whether an operation, or what may be a part of it, runs.
func (m *model) runs(id string) bool {
	for other, o := range m.ops {
		if (o.running() || o.seen && !o.ended && !o.given) && m.related(id, other) {
			return true
		}
	}
	return false
}

// drained checks updates against each other.
func (m *model) drained(updates []heed.Update) error {
	seen := map[string]bool{}
	for i := range updates {
		u := &updates[i]
		a := &u.Item
		it := m.byID[a.ID]
		switch {
		case it == nil:
			return fmt.Errorf("updates: of item %s, which nothing opened", a.ID)
		case seen[a.ID]:
			return fmt.Errorf("updates: two of %s at once", a.ID)
		case it.updated == coalesce.Cleared && !it.again:
			return fmt.Errorf("updates: %s of %s, which was said to be cleared", u.Kind, a.ID)
		case u.Kind == coalesce.Opened && it.updated != "" && (it.updated != coalesce.Cleared || !it.again):
			return fmt.Errorf("updates: %s opened twice", a.ID)
		case u.Kind == coalesce.Updated && it.updated != coalesce.Opened && it.updated != coalesce.Updated:
			return fmt.Errorf("updates: %s updated before it was opened", a.ID)
		case (u.Kind == coalesce.Cleared) != (a.State != coalesce.Open):
			return fmt.Errorf("updates: %s of %s, which is %s", u.Kind, a.ID, a.State)
		case u.Reason == "" || u.Seq > uint64(len(m.entries)):
			return fmt.Errorf("updates: %s of %s for %q at %d", u.Kind, a.ID, u.Reason, u.Seq)
		}
		passed := marks(int(a.TotalUrgentEntries))
		if u.Kind == coalesce.Updated && u.Reason == "count" && passed <= it.marked && !it.vague {
			return fmt.Errorf("updates: %s updated for its count at %d entries, and nothing was passed", a.ID,
				a.TotalUrgentEntries)
		}
		seen[a.ID], it.marked = true, passed
		it.updated = u.Kind
		it.updates++
		it.delivered[""] = a.LatestSequence
		if limit := it.limit(); it.updates > limit {
			return fmt.Errorf("updates: %d of %s, of %d entries in %d groups: want %d at most", it.updates, a.ID, it.maximum,
				len(it.groups), limit)
		}
	}
	m.law.updates += len(updates)
	if most := m.law.bound(&m.cfg.Coalesce); float64(m.law.updates) > most {
		return fmt.Errorf("updates: %d in all, of %d entries in %d groups with %d stops: want %v at most", m.law.updates,
			m.law.urgent, len(m.law.groups), m.law.stops, most)
	}
	if n := m.engine.Stats().Coalesce.UpdatesPending; n > 0 {
		return fmt.Errorf("updates: %d left over", n)
	}
	return nil
}

// limit is how many updates an item may have cost so far: one when it opens and
// one when it is cleared, one each time it may grow worse, one for each rule,
// and one for each mark that its counts passed.
func (it *item) limit() int {
	if it.vague {
		return 1 << 30
	}
	return 2 + 5 + len(it.rules) + 2*marks(it.maximum)
}

// marks returns how many of the numbers 2, 5, 10, 20 and so on are at most n.
func marks(n int) (passed int) {
	for lead := 1; ; lead *= 10 {
		for _, at := range [...]int{2 * lead, 5 * lead, 10 * lead} {
			if at > n {
				return passed
			}
			passed++
		}
	}
}
