package journal

import "github.com/heedlog/heed/signature"

// The bounds of one [Scan.Step]: entries examined, and bytes of text copied in addition to a single entry. A step takes
// some ten microseconds, as long as a waiting writer takes to wake: smaller steps would not let writers continue
// sooner.
const (
	stepEntries = 256
	stepBytes   = 32 << 10
)

// Scan reads a [Page]: the entries after a cursor that a filter chooses, oldest first, at most its limit of them. It
// examines at most [Config].ReadEntries entries, and reads or copies at most [Config].ReadBytes bytes of text unless a
// single entry has more; then it ends, with More set. If an entry was written after the cursor, Next is beyond the
// cursor, so that following Next comes to an end. It allocates the records, a string for the text of each, and some
// kilobytes for the entries under examination.
//
// It works in steps, so that the guard of a journal holds its lock for a short while only: [Scan.Step] needs the
// journal, [Scan.Sift] does not, and does the long work, to search texts and to copy records. Make one with [NewScan].
// It is not safe for concurrent use, and for one journal.
//
//	for more := true; more; {
//		lock()
//		more = s.Step(j)
//		unlock()
//		more = s.Sift() && more
//	}
//	page := s.Page
//
// The journal may be written to between the steps. Entries evicted before a step has come to them are lost to the page,
// and counted so, once: each entry between the cursor and [Page.Next] is examined or lost, as in any page.
type Scan struct {
	limit  int
	filter matcher
	Page   Page   // complete once the last step was sifted
	after  uint64 // of the cursor
	before uint64 // the first entry of the journal
	begun  bool

	examined uint64 // of the entries up to Page.Next
	bytes    int    // of text that was looked at

	// The finds of the latest step, for Sift. Text is copied into room that Sift has made before, so that nothing is
	// allocated under the lock.
	found []candidate
	text  []byte
	want  int    // room for text that the next step needs, or 0
	left  uint64 // entries held that the page may have
}

// candidate is an entry that matches by its header, with the number of entries examined by then.
type candidate struct {
	header   header
	examined uint64
}

// The room that the first step has: most readers want few records.
const (
	firstEntries = 32
	firstBytes   = 4 << 10
)

// NewScan returns a Scan. A limit of 0 or less is 100, one above [MaxLimit] is MaxLimit. The journal does not know the
// parts of the filter's operation, nor the group of its signature: parts and group name them. The Scan retains neither.
func NewScan(after Cursor, limit int, f Filter, parts []string, group []signature.ID) *Scan {
	if limit = min(limit, MaxLimit); limit <= 0 {
		limit = defaultLimit
	}
	return &Scan{
		limit: limit, filter: f.matcher(parts, group), after: after.Seq, Page: Page{Next: after},
		found: make([]candidate, 0, firstEntries), text: make([]byte, 0, firstBytes),
	}
}

// Step examines the next entries of j, the same journal in all steps. It returns false when there is nothing more to
// examine. It allocates nothing.
func (s *Scan) Step(j *Journal) bool {
	p := &s.Page
	p.Oldest, p.Latest = j.oldest(), j.latest
	if !s.begun {
		s.begun = true
		if p.Err = j.check(p.Next); p.Err != nil {
			return false
		}
		p.Next.Epoch, s.before = j.config.Epoch, j.config.After
	}
	more := s.examine(j)
	s.account()
	return more
}

// examine goes through the next entries until the step has had enough, or the page.
func (s *Scan) examine(j *Journal) (more bool) {
	p := &s.Page
	s.left = j.held(p.Next.Seq, j.latest)
	for range stepEntries {
		if s.examined == uint64(j.config.ReadEntries) || s.filter.plain && len(p.Records)+len(s.found) == s.limit {
			return false
		}
		h, r := j.next(p.Next.Seq)
		if h == nil {
			p.Next.Seq = j.latest
			return false
		}
		if s.filter.header(h) {
			size := h.size()
			if s.examined > 0 && s.bytes+size > j.config.ReadBytes {
				return false
			}
			if len(s.found) == cap(s.found) || len(s.text)+size > cap(s.text) {
				s.want = max(size, stepBytes)
				return true
			}
			s.bytes += size
			s.text = j.appendBlock(s.text, h, r)
			s.found = append(s.found, candidate{*h, s.examined + 1})
		}
		s.examined++
		p.Next.Seq = h.seq
	}
	return true
}

// account computes the counts of the page.
func (s *Scan) account() {
	p := &s.Page
	next := p.Next.Seq
	p.Lost = next - s.after - s.examined
	p.LostBefore = min(next, max(s.before, s.after)) - s.after
	p.More = next < p.Latest
}

// Sift moves the finds of the latest Step into the page. It returns false when the page has as many records as it may.
func (s *Scan) Sift() bool {
	p := &s.Page
	text := s.text
	for i := range s.found {
		c := &s.found[i]
		block := text[:c.header.size()]
		text = text[len(block):]
		if !s.filter.plain && !s.filter.block(&c.header, block) {
			continue
		}
		if p.Records == nil {
			p.Records = make([]Record, 0, min(s.limit, defaultLimit, int(s.left)))
		}
		p.Records = append(p.Records, c.header.decode(string(block)))
		if len(p.Records) == s.limit {
			// Entries of the step after it are left to the next page.
			p.Next.Seq, s.examined = c.header.seq, c.examined
			s.account()
			return false
		}
	}
	s.text, s.found = s.text[:0], s.found[:0]
	if s.want > cap(s.text) {
		s.text = make([]byte, 0, s.want)
	}
	if s.want > 0 && cap(s.found) < stepEntries {
		s.found = make([]candidate, 0, stepEntries)
	}
	s.want = 0
	return true
}
