package classify

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestCollision: a text whose key has the hash of another one is seen by its
// check and decided on its own, however often it comes.
func TestCollision(t *testing.T) {
	set := testkit.Must(rules.Compile(rules.File{Name: "f", Data: []byte(`
version: 1
rules:
  - {id: a, when: 'template == "first text"', disposition: blocking}
  - {id: b, when: 'template == "second text"', disposition: advisory}
`)}))
	c := testkit.Must(New(Config{Rules: set}))
	first, second := event.Entry{Message: "first text"}, event.Entry{Message: "second text"}
	// The table is made to hold the first text under the hash of the second.
	key := c.normalizer.Key(second.Message, "")
	k := c.normalizer.Key(first.Message, "")
	k.Hash = key.Hash
	require.NotEqual(t, key.Check, k.Check)
	c.learn(k, &first, first.Message)

	for i := range 3 {
		r := c.Decide(&second)
		require.Equal(t, "b", r.Decision.Rule)
		require.Equal(t, c.normalizer.Signature("second text", ""), r.Signature)
		require.False(t, r.Cached)
		require.Equal(t, uint64(i+1), c.Stats().Collisions)
	}
	require.Equal(t, 1, c.Stats().Signatures)
	template, ok := c.Template(c.normalizer.Signature("first text", ""))
	require.True(t, ok)
	require.Equal(t, "first text", template)
}

// TestSameIDTwice: two signatures with one id and different checks are two.
func TestSameIDTwice(t *testing.T) {
	s := newSignatures(3, 1000)
	sig := func(id, check int) (v shape) {
		v.id, v.sigCheck = signature.ID(id), uint32(check)
		v.template = string(rune('a' + check))
		return v
	}
	s.add(1, sig(7, 1))
	s.add(2, sig(7, 2))
	s.add(3, sig(7, 3))
	for check := 1; check <= 3; check++ {
		got, ok := s.template(sig(7, check).signature())
		require.True(t, ok)
		require.Equal(t, string(rune('a'+check)), got)
	}
	s.add(4, sig(7, 4)) // evicts the oldest
	_, ok := s.template(sig(7, 1).signature())
	require.False(t, ok)
	_, ok = s.template(sig(7, 4).signature())
	require.True(t, ok)
	require.Equal(t, 3, s.bytes)
}

// TestWeightOfPlans: plans that hold much evict others.
func TestWeightOfPlans(t *testing.T) {
	set := testkit.Must(rules.Compile(rules.File{Name: "f", Data: []byte(
		"version: 1\nrules: [{id: tags, when: 'template contains \"text\"', continue: true, tags: [a, b, c, d, e]}]")}))
	for _, tc := range []struct{ limit, held int }{{1, 0}, {4, 0}, {5, 1}, {10, 2}, {100, 22}} {
		c := testkit.Must(New(Config{Rules: set, Decisions: tc.limit}))
		for i := range 30 {
			e := event.Entry{Message: "text", Source: string(rune('A' + i))}
			require.Equal(t, "default.log.unknown", c.Decide(&e).Decision.Rule)
		}
		require.LessOrEqual(t, c.decisions.weight, c.decisions.maxWeight)
		require.Equal(t, tc.held, c.Stats().Decisions, "limit %d", tc.limit)
	}
}

