package heedsource

import (
	"os"
	"sync"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/journal"
)

// scrubber removes private data from texts. Names have no form: they are learned from all of a journal.
type scrubber struct {
	engine *heed.Engine
	home   sync.Once // learns the home of the user who runs the program: the words that names may not be take a while

	mu   sync.Mutex
	from report.Scrubber
	done heed.Cursor // through which the journal was read
}

// text returns s without private data.
func (b *scrubber) text(s string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.home.Do(func() {
		if home, err := os.UserHomeDir(); err == nil {
			b.from.Home(home)
		}
	})
	latest := b.engine.Latest()
	if b.done.Epoch != latest.Epoch {
		b.done = heed.Cursor{Epoch: latest.Epoch}
	}
	for more := b.done.Seq < latest.Seq; more; {
		p := b.engine.Read(b.done, journal.MaxLimit, heed.Filter{})
		for i := range p.Records {
			b.from.Learn(p.Records[i].Message, p.Records[i].Stack)
		}
		b.done, more = p.Next, p.More
	}
	return b.from.Text(s)
}
