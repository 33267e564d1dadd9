package text

import (
	"bytes"
	"fmt"
)

// Saying is an error in words that a language may have, by their format.
type Saying struct {
	Format string
	Args   []any
}

// Say returns an error in words that a language may have.
func Say(format string, args ...any) error { return &Saying{format, args} }

// Error implements [error].
func (s *Saying) Error() string { return fmt.Sprintf(s.Format, s.Args...) }

// ErrBinary and the other errors of [Check] follow the name of a file.
var (
	ErrBinary     = Say("is not a text file")
	errArchive    = Say("is an archive: unpack it first")
	errCompressed = Say("is compressed: it can be read once it is complete")
)

func encoded(name string) error {
	return Say("is %s text: save it as UTF-8 first, in an editor, or with iconv -f %[1]s -t UTF-8", name)
}

// Check returns an error for the beginning of a file that is no text, by
// its control characters. NUL bytes do not count: a log of a
// game that was killed holds runs of hundreds of thousands. Neither do bytes
// beyond ASCII: a log may be in a legacy encoding. UTF-16 with a byte order mark is text.
func Check(head []byte) error {
	if err := packed(head); err != nil {
		return err
	}
	var controls, rest int
	var set, high [4]int // bytes but NULs, and those above Unicode's planes, by their place in four
	for i, b := range head {
		switch {
		case b == 0:
			continue
		case b > 0x10:
			high[i%4]++
		}
		if b < 0x20 && b != '\t' && b != '\n' && b != '\v' && b != '\f' && b != '\r' && b != 0x1b {
			controls++
		}
		set[i%4]++
		rest++
	}
	// Text in UTF-16 has a NUL in nearly every character, the first byte of two where the order is big-endian. A hole has
	// as many at either place.
	even, odd := set[0]+set[2], set[1]+set[3]
	const few = 20 // one in so many may be a control character
	switch {
	case set[3] == 0 && high[2] == 0 && high[0] > 2:
		return encoded("UTF-32LE")
	case set[0] == 0 && high[1] == 0 && high[3] > 2:
		return encoded("UTF-32BE")
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil
	case controls > 1 && controls*few > rest:
		return ErrBinary
	case even > 8 && odd*3 < even:
		return encoded("UTF-16LE")
	case odd > 8 && even*3 < odd:
		return encoded("UTF-16BE")
	}
	return nil
}

// tarMark is the place of the name of the format in a tar file.
const tarMark = 257

// packed returns an error for the beginning of a compressed file or of an archive.
func packed(head []byte) error {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")), bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return errCompressed
	case bytes.HasPrefix(head, []byte("PK\x03\x04")),
		len(head) > tarMark && bytes.HasPrefix(head[tarMark:], []byte("ustar")):
		return errArchive
	}
	return nil
}
