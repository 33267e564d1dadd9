package gabp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVisit holds which members of an object are found, byte for byte, and where a text leaves its bounds.
func TestVisit(t *testing.T) {
	members := func(n int) string { return `{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, n), ",") + `}` }
	for _, c := range []struct {
		text string
		want []string
		err  string
	}{
		{`{"a": {"b" : [1, 2], "c":{} } , "d":[ {"e":1}],"f":"g"}`, []string{`a={"b" : [1, 2], "c":{} }`, `d=[ {"e":1}]`, `f="g"`}, ""},
		{`{"a":1,"a":null,"A":true}`, []string{`a=1`, `a=null`, `A=true`}, ""},
		{`{"\u0061\n":"\u0062"}`, []string{"a\n=\"\\u0062\""}, ""},
		{`[{"a":1}]`, nil, ""},
		{` 7 `, nil, ""},
		{`{}`, nil, ""},
		{`{"a":[[[]]]}`, []string{`a=[[[]]]`}, ""},
		{`{"a":[[[[]]]]}`, nil, "at byte 9: nested deeper than 4"},
		{`{"a":"12345678"}`, []string{`a="12345678"`}, ""},
		{`{"a":"123456789"}`, nil, "at byte 16: a string of 9 bytes, want at most 8"},
		{`{"123456789":1}`, nil, "a string of 9 bytes, want at most 8"},
		{`{"a":1` + strings.Repeat("0", maxNumber-1) + `}`, []string{`a=1` + strings.Repeat("0", maxNumber-1)}, ""},
		{`{"a":1` + strings.Repeat("0", maxNumber) + `}`, nil, "a number of 1025 bytes, want at most 1024"},
		{members(maxEnvelopeMembers), nil, ""},
		{members(maxEnvelopeMembers + 1), nil, "more than 64 members"},
		{`{"a":` + members(maxEnvelopeMembers+1) + `}`, []string{`a=` + members(maxEnvelopeMembers+1)}, ""},
		{`{} {}`, nil, "more text after the value"},
		{`{"a":1`, nil, "the text ends inside a value"},
		{`{"a" 1}`, nil, "at byte 5: "},
		{"{\"\u00e9\":\"\xff\"}", nil, "at or after byte 7: the text is not UTF-8"},
	} {
		var got []string
		err := visit([]byte(c.text), 4, 8, func(name string, value []byte) {
			got = append(got, fmt.Sprintf("%s=%s", name, value))
		})
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.text)
			continue
		}
		require.NoError(t, err, c.text)
		if c.want != nil {
			require.Equal(t, c.want, got)
		}
		require.Equal(t, c.text[0] == '{' && c.text != "{}", len(got) > 0)
	}
}
