package journal_test

import (
	"fmt"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// A small journal is overrun by a storm. The first error of its burst is still
// there, and the reader learns what it missed.
func Example() {
	j, err := journal.New(journal.Config{Entries: 3, Epoch: "run-7"})
	if err != nil {
		fmt.Println(err)
		return
	}
	latest := uint64(0)
	write := func(message string, d event.Disposition) {
		latest++
		e := event.Entry{Seq: latest, Message: message}
		j.Append(&e, signature.Signature{}, event.Decision{Disposition: d})
	}

	write("loading the map", event.Ignore)
	write("roof without support", event.Blocking)
	j.KeepFirst(1)
	for range 500 {
		write("drawing failed", event.Advisory)
	}

	read := func(after journal.Cursor, limit int) journal.Page {
		s := journal.NewScan(after, limit, journal.Filter{}, nil, nil)
		for more := true; more; {
			more = s.Step(j)
			more = s.Sift() && more
		}
		return s.Page
	}

	for c := (journal.Cursor{}); ; {
		page := read(c, 2)
		if page.Err != nil {
			fmt.Println(page.Err)
			return
		}
		fmt.Printf("after %d, %d lost:\n", c.Seq, page.Lost)
		for _, r := range page.Records {
			fmt.Printf("  %d %s\n", r.Seq, r.Message)
		}
		c = page.Next
		if !page.More {
			break
		}
	}

	fmt.Println(read(journal.Cursor{Epoch: "run-6", Seq: 40}, 0).Err)
	// Output:
	// after 0, 498 lost:
	//   2 roof without support
	//   500 drawing failed
	// after 500, 0 lost:
	//   501 drawing failed
	//   502 drawing failed
	// journal: cursor of another epoch: it is of "run-6", the journal of "run-7"
}
