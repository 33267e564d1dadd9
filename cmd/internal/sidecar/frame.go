package sidecar

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/heedlog/heed/internal/framing"
	"github.com/heedlog/heed/internal/text"
)

// version is the version of the framing.
const version = 2

// headSize is the number of bytes before the payload of a frame.
const headSize = 8

// The bounds of a payload, in bytes.
const (
	maxPayload = 1 << 20
	maxLarge   = framing.MaxMessage // of a hello, a snapshot and an answer
)

// frameType is the type of a frame.
type frameType uint8

// The types of frames.
const (
	typeHello frameType = iota + 1
	typeLog
	typeOperation
	typeState
	typeDropped
	typeMods
	typeRaise
	typeQuery
)

const (
	typeWelcome frameType = iota + 65
	typeUpdate
	typeVerdict
	typeAnswer
	typeProgress
	typeSnapshot
	typeError
)

// bound returns how long the payload of a frame may be.
func (t frameType) bound() int {
	if t == typeHello || t == typeSnapshot || t == typeAnswer {
		return maxLarge
	}
	return maxPayload
}

// keptBuffer is the largest buffer that a reader keeps for the next frames.
const keptBuffer = 256 << 10

// frames reads frames.
type frames struct {
	in  *bufio.Reader
	at  uint64 // position of the next frame
	buf []byte // reused for payloads
}

// skipMark skips a byte order mark at the beginning of the input, which some runtimes write before the first byte of
// their program's.
func (f *frames) skipMark() error {
	mark, err := f.in.Peek(3)
	if string(mark) == "\ufeff" {
		_, err = f.in.Discard(3)
	}
	if len(mark) > 0 {
		return nil // next finds any error in it
	}
	return err
}

// next returns the next frame, whose payload is valid until the call after it. The error is io.EOF if the input ends
// between two frames; any other means that nothing can be read any more.
func (f *frames) next() (frameType, []byte, error) {
	var head [headSize]byte
	if n, err := io.ReadFull(f.in, head[:]); err != nil {
		if n > 0 {
			err = fmt.Errorf("the input ends in the head of a frame: %w", err)
		}
		return 0, nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	t := frameType(head[5])
	switch {
	case head[4] != version:
		return t, nil, fmt.Errorf("the framing has version %d, this program reads version %d", head[4], version)
	case head[6] != 0 || head[7] != 0:
		return t, nil, fmt.Errorf("this is no frame: bytes 6 and 7 are %d and %d, not zero", head[6], head[7])
	case n > t.bound():
		return t, nil, errors.New(framing.TooLong(fmt.Sprintf("the payload of a frame of type %d", t), n, t.bound()))
	}
	if cap(f.buf) > keptBuffer {
		f.buf = nil
	}
	payload, err := framing.Body(f.in, f.buf, n, 4<<10)
	if err != nil {
		return t, nil, fmt.Errorf("the input ends in the payload of a frame of type %d: %w", t, err)
	}
	f.buf = payload
	f.at += uint64(headSize + n)
	return t, payload, nil
}

// appendFrame appends a frame to dst: the JSON of v, a line feed, and the rest of the payload.
func appendFrame(dst []byte, t frameType, v any, rest ...byte) []byte {
	object := text.JSON(v)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(object)+1+len(rest)))
	dst = append(append(dst, version, byte(t), 0, 0), object...)
	return append(append(dst, '\n'), rest...)
}
