package gabp

import (
	"bytes"
	"encoding/json"
)

// marshal returns the JSON form of v, without the escapes that are for HTML
// only. A json.RawMessage is returned as it is: it was checked when it was read.
func marshal(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok && len(raw) > 0 {
		return raw, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