// TestDecisionKey: every part counts, in the key and in its hash. Who cancelled
// counts for operations that were cancelled, and for nothing else.
func TestDecisionKey(t *testing.T) {
	type parts struct {
		sig           signature.Signature
		source, phase uint32
		entry         event.Entry
	}
	cancelled := event.Entry{Kind: event.KindOperation, Status: event.StatusCancelled, Level: 1}
	base := parts{sig: signature.Signature{ID: 12345, Check: 6}, source: 1, phase: 1, entry: cancelled}
	keys, hashes := map[decisionKey]bool{}, map[uint32]bool{}
	add := func(change func(*parts)) bool {
		p := base
		change(&p)
		k := keyOf(p.sig, p.source, p.phase, &p.entry)
		known := keys[k]
		require.Equal(t, known, hashes[k.hash()])
		keys[k], hashes[k.hash()] = true, true
		return !known
	}
	for i, change := range []func(*parts){
		func(*parts) {},
		func(p *parts) { p.sig.ID++; p.sig.ID <<= 20 },
		func(p *parts) { p.source++ },
		func(p *parts) { p.source = maxTable },
		func(p *parts) { p.phase++ },
		func(p *parts) { p.phase = maxPhases },
		func(p *parts) { p.entry.Level = 255 },
		func(p *parts) { p.entry.Kind = 255 },
		func(p *parts) { p.entry.Status = 255 },
		func(p *parts) { p.entry.ByCaller = true },
	} {
		require.True(t, add(change), "part %d", i)
	}
	base.entry.Kind = event.KindLog
	require.True(t, add(func(*parts) {}))
	require.False(t, add(func(p *parts) { p.entry.ByCaller = true }))
	k := keyOf(base.sig, 1, 1, &base.entry)
	base.sig.Check++
	require.NotEqual(t, k, keyOf(base.sig, 1, 1, &base.entry))
}

// TestLRUEqualsAList compares the table with a slice from oldest to newest,
// with hashes bad enough that chains are long.
func TestLRUEqualsAList(t *testing.T) {
	type pair struct{ key, value int }
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		table := newLRU[int, int](limit)
		var model []pair
		hash := func(k int) uint32 { return uint32(k % 3) }
		index := map[int]int32{} // slots do not move
		for step := range rapid.IntRange(0, 60).Draw(t, "steps") {
			k := rapid.IntRange(0, 9).Draw(t, "key")
			at := slices.IndexFunc(model, func(p pair) bool { return p.key == k })
			i := table.find(hash(k), &k)
			require.Equal(t, at >= 0, i != none)
			switch {
			case i != none:
				require.Equal(t, model[at].value, table.slots[i].value)
				require.Equal(t, index[k], i)
				table.touch(i)
				model = append(append(model[:at:at], model[at+1:]...), model[at])
			default:
				if rapid.Bool().Draw(t, "remove early") && table.used > 0 || table.full() {
					require.NotEmpty(t, model)
					require.Equal(t, model[0].value, table.removeOldest())
					model = model[1:]
				}
				index[k] = table.add(hash(k), &k, step)
				model = append(model, pair{k, step})
			}
			require.Equal(t, len(model), table.used)
			require.LessOrEqual(t, len(table.slots), limit)
			require.Equal(t, len(model) == limit, table.full())
			// The list holds the model from either end.
			i = table.oldest
			for _, p := range model {
				require.Equal(t, p.key, table.slots[i].key)
				i = table.slots[i].newer
			}
			require.Equal(t, none, i)
			i = table.newest
			for _, p := range slices.Backward(model) {
				require.Equal(t, p.key, table.slots[i].key)
				i = table.slots[i].older
			}
			require.Equal(t, none, i)
		}
	})
}

func TestNames(t *testing.T) {
	n := newNames(2)
	number := func(s string, want uint32, ok bool) {
		t.Helper()
		got, known := n.number(s)
		require.Equal(t, ok, known, s)
		require.Equal(t, want, got, s)
	}
	number("", 0, true)
	number("a", 1, true)
	number("b", 2, true)
	number("c", 0, false)
	number("a", 1, true)
	number("", 0, true)
	number("c", 0, false)
	number(string(make([]byte, maxNameBytes+1)), 0, false)
	require.Equal(t, 2, n.held())

	// A kept name does not change with the memory that it came from.
	buf := []byte("borrowed")
	n = newNames(2)
	number(unsafe.String(&buf[0], len(buf)), 1, true)
	copy(buf, "########")
	require.Equal(t, "borrowed", n.texts[1])
	number("borrowed", 1, true)
}
