package journal

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
