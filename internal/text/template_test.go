package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/text/template"
)

func TestCommon(t *testing.T) {
	for _, tc := range []struct{ a, b, want string }{
		{"Anna is late", "Boris is late", "<*> is late"},
		{"<*> is late", "Chloe is late", "<*> is late"},
		{"Chloe is late", "<*> is late", "<*> is late"},
		{"a b c", "a x y", "a <*>"},
		{"a b c d", "a x c y", "a <*> c <*>"},
		{"same", "same", "same"},
		{"of other length", "of other", "of other <*>"},
		{"of other", "of other length", "of other <*>"},
		{"Old Hob is late for work", "Anna is late for work", "<*> is late for work"},
		{"Anna is late for work", "Old Hob is late for work", "<*> is late for work"},
		{"the lamp of Anna is out", "the lamp of the mill of Boris is out", "the lamp of <*> is out"},
		{"no words", "of it in common", "<*>"},
		{"Anna is late\nat A.B\nat C.D", "Boris is late\nat A.B\nat C.D", "<*> is late\nat A.B\nat C.D"},
		{"a" + strings.Repeat(" b", 200) + " c", "a" + strings.Repeat(" d", 300) + " c", "a <*>"},
		{"", "", ""},
	} {
		require.Equal(t, tc.want, template.Common(tc.a, tc.b), "%q and %q", tc.a, tc.b)
	}
}

func TestDiffering(t *testing.T) {
	for _, tc := range []struct{ all, want []string }{
		{[]string{"status 200", "status 404"}, []string{"200", "404"}},
		{[]string{"stopped 12 now", "stopped 7 now"}, []string{"12", "7"}},
		{[]string{"failed", "failed 12"}, []string{"failed", "failed 12"}},
		{[]string{"", "failed 12"}, []string{"", "failed 12"}},
		{[]string{"a b a", "a a"}, []string{"b a", "a"}},
		{[]string{"open"}, []string{"open"}},
	} {
		for i, v := range tc.all {
			require.Equal(t, tc.want[i], template.Differing(v, tc.all), "%q", tc.all)
		}
	}
}

func TestLine(t *testing.T) {
	require.Equal(t, `broken\x1b | at A.B | at C.D`, template.Line("broken\x1b\nat A.B\nat C.D"))
	require.Empty(t, template.Line(""))
}
