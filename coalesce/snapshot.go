package coalesce

import (
	"fmt"
	"math"
	"slices"

	"github.com/heedlog/heed/internal/wire"
)

// BeginSnapshot appends the first part of the state to dst, for [Restore], and
// [Coalescer.ContinueSnapshot] the rest: items that are open or remembered,
// operations, consumers, the ambient episode, pending updates, time and counts. The
// state is that of this call, whatever is called in between; a snapshot that was begun
// before is abandoned. What waits for [Coalescer.Retention] is about a journal, and not
// part of it. The same state gives the same bytes; they have no version and no checksum
// of their own. Both allocate nothing but the growth of dst, and copies of the groups
// that change meanwhile.
//
// The first part is all but the groups of items, which take most of the space. A group
// takes some 60 bytes, its rule, its variant and the text of its sample (up to four bytes for each of
// the MaxSampleText characters), and 8 where it has no counter; an operation 30, its id
// and its method. So does one that was evicted, or was another life of an id, in each
// item of which a group still names it. With the default Config and full tables of ASCII
// that are 3.6 MB, and 2 MB with as many groups without a counter as are told apart.
func (c *Coalescer) BeginSnapshot(dst []byte) []byte {
	c.saved.begin()
	for _, o := range c.ops.order {
		o.known = c.saved.snapshot
	}
	s := coder{Coder: wire.Writer(dst), c: c}
	s.begin()
	return s.Bytes()
}

// ContinueSnapshot appends what comes next in the snapshot that was begun: the
// groups of at least one item, and of no more items when there are size bytes. It
// returns false when that was the last of it.
func (c *Coalescer) ContinueSnapshot(dst []byte, size int) ([]byte, bool) {
	v := &c.saved
	s := coder{Coder: wire.Writer(dst), c: c}
	for ; v.active && len(s.Bytes())-len(dst) < size; v.next++ {
		if v.next == len(c.items) {
			v.active = false
			break
		}
		it := &c.items[v.next]
		if it.saved.snapshot == v.snapshot {
			s.Raw(it.saved.groups)
		} else {
			s.groups(it)
		}
		it.saved = savedItem{snapshot: v.snapshot}
	}
	return s.Bytes(), v.active
}

// savedItems is what a snapshot in the making needs of items whose groups are about
// to change before it has come to them.
type savedItems struct {
	active   bool
	snapshot uint64 // its number
	part     uint64 // number of a part of any snapshot; see coder.operation
	next     int    // the item that it comes to next
	buf      []byte // reused
}

func (v *savedItems) begin() {
	v.active, v.next = true, 0
	v.snapshot++
}

// savedItem marks that a snapshot is done with the groups of an item, or holds them
// encoded as they were when it was begun.
type savedItem struct {
	snapshot uint64
	groups   []byte
}

// save keeps the groups of an item, which are about to change, for a snapshot in the
// making. Whatever changes counters or rules of an item calls it before.
func (c *Coalescer) save(it *item) {
	v := &c.saved
	if !v.active || it.saved.snapshot == v.snapshot {
		return
	}
	s := coder{Coder: wire.Writer(v.buf[:0]), c: c}
	s.groups(it)
	v.buf = s.Bytes()
	it.saved = savedItem{snapshot: v.snapshot, groups: slices.Clone(v.buf)}
}

// Restore returns a Coalescer for cfg in the state that a snapshot holds, of
// which it keeps nothing. Windows, MaxSkew and larger bounds take effect from
// there on. It refuses a snapshot of another Epoch, one that was made with larger
// bounds, naming the field, and one that cannot be the state of any Coalescer.
func Restore(cfg Config, snapshot []byte) (*Coalescer, error) {
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	s := coder{Coder: wire.Reader(snapshot), c: c, ops: map[uint64]*operation{}, known: map[*operation]bool{}}
	for i := range s.begin() {
		s.groups(&c.items[i])
	}
	s.check()
	if err := s.Close(); err != nil {
		return nil, fmt.Errorf("coalesce: snapshot: %w", err)
	}
	c.setAlarms()
	for i := range c.items {
		if it := &c.items[i]; it.acked {
			c.enterRules(it)
		}
	}
	return c, nil
}

