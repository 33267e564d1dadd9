package journal

import "errors"

// Latest returns the sequence number of the entry appended last; before the first, [Config].After.
func (j *Journal) Latest() uint64 { return j.latest }

// Read returns the page of a [Scan] without parts and groups.
func (j *Journal) Read(after Cursor, limit int, f Filter) Page {
	s := NewScan(after, limit, f, nil, nil)
	for more := true; more; {
		more = s.Step(j)
		more = s.Sift() && more
	}
	return s.Page
}

// end returns the cursor after the entry appended last.
func (j *Journal) end() Cursor { return Cursor{Epoch: j.config.Epoch, Seq: j.latest} }

// count is [Journal.Since] for the entries between two cursors, without the first and with the last.
func (j *Journal) count(after, to Cursor) (held, lost uint64, err error) {
	if err := errors.Join(j.check(after), j.check(to)); err != nil || after.Seq >= to.Seq {
		return 0, 0, err
	}
	held = j.held(after.Seq, to.Seq)
	return held, to.Seq - after.Seq - held, nil
}
