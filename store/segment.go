package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sort"
	"strconv"
	"strings"
)

// The header of a segment: magic, version, length of the epoch, epoch padded
// with zeros, first sequence number, checksum of all before. Magic, version and
// checksum stay where they are in every version.
const (
	segmentMagic   = "heedseg\n"
	segmentVersion = 1
	segmentHeader  = int64(len(segmentMagic) + 4 + 4 + maxEpoch + 8 + 4)
)

// frameHeader is a length and a checksum, of 4 bytes each.
const frameHeader = 8

// maxPayload bounds what a reader believes of a frame's length.
const maxPayload = maxMaxText + maxBesideText

// stride is how many bytes of a segment lie between two of its marks: what a
// reader goes through in vain at most, some 10 µs.
const stride = 64 << 10

// leastOnDisk is what a segment counts at least, as file systems give a file at
// least a block: it bounds the number of segments.
const leastOnDisk = 4096

// segment is what is known of one file. Its frames account for the sequence
// numbers first to last, each once and in order; last is first-1 when there are
// none.
type segment struct {
	number uint64 // in its name; rising in the order of writing
	epoch  string // empty if the header is damaged, and then nothing is read
	seed   uint32 // of the checksums of its frames

	first, last uint64
	oldest      uint64 // the first record, 0 if there is none
	records     uint64

	void  bool   // given up before anything was in it; what is left of it could not be removed
	size  int64  // the whole frames end here
	file  int64  // the file ends here, or earlier
	marks []mark // rising; the first is that of the first frame
}

// mark says that the frame at an offset comes after a sequence number.
type mark struct {
	after  uint64
	offset int64
}

// segmentName returns the file name of a segment. Names sort by number.
func segmentName(number uint64) string { return fmt.Sprintf("journal-%016x.seg", number) }

// segmentNumber is the inverse of segmentName. Numbers that could not be
// followed by others are nobody's.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, "journal-")
	if !ok {
		return 0, false
	}
	digits, _ = strings.CutSuffix(digits, ".seg")
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil && n <= math.MaxInt64 && name == segmentName(n)
}

// appendHeader appends the header of s, and sets its seed.
func (s *segment) appendHeader(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, segmentMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, segmentVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.epoch)))
	dst = append(dst, s.epoch...)
	dst = append(dst, make([]byte, maxEpoch-len(s.epoch))...)
	dst = binary.LittleEndian.AppendUint64(dst, s.first)
	s.seed = crc32.Checksum(dst[at:], castagnoli)
	return binary.LittleEndian.AppendUint32(dst, s.seed)
}

// parseHeader sets s from the header of a file. It returns ErrVersion for one
// that is whole and of another version, ErrDamaged for all else.
func (s *segment) parseHeader(b []byte) error {
	if int64(len(b)) < segmentHeader || string(b[:len(segmentMagic)]) != segmentMagic {
		return ErrDamaged
	}
	sum := b[segmentHeader-4 : segmentHeader]
	seed := crc32.Checksum(b[:segmentHeader-4], castagnoli)
	if seed != binary.LittleEndian.Uint32(sum) {
		return ErrDamaged
	}
	b = b[len(segmentMagic):]
	if v := binary.LittleEndian.Uint32(b); v != segmentVersion {
		return fmt.Errorf("%w: it is of version %d, this program reads version %d", ErrVersion, v, segmentVersion)
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if n > maxEpoch {
		return ErrDamaged
	}
	epoch := string(b[8 : 8+n])
	first := binary.LittleEndian.Uint64(b[8+maxEpoch:])
	if !validEpoch(epoch) || first == 0 {
		return ErrDamaged
	}
	s.epoch, s.seed, s.first, s.last = epoch, seed, first, first-1
	return nil
}

// openFrame appends the room for a frame's header; closeFrame fills it in when
// the payload stands behind it.
func openFrame(dst []byte) []byte { return append(dst, make([]byte, frameHeader)...) }

func (s *segment) closeFrame(b []byte, at int) {
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-frameHeader))
	binary.LittleEndian.PutUint32(b[at+4:], s.sum(b[at:at+4], b[at+frameHeader:]))
}

