package text

import (
	"bytes"
	"encoding/json"
)

// JSON returns plain data of this module as JSON on one line, in which the angle brackets of templates stay readable.
// It panics if v cannot be encoded.
func JSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("BUG: plain data does not marshal: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
