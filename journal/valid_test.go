package journal

import (
	"fmt"
)

// valid returns the first invariant of j that does not hold.
func (j *Journal) valid() error {
	for _, f := range []func() error{j.validTail, j.validIndex, j.validFirsts, j.pins.valid} {
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
	at := t.write - t.Bytes
	if at < 0 {
		at += len(t.bytes)
	}
	for i := range t.Entries {
		h := t.at(i)
		if want := j.tailFrom() + uint64(i); h.seq != want {
			return fmt.Errorf("tail: entry %d is %d, not %d", i, h.seq, want)
		}
		if h.size() > 0 && int(h.at)%len(t.bytes) != (at+used)%len(t.bytes) {
			return fmt.Errorf("tail: block of %d begins at %d, not where the one before ends", h.seq, h.at)
		}
		used += h.size()
	}
	if used != t.Bytes || used > len(t.bytes) {
		return fmt.Errorf("tail: %d bytes used, counted as %d of %d", used, t.Bytes, len(t.bytes))
	}
	return nil
}

func (j *Journal) validIndex() error {
	var last uint64
	var firsts, pinned Budget
	kept := func(h *header) error {
		if h.flags&flagFirst != 0 {
			firsts.add(h.size())
		}
		if h.flags&flagPinned != 0 {
			pinned.add(h.size())
			if !j.pins.covered(h.seq) {
				return fmt.Errorf("pins: nobody pinned %d", h.seq)
			}
		}
		return nil
	}
	for _, r := range j.index {
		if r.seq <= last || r.seq >= j.tailFrom() {
			return fmt.Errorf("index: %d after %d, the tail from %d", r.seq, last, j.tailFrom())
		}
		last = r.seq
		if len(r.block) != r.size() || r.flags&flagsKept == 0 {
			return fmt.Errorf("index: %d has %d bytes of %d, and is for nothing", r.seq, len(r.block), r.size())
		}
		if err := kept(&r.header); err != nil {
			return err
		}
	}
	for i := range j.tail.Entries {
		if err := kept(j.tail.at(i)); err != nil {
			return err
		}
	}
	for _, b := range [][2]Budget{{firsts, j.firsts.Budget}, {pinned, j.pins.Budget}} {
		if held := b[1]; held.Entries > held.Capacity || held.Bytes > held.MaxBytes ||
			b[0].Entries != held.Entries || b[0].Bytes != held.Bytes {
			return fmt.Errorf("index: %+v, counted as %+v", b[0], held)
		}
	}
	return nil
}

func (j *Journal) validFirsts() error {
	f := &j.firsts
	count, bytes := len(f.released), 0
	for _, seq := range f.released {
		bytes += j.lookup(seq).size()
	}
	if bytes != f.releasedBytes {
		return fmt.Errorf("firsts: %d bytes released, counted as %d", bytes, f.releasedBytes)
	}
	for id, b := range f.bursts {
		if len(b) == 0 || len(b) > f.perBurst {
			return fmt.Errorf("bursts: %d has %d firsts of %d", id, len(b), f.perBurst)
		}
		count += len(b)
	}
	if count != f.Entries {
		return fmt.Errorf("firsts: %d in lists, %d counted", count, f.Entries)
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
	return nil
}
