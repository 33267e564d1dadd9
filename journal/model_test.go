package journal

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// model is a journal that forgets nothing and finds everything by looking at
// all of it. It says what a Journal with the same history must hold.
type model struct {
	Config
	written []Record // as a budget with room keeps them

	tail   []uint64
	firsts []modelFirst // in the order in which they may go
	pinned []uint64
	pins   []modelPin

	stats Stats // the counters that are not computed
}

type modelFirst struct {
	seq, burst uint64
	released   bool
}

type modelPin struct{ owner, seq, n uint64 }

func (m *model) latest() uint64 { return m.After + uint64(len(m.written)) }

func (m *model) get(seq uint64) Record { return m.written[seq-m.After-1] }

// prefix is the longest prefix of whole characters in n bytes.
func prefix(s string, n int) string {
	end := 0
	for _, r := range s {
		if end+utf8.RuneLen(r) > n {
			break
		}
		end += utf8.RuneLen(r)
	}
	return s[:end]
}

func blockLen(r Record) int {
	n := len(r.Message) + len(r.Stack) + len(r.OperationID) + len(r.Rule) + len(r.Source) + len(r.Parent)
	for _, t := range r.Tags {
		n += 1 + len(t)
	}
	return n
}

// kept is what a journal keeps of a record.
func (m *model) kept(r Record) Record {
	full := r
	left := m.Bytes
	for _, s := range []*string{&r.OperationID, &r.Rule, &r.Source, &r.Parent} {
		*s = prefix(*s, min(maxName, left))
		left -= len(*s)
	}
	r.Tags = nil
	tags := 0
	for _, t := range full.Tags {
		t = prefix(t, maxName)
		if tags += 1 + len(t); tags > maxTags || 1+len(t) > left {
			break
		}
		left -= 1 + len(t)
		r.Tags = append(r.Tags, t)
	}
	room := min(m.MaxText, left)
	if len(r.Message)+len(r.Stack) > room {
		stack := min(len(r.Stack), room/4)
		if rest := room - len(r.Message); rest > stack {
			stack = rest
		}
		r.Message, r.Stack = prefix(r.Message, room-stack), prefix(r.Stack, stack)
	}
	r.Time = r.Time.UTC()
	r.Truncated = blockLen(r) != blockLen(full)
	return r
}

func (m *model) tailBytes() (n int) {
	for _, seq := range m.tail {
		n += blockLen(m.get(seq))
	}
	return n
}

func (m *model) append(r Record) {
	r = m.kept(r)
	if r.Truncated {
		m.stats.Truncated++
	}
	m.written = append(m.written, r)
	m.tail = append(m.tail, r.Seq)
	for len(m.tail) > m.Entries || m.tailBytes() > m.Bytes {
		m.tail = m.tail[1:]
		m.stats.Tail.Evicted++
	}
	for _, p := range m.pins {
		if r.Seq > p.seq && r.Seq-p.seq <= p.n {
			m.pinNeighbor(r.Seq)
			break
		}
	}
}

// fits reports whether the texts of seqs and one more can be in a budget.
func (m *model) fits(capacity, bytes int, seqs []uint64, more uint64) bool {
	for _, seq := range append(slices.Clone(seqs), more) {
		bytes -= blockLen(m.get(seq))
	}
	return len(seqs) < capacity && bytes >= 0
}

func (m *model) keepFirst(burst uint64) bool {
	seq := m.latest()
	if len(m.tail) == 0 {
		return false
	}
	quota := 0
	var needed []uint64
	for _, f := range m.firsts {
		if f.seq == seq {
			return true
		}
		if !f.released {
			needed = append(needed, f.seq)
			if f.burst == burst {
				quota++
			}
		}
	}
	if quota >= m.FirstsPerBurst {
		m.stats.OverQuota++
		return false
	}
	if !m.fits(m.Firsts, m.FirstsBytes, needed, seq) {
		m.stats.Firsts.Refused++
		return false
	}
	for !m.fits(m.Firsts, m.FirstsBytes, m.firstSeqs(), seq) {
		i := slices.IndexFunc(m.firsts, func(f modelFirst) bool { return f.released })
		m.firsts = slices.Delete(m.firsts, i, i+1)
		m.stats.Firsts.Evicted++
	}
	m.firsts = append(m.firsts, modelFirst{seq: seq, burst: burst})
	return true
}

