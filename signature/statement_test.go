package signature

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStatement is the table of the parts of a head that a log statement wrote.
func TestStatement(t *testing.T) {
	for head, want := range map[string]string{
		"watch started id=<*> of=<*> in=<*>":   "watch started ",
		"watch started [id=<*>, of=<*>; in=1]": "watch started ",
		`"watch started" id=<*>`:               `"watch started" `,
		"watch started id=<*>":                 "watch started ",
		"id=1 of=2 then in=3 by=4":             "id=1 of=2 then ",
		`level=warn msg="no disk left" n=1`:    "no disk left",
		`msg=no text="two words" n=1`:          "two words",

		// Heads that are returned whole.
		"id=<*> of=<*> in=<*>":   "",
		`"went on" a==b`:         "",
		`"went on" a=>b`:         "",
		`"went on" f(id=<*>)`:    "",
		"msg=hello was not sent": "",
		`"watch started" id=`:    "",
	} {
		if want == "" {
			want = head
		}
		require.Equal(t, want, string(statement([]byte(head))), head)
	}
}
