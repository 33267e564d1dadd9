package heed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// snapshotFormat changes if a State of any package is read in another way.
const snapshotFormat = 20

// Bounds of a state that is read: its bytes, and its objects. There may be maxObjects small ones; the others have
// minObject bytes on average, so that a state takes at most 100 times as much memory as bytes.
const (
	maxState   = 256 << 20
	maxObjects = 4096
	minObject  = 40
)

// castagnoli is made once: the table of the instruction that most processors
// have.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// state is the second line of a snapshot, after its carryOver. Both lines have the form of recordLine.
type state struct {
	Format     int
	Signatures int    // signature.Version
	Masking    uint64 // signature.Normalizer.Version

	Engine   kept
	Classify *classify.State
	Coalesce *coalesce.State
}

// kept is the engine's own part of its state.
type kept struct {
	Seq       uint64
	Carried   uint64 // entries before a carry-over, which have numbers and are not counted
	ByKind    [event.KindHost + 1]uint64
	Late      uint64 `json:",omitzero"` // of the log records, those with an event.Rest
	Heartbeat heartbeat
	Record    ingested `json:",omitzero"` // the latest log record with a Pos
	Rest      ingested `json:",omitzero"` // the latest rest of a record
}

// Snapshot appends the engine's state to dst, for [Restore]: items that are open or remembered, with their counters and
// the watermark of each consumer; pending updates; operations; time; phase and blindness; learned groups; the
// heartbeat; the counts; the sequence number. Journal, caches and the rules of [Config] are not part of it.
// The same state gives the same bytes.
//
// A restored engine continues with the sequence number and the item after those of the snapshot. It gives later numbers
// of the first engine again, so that a host that takes snapshots as it runs should take one before it passes on an id
// or a cursor that is newer than the last one: before it sends the updates that it has drained, and when it ends.
// Updates that were drained before a snapshot are not drained again; [Engine.Open] has their items.
//
// A snapshot is two lines of JSON, each with its checksum: the carry-over, and the state. Its size is bounded by
// [Config]: with the default Config and full tables of ASCII, 20 MB.
//
// The state is of one point in time. It is copied under the lock, and encoded without it (bench/contention). Snapshots
// wait for each other.
func (e *Engine) Snapshot(dst []byte) []byte { return e.Freeze()(dst) }

// Freeze copies the state, and returns a function that appends its snapshot as [Engine.Snapshot] does, for a host that
// needs to know which entries are in it. The function must be called once: other snapshots wait for it.
func (e *Engine) Freeze() func(dst []byte) []byte {
	e.snapshots.Lock()
	s, carried := e.copyState()
	return func(dst []byte) []byte {
		defer e.snapshots.Unlock()
		return e.encode(dst, s, carried)
	}
}

func (e *Engine) encode(dst []byte, s *state, carried *carryOver) []byte {
	first := len(dst)
	dst = append(append(slices.Grow(dst, e.snapshotSize), carried.line()...), recordHead...)
	start := len(dst)
	b := bytes.NewBuffer(dst)
	record := json.NewEncoder(b)
	record.SetEscapeHTML(false)
	if err := record.Encode(s); err != nil {
		panic("BUG: heed: plain data does not marshal: " + err.Error())
	}
	dst = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	sealRecord(dst[start-len(recordHead):])
	e.snapshotSize = len(dst) - first + 4<<10
	return append(dst, '\n')
}

func (e *Engine) copyState() (*state, *carryOver) {
	e.mu.Lock()
	defer e.mu.Release()
	return &state{
		Format: snapshotFormat, Signatures: signature.Version, Masking: e.normalizer.Version(),
		Engine: e.kept, Classify: e.classifier.State(), Coalesce: e.coalescer.State(),
	}, e.carryOver()
}

