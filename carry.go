package heed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// carryOver is the part of a snapshot that every version reads. Its form never changes. It is the first line of a
// snapshot:
//
//	heed 8 hexadecimal digits: CRC-32C of the JSON, a space, the JSON of a carryOver, a newline
type carryOver struct {
	Epoch    string          `json:"epoch"`
	Sequence uint64          `json:"sequence"`
	Items    uint64          `json:"items"` // the number of the latest item
	Phase    string          `json:"phase,omitempty"`
	Blind    []string        `json:"blind,omitempty"` // the rules whose blindness lasts
	Blocking []coalesce.Held `json:"blocking,omitempty"`
}

// Bounds of a carryOver: its line, in bytes; the items and the rules that it names, whose line is always within these;
// the sequence number, which every reader of JSON holds exactly.
const (
	recordMagic  = "heed "
	maxCarryOver = 1 << 20
	maxHeld      = 512
	maxSequence  = 1 << 53
)

// carryOver returns what later versions read. The lock is held.
func (e *Engine) carryOver() *carryOver {
	c := &carryOver{Epoch: e.cfg.Epoch, Sequence: e.Seq, Phase: e.classifier.Phase(), Blind: e.classifier.Blind()}
	c.Blocking, c.Items = e.coalescer.Held()
	return c
}

// line returns the first line of a snapshot.
func (c *carryOver) line() []byte {
	c.Blind, c.Blocking = c.Blind[:min(len(c.Blind), maxHeld)], c.Blocking[:min(len(c.Blocking), maxHeld)]
	for i := range c.Blocking {
		c.Blocking[i].Summary = text.Safe(c.Blocking[i].Summary, maxReportSummary)
	}
	record, err := json.Marshal(c)
	if err != nil {
		panic("BUG: heed: plain data does not marshal: " + err.Error())
	}
	return recordLine(record)
}

// recordHead is the head of a line, before its checksum is known.
const recordHead = recordMagic + "00000000 "

// recordLine returns a line with a record and its checksum.
func recordLine(record []byte) []byte {
	line := append([]byte(recordHead), record...)
	sealRecord(line)
	return append(line, '\n')
}

// sealRecord sets the checksum of a line, which has no newline yet.
func sealRecord(line []byte) {
	copy(line[len(recordMagic):], fmt.Sprintf("%08x", crc32.Checksum(line[len(recordHead):], castagnoli)))
}

// readRecord reads a line of recordLine with fewer than most bytes, and returns its record and all that follows.
func readRecord(lines []byte, most int) (record, rest []byte, err error) {
	end := bytes.IndexByte(lines[:min(len(lines), most)], '\n')
	sum, record, _ := bytes.Cut(bytes.TrimPrefix(lines[:max(end, 0)], []byte(recordMagic)), []byte(" "))
	if string(sum) != fmt.Sprintf("%08x", crc32.Checksum(record, castagnoli)) {
		return nil, nil, errors.New("it is missing, torn or damaged")
	}
	return record, lines[end+1:], nil
}

// readCarryOver reads the first line of a snapshot, and returns the line of the state.
func readCarryOver(snapshot []byte) (c *carryOver, state []byte, err error) {
	record, state, err := readRecord(snapshot, maxCarryOver)
	if err != nil {
		return nil, nil, err
	}
	c = &carryOver{}
	if err := json.Unmarshal(record, c); err != nil {
		return nil, nil, err
	}
	if c.Epoch == "" || c.Items > c.Sequence || c.Sequence > maxSequence {
		return nil, nil, fmt.Errorf("the epoch %q, %d items and %d entries are not possible", c.Epoch, c.Items, c.Sequence)
	}
	last := uint64(0)
	for i := range c.Blocking {
		h := &c.Blocking[i]
		h.Number, _ = strconv.ParseUint(strings.TrimPrefix(h.ID, c.Epoch+"-"), 10, 64)
		if h.Number <= last || h.Number > c.Items || h.ID != c.Epoch+"-"+strconv.FormatUint(h.Number, 10) {
			return nil, nil, fmt.Errorf("%q is no id of an item, or not in order", text.Safe(h.ID, maxReportSummary))
		}
		last = h.Number
	}
	return c, state, nil
}

// carry returns an engine that begins with a carry-over.
func (s *setup) carry(c *carryOver) (*Engine, error) {
	e, err := s.begin(c.Sequence)
	if err != nil {
		return nil, err
	}
	e.classifier.Blinded(c.Blind)
	e.coalescer.Continue(c.Sequence, c.Items, len(e.classifier.Blind()) > 0)
	for i := range c.Blocking {
		h := &c.Blocking[i] // raised by the host, so that only an acknowledgement or the host ends it
		e.Raise(Report{
			ID: h.ID, Key: "carried-" + strconv.FormatUint(h.Number, 10), Disposition: event.Blocking, Severity: h.Severity,
			Invalidates: h.StateInvalidated, Summary: h.Summary, Message: "from before the restart: " + h.Summary,
		})
	}
	return e, nil
}

// CarriedOver returns why the engine could not be restored as a whole and began with the carry-over of its snapshot, in
// one sentence for people; see [Restore]. It returns nil for any other engine.
func (e *Engine) CarriedOver() error { return e.carriedOver }
