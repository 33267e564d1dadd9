package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

func TestCommon(t *testing.T) {
	for _, tc := range []struct{ a, b, want string }{
		{"Anna is late", "Boris is late", "<*> is late"},
		{"<*> is late", "Chloe is late", "<*> is late"},
		{"a b c", "a x y", "a <*> <*>"},
		{"same", "same", "same"},
		{"of other length", "of other", "of other length"},
		{"Anna is late\nat A.B\nat C.D", "Boris is late\nat A.B\nat C.D", "<*> is late\nat A.B\nat C.D"},
		{"", "", ""},
	} {
		require.Equal(t, tc.want, common(tc.a, tc.b), "%q and %q", tc.a, tc.b)
	}
}

func TestFold(t *testing.T) {
	sig := func(id signature.ID) signature.Signature { return signature.Signature{ID: id} }
	table := newTable(10)
	text := map[signature.ID]string{1: "Anna is late", 2: "Boris is late", 3: "the lamp is out"}
	template := func(s signature.Signature) (string, bool) { return text[s.ID], true }
	table.add(rowKey{sig(2), "r"}, event.SeverityError, 5, template)
	table.add(rowKey{sig(1), "r"}, event.SeverityWarning, 7, template)
	table.add(rowKey{sig(1), "r"}, event.SeverityWarning, 9, template)
	table.add(rowKey{sig(1), "s"}, event.SeverityWarning, 10, template)
	table.add(rowKey{sig(3), "r"}, event.SeverityInfo, 11, template)
	table.fold(func(s signature.Signature) signature.Signature {
		if s.ID == 2 {
			return sig(1)
		}
		return s
	})
	require.Equal(t, []*Row{
		{Signature: sig(1), Forms: 2, Rule: "r", Severity: event.SeverityError, Count: 3, First: 5, Last: 9, Template: "<*> is late"},
		{Signature: sig(1), Forms: 1, Rule: "s", Severity: event.SeverityWarning, Count: 1, First: 10, Last: 10, Template: "Anna is late"},
		{Signature: sig(3), Forms: 1, Rule: "r", Severity: event.SeverityInfo, Count: 1, First: 11, Last: 11, Template: "the lamp is out"},
	}, table.top(0))
}
