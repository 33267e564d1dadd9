package signature

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newDefault(tb testing.TB) *Normalizer {
	n, err := New(Config{})
	require.NoError(tb, err)
	return n
}

func TestHeads(t *testing.T) {
	n := newDefault(t)
	for _, c := range headCases {
		assert.Equal(t, c.want, string(n.AppendTemplate(nil, c.text, "")), "template of %q", c.text)
	}
}

func TestFrames(t *testing.T) {
	n := newDefault(t)
	for _, c := range frameCases {
		want := "head"
		if c.want != "" {
			want += "\nat " + c.want
		}
		assert.Equal(t, want, string(n.AppendTemplate(nil, "head", c.line)), "frame of %q", c.line)
		assert.Equal(t, want, string(n.AppendTemplate(nil, "head\n"+c.line+"\r\n", "")), "frame of %q in a message", c.line)
	}
}

func TestEntries(t *testing.T) {
	n := newDefault(t)
	for _, c := range entryCases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(n.AppendTemplate(nil, c.message, c.stack)))
		})
	}
}

func TestAppendVariant(t *testing.T) {
	for template, want := range map[string]string{
		"Tobin has <*>":                                        "",
		"pump <*> stopped, code 12":                            "code 12",
		"the pump is jammed":                                   "",
		"the pump is wobbly":                                   "",
		"state IDLE -> RUNNING":                                "state IDLE RUNNING",
		"rpc error: code = Unavailable, try <*>":               "error code code Unavailable",
		"job of Quill <*> in state Failed":                     "state Failed",
		"pump state: jammed\nat Acme.Works.Press.Run":          "state jammed",
		`unclosed err="`:                                       "",
		`unclosed err="a`:                                      "err a",
		"GET <*> HTTP/1.1 404 <*>":                             "404",
		"write failed rc=2 dev=<*> retry=true":                 "rc 2 true",
		`level=error msg="flush failed" err="no space" x=<*>`:  `level error err no space`,
		`pump reports {"state":"jammed","at":{"code":5}}`:      "state jammed code 5",
		`<*> INFO {"fields":{"message":"all fine"},"ok":true}`: "true",
		`{"op":"read","n":<*>,"msg":"done"}`:                   "op read",
	} {
		require.Equal(t, want, string(newGrouper(t, GrouperConfig{}).AppendVariant(nil, []byte(template))), template)
	}
}

// TestStatement is the table of the parts of a head that a log statement wrote.
func TestStatement(t *testing.T) {
	for head, want := range map[string]string{
		"watch started id=<*> of=<*> in=<*>":   "watch started ",
		"watch started [id=<*>, of=<*>; in=1]": "watch started ",
		`"watch started" id=<*>`:               `"watch started" `,
		"id=1 of=2 then in=3 by=4":             "id=1 of=2 then ",
		`level=warn msg="no disk left" n=1`:    "no disk left",
		`msg=no text="two words" n=1`:          "two words",
		`{"n":1,"msg":"no disk","error":"io"}`: "no disk",
		`<*>: id=<*>, by=<*>`:                  "<*>: id=<*>,",
		"lit: a=<*>, o=Old Hob, in=[ <*> ]":    "lit: ",

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
		require.Equal(t, want, string((&tokens{search: 4 * len(head)}).statement([]byte(head))), head)
	}
}

func TestID(t *testing.T) {
	require.Equal(t, "ef46db3751d8e999", Of(nil).ID.String(), "XXH64 of nothing")
	require.Equal(t, "0000000000000000", ID(0).String())
	require.Equal(t, "ffffffffffffffff", ID(math.MaxUint64).String())
	for _, id := range []ID{0, 1, 0x0123456789abcdef, math.MaxUint64} {
		got, err := ParseID(id.String())
		require.NoError(t, err)
		require.Equal(t, id, got)

		text, err := json.Marshal(id)
		require.NoError(t, err)
		require.Equal(t, `"`+id.String()+`"`, string(text))
		got = 0
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, id, got)
	}
	id, err := ParseID("0123456789ABCDEF")
	require.NoError(t, err)
	require.Equal(t, ID(0x0123456789abcdef), id)
	for _, s := range []string{"", "0", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeg", "+123456789abcdef", " 123456789abcdef"} {
		_, err := ParseID(s)
		require.Error(t, err, "%q", s)
		require.ErrorContains(t, err, "signature: id")
		require.Error(t, new(ID).UnmarshalText([]byte(s)))
	}
}

func TestCheckIsIndependent(t *testing.T) {
	require.Equal(t, Signature{ID: 0xef46db3751d8e999, Check: 0x811c9dc5}, Of(nil))
	require.Equal(t, uint32(0xbf9cf968), Of([]byte("foobar")).Check, "the published FNV-1a vector")
}
