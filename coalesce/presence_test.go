package coalesce

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestPresence adds groups until it is worn, with as many as there is room for: most
// of the others are told apart.
func TestPresence(t *testing.T) {
	const groups = 5000
	p := newPresence(groups)
	n := 0
	for ; !p.worn(); n++ {
		p.add(groupSignature(fmt.Sprint(n)))
	}
	require.GreaterOrEqual(t, n, 2*groups, "not worn by what is held")
	for i := range n {
		require.True(t, p.has(groupSignature(fmt.Sprint(i))))
	}
	wrong := 0
	for i := range groups {
		if p.has(groupSignature(fmt.Sprint("other", i))) {
			wrong++
		}
	}
	require.Less(t, wrong, groups/15)
}

// TestPresenceOfMany lets items come and go until the filter was made anew.
func TestPresenceOfMany(t *testing.T) {
	c := busy(t, smallConfig(3, 12, 5), 1, 0)
	m := &caller{intn: func(n int) int { return n - 1 }}
	anew := 0
	for i := range 3000 {
		before := c.presence.added
		in := Input{Signature: groupSignature(fmt.Sprint(i)), Raised: fmt.Sprint(i / 7)}
		in.Decision.Rule, in.Decision.Disposition = "host", 2
		m.fold(event.Entry{}, in)(c)
		if i%7 == 6 {
			c.Ack(c.id(c.numbers), 0)
			c.Merge(groupSignature(fmt.Sprint(i-1)), groupSignature(fmt.Sprint("merged", i)))
		}
		if c.presence.added < before {
			anew++
		}
		checkStructure(t, c)
	}
	require.Greater(t, anew, 3)
}
