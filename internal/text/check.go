package text

import (
	"bytes"
	"errors"
)

// ErrBinary and the other errors of [Check] follow the name of a file.
var (
	ErrBinary     = errors.New("is not a text file")
	errCompressed = errors.New("is compressed: it can be read once it is complete")
	errUTF16LE    = converted("UTF-16", "LE", " without a byte order mark")
	errUTF16BE    = converted("UTF-16", "BE", " without a byte order mark")
	errUTF32LE    = converted("UTF-32", "LE", "")
	errUTF32BE    = converted("UTF-32", "BE", "")
)

func converted(encoding, order, lacks string) error {
	return errors.New("is " + encoding + " text" + lacks + ": convert it to UTF-8 first, such as with iconv -f " +
		encoding + order + " -t UTF-8")
}

// Check returns an error for the beginning of a file that is no text, by
// its control characters. NUL bytes do not count: a log of a
// game that was killed holds runs of hundreds of thousands. Neither do bytes
// beyond ASCII: a log may be in a legacy encoding. UTF-16 with a byte order mark is text.
func Check(head []byte) error {
	var controls, rest int
	var alone [2]int     // NULs, at even places and at odd ones
	var set, high [4]int // bytes but NULs, and those above Unicode's planes, by their place in four
	for i, b := range head {
		if b > 0x10 {
			high[i%4]++
		}
		switch {
		case b == 0:
			// Text in UTF-16 without a mark has a NUL beside nearly every character,
			// before it where the order is big-endian.
			if i > 0 && i+1 < len(head) && head[i-1] != 0 && head[i+1] != 0 {
				alone[i%2]++
			}
			continue
		case b < 0x20 && b != '\t' && b != '\n' && b != '\v' && b != '\f' && b != '\r' && b != 0x1b:
			controls++
		}
		set[i%4]++
		rest++
	}
	const few = 20 // one in so many may be a control character
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")), bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return errCompressed
	case set[3] == 0 && high[2] == 0 && high[0] > 2:
		return errUTF32LE
	case set[0] == 0 && high[1] == 0 && high[3] > 2:
		return errUTF32BE
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil
	case controls > 1 && controls*few > rest:
		return ErrBinary
	case alone[0]+alone[1] > 8 && (alone[0]+alone[1])*2 > rest:
		if alone[0] > alone[1] {
			return errUTF16BE
		}
		return errUTF16LE
	}
	return nil
}