func (m *model) firstSeqs() (seqs []uint64) {
	for _, f := range m.firsts {
		seqs = append(seqs, f.seq)
	}
	return seqs
}

func (m *model) releaseBurst(burst uint64) {
	var released, others, mine []modelFirst
	for _, f := range m.firsts {
		switch {
		case f.released:
			released = append(released, f)
		case f.burst == burst:
			f.released = true
			mine = append(mine, f)
		default:
			others = append(others, f)
		}
	}
	m.firsts = slices.Concat(released, mine, others)
}

func (m *model) held(seq uint64) bool {
	return slices.Contains(m.tail, seq) || slices.Contains(m.pinned, seq) || slices.Contains(m.firstSeqs(), seq)
}

func (m *model) pinEntry(seq uint64) bool {
	if slices.Contains(m.pinned, seq) {
		return true
	}
	if !m.held(seq) || !m.fits(m.Pinned, m.PinnedBytes, m.pinned, seq) {
		return false
	}
	m.pinned = append(m.pinned, seq)
	return true
}

func (m *model) pinNeighbor(seq uint64) {
	if !m.pinEntry(seq) && m.held(seq) {
		m.stats.RefusedNeighbors++
	}
}

func (m *model) pin(owner, seq uint64, n int) bool {
	n = max(0, min(n, m.Pinned))
	i := slices.IndexFunc(m.pins, func(p modelPin) bool { return p.owner == owner && p.seq == seq })
	if i < 0 {
		if len(m.pins) == m.Pinned || !m.pinEntry(seq) {
			m.stats.Pinned.Refused++
			return false
		}
		i = len(m.pins)
		m.pins = append(m.pins, modelPin{owner: owner, seq: seq})
	}
	m.pins[i].n = max(m.pins[i].n, uint64(n))
	for d := uint64(1); d <= uint64(n); d++ {
		if seq > d {
			m.pinNeighbor(seq - d)
		}
		if seq+d <= m.latest() {
			m.pinNeighbor(seq + d)
		}
	}
	return true
}

func (m *model) unpin(owner uint64) {
	m.pins = slices.DeleteFunc(m.pins, func(p modelPin) bool { return p.owner == owner })
	m.pinned = slices.DeleteFunc(m.pinned, func(seq uint64) bool {
		return !slices.ContainsFunc(m.pins, func(p modelPin) bool {
			return seq+p.n >= p.seq && seq <= p.seq+p.n
		})
	})
}

// all returns what is held after a sequence number and matches, in order.
func (m *model) all(after uint64, f Filter) (rs []Record) {
	for _, r := range m.written {
		if r.Seq > after && m.held(r.Seq) && modelMatch(r, f) {
			rs = append(rs, r)
		}
	}
	return rs
}

func modelMatch(r Record, f Filter) bool {
	return r.Disposition >= f.MinDisposition && r.Severity >= f.MinSeverity &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, r.Kind)) &&
		(f.Signature == 0 || f.Signature == r.Signature.ID) &&
		(f.Operation == "" || prefix(f.Operation, maxName) == r.OperationID) &&
		(f.Rule == "" || prefix(f.Rule, maxName) == r.Rule) &&
		(f.Source == "" || prefix(f.Source, maxName) == r.Source) &&
		(f.Contains == "" || strings.Contains(r.Message, f.Contains) || strings.Contains(r.Stack, f.Contains))
}

func (m *model) lost(after, to uint64) (n uint64) {
	for seq := after + 1; seq <= to; seq++ {
		if seq <= m.After || !m.held(seq) {
			n++
		}
	}
	return n
}

// pair is a Journal and the model of it, which are given the same calls.
type pair struct {
	t testing.TB
	j *Journal
	m *model
}

func newPair(t testing.TB, c Config) *pair {
	j := testkit.Must(New(c))
	return &pair{t: t, j: j, m: &model{Config: j.config}}
}

func (p *pair) append(r Record) {
	r.Seq = p.j.Latest() + 1
	e := r.Entry
	p.j.Append(&e, r.Signature, r.Decision)
	p.m.append(r)
}

func (p *pair) keepFirst(burst uint64) {
	require.Equal(p.t, p.m.keepFirst(burst), p.j.KeepFirst(burst), "KeepFirst(%d)", burst)
}

