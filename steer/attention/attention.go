// Package attention makes messages of package steer from the attention items of heed: it is what ties the two.
//
// What blocks is a message that stops a turn, and what is advisory rides. A message stands for an item and its revision
// (whether it blocks, its severity, whether the game's state is invalid): a count that grows is no news. What is
// cleared before it was delivered is withdrawn. Text of the game is data of the message, which steer quotes.
//
// The package has no clock, no goroutine and no I/O.
package attention

import (
	"fmt"
	"time"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/steer"
)

// Author is the author of the messages, which an adapter's Verifier knows as steer.Attention.
const Author = "heed"

// The bounds of a message's data, in samples and in characters of each.
const (
	maxSamples = 3
	maxSample  = 600
)

// Message returns the message for an open item. brief is the text of a brief about it, which stands in place of its
// summary and samples, "" for none; its data is quoted already.
func Message(item *coalesce.Attention, brief string) steer.Message {
	m := steer.Message{
		Author: Author, Topic: item.ID, Revision: revision(item), Text: brief,
		Rides: !item.Blocking, Invalid: item.StateInvalidated,
	}
	if brief != "" {
		return m
	}
	shown := *item
	shown.Sanitize()
	what := "blocking: calls are refused until it is acknowledged"
	if !shown.Blocking {
		what = "advisory"
	}
	m.Text = fmt.Sprintf("Item %s (%s): %s", shown.ID, what, shown.Summary)
	if shown.StateInvalidated {
		m.Text += "\nThe game's state may have changed: read it again."
	}
	for i := range shown.Sample[:min(len(shown.Sample), maxSamples)] {
		m.Data = append(m.Data, text.Safe(shown.Sample[i].Message, maxSample))
	}
	return m
}

// revision identifies what of an item is news.
func revision(item *coalesce.Attention) string {
	return fmt.Sprintf("blocking=%t severity=%s invalid=%t", item.Blocking, item.Severity, item.StateInvalidated)
}

// Acknowledged returns the message for an item that a person or another consumer acknowledged: it opened the gate, and
// the agent does not know of it. by is its name, which is data.
func Acknowledged(item *coalesce.Attention, by string) steer.Message {
	return steer.Message{
		Author: Author, Topic: item.ID, Revision: "acknowledged", Rides: true, Data: []string{text.Safe(by, maxSample)},
		Text: fmt.Sprintf("Item %s was acknowledged by another, whose name is below. The game's state may have changed "+
			"meanwhile: read it again.", item.ID),
	}
}

// Feed gives the items of an engine to the machine of one conversation. It is for the goroutine of the machine.
type Feed struct {
	machine *steer.Machine
	brief   func(item *coalesce.Attention) string
	offered map[string]string // revisions of open items, by id
}

// NewFeed returns a feed for a machine. brief makes the text of a message, and may be nil; see Message.
func NewFeed(m *steer.Machine, brief func(item *coalesce.Attention) string) *Feed {
	if brief == nil {
		brief = func(*coalesce.Attention) string { return "" }
	}
	return &Feed{machine: m, brief: brief, offered: map[string]string{}}
}

// Update gives the machine an update, and returns what the adapter does. An item that was cleared is withdrawn; one
// whose revision is as before is no news.
func (f *Feed) Update(now time.Time, u *coalesce.Update) steer.Action {
	item := &u.Attention
	if u.Kind == coalesce.Cleared {
		delete(f.offered, item.ID)
		f.machine.Withdraw(item.ID)
		return steer.Action{}
	}
	if f.offered[item.ID] == revision(item) {
		return steer.Action{}
	}
	return f.offer(now, item)
}

// Turn gives the machine the items that are open at the begin of a turn, which the turn was not sent yet.
func (f *Feed) Turn(now time.Time, open []coalesce.Attention) (last steer.Action) {
	for i := range open {
		if a := f.offer(now, &open[i]); a.Do != steer.Nothing {
			last = a
		}
	}
	return last
}

func (f *Feed) offer(now time.Time, item *coalesce.Attention) steer.Action {
	receipt, a := f.machine.Receive(now, Message(item, f.brief(item)))
	if receipt != steer.Full { // else it is offered again
		f.offered[item.ID] = revision(item)
	}
	return a
}
