package report

import "github.com/heedlog/heed"

// timeline keeps the first and the last updates of a replay.
type timeline struct {
	first []heed.Update
	last  []heed.Update // ring: the oldest is at next once it is full
	next  int
	limit int // of each
	total uint64
}

func (t *timeline) add(u *heed.Update) {
	t.total++
	switch {
	case len(t.first) < t.limit:
		t.first = append(t.first, *u)
	case len(t.last) < t.limit:
		t.last = append(t.last, *u)
	default:
		t.last[t.next] = *u
		t.next = (t.next + 1) % t.limit
	}
}

// left is the number of updates between the first and the last that are not
// kept.
func (t *timeline) left() uint64 { return t.total - uint64(len(t.first)+len(t.last)) }

// ends returns the updates before and after those that are left out.
func (t *timeline) ends() (first, last []heed.Update) {
	last = append(append([]heed.Update{}, t.last[t.next:]...), t.last[:t.next]...)
	return t.first, last
}
