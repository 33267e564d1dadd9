package heed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/wire"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// A snapshot is the line of a carryOver and then the state: in this order, with numbers of fixed size in little endian:
//
//	magic     8 bytes
//	format    4 bytes: snapshotFormat
//	version   4 bytes: signature.Version
//	masking   8 bytes: signature.Normalizer.Version
//	engine    see Engine.code
//	classify  8 bytes of length, and how a snapshot of a classify.Classifier begins
//	coalesce  8 bytes of length, and how a snapshot of a coalesce.Coalescer begins
//	          8 bytes of length, and how that of the Classifier goes on
//	          8 bytes of length, and how that of the Coalescer goes on
//	checksum  4 bytes: CRC-32C of the state before it
//
// Whatever changes the description of a structure, in any package, is another
// format. Each package records which of its bounds the state needs, so that what does
// not fit can be named; a hash of them could only tell that something differs.
const (
	snapshotMagic    = "heed\x00sn\n"
	snapshotFormat   = 12
	snapshotHead     = len(snapshotMagic) + 4 + 4 + 8
	snapshotChecksum = 4
)

// castagnoli is made once: the table of the instruction that most processors
// have.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Snapshot appends the engine's state to dst, for [Restore]: items that are open
// or remembered, with their counters and the watermark of each consumer;
// pending updates; operations; time; phase and blindness; what was learned of
// groups; the heartbeat; the counts; the sequence number. The journal is not part
// of it, nor are caches, nor [Config]. The same state gives the same bytes.
//
// An engine that is restored goes on with the sequence number and the item after
// those of the snapshot. What the first engine numbered after it is numbered
// again, so that a host that takes snapshots as it runs should take one before it
// passes on an id or a cursor that is newer than the last one: before it
// sends the updates that it has drained, and when it ends. Updates that were
// drained before a snapshot are not drained again; [Engine.Open] has their items.
//
// Its size is bounded by [Config]: with the default one and full tables of ASCII,
// 5 MB; the packages' methods of the same name state what takes how much. It allocates
// little but the growth of dst, a table of 48 KB the first time, and copies of what
// changes before it was written.
//
// The state is that of one point in time, but nobody waits until all of it is written:
// what is small is encoded under the lock at once; the rest follows in turns of about
// 32 KB, between which the lock is free. Meanwhile, whatever changes a part for the
// first time encodes the part as it was. (A copy of all tables under the lock holds it
// three times as long as the longest turn: bench/contention.) Snapshots wait for each
// other.
func (e *Engine) Snapshot(dst []byte) []byte {
	e.snapshots.Lock()
	defer e.snapshots.Unlock()
	start := len(dst)
	dst, carried := e.beginSnapshot(slices.Grow(dst, e.snapshotRoom()))
	w := wire.Writer(dst)
	w.Put(func(dst []byte) []byte { return e.continueSnapshot(dst, e.classifier.ContinueSnapshot) })
	w.Put(func(dst []byte) []byte { return e.continueSnapshot(dst, e.coalescer.ContinueSnapshot) })
	dst = w.Bytes()
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	return slices.Insert(dst, start, carried.line()...) // encoded without the lock
}

// A turn of a snapshot is about snapshotTurn long, and goes on to the end of an item:
// with the default Config, within snapshotSpare.
const (
	snapshotTurn  = 32 << 10
	snapshotSpare = 64 << 10
)

// snapshotRoom is what the beginning of a snapshot mostly fits in, so that it does
// not grow under the lock.
func (e *Engine) snapshotRoom() int {
	e.mu.Lock()
	defer e.mu.Release()
	s := e.coalescer.Stats()
	return 200*s.Operations + 500*(s.Open+s.Remembered) + 8<<10
}

// beginSnapshot appends what is written at once, and returns what is carried over. From then on the packages keep what
// changes.
func (e *Engine) beginSnapshot(dst []byte) ([]byte, *carryOver) {
	e.mu.Lock()
	defer e.mu.Release()
	dst = append(dst, snapshotMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, snapshotFormat)
	dst = binary.LittleEndian.AppendUint32(dst, signature.Version)
	dst = binary.LittleEndian.AppendUint64(dst, e.normalizer.Version())
	w := wire.Writer(dst)
	e.code(&w)
	w.Put(e.classifier.BeginSnapshot)
	w.Put(e.coalescer.BeginSnapshot)
	return w.Bytes(), e.carryOver()
}

// continueSnapshot appends the rest of a package's state in turns.
func (e *Engine) continueSnapshot(dst []byte, next func(dst []byte, size int) ([]byte, bool)) []byte {
	turn := func(dst []byte) ([]byte, bool) {
		e.mu.Lock()
		defer e.mu.Release()
		return next(dst, snapshotTurn)
	}
	for more := true; more; {
		dst, more = turn(slices.Grow(dst, snapshotTurn+snapshotSpare))
	}
	return dst
}

