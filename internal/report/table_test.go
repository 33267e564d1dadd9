package report

import (
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

func TestFold(t *testing.T) {
	sig := func(id signature.ID) signature.Signature { return signature.Signature{ID: id} }
	table := newTable(10)
	text := map[signature.ID]string{1: "Anna is late", 2: "Boris is late", 3: "the lamp is out", 4: "Dora is late"}
	template := func(s signature.Signature) (string, bool) { return text[s.ID], true }
	table.add(rowKey{sig(2), "r"}, sig(2), event.SeverityError, 5, template)
	table.add(rowKey{sig(1), "r"}, sig(1), event.SeverityWarning, 7, template)
	table.add(rowKey{sig(1), "r"}, sig(1), event.SeverityWarning, 9, template)
	table.add(rowKey{sig(1), "s"}, sig(1), event.SeverityWarning, 10, template)
	table.add(rowKey{sig(3), "r"}, sig(3), event.SeverityInfo, 11, template)
	table.add(rowKey{sig(4), "r"}, sig(2), event.SeverityInfo, 12,
		template) // the grouper was full, and knows no more of 4
	table.fold(func(s signature.Signature) signature.Signature {
		if s.ID == 2 {
			return sig(1)
		}
		return s
	}, func(string) string { return "" })
	require.Equal(t, []*row{
		{Row: Row{
			Forms: 3, Rule: "r", Severity: event.SeverityError, Count: 4, First: 5, Last: 12,
			Template: "<*> is late",
		}, sig: sig(1), group: sig(2), members: []signature.ID{2, 1, 4}},
		{Row: Row{
			Forms: 1, Rule: "s", Severity: event.SeverityWarning, Count: 1, First: 10, Last: 10,
			Template: "Anna is late",
		}, sig: sig(1), group: sig(1), members: []signature.ID{1}},
		{Row: Row{
			Forms: 1, Rule: "r", Severity: event.SeverityInfo, Count: 1, First: 11, Last: 11,
			Template: "the lamp is out",
		}, sig: sig(3), group: sig(3), members: []signature.ID{3}},
	}, table.top(0))
}

// TestSaysIsOwn holds that the text that a row keeps outlives the memory of its record.
func TestSaysIsOwn(t *testing.T) {
	read := []byte("PressFailed")
	says := headOf(unsafe.String(&read[0], len(read)))
	clear(read)
	require.Equal(t, "PressFailed", says)
}

// TestHeadOfIsText: what Python threw is not cut within a character.
func TestHeadOfIsText(t *testing.T) {
	head := headOf("Traceback (most recent call last):\nKeyError: x" + strings.Repeat("é", maxSays))
	require.True(t, utf8.ValidString(head), "%q", head)
}
