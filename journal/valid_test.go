package journal

import (
	"fmt"
)

// valid returns the first invariant of j that does not hold.
func (j *Journal) valid() error {
	for _, f := range []func() error{j.validTail, j.validIndex, j.firsts.valid, j.pins.valid} {
		if err := f(); err != nil {
			return err
		}
	}
	if s := j.Stats(); s.Held+s.Lost != s.Latest || s.Written+s.After != s.Latest {
		return fmt.Errorf("stats do not add up: %+v", s)
	}
	return nil
}

func (j *Journal) validTail() error {
	t := &j.tail
	used := 0
	at := t.write - t.used
	if at < 0 {
		at += len(t.bytes)
	}
	for i := range t.count {
		h := t.at(i)
		if want := j.tailFrom() + uint64(i); h.seq != want {
			return fmt.Errorf("tail: entry %d is %d, not %d", i, h.seq, want)
		}
		if int(h.at)%len(t.bytes) != (at+used)%len(t.bytes) {
			return fmt.Errorf("tail: block of %d begins at %d, not where the one before ends", h.seq, h.at)
		}
		used += h.size()
	}
	if used != t.used || used > len(t.bytes) {
		return fmt.Errorf("tail: %d bytes used, counted as %d of %d", used, t.used, len(t.bytes))
	}
	return nil
}

func (j *Journal) validIndex() error {
	var last uint64
	firsts, pinned := 0, 0
	for _, r := range j.index.rows {
		if r.seq <= last || r.seq > j.latest {
			return fmt.Errorf("index: %d after %d, latest %d", r.seq, last, j.latest)
		}
		last = r.seq
		if r.first == none && r.pinned == none {
			return fmt.Errorf("index: %d is nowhere", r.seq)
		}
		if r.first != none {
			firsts++
			if s := j.firsts.headers[r.first].seq; s != r.seq {
				return fmt.Errorf("index: %d names the first of %d", r.seq, s)
			}
		}
		if r.pinned != none {
			pinned++
			if s := j.pins.headers[r.pinned].seq; s != r.seq {
				return fmt.Errorf("index: %d names the pinned %d", r.seq, s)
			}
			if !j.pins.covered(r.seq) {
				return fmt.Errorf("pins: nobody pinned %d", r.seq)
			}
		}
	}
	if firsts != j.firsts.count || pinned != j.pins.count {
		return fmt.Errorf("index: %d firsts of %d, %d pinned of %d", firsts, j.firsts.count, pinned, j.pins.count)
	}
	return nil
}

func (s *store) valid() error {
	freeSlots := 0
	for i := s.slotFree; i != none; i = s.slotNext[i] {
		freeSlots++
	}
	if freeSlots+s.count != len(s.headers) {
		return fmt.Errorf("store: %d slots free and %d in use of %d", freeSlots, s.count, len(s.headers))
	}
	freeBlocks, usedBlocks, used := 0, 0, 0
	for b := s.blockFree; b != none && len(s.blockNext) > 0; b = s.blockNext[b] {
		freeBlocks++
	}
	for i := range s.headers {
		h := &s.headers[i]
		if h.seq == 0 {
			continue
		}
		n := 0
		for b := h.at; b != none; b = s.blockNext[b] {
			n++
		}
		if n != blocksFor(h.size()) {
			return fmt.Errorf("store: %d bytes of %d in %d blocks", h.size(), h.seq, n)
		}
		usedBlocks += n
		used += h.size()
	}
	if freeBlocks != s.blocksFree || freeBlocks+usedBlocks != len(s.blockNext) || used != s.used {
		return fmt.Errorf("store: %d blocks free (counted %d) and %d used of %d; %d bytes, counted %d",
			freeBlocks, s.blocksFree, usedBlocks, len(s.blockNext), used, s.used)
	}
	return nil
}

func (f *firsts) valid() error {
	if err := f.store.valid(); err != nil {
		return err
	}
	if err := f.validList(&f.released); err != nil {
		return err
	}
	count := f.released.count
	for id, b := range f.bursts {
		if b.count == 0 || b.count > f.perBurst {
			return fmt.Errorf("bursts: %d has %d firsts of %d", id, b.count, f.perBurst)
		}
		if err := f.validList(&b); err != nil {
			return err
		}
		count += b.count
	}
	if count != f.count {
		return fmt.Errorf("firsts: %d in lists, %d in the store", count, f.count)
	}
	return nil
}

func (f *firsts) validList(l *list) error {
	if l.count == 0 {
		return nil
	}
	slot, blocks := l.head, 0
	for i := range l.count {
		blocks += blocksFor(f.headers[slot].size())
		if last := i == l.count-1; last != (slot == l.tail) {
			return fmt.Errorf("list: entry %d of %d, tail %t", i, l.count, slot == l.tail)
		}
		slot = f.slotNext[slot]
	}
	if blocks != l.blocks {
		return fmt.Errorf("list: %d blocks, counted %d", blocks, l.blocks)
	}
	return nil
}

func (p *pins) valid() error {
	for i := range p.pins {
		q := &p.pins[i]
		if q.seq < q.from || q.seq > q.to || q.to > p.until {
			return fmt.Errorf("pins: %+v, until %d", *q, p.until)
		}
	}
	return p.store.valid()
}