// Restore returns an engine for cfg in the state of a snapshot, and keeps nothing of the snapshot. It continues the
// snapshot's epoch, so that ids that were given out can still be acknowledged, and no id is given twice: cfg.Epoch must
// be the same or "". The journal is empty and continues with the next sequence number: entries that a cursor from
// before has not read count as lost.
//
// Rules may be others than before; a blindness whose rule does not exist any more is over. Windows and larger bounds
// take effect. cfg.InitialPhase is ignored. The sequence numbers up to cfg.Journal.After were given out after the
// snapshot, and are not given again; their entries count as carried.
//
// The state of a snapshot is restored as a whole or not at all. It is not restored if it is torn or was changed, if it
// is of another format, another [signature.Version] or rules with another masking, if it was made with larger bounds
// (the error names the field), if it has more than 256 MB, or if no engine could be in it. Then the engine begins with
// the carry-over, a short record that every version reads, and [Engine.CarriedOver] returns the reason: epoch, sequence
// and item numbers, phase and blindness continue, and the items that blocked are open and block under their ids until
// they are acknowledged or cleared. Counts, operations, consumers, acknowledgements, groups and advisory items are
// gone. [Stats].Carried has how many entries came before.
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
	cfg.Epoch, cfg.InitialPhase, c.Sequence = c.Epoch, c.Phase, max(c.Sequence, cfg.Journal.After)
	s, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	e, why := s.restore(state, c)
	if why == nil {
		return e, nil
	}
	if e, err = s.carry(c); err == nil {
		e.carriedOver = fmt.Errorf("heed: snapshot of another version, or damaged: %w; numbers, phase, blindness and blocking "+
			"items were kept, and all else begins again", why)
	}
	return e, err
}

// restore returns an engine in the state that the second line of a snapshot holds, or why it is not restored.
func (s *setup) restore(line []byte, c *carryOver) (*Engine, error) {
	st, err := s.readState(line)
	if err != nil {
		return nil, err
	}
	e := s.engine()
	e.kept = st.Engine
	if e.classifier, err = classify.Restore(s.classify(), st.Classify); err != nil {
		return nil, err
	}
	if e.coalescer, err = coalesce.Restore(s.cfg.Coalesce, st.Coalesce); err != nil {
		return nil, err
	}
	if c.Sequence > e.Seq {
		e.Carried += c.Sequence - e.Seq
		e.Seq = c.Sequence
		e.coalescer.Continue(e.Seq, 0, false)
	}
	e.cfg.Journal.After = e.Seq
	if e.journal, err = journal.New(e.cfg.Journal); err != nil {
		return nil, err
	}
	stats := e.Stats()
	if err := stats.Check(); err != nil {
		return nil, fmt.Errorf("it does not add up: %w", err)
	}
	return e, nil
}

// readState reads the second line of a snapshot, or returns why this program cannot.
func (s *setup) readState(line []byte) (*state, error) {
	record, rest, err := readRecord(line, maxState)
	objects := bytes.Count(record, []byte(`{"`)) + bytes.Count(record, []byte(`{}`))
	if err != nil || len(rest) > 0 || objects > maxObjects+len(record)/minObject {
		return nil, errors.New("its state is missing, torn, damaged or too large")
	}
	st := &state{Classify: &classify.State{}, Coalesce: &coalesce.State{}}
	err = json.Unmarshal(record, st)
	switch masking := s.normalizer.Version(); {
	case st.Format != snapshotFormat:
		return nil, fmt.Errorf("its state has format %d, not %d", st.Format, snapshotFormat)
	case err != nil:
		return nil, fmt.Errorf("its state cannot be read: %w", err)
	case st.Signatures != signature.Version:
		return nil, fmt.Errorf("its ids are of version %d of signatures, those of this program of version %d", st.Signatures,
			signature.Version)
	case st.Masking != masking:
		return nil, fmt.Errorf("its signatures were masked by %016x, those of Config.Rules are by %016x: "+
			"what it knows would not be found", st.Masking, masking)
	case st.Classify == nil || st.Coalesce == nil || st.Engine.Seq > maxSequence ||
		st.Engine.Carried > st.Engine.Seq:
		return nil, fmt.Errorf("its state is not possible after entry %d", st.Engine.Seq)
	}
	return st, nil
}
