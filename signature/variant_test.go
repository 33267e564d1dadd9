package signature

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
