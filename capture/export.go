package capture

import (
	"bytes"
	"encoding/binary"

	"github.com/go-json-experiment/json/jsontext"
)

// exportStart begins an entry of the journal in the form of journalctl -o export: a line for each field, and a blank
// line below the last. A value with line ends has its length in front of it, below the name of the field.
const exportStart = "__CURSOR="

// joinsExport decides about a line below the first of such an entry, whose values may have blank lines.
func (a *assembly) joinsExport(b []byte) verdict {
	if hasPrefix(b, exportStart) {
		return apart
	}
	for range a.blanks - 1 {
		a.feed(&a.message)
	}
	return verdict{partMessage, evidenceForm}
}

// readExport has r.json read the entry, as an object of JSON with its fields.
func (r *Reader) readExport() {
	const size = 8
	entry := []byte(`{"":0`)
	for rest := r.asm.message; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		name, value, ok := bytes.Cut(line, []byte("="))
		if !ok && len(rest) >= size {
			n := min(binary.LittleEndian.Uint64(rest), uint64(len(rest)-size))
			value, rest = rest[size:][:n], bytes.TrimPrefix(rest[size:][n:], []byte("\n"))
		}
		entry, _ = jsontext.AppendQuote(append(entry, ','), name)
		entry, _ = jsontext.AppendQuote(append(entry, ':'), value)
	}
	r.json.parse(append(entry, '}'))
	r.asm.split = evidenceJSON
}
