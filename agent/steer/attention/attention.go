// Package attention makes messages of package steer from the attention items of heed.
//
// The message of an item that blocks stops a turn, and the message of an advisory one is passive. A message is
// identified by an item and its revision (whether it blocks, its severity, whether the game's state is invalid, and the
// number of groups of a blocking one): a count that grows is no news. More groups alone make a passive message, since
// an acknowledgement covers them. The message of an item that was cleared before its delivery is withdrawn. Text of the
// game is data of the message, which steer quotes.
//
// The package has no clock, no goroutine and no I/O.
package attention

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/internal/text"
)

// Author is the author of the messages, which an adapter's verifier knows as steer.Attention.
const Author = "heed"

// The bounds of a message's data, in samples and in characters of each.
const (
	maxSamples = 3
	maxSample  = 600
)

// message returns the message for an open item. brief is the text of a brief about it, which replaces its summary and
// samples, "" for none; its data is quoted already.
func message(item *coalesce.Item, brief string) steer.Message {
	m := steer.Message{
		Author: Author, Topic: item.ID, Revision: revision(item), Text: brief,
		Rides: !item.Blocking, Invalid: item.StateInvalidated, Through: item.LatestSequence,
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

// revision identifies the news of an item.
func revision(item *coalesce.Item) string {
	r := fmt.Sprintf("blocking=%t severity=%s invalid=%t", item.Blocking, item.Severity, item.StateInvalidated)
	if item.Blocking {
		r += fmt.Sprintf("%s%.0e", groups, float64(item.Groups)) // in one digit: a flood of groups is no flood of news
	}
	return r
}

// groups begins the part of a revision that stops no turn.
const groups = " groups="

// Acknowledged returns the message for an item that a person or another consumer acknowledged: it opened the gate, and
// the agent does not know that. by is who did, in words of the adapter. name is the consumer's, which is data; "" for
// none.
func Acknowledged(item *coalesce.Item, by, name string, at time.Time) steer.Message {
	m := steer.Message{
		Author: Author, Topic: item.ID, Revision: "acknowledged", Rides: true,
		Text: fmt.Sprintf("Item %s was acknowledged by %s at %s. The game's state may have changed meanwhile: read it again.",
			item.ID, by, at.UTC().Format(time.RFC3339)),
	}
	if name != "" {
		m.Data = []string{text.Safe(name, maxSample)}
	}
	return m
}

// Feed gives the items of an engine to the machine of one conversation. It is for the goroutine of the machine.
type Feed struct {
	// Brief makes the text of a message, and Next says in a line how the agent acknowledges an item that blocks. Both are
	// optional; see Message.
	Brief, Next func(item *coalesce.Item) string

	machine *steer.Machine
	offered map[string]string // revisions of open items, by id
}

// NewFeed returns a feed for a machine.
func NewFeed(m *steer.Machine) *Feed { return &Feed{machine: m, offered: map[string]string{}} }

// Update gives the machine an update, and returns the adapter's next step. A cleared item is withdrawn; an unchanged
// revision is no news.
func (f *Feed) Update(now time.Time, u *coalesce.Update) steer.Action {
	item := &u.Item
	if u.Kind == coalesce.Cleared {
		f.cleared(item.ID)
		return steer.Action{}
	}
	if f.offered[item.ID] == revision(item) {
		return steer.Action{}
	}
	return f.offer(now, item)
}

// Open gives the machine all open items, and returns the adapter's next step. Items that are open no more are
// withdrawn. An item that was news before is passive in this turn, if it was not sent in it, and begins none.
func (f *Feed) Open(now time.Time, open []coalesce.Item) (last steer.Action) {
	for id := range f.offered {
		if !slices.ContainsFunc(open, func(a coalesce.Item) bool { return a.ID == id }) {
			f.cleared(id)
		}
	}
	for i := range open {
		if a := f.offer(now, &open[i]); a.Do != steer.Nothing {
			last = a
		}
	}
	return last
}

// News returns the open items for which Open would make a message.
func (f *Feed) News(open []coalesce.Item) (news []*coalesce.Item) {
	for i := range open {
		if item := &open[i]; !f.machine.Knows(item.ID, revision(item)) && !f.idles(item) {
			news = append(news, item)
		}
	}
	return news
}

// idles reports whether an item was news before, and there is no turn for its message.
func (f *Feed) idles(item *coalesce.Item) bool {
	return f.offered[item.ID] == revision(item) && f.machine.State().Phase == steer.Idle
}

func (f *Feed) cleared(id string) {
	delete(f.offered, id)
	f.machine.Withdraw(id)
}

// told returns the revision of an item that was sent last in this turn, maybe by a process before, "" for none.
func (f *Feed) told(id string) (revision string) {
	for _, sent := range f.machine.State().Told {
		if topic, r, _ := strings.Cut(sent, "\x00"); topic == id {
			revision = r
		}
	}
	return revision
}

func (f *Feed) offer(now time.Time, item *coalesce.Item) steer.Action {
	if f.machine.Knows(item.ID, revision(item)) {
		f.offered[item.ID] = revision(item)
		return steer.Action{}
	}
	if f.idles(item) {
		return steer.Action{}
	}
	brief := ""
	if f.Brief != nil {
		brief = f.Brief(item)
	}
	msg := message(item, brief)
	if item.Blocking && f.Next != nil {
		msg.Text += "\n" + f.Next(item)
	}
	was := cmp.Or(f.offered[item.ID], f.told(item.ID))
	stop, _, _ := strings.Cut(msg.Revision, groups)
	msg.Rides, msg.First = msg.Rides || strings.HasPrefix(was, stop+groups), !strings.HasPrefix(was, "blocking=true")
	for _, waits := range f.machine.State().Pending { // a stop that is not sent yet is of the message in its place
		if waits.Topic == msg.Topic && !waits.Rides {
			msg.Rides, msg.First = !item.Blocking, waits.First
		}
	}
	receipt, a := f.machine.Receive(now, msg)
	if receipt != steer.Full { // else it is offered again
		f.offered[item.ID] = msg.Revision
	}
	return a
}