// Restore returns an engine for cfg in the state that a snapshot holds, of which
// it keeps nothing. It goes on in the snapshot's epoch, so that ids that were
// given out can still be acknowledged, and no id is given twice: cfg.Epoch must be
// the same or "". The journal is empty and goes on with the next sequence number:
// what a cursor from before has not read counts as lost.
//
// Rules may be others than before; blindness that was begun by a rule that does not exist any more is over. Windows and
// larger bounds take effect. cfg.InitialPhase and cfg.Journal.After are ignored.
//
// The state of a snapshot is restored as a whole or not at all. It is not if it is torn or was changed, if it is of
// another format, another [signature.Version] or rules with another masking, if it was made with larger bounds (the
// error names the field), or if no engine could be in it. Then the engine begins with the carry-over, a short record
// that every version reads, and [Engine.CarriedOver] returns the reason: epoch, sequence and item numbers, phase and
// blindness go on, and the items that blocked are open and block under their ids until they are acknowledged or
// cleared. Counts, operations, consumers, acknowledgements, groups and what was advisory are gone. [Stats].Carried has
// how many entries came before.
//
// An error means that cfg is invalid, that the snapshot is of another epoch, or that the carry-over cannot be read
// either. A host that then begins with [New] has to choose an epoch that it never used before: in an old one, ids and
// cursors would be given out again. The checksums find accidents; they do not authenticate a snapshot.
func Restore(cfg Config, snapshot []byte) (*Engine, error) {
	e, err := restore(cfg, snapshot)
	if err != nil {
		return nil, fmt.Errorf("heed: snapshot: %w", err)
	}
	return e, nil
}

func restore(cfg Config, snapshot []byte) (*Engine, error) {
	c, state, err := readCarryOver(snapshot)
	if err != nil {
		return nil, fmt.Errorf("carry-over: %w", err)
	}
	if cfg.Epoch != "" && cfg.Epoch != c.Epoch {
		return nil, fmt.Errorf("it is of the epoch %q, and Config.Epoch is %q", c.Epoch, cfg.Epoch)
	}
	cfg.Epoch, cfg.InitialPhase = c.Epoch, c.Phase
	p, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	e, why := p.restore(state)
	if why == nil {
		return e, nil
	}
	if e, err = p.carry(c); err == nil {
		e.carriedOver = fmt.Errorf("heed: snapshot of another version, or damaged: %w; numbers, phase, blindness and blocking "+
			"items were kept, and all else begins again", why)
	}
	return e, err
}

// restore returns an engine in the state that a snapshot holds, or why it is not restored.
func (p *parts) restore(state []byte) (*Engine, error) {
	body, err := openState(state, p.normalizer.Version())
	if err != nil {
		return nil, err
	}
	e, r := p.engine(), wire.Reader(body)
	e.code(&r)
	classifier, coalescer := r.Section("classify"), r.Section("coalesce")
	classifier = slices.Concat(classifier, r.Section("the rest of classify"))
	coalescer = slices.Concat(coalescer, r.Section("the rest of coalesce"))
	if err := r.Close(); err != nil {
		return nil, err
	}
	if e.classifier, err = classify.Restore(p.classify, classifier); err != nil {
		return nil, err
	}
	if e.coalescer, err = coalesce.Restore(p.coalesce, coalescer); err != nil {
		return nil, err
	}
	p.journal.After = e.seq
	if e.journal, err = journal.New(p.journal); err != nil {
		return nil, err
	}
	s := e.Stats()
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("it does not add up: %w", err)
	}
	return e, nil
}

// openState returns the part of a state between its head and its checksum, or why this program cannot read it.
func openState(s []byte, masking uint64) ([]byte, error) {
	end := len(s) - snapshotChecksum
	if end < snapshotHead || !bytes.HasPrefix(s, []byte(snapshotMagic)) {
		return nil, errors.New("its state is missing or torn")
	}
	head := s[len(snapshotMagic):]
	if is := binary.LittleEndian.Uint32(head); is != snapshotFormat {
		return nil, fmt.Errorf("its state has format %d, not %d", is, snapshotFormat)
	}
	if is := binary.LittleEndian.Uint32(head[4:]); is != signature.Version {
		return nil, fmt.Errorf("its ids are of version %d of signatures, those of this program of version %d", is,
			signature.Version)
	}
	if is := binary.LittleEndian.Uint64(head[8:]); is != masking {
		return nil, fmt.Errorf("its signatures were masked by %016x, those of Config.Rules and Config.Signature are by %016x: "+
			"what it knows would not be found", is, masking)
	}
	if sum := binary.LittleEndian.Uint32(s[end:]); sum != crc32.Checksum(s[:end], castagnoli) {
		return nil, errors.New("its state is torn or damaged: the checksum is another one")
	}
	return s[snapshotHead:end], nil
}

// code writes the engine's own state, or sets it.
func (e *Engine) code(c *wire.Coder) {
	c.Uint64("sequence number", &e.seq, math.MaxUint64)
	c.Uint64("carried", &e.carried, e.seq)
	for i := range e.byKind {
		c.Uint64(event.Kind(i).String(), &e.byKind[i], e.seq)
	}
	h := &e.heartbeat
	c.Time("heartbeat.by", &h.by)
	c.Bool("heartbeat.stalled", &h.stalled)
	c.Bool("heartbeat.busy", &h.busy)
}
