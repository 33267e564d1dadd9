package capture

import (
	"bytes"
	"encoding/binary"

	"github.com/go-json-experiment/json/jsontext"
)

// exportStart begins an entry of the journal in the form of journalctl -o export: a line for each field, and a blank
// line below the last. A value with line ends has its length in front of it, below the name of the field.
const exportStart = "__CURSOR="

// export is the state of the open record as such an entry. The message of the record is an object of JSON with the
// fields, and its stack is a value with line ends.
type export struct {
	is   bool
	size bool // the line below begins with the length of a value
	rest int  // bytes of a value that are still to come
}

// joinsExport decides about a line below the first of the entry, and takes it.
func (a *assembly) joinsExport(b []byte) verdict {
	if hasPrefix(b, exportStart) || a.blanks > 0 && a.export.rest == 0 {
		return apart()
	}
	a.exported(b)
	return joined(partNone, evidenceForm)
}

// exported takes b, a line of the entry.
func (a *assembly) exported(b []byte) {
	const sizeLen = 8
	name, value, ok := bytes.Cut(b, []byte("="))
	switch e := &a.export; {
	case len(a.message) > a.limit, e.size && e.rest == 0 && len(b) < sizeLen:
		a.cut += uint64(len(b))
	case e.rest > 0:
		for range a.blanks + 1 {
			a.feed(&a.stack)
		}
		a.append(&a.stack, b)
		if e.rest -= a.blanks + 1 + len(b); e.rest <= 0 {
			a.exportValue(a.stack)
		}
	case e.size:
		a.stack = a.stack[:0]
		a.append(&a.stack, b[sizeLen:])
		if e.rest = int(binary.LittleEndian.Uint64(b)) - len(b) + sizeLen; e.rest <= 0 {
			a.exportValue(a.stack)
		}
	default:
		a.message, _ = jsontext.AppendQuote(append(a.message, ','), name)
		a.message = append(a.message, ':')
		if e.size = !ok; ok {
			a.exportValue(value)
		}
	}
}

func (a *assembly) exportValue(value []byte) {
	a.message, _ = jsontext.AppendQuote(a.message, value)
	a.stack, a.export = a.stack[:0], export{is: true}
}

// readExport has r.json read the entry.
func (r *Reader) readExport() {
	a := &r.asm
	if a.export.size {
		a.exportValue(a.stack)
	}
	a.message = append(a.message, '}')
	r.json.parse(a.message)
	a.split = evidenceJSON
}
