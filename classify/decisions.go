package classify

import (
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// decisionKey is everything that a plan depends on. Two entries with the same
// key have the same plan: rules see of an entry what is here, or what the plan
// leaves open.
type decisionKey struct {
	signature signature.Signature
	source    uint32
	phase     uint32
	level     event.Level
	kind      event.Kind
	status    event.Status
	byCaller  bool
}

// hash mixes the fields. The id of a signature is a hash already; the rest is
// spread over all bits by a multiplication with 2^64 divided by the golden
// ratio, as Fibonacci hashing does.
func (k *decisionKey) hash() uint32 {
	rest := uint64(k.source)<<40 ^ uint64(k.phase)<<24 ^ uint64(k.level)<<16 ^ uint64(k.kind)<<8 ^ uint64(k.status)
	if k.byCaller {
		rest ^= 1 << 7
	}
	return uint32((uint64(k.signature.ID) ^ rest*0x9e3779b97f4a7c15) >> 16)
}

// decisions maps keys to plans. It is bounded by number and by the weight of
// the plans, which lies with the rules and with what entries look like.
type decisions struct {
	table     lru[decisionKey, rules.Plan]
	weight    int
	maxWeight int
	evicted   uint64
}

// weightPerPlan is how much plans may weigh on average: two rules that have to
// look at each entry. Plans of the default rules weigh less.
const weightPerPlan = 2

func newDecisions(limit int) decisions {
	return decisions{table: newLRU[decisionKey, rules.Plan](limit), maxWeight: limit * weightPerPlan}
}

// get returns the plan of key and makes it the newest. The pointer is valid
// until the next add.
func (d *decisions) get(hash uint32, key *decisionKey) *rules.Plan {
	i := d.table.find(hash, key)
	if i == none {
		return nil
	}
	d.table.touch(i)
	return &d.table.slots[i].value
}

// add stores what get did not find. A plan that weighs more than all plans
// together may is not kept.
func (d *decisions) add(hash uint32, key *decisionKey, p rules.Plan) {
	w := p.Weight()
	if w > d.maxWeight {
		return
	}
	for d.table.full() || d.weight+w > d.maxWeight {
		_, old := d.table.removeOldest()
		d.weight -= old.Weight()
		d.evicted++
	}
	d.table.add(hash, key, p)
	d.weight += w
}
