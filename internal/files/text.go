package files

import "errors"

// The errors of [Text], which follow the name of a file.
var (
	ErrBinary  = errors.New("is not a text file")
	ErrUTF16LE = errors.New("is UTF-16 text without a byte order mark: convert it to UTF-8 first, such as with iconv " +
		"-f UTF-16LE -t UTF-8")
	ErrUTF16BE = errors.New("is UTF-16 text without a byte order mark: convert it to UTF-8 first, such as with iconv " +
		"-f UTF-16BE -t UTF-8")
)

// Text returns an error for the beginning of a file, decompressed, that is no text, by
// its control characters. NUL bytes do not count: a log of a
// game that was killed holds runs of hundreds of thousands. Neither do bytes
// beyond ASCII: a log may be in a legacy encoding.
func Text(head []byte) error {
	var controls, rest int
	var alone [2]int // NULs, at even places and at odd ones
	for i, b := range head {
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
		rest++
	}
	const few = 20 // one in so many may be a control character
	switch {
	case controls > 1 && controls*few > rest:
		return ErrBinary
	case alone[0]+alone[1] > 8 && (alone[0]+alone[1])*2 > rest:
		if alone[0] > alone[1] {
			return ErrUTF16BE
		}
		return ErrUTF16LE
	}
	return nil
}
