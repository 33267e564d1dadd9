package store

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
	"unicode/utf8"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// The payload of a frame begins with its kind, which is not 0, so that zeros
// where a device never wrote are no frame.
const (
	kindRecord = 1 // and a record
	kindGap    = 2 // and the cause, After and To of a gap
)

// Flags of a record.
const (
	flagTruncated = 1 << iota
	flagInvalidates
	flagByCaller
	flagTime // it has a time
	flagsAll = 1<<iota - 1
)

// maxBesideText bounds what a record's frame, and a gap before it, take beside
// message and stack: names, tags, varints, frame headers.
const maxBesideText = 8 << 10

// errPayload is why a payload with a right checksum is refused: a bug of the
// writer, or somebody's forgery.
var errPayload = errors.New("payload is not a record or a gap")

// appendRecord appends the payload of a record, and reports whether any text
// was cut to fit.
func appendRecord(dst []byte, r *journal.Record, maxText int) (payload []byte, cutText bool) {
	stack := min(len(r.Stack), max(maxText/4, maxText-len(r.Message)))
	message := cut(r.Message, maxText-stack)
	stack = cut(r.Stack, stack)
	names := [...]string{r.OperationID, r.Decision.Rule, r.Source, r.Parent}
	for i, s := range names {
		names[i] = s[:cut(s, journal.MaxName)]
		cutText = cutText || len(names[i]) < len(s)
	}
	tags, room := 0, journal.MaxTags
	for _, tag := range r.Decision.Tags {
		n := cut(tag, journal.MaxName)
		cutText = cutText || n < len(tag)
		if room -= 1 + n; room < 0 {
			break
		}
		tags++
	}
	cutText = cutText || message < len(r.Message) || stack < len(r.Stack) || tags < len(r.Decision.Tags)

	var flags byte
	set := func(flag byte, on bool) {
		if on {
			flags |= flag
		}
	}
	set(flagTruncated, r.Truncated || cutText)
	set(flagInvalidates, r.Decision.Invalidates)
	set(flagByCaller, r.ByCaller)
	set(flagTime, !r.Time.IsZero())

	dst = append(dst, kindRecord)
	dst = binary.AppendUvarint(dst, r.Seq)
	dst = append(dst, flags, byte(r.Kind), byte(r.Level), byte(r.Status), byte(r.Decision.Disposition), byte(r.Decision.Severity))
	if flags&flagTime != 0 {
		dst = binary.AppendVarint(dst, r.Time.Unix())
		dst = binary.AppendUvarint(dst, uint64(r.Time.Nanosecond()))
	}
	dst = binary.AppendUvarint(dst, r.Count)
	dst = binary.AppendUvarint(dst, r.Pos)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Signature.ID))
	dst = binary.LittleEndian.AppendUint32(dst, r.Signature.Check)
	dst = appendString(dst, r.Message[:message])
	dst = appendString(dst, r.Stack[:stack])
	for _, s := range names {
		dst = appendString(dst, s)
	}
	dst = binary.AppendUvarint(dst, uint64(tags))
	for _, tag := range r.Decision.Tags[:tags] {
		dst = appendString(dst, tag[:cut(tag, journal.MaxName)])
	}
	return dst, cutText
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendGap(dst []byte, g Gap) []byte {
	dst = append(dst, kindGap, byte(g.Cause))
	dst = binary.AppendUvarint(dst, g.After)
	return binary.AppendUvarint(dst, g.To)
}

// span is what a payload accounts for: the sequence numbers in (after, to]. A
// record accounts for itself.
type span struct {
	after, to uint64
	gap       bool
	cause     Cause
}

// decodeSpan reads the beginning of a payload.
func decodeSpan(payload []byte) (span, error) {
	d := decoder{left: payload}
	switch d.byte() {
	case kindRecord:
		to := d.uvarint()
		if d.bad || to == 0 {
			return span{}, errPayload
		}
		return span{after: to - 1, to: to}, nil
	case kindGap:
		s := span{gap: true, cause: Cause(d.byte()), after: d.uvarint(), to: d.uvarint()}
		if d.bad || len(d.left) > 0 || s.after >= s.to || s.cause != GapMissed && s.cause != GapFailed {
			return span{}, errPayload
		}
		return s, nil
	}
	return span{}, errPayload
}

// decodeRecord reads a payload of kindRecord. The record's strings share one
// copy of it.
func decodeRecord(payload []byte) (journal.Record, error) {
	d := decoder{left: payload}
	if d.byte() != kindRecord {
		return journal.Record{}, errPayload
	}
	seq := d.uvarint()
	flags := d.byte()
	r := journal.Record{
		Entry: event.Entry{
			Seq: seq, Kind: event.Kind(d.byte()), Level: event.Level(d.byte()), Status: event.Status(d.byte()),
			ByCaller: flags&flagByCaller != 0,
		},
		Decision: event.Decision{
			Disposition: event.Disposition(d.byte()), Severity: event.Severity(d.byte()),
			Invalidates: flags&flagInvalidates != 0,
		},
		Truncated: flags&flagTruncated != 0,
	}
	if flags&flagTime != 0 {
		sec, nsec := d.varint(), d.uvarint()
		if nsec >= 1e9 {
			return journal.Record{}, errPayload
		}
		r.Time = time.Unix(sec, int64(nsec)).UTC()
	}
	r.Count, r.Pos = d.uvarint(), d.uvarint()
	if b := d.bytes(12); b != nil {
		r.Signature = signature.Signature{ID: signature.ID(binary.LittleEndian.Uint64(b)), Check: binary.LittleEndian.Uint32(b[8:])}
	}
	if d.bad || seq == 0 || flags&^flagsAll != 0 {
		return journal.Record{}, errPayload
	}

	d.text = string(d.left)
	for _, s := range []*string{&r.Message, &r.Stack, &r.OperationID, &r.Decision.Rule, &r.Source, &r.Parent} {
		*s = d.string()
	}
	tags := d.uvarint()
	if tags > journal.MaxTags {
		return journal.Record{}, errPayload
	}
	if tags > 0 {
		r.Decision.Tags = make([]string, tags)
		for i := range r.Decision.Tags {
			r.Decision.Tags[i] = d.string()
		}
	}
	if d.bad || len(d.left) > 0 {
		return journal.Record{}, errPayload
	}
	return r, nil
}

// decoder takes a payload apart. After the first thing that is not there it is
// bad, and returns zeros.
type decoder struct {
	left []byte
	text string // ends with what left is, from the first string on
	bad  bool
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.left)) {
		d.bad, d.left = true, nil
		return nil
	}
	b := d.left[:n]
	d.left = d.left[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.left)
	if n <= 0 {
		d.bytes(math.MaxUint64)
		return 0
	}
	d.bytes(uint64(n))
	return v
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1) // zigzag, as in binary.Varint
}

func (d *decoder) string() string {
	n := d.uvarint()
	at := len(d.text) - len(d.left)
	if d.bytes(n) == nil {
		return ""
	}
	return d.text[at : at+int(n)]
}

// cut returns the length of the longest prefix of s of at most n bytes that
// does not end inside a UTF-8 character.
func cut(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := n; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}
