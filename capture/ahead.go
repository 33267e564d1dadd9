package capture

import "slices"

// Ahead reads the records of a [Reader] ahead of its consumer, in a
// goroutine of its own: reading, decompressing and splitting overlap with the work on
// the records. A Reader returns the same records and errors in the same order.
//
// Records are handed over before each read of the input, so that a
// record of a log that is still being written waits no longer than it does in the
// Reader. An Ahead holds four batches of at most 2048 records, some 8 MiB in all,
// and reads no further while they wait. Passing a record on costs a copy of it and
// no allocation. Its methods are for one goroutine.
type Ahead struct {
	full, empty chan *batch // with room for all, so that only a receiver waits
	stop, ended chan struct{}

	batch *batch // that records are being taken from
	taken int    // of them
	at    Position
}

// A batch is taken from while another is filled; the others even out that
// neither side goes at a steady pace. Handing over often wakes a sleeping thread, which
// costs more than a copy: see bench/replay.
const (
	aheadBatches = 4
	batchRecords = 2048
	batchText    = 512 << 10 // a batch with more text than this gets no further record
)

// batch is some records in a row, with their texts.
type batch struct {
	records []placed
	text    []byte   // to which the strings of records point
	err     error    // after the last record; nil where another batch follows
	end     Position // with err
}

// placed is a record and the position after it.
type placed struct {
	Record
	at Position
}

// NewAhead begins to read r, which it owns from then on, until [Ahead.Close] is called.
func NewAhead(r *Reader) *Ahead {
	a := &Ahead{
		full: make(chan *batch, aheadBatches), empty: make(chan *batch, aheadBatches),
		stop: make(chan struct{}), ended: make(chan struct{}), at: r.At(),
	}
	for range aheadBatches {
		a.empty <- &batch{}
	}
	a.batch = <-a.empty
	go a.run(r, <-a.empty)
	return a
}

// Next returns the next record, or the error of [Reader.Next], again and again.
// The record and its strings are valid until the next call.
func (a *Ahead) Next() (*Record, error) {
	for a.taken == len(a.batch.records) {
		if a.batch.err != nil {
			a.at = a.batch.end
			return nil, a.batch.err
		}
		a.empty <- a.batch
		a.batch, a.taken = <-a.full, 0
	}
	next := &a.batch.records[a.taken]
	a.taken++
	a.at = next.at
	return &next.Record, nil
}

// At is [Reader.At] after what Next returned last.
func (a *Ahead) At() Position { return a.at }

// Close ends the goroutine and waits for it, which has to come back from a read of
// the input first: close one that may keep a reader waiting before. The last record
// stays valid. Next must not be called any more.
func (a *Ahead) Close() {
	close(a.stop)
	<-a.ended
}

// run fills b and further batches with the records of r.
func (a *Ahead) run(r *Reader, b *batch) {
	defer close(a.ended)
	for {
		switch filled := r.step(&b.slot().Record); {
		case filled:
			if b.add(r.At()); len(b.records) < batchRecords && len(b.text) <= batchText {
				continue
			}
		case r.err != nil:
			b.err, b.end = r.err, r.At()
			a.full <- b
			return
		case len(b.records) == 0:
			r.more()
			continue
		}
		a.full <- b
		select {
		case b = <-a.empty:
			b.records, b.text = b.records[:0], b.text[:0]
		case <-a.stop:
			return
		}
	}
}

// slot is the place of the next record. It becomes part of b by add. A short log needs no memory for a long one.
func (b *batch) slot() *placed {
	b.records = slices.Grow(b.records, 1)
	return &b.records[:len(b.records)+1][len(b.records)]
}

// add makes the record in the slot a part of b, and moves its texts to memory of b. Where that has to grow, earlier
// texts stay where they were.
func (b *batch) add(at Position) {
	own := b.slot()
	b.records = b.records[:len(b.records)+1]
	own.at = at
	for _, s := range [...]*string{&own.Message, &own.Stack, &own.Source, &own.OperationID, &own.Parent} {
		if len(*s) > 0 {
			from := len(b.text)
			b.text = append(b.text, *s...)
			*s = text(b.text[from:])
		}
	}
}
