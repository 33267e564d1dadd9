package report

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// statements stands in for an engine that has ids of one statement in one group: 100 to 199 is one, all others are
// alone.
func statements(s signature.Signature) signature.Signature {
	if s.ID >= 100 && s.ID < 200 {
		s = signature.Signature{ID: 100, Check: 100}
	}
	return s
}

// variant stands in for an engine that has learned nothing.
func variant(template string) string {
	g, _ := signature.NewGrouper(signature.GrouperConfig{Signatures: 1, Columns: 1}) // the bounds are right
	return string(g.AppendVariant(nil, []byte(template)))
}

// TestVariants: each form shows what the entries of a group decide differently, eight values and all others as one.
func TestVariants(t *testing.T) {
	play := func(ids int, template func(id int) string) *Document {
		r := newReplay(t, Config{
			Details: true, Group: statements, Variant: variant,
			Template: func(s signature.Signature) (string, bool) {
				return template(int(s.ID)), true
			},
		})
		for i := range ids {
			for range ids - i {
				rec := &capture.Record{StartLine: i + 1}
				r.Observe(rec, outcome(signature.ID(100+i), event.Blocking, "r"))
			}
		}
		r.End(End{Lines: ids})
		return r.Document(0)
	}
	code := func(id int) string { return fmt.Sprintf("pump <*> failed, code %d", id) }
	d := play(3, code)
	want := heed.Variants{{Value: "100", Count: 3}, {Value: "101", Count: 2}, {Value: "102", Count: 1}}
	require.Equal(t, want, d.Signatures[0].Variants)
	require.EqualValues(t, 6, d.Signatures[0].Count)
	const shown = "100 ×3, 101 ×2, 102 ×1"
	require.Contains(t, string(Text(nil, d, TextOptions{})), shown)
	require.Contains(t, string(Markdown(nil, d)), shown)
	require.Contains(t, string(HTML(nil, d)), shown)
	var doc struct {
		Files []struct {
			Signatures []struct{ Variants []map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(JSON(nil, d), &doc))
	require.Equal(t, map[string]any{"value": "101", "count": 2.0}, doc.Files[0].Signatures[0].Variants[1])

	many := play(12, code).Signatures[0].Variants
	require.Len(t, many, maxVariants+1)
	require.Equal(t, heed.Variant{Others: true, Count: 4 + 3 + 2 + 1}, many[maxVariants])

	names := func(id int) string { return []string{"Anna", "Boris", "Chloe"}[id-100] + " is late" }
	require.Empty(t, play(3, names).Signatures[0].Variants, "forms that decide the same")
}