// coder writes a Coalescer, or sets a new one. Each structure is described by
// one method, for both directions; snapshot_test.go holds the methods to the
// fields.
type coder struct {
	wire.Coder
	c *Coalescer

	ops   map[uint64]*operation // that were read, by number
	known map[*operation]bool   // of these, those in the table
	here  map[*operation]bool   // and those that were defined in the present part
}

// maxCount bounds sequence numbers and generations. No engine gets that far, and what is
// added to them does not overflow.
const maxCount = 1 << 62

// begin codes everything but the groups of items, and returns how many items follow.
func (s *coder) begin() int {
	c := s.c
	s.part()
	s.config(&c.cfg)
	s.now(c)
	s.Bool("blind", &c.blind)
	s.Uint64("freshSince", &c.freshSince, c.now.seq)
	s.Uint64("numbers", &c.numbers, c.now.seq)
	s.Uint64("clears", &c.clears, maxCount)
	s.consumers(&c.consumers)
	s.operations(&c.ops)
	n := s.Len("items", len(c.items), len(c.items))
	for i := range n {
		s.item(&c.items[i])
	}
	s.itemRef("episode.item", &c.episode.item)
	s.logicalTime("episode.last", &c.episode.last)
	s.Uint64("episode.acked", &c.episode.acked, c.numbers)
	s.itemRef("blindly", &c.blindly)
	s.Uint64("blindItem", &c.blindItem, c.numbers)
	s.itemRef("pool", &c.pool)
	s.calls(&c.calls)
	s.phases(&c.phases)
	s.load(&c.load)
	s.Uint64("loadEnded", &c.loadEnded, c.now.seq)
	s.allowance(&c.allowance)
	s.queue()
	s.escalations()
	s.stats(&c.stats)
	return n
}

// groups codes what is large of an item.
func (s *coder) groups(it *item) {
	s.part()
	s.counters(&it.counters)
	s.rules(it)
}

// part begins a part that may be coded before or after others.
func (s *coder) part() {
	s.c.saved.part++
	if s.Reading() {
		s.here = map[*operation]bool{}
	}
}

// config refuses what was made for another epoch, or with larger bounds.
func (s *coder) config(cfg *Config) {
	epoch := cfg.Epoch
	s.Text("Config.Epoch", &epoch, 64)
	if epoch != cfg.Epoch {
		s.Fail("its Config.Epoch is %q, not %q", epoch, cfg.Epoch)
	}
	for _, f := range [...]struct {
		name string
		now  int
	}{
		{"MaxOpen", cfg.MaxOpen},
		{"MaxRemembered", cfg.MaxRemembered},
		{"MaxGroups", cfg.MaxGroups},
		{"MaxOperations", cfg.MaxOperations},
		{"MaxSamples", cfg.MaxSamples},
		{"MaxSampleText", cfg.MaxSampleText},
		{"MaxNamed", cfg.MaxNamed},
		{"MaxConsumers", cfg.MaxConsumers},
	} {
		then := f.now
		wire.Int(&s.Coder, f.name, &then, 0, math.MaxInt)
		if then > f.now {
			s.Fail("it was made with Config.%s %d; %d is too small for it", f.name, then, f.now)
		}
	}
}

// now codes the time, to which all else is compared.
func (s *coder) now(c *Coalescer) {
	s.Uint64("now.seq", &c.now.seq, maxCount)
	s.Uint64("now.generation", &c.now.generation, maxCount)
	wire.Int(&s.Coder, "now.at", &c.now.at, -farthest, farthest)
	s.Uint64("pos", &c.pos, math.MaxUint64)
	if c.now.generation != 0 {
		s.Time("base", &c.base)
	}
}

// setAlarms sets the alarms for all that may become due. They are not part of a
// snapshot, so that other windows take effect.
func (c *Coalescer) setAlarms() {
	for i := range c.items {
		if it := &c.items[i]; it.open() {
			c.wake(it)
		}
	}
	for _, o := range c.ops.order {
		if o.running() {
			c.set(&c.abandon, &c.cfg.OperationMax, o.started)
		}
	}
	c.findLive()
	if c.Loading() {
		c.overdueLoad()
	}
}
