package classify

import (
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// decisionKey is everything that a plan depends on. Two entries with the same key have the same plan: rules see of an
// entry only these fields, and the parts for which a plan is not known.
//
// It is three words, written as words: fields of a byte each, compared four at a time, would wait for their own stores.
type decisionKey struct {
	id    signature.ID
	check uint64 // of the signature, and the number of the source
	rest  uint64 // phase, level, kind, status, byCaller
}

// keyOf returns the key of an entry in a phase, given the numbers of phase and source, each below 1<<31.
func keyOf(s signature.Signature, source, phase uint32, e *event.Entry) decisionKey {
	k := decisionKey{
		id: s.ID, check: uint64(s.Check)<<32 | uint64(source),
		rest: uint64(phase)<<32 | uint64(e.Level)<<24 | uint64(e.Kind)<<16 | uint64(e.Status)<<8,
	}
	if byCaller(e) {
		k.rest |= 1
	}
	return k
}

// hash mixes the fields. The id of a signature is a hash already; the rest is
// spread over all bits by a multiplication with 2^64 divided by the golden
// ratio, as Fibonacci hashing does.
func (k *decisionKey) hash() uint32 {
	return uint32((uint64(k.id) ^ (k.check<<40^k.rest)*0x9e3779b97f4a7c15) >> 16)
}

// decisions maps keys to plans. It is bounded by number and by the weight of
// the plans.
type decisions struct {
	table     lru[decisionKey, rules.Plan]
	weight    int
	maxWeight int
	evicted   uint64
}

// weightPerPlan is how much plans may weigh on average. Most weigh nothing.
const weightPerPlan = 2

// get returns the plan of key, or nil, and makes it the newest. The pointer is valid until the next add. place is where
// the caller found the plan last, and is set: looking there first spares a hash table if level, source and phase are as
// before, and among thousands of signatures a miss of the processor's caches.
func (d *decisions) get(key *decisionKey, place *int32) *rules.Plan {
	i := *place
	if d.table.at(i, key) == nil {
		if i = d.table.find(key.hash(), key); i == none {
			return nil
		}
		*place = i
	}
	d.table.touch(i)
	return &d.table.slots[i].value
}

// add stores what get did not find, and sets place. A plan that weighs more than
// all plans together may is not kept.
func (d *decisions) add(key *decisionKey, p rules.Plan, place *int32) {
	w := p.Weight()
	if w > d.maxWeight {
		return
	}
	for d.table.full() || d.weight+w > d.maxWeight {
		old := d.table.removeOldest()
		d.weight -= old.Weight()
		d.evicted++
	}
	*place = d.table.add(key.hash(), key, p)
	d.weight += w
}

// names gives strings numbers, so that they can be part of a small key. It
// never evicts one; beyond its bounds, new strings get no number.
type names struct {
	numbers map[string]uint32
	texts   []string
	limit   int
	last    string // the one asked for last, which mostly is the next one too
	lastN   uint32
}

// maxNameBytes bounds the length of a string that gets a number.
const maxNameBytes = 256

// newNames returns a table of at most limit strings, besides the empty one,
// whose number is 0.
func newNames(limit int) names {
	return names{numbers: map[string]uint32{"": 0}, texts: []string{""}, limit: limit + 1}
}

// number returns the number of s. It copies s if it keeps it.
func (n *names) number(s string) (uint32, bool) {
	if s == n.last {
		return n.lastN, true
	}
	num, ok := n.numbers[s]
	if !ok {
		if len(n.texts) == n.limit || len(s) > maxNameBytes {
			return 0, false
		}
		num = uint32(len(n.texts))
		s = strings.Clone(s)
		n.texts = append(n.texts, s)
		n.numbers[s] = num
	}
	n.last, n.lastN = n.texts[num], num
	return num, true
}

func (n *names) held() int { return len(n.texts) - 1 }
