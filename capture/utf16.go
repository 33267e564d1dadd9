package capture

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder turns the bytes of an input into text: UTF-16, known by its mark as the copies have it that Windows' own
// tools make of a log, into UTF-8. The mark goes; text in UTF-16 without one is not recognized, and UTF-32 is left as
// it is.
type decoder struct {
	begun bool             // the mark was looked for
	order binary.ByteOrder // nil: the text is copied
	unit  []byte           // bytes of the mark, or of one or two units of UTF-16, if more may come
	text  []byte           // decoded, and not in the buffer yet
}

// markSize is how many bytes show a mark, and that it is none of UTF-32.
const markSize = 8

// decode decodes as much of src as fits into dst, and returns how many bytes it wrote and read.
func (d *decoder) decode(dst, src []byte) (n, used int) {
	for {
		m := copy(dst[n:], d.text)
		d.text = append(d.text[:0], d.text[m:]...)
		n += m
		switch {
		case len(d.text) > 0 || used == len(src):
			return n, used
		case d.begun && d.order == nil:
			m = copy(dst[n:], src[used:])
			return n + m, used + m
		}
		d.unit = append(d.unit, src[used])
		if used++; d.begun {
			d.units()
		} else if len(d.unit) == markSize {
			d.begin()
		}
	}
}

// begin looks for a mark in the first bytes of the input, which are in unit.
func (d *decoder) begin() {
	mark := d.unit
	d.begun, d.unit = true, nil
	switch {
	case len(mark) < 2, mark[0]^mark[1] != 0xff^0xfe, mark[0] < 0xfe,
		len(mark) == markSize && mark[2]|mark[3]|mark[6]|mark[7] == 0 && mark[4] != 0:
		d.text = mark
		return
	case mark[0] == 0xff:
		d.order = binary.LittleEndian
	default:
		d.order = binary.BigEndian
	}
	d.unit = mark[2:]
	d.units()
}

// units decodes the units of UTF-16 that are complete. Others than text become U+FFFD.
func (d *decoder) units() {
	for len(d.unit) >= 2 {
		r, n := rune(d.order.Uint16(d.unit)), 2
		if r >= 0xd800 && r < 0xdc00 { // the first of two
			if len(d.unit) < 4 {
				return
			}
			if pair := utf16.DecodeRune(r, rune(d.order.Uint16(d.unit[2:]))); pair != utf8.RuneError {
				r, n = pair, 4
			}
		}
		d.text = utf8.AppendRune(d.text, r)
		d.unit = append(d.unit[:0], d.unit[n:]...)
	}
}

// finish decodes the bytes that remain at the end of the input.
func (d *decoder) finish() {
	if !d.begun {
		d.begin()
	}
	if len(d.unit) > 0 {
		d.text, d.unit = utf8.AppendRune(d.text, utf8.RuneError), nil
	}
}

// empty reports whether all that was decoded is in the buffer.
func (d *decoder) empty() bool { return len(d.text) == 0 }
