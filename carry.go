package heed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/journal"
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

// Bounds of a carryOver: its line, in bytes; the items that it names, whose line is always within these; the
// characters of a summary; the sequence number, which every reader of JSON holds exactly.
const (
	recordMagic    = "heed "
	maxCarryOver   = 1 << 20
	maxHeld        = 512
	maxHeldSummary = maxReportSummary
	maxSequence    = 1 << 53
)

// appendCarryOver appends the line of a snapshot that later versions read. The lock is held.
func (e *Engine) appendCarryOver(dst []byte) []byte {
	c := carryOver{
		Epoch: e.epoch, Sequence: e.seq, Items: e.coalescer.Numbers(), Phase: e.classifier.Phase(),
		Blind: e.classifier.BlindRules(), Blocking: e.coalescer.Held(),
	}
	c.Blocking = c.Blocking[:min(len(c.Blocking), maxHeld)]
	for i := range c.Blocking {
		c.Blocking[i].Summary = text.Safe(c.Blocking[i].Summary, maxHeldSummary)
	}
	record, err := json.Marshal(&c)
	if err != nil {
		panic("BUG: heed: plain data does not marshal: " + err.Error())
	}
	return appendRecord(dst, record)
}

func appendRecord(dst, record []byte) []byte {
	return fmt.Appendf(dst, "%s%08x %s\n", recordMagic, crc32.Checksum(record, castagnoli), record)
}

// cutCarryOver returns the line of the carry-over and the state of a snapshot. Damage to either leaves the other.
func cutCarryOver(snapshot []byte) (line, state []byte) {
	at := bytes.Index(snapshot, []byte(snapshotMagic))
	if at < 0 {
		at = 0
		if bytes.HasPrefix(snapshot, []byte(recordMagic)) {
			at = len(snapshot)
		}
	}
	return snapshot[:at], snapshot[at:]
}

// readCarryOver reads the line of a carry-over.
func readCarryOver(line []byte) (*carryOver, error) {
	line, _, whole := bytes.Cut(line[:min(len(line), maxCarryOver)], []byte("\n"))
	sum, record, _ := strings.Cut(strings.TrimPrefix(string(line), recordMagic), " ")
	if want, err := strconv.ParseUint(sum, 16, 32); !whole || err != nil ||
		uint32(want) != crc32.Checksum([]byte(record), castagnoli) {
		return nil, errors.New("it is missing, torn or damaged")
	}
	c := &carryOver{}
	if err := json.Unmarshal([]byte(record), c); err != nil {
		return nil, err
	}
	switch {
	case c.Epoch == "":
		return nil, errors.New("its epoch is missing")
	case c.Items > c.Sequence || c.Sequence > maxSequence:
		return nil, fmt.Errorf("%d items are not possible after entry %d", c.Items, c.Sequence)
	}
	last := uint64(0)
	for i := range c.Blocking {
		n := c.number(i)
		if n <= last || n > c.Items {
			return nil, fmt.Errorf("%q is no id of an item, or not in order", text.Safe(c.Blocking[i].ID, maxHeldSummary))
		}
		last = n
	}
	return c, nil
}

// number returns the number of a blocking item, or 0 if its id is of no item of the epoch.
func (c *carryOver) number(i int) uint64 {
	digits, _ := strings.CutPrefix(c.Blocking[i].ID, c.Epoch+"-")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != digits {
		return 0
	}
	return n
}

// carriedRule decides the entries that carry items over.
const carriedRule = hostRule + "carried"

// carry returns an engine for cfg that begins with the carry-over of a snapshot whose state cannot be restored.
func carry(cfg Config, line []byte) (*Engine, error) {
	c, err := readCarryOver(line)
	if err != nil {
		return nil, err
	}
	if cfg.Epoch != "" && cfg.Epoch != c.Epoch {
		return nil, fmt.Errorf("it is of the epoch %q, and Config.Epoch is %q", c.Epoch, cfg.Epoch)
	}
	cfg.Epoch, cfg.InitialPhase = c.Epoch, c.Phase
	p, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	e := p.engine()
	e.seq, e.carried = c.Sequence, c.Sequence
	if e.classifier, err = classify.New(p.classify); err != nil {
		return nil, err
	}
	e.classifier.Blinded(c.Blind)
	if e.coalescer, err = coalesce.New(p.coalesce); err != nil {
		return nil, err
	}
	_, blind := e.classifier.Blind()
	e.coalescer.Continue(c.Sequence, c.Items, blind)
	p.journal.After = c.Sequence
	if e.journal, err = journal.New(p.journal); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range c.Blocking {
		e.reopen(&c.Blocking[i], c.number(i))
	}
	return e, nil
}

// reopen opens a blocking item under the id that it has. It is raised by the host, so that only an acknowledgement or
// the host ends it. The lock is held.
func (e *Engine) reopen(held *coalesce.Held, number uint64) {
	summary := text.Safe(held.Summary, maxHeldSummary)
	e.entry = event.Entry{
		Kind: event.KindHost, Status: event.StatusRaised, Source: held.ID, Message: "from before an update: " + summary,
	}
	e.act(&coalesce.Input{
		Signature: e.normalizer.Signature(summary, ""), Raised: held.ID, Summary: summary,
		Decision: event.Decision{
			Rule: carriedRule, Disposition: event.Blocking, Severity: held.Severity, Invalidates: held.StateInvalidated,
		},
	}, func(in *coalesce.Input) coalesce.Folded { return e.coalescer.Reopen(in, number) })
}

// CarriedOver returns why the engine could not be restored as a whole and began with the carry-over of its snapshot;
// see [Restore]. It returns nil for any other engine.
func (e *Engine) CarriedOver() error { return e.carriedOver }