func (s *segment) sum(length, payload []byte) uint32 {
	return crc32.Update(crc32.Update(s.seed, castagnoli, length), castagnoli, payload)
}

// add accounts for one more frame of n bytes at the end.
func (s *segment) add(sp span, n int64) {
	if len(s.marks) == 0 || s.size-s.marks[len(s.marks)-1].offset >= stride {
		s.marks = append(s.marks, mark{after: sp.after, offset: s.size})
	}
	s.last = sp.to
	s.size += n
	if !sp.gap {
		s.records++
		if s.oldest == 0 {
			s.oldest = sp.to
		}
	}
}

// scan reads a file of s from its beginning: its header, and its frames up to
// the first that is not whole or goes beyond what limits has for its epoch. An
// error is ErrVersion, or that of the file system, and then s is what was read
// before.
func (s *segment) scan(r io.ReaderAt, limits map[string]uint64) error {
	head := make([]byte, min(segmentHeader, s.file))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return err
	}
	if err := s.parseHeader(head); err != nil {
		if errors.Is(err, ErrVersion) {
			return err
		}
		return nil // nothing is read of it
	}
	s.size = segmentHeader
	limit, limited := limits[s.epoch]
	f := frames{segment: s, r: r, at: segmentHeader, end: s.file}
	for {
		payload, err := f.next()
		if errors.Is(err, errTorn) {
			return nil
		}
		if err != nil {
			return err
		}
		sp, err := decodeSpan(payload)
		if err != nil || sp.after != s.last || limited && sp.to > limit {
			return nil
		}
		s.add(sp, int64(frameHeader+len(payload)))
	}
}

// start returns the offset at which to look for what comes after a sequence
// number, if there is a frame.
func (s *segment) start(after uint64) int64 {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].after > after })
	if i == 0 {
		return segmentHeader
	}
	return s.marks[i-1].offset
}

// onDisk is what s counts towards the bound.
func (s *segment) onDisk() int64 { return max(s.file, leastOnDisk) }

// errTorn says that there is no whole frame.
var errTorn = errors.New("no whole frame")

// frames goes through the frames of a segment, through a window of at least
// stride bytes.
type frames struct {
	segment *segment
	r       io.ReaderAt
	at, end int64 // of the next frame, of the last

	window []byte
	from   int64 // where in the file window begins
}

// next returns the payload of the next frame, valid until next is called again.
func (f *frames) next() ([]byte, error) {
	head, err := f.bytes(frameHeader)
	if err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head))
	if n == 0 || n > maxPayload {
		return nil, errTorn
	}
	b, err := f.bytes(frameHeader + n)
	if err != nil {
		return nil, err
	}
	if f.segment.sum(b[:4], b[frameHeader:]) != binary.LittleEndian.Uint32(b[4:]) {
		return nil, errTorn
	}
	f.at += frameHeader + n
	return b[frameHeader:], nil
}

// bytes returns the next n bytes of the file.
func (f *frames) bytes(n int64) ([]byte, error) {
	if f.at+n > f.end {
		return nil, errTorn
	}
	if f.at < f.from || f.at+n > f.from+int64(len(f.window)) {
		size := min(max(n, stride), f.end-f.at)
		if int64(cap(f.window)) < size {
			f.window = make([]byte, size)
		}
		f.window, f.from = f.window[:size], f.at
		if got, err := f.r.ReadAt(f.window, f.at); got < len(f.window) {
			f.window = nil
			if errors.Is(err, io.EOF) {
				return nil, errTorn // somebody cut the file
			}
			return nil, err
		}
	}
	b := f.window[f.at-f.from:]
	return b[:n], nil
}