func (p *pair) releaseBurst(burst uint64) {
	p.m.releaseBurst(burst)
	p.j.Release(burst)
}

func (p *pair) pin(owner, seq uint64, n int) {
	require.Equal(p.t, p.m.pin(owner, seq, n), p.j.Pin(owner, seq, n), "Pin(%d, %d, %d)", owner, seq, n)
}

func (p *pair) release(owner uint64) {
	p.m.unpin(owner)
	p.j.Unpin(owner)
}

// check compares everything that can be asked of the journal but its pages.
func (p *pair) check() {
	t, j, m := p.t, p.j, p.m
	require.NoError(t, j.valid())

	want := m.stats
	want.Written, want.After, want.Latest = uint64(len(m.written)), m.After, m.latest()
	want.Lost = m.lost(0, m.latest())
	want.Held = m.latest() - want.Lost
	if all := m.all(0, Filter{}); len(all) > 0 {
		want.Oldest = all[0].Seq
	}
	want.Pins = len(m.pins)
	want.Tail.Entries, want.Tail.Capacity, want.Tail.MaxBytes = len(m.tail), m.Entries, m.Bytes
	want.Firsts.Entries, want.Firsts.Capacity, want.Firsts.MaxBytes = len(m.firsts), m.Firsts, m.FirstsBytes
	want.Pinned.Entries, want.Pinned.Capacity, want.Pinned.MaxBytes = len(m.pinned), m.Pinned, m.PinnedBytes
	want.Tail.Bytes = m.tailBytes()
	for _, f := range m.firsts {
		want.Firsts.Bytes += blockLen(m.get(f.seq))
	}
	for _, seq := range m.pinned {
		want.Pinned.Bytes += blockLen(m.get(seq))
	}
	require.Equal(t, want, j.Stats())

	for seq := uint64(0); seq <= m.latest()+1; seq++ {
		r, ok := j.get(seq)
		if require.Equal(t, seq > m.After && seq <= m.latest() && m.held(seq), ok, "Get(%d)", seq); ok {
			require.Equal(t, m.get(seq), r)
		}
		if seq <= m.latest() {
			held, lost, err := j.Since(Cursor{Seq: seq})
			require.NoError(t, err)
			require.Equal(t, m.lost(seq, m.latest()), lost, "lost since %d", seq)
			require.Equal(t, m.latest()-seq, held+lost)
		}
	}
}

// checkRead pages through the journal from a cursor and compares with what is
// held.
func (p *pair) checkRead(after uint64, limit int, f Filter) {
	t, j, m := p.t, p.j, p.m
	want := m.all(after, f)
	oldest := j.Stats().Oldest
	var got []Record
	c := Cursor{Seq: after}
	for range m.latest() + 1 {
		page := j.Read(c, limit, f)
		require.NoError(t, page.Err)
		require.LessOrEqual(t, len(page.Records), limit)
		require.Equal(t, m.latest(), page.Latest)
		require.Equal(t, oldest, page.Oldest)
		require.Equal(t, m.Epoch, page.Next.Epoch)
		require.Equal(t, m.lost(c.Seq, page.Next.Seq), page.Lost, "lost in (%d, %d]", c.Seq, page.Next.Seq)
		before := uint64(0)
		for seq := c.Seq + 1; seq <= min(page.Next.Seq, m.After); seq++ {
			before++
		}
		require.Equal(t, before, page.LostBefore)
		require.Equal(t, page.Next.Seq < m.latest(), page.More)
		if c.Seq < m.latest() {
			require.Greater(t, page.Next.Seq, c.Seq, "no progress")
		}
		held, lost, err := j.count(c, page.Next)
		require.NoError(t, err)
		require.Equal(t, page.Lost, lost)
		require.Equal(t, page.Next.Seq-c.Seq-page.Lost, held)
		got = append(got, page.Records...)
		c = page.Next
		if !page.More {
			break
		}
	}
	require.Equal(t, j.end(), Cursor{Epoch: m.Epoch, Seq: c.Seq})
	require.Equal(t, want, got, "after %d, limit %d, %+v", after, limit, f)
}

// chooser returns a number in [0, n).
type chooser func(n int) int

