package signature

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGroupAt: the place that Join returns leads to the group that Learn names,
// also after groups have merged, and of signatures that came too late to be known.
func TestGroupAt(t *testing.T) {
	var texts []string
	for i, name := range []string{"Tobin", "Marla", "Quint", "Bendo", "Orsin", "Pelka"} {
		texts = append(texts,
			"the lamp of "+name+" went out at night",
			"nobody found "+name+" by the old mill",
			fmt.Sprintf("a line of its own, number %c", 'p'+i))
	}
	for _, room := range []int{len(texts), 9, 4, 1} {
		joins, err := NewGrouper(GrouperConfig{Signatures: room, Columns: 64})
		require.NoError(t, err)
		learns, err := NewGrouper(GrouperConfig{Signatures: room, Columns: 64})
		require.NoError(t, err)
		places := map[string]Place{}
		for _, text := range append(texts, texts...) {
			sig := Of([]byte(text))
			learned := learn(learns, sig, []byte(text))
			places[text] = joins.Learn(sig, []byte(text))
			require.Equal(t, learned, joins.GroupAt(places[text], sig))
			require.Equal(t, learns.Merges(nil), joins.Merges(nil))
			for known, place := range places {
				sig := Of([]byte(known))
				_, ok := joins.find(sig)
				switch got := joins.GroupAt(place, sig); {
				case ok:
					require.Equal(t, joins.Group(sig), got)
				case place == nowhere:
					require.Equal(t, sig, got)
				default:
					require.Equal(t, joins.Group(got), got, "a group that is there")
				}
			}
		}
		require.Equal(t, learns.Stats(), joins.Stats())
	}
}