var (
	someTexts = []string{
		"", "a", "Röhre", "지붕 무너짐", "дом", strings.Repeat("é", 60), strings.Repeat("x", 127),
		strings.Repeat("y", 128), strings.Repeat("Wand 壁 ", 40),
	}
	someNames = []string{"", "op1", "op2", "rule.a", "Ä", strings.Repeat("n", 255), strings.Repeat("ñ", 128)}
	someTags  = [][]string{
		nil,
		{"crash"},
		{"", "b"},
		{strings.Repeat("ж", 130)},
		slices.Repeat([]string{strings.Repeat("t", 250)}, 5),
	}
)

func pick[T any](choose chooser, from []T) T { return from[choose(len(from))] }

// someRecord returns a record of any shape, without a sequence number.
func someRecord(choose chooser) Record {
	r := Record{
		Entry: event.Entry{
			Kind: event.Kind(choose(4)), Level: event.Level(choose(6)), Status: event.Status(choose(18)),
			Message: pick(choose, someTexts), Pos: uint64(choose(200)),
		},
		Signature: signature.Signature{ID: signature.ID(choose(3)), Check: uint32(choose(2))},
		Decision:  event.Decision{Disposition: event.Disposition(choose(3)), Severity: event.Severity(choose(4))},
	}
	if choose(2) == 0 {
		return r
	}
	r.Stack = pick(choose, someTexts)
	r.OperationID, r.Source, r.Parent = pick(choose, someNames), pick(choose, someNames), pick(choose, someNames)
	r.Rule, r.Tags = pick(choose, someNames), pick(choose, someTags)
	r.Invalidates, r.ByCaller = choose(2) == 1, choose(2) == 1
	r.Count = uint64(choose(9))
	r.Time = time.Unix(int64(choose(100)), int64(choose(100))).In(time.FixedZone("", 3600))
	return r
}

func someFilter(choose chooser) Filter {
	var f Filter
	switch choose(9) {
	case 1:
		f.MinDisposition = event.Disposition(choose(3))
	case 2:
		f.MinSeverity = event.Severity(choose(4))
	case 3:
		f.Kinds = []event.Kind{event.Kind(choose(4)), event.Kind(choose(4))}
	case 4:
		f.Signature = signature.ID(choose(3))
	case 5:
		f.Operation = pick(choose, someNames)
	case 6:
		f.Rule = pick(choose, someNames)
	case 7:
		f.Source = pick(choose, someNames)
	case 8:
		f.Contains = pick(choose, []string{"a", "é", "壁 W", "дом"})
	}
	return f
}

// someConfig returns small capacities, of which some are tiny.
func someConfig(choose chooser) Config {
	small := func(of ...int) int { return pick(choose, of) }
	return Config{
		Entries: 1 + choose(8), Bytes: small(1, 2, 3, 8, 100, 300, 1000, 5000),
		Firsts: 1 + choose(8), FirstsBytes: small(1, 129, 600, 5000), FirstsPerBurst: 1 + choose(3),
		Pinned: 1 + choose(8), PinnedBytes: small(1, 129, 600, 5000),
		MaxText: small(1, 2, 7, 64, 300, 4000), ReadEntries: 1 + choose(8), ReadBytes: small(1, 100, 1000, 100000),
		After: uint64(small(0, 0, 3)), Epoch: pick(choose, []string{"", "e1"}),
	}
}

// step does something to both, and compares.
func (p *pair) step(choose chooser) {
	latest := p.j.Latest()
	// Mostly recent entries, and some that are lost or not yet written.
	near := func() uint64 { return latest + 2 - min(uint64(choose(16)), latest+2) }
	switch choose(10) {
	case 0, 1, 2:
		p.append(someRecord(choose))
	case 3:
		p.append(someRecord(choose))
		p.keepFirst(uint64(choose(4)))
	case 4:
		p.keepFirst(uint64(choose(4)))
	case 5:
		p.releaseBurst(uint64(choose(4)))
	case 6:
		p.pin(uint64(choose(3)), near(), choose(5)-1)
	case 7, 8:
		p.release(uint64(choose(3)))
	case 9:
		p.checkRead(min(near(), latest), 1+choose(9), someFilter(choose))
	}
	p.check()
}

// checkPages compares what is read with pages of any size.
func (p *pair) checkPages(f Filter) {
	for _, limit := range []int{1, 2, 3, 5, 100} {
		p.checkRead(0, limit, Filter{})
		p.checkRead(0, limit, f)
	}
}
