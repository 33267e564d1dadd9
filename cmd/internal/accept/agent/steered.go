package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/agent/steer/attention"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/gabp"
)

// observer is the name of the connection that events come by: it is no agent's.
const observer = "heed-cli"

// briefTokens is the budget of a brief.
const briefTokens = 600

// conversation is the agent's turn as an adapter sees it that can cancel it and prompt again. It is for the goroutine
// of the agent. A turn is a step.
type conversation struct {
	machine *steer.Machine
	feed    *attention.Feed
	events  chan coalesce.Update
	next    steer.Action
	settle  func() // waits until all events so far are in the channel, if it can
}

// verified admits attention, and the owner who asks for steps.
func verified(author string) steer.Class {
	if author == attention.Author {
		return steer.Attention
	}
	return steer.Owner
}

// converse returns a conversation that is fed by the events of a connection of its own.
func converse(ctx context.Context, client *gabp.Client, policy string, settle func()) (*conversation, error) {
	m, err := steer.New(steer.Policy{}, steer.Ceiling{Cancel: true}, verified)
	if err != nil {
		return nil, err
	}
	feed := attention.NewFeed(m)
	if policy == policyBrief {
		feed.Brief = func(item *coalesce.Item) string {
			raw, _ := client.CallTool(ctx, "heed/brief", map[string]any{"id": item.ID, "tokens": briefTokens})
			var b struct{ Text string }
			_ = json.Unmarshal(raw, &b)
			return b.Text // "" if there is none: its summary then
		}
	}
	c := &conversation{
		machine: m, feed: feed, events: make(chan coalesce.Update, 256), settle: settle,
	}
	kinds := map[string]string{
		gabp.ChannelOpened: coalesce.Opened, gabp.ChannelUpdated: coalesce.Updated, gabp.ChannelCleared: coalesce.Cleared,
	}
	got, err := client.Events(ctx, []string{gabp.ChannelOpened, gabp.ChannelUpdated, gabp.ChannelCleared},
		func(e gabp.Event) {
			item, err := gabp.ParseAttention(e.Payload)
			if err != nil {
				return
			}
			select {
			case c.events <- coalesce.Update{Kind: kinds[e.Channel], Item: item}:
			case <-ctx.Done():
			}
		})
	if err == nil && len(got) != len(kinds) {
		err = errors.New("the game sends no events of attention")
	}
	return c, err
}

// shown reports that the agent has an item by the game's gate, so that it is no news.
func (c *conversation) shown(item *heed.Item) {
	c.machine.CallBegan("gate") // it stops no turn
	c.feed.Update(time.Now(), &coalesce.Update{Kind: coalesce.Opened, Item: *item})
	c.machine.Withdraw(item.ID)
	c.do(c.machine.CallEnded(time.Now(), "gate"))
}

// do keeps an action for the next wait.
func (c *conversation) do(act steer.Action) {
	if act.Do != steer.Nothing {
		c.next = act
	}
}

// wait waits until done, or until the machine stops the turn: then it returns the prompt.
func wait[T any](c *conversation, done <-chan T) (prompt *steer.Batch) {
	act := c.next
	c.next = steer.Action{}
	if act.Do == steer.Nothing {
		act = c.machine.Ready(time.Now())
	}
	for {
		if act.Do == steer.Cancel {
			act = c.machine.Ended(true)
		}
		if act.Do == steer.Prompt {
			return &act.Batch
		}
		var deadline <-chan time.Time
		if d := time.Until(c.machine.Deadline()); d > 0 {
			deadline = time.After(d)
		}
		select {
		case <-done:
			return nil
		case u := <-c.events:
			act = c.feed.Update(time.Now(), &u)
		case <-deadline:
			act = c.machine.Ready(time.Now())
		}
	}
}

// prompts reports whether the end of the turn leads to a prompt.
func (c *conversation) prompts() bool {
	return slices.ContainsFunc(c.machine.State().Pending, func(m steer.Message) bool { return !m.Rides })
}

// drain takes the events that are there.
func (c *conversation) drain() {
	c.settle()
	for {
		select {
		case u := <-c.events:
			c.do(c.feed.Update(time.Now(), &u))
		default:
			return
		}
	}
}

// pause thinks. A turn that is stopped is paid for again: the agent turns to what stopped it, and thinks once more.
func (a *agent) pause(ctx context.Context) error {
	for {
		think := a.think.next(a.random)
		if a.talk == nil {
			time.Sleep(think)
			return nil
		}
		began := time.Now()
		timer := time.NewTimer(think)
		prompt := wait(a.talk, timer.C)
		timer.Stop()
		if prompt == nil {
			return nil
		}
		a.tally[canceled] += int(time.Since(began))
		if err := a.steered(ctx, prompt); err != nil {
			return err
		}
	}
}

// call calls a tool of the game. It returns false if the turn was stopped during the call, after the agent has handled
// the stop: the call continues in the game, and its result is lost.
func (a *agent) call(ctx context.Context, tool string, args any) (json.RawMessage, bool, error) {
	call := a.client.CallTool
	if a.by != nil {
		call = a.by.call
	}
	if a.talk == nil {
		raw, err := call(ctx, tool, args)
		return raw, true, err
	}
	var raw json.RawMessage
	var err error
	done := make(chan struct{})
	a.calls++
	id := fmt.Sprint(a.calls)
	a.talk.machine.CallBegan(id)
	a.inFlight.Go(func() {
		defer close(done)
		raw, err = call(ctx, tool, args)
	})
	if prompt := wait(a.talk, done); prompt != nil {
		a.tally[unknown]++
		a.trace("  stopped during %s", tool)
		return nil, false, a.steered(ctx, prompt)
	}
	a.talk.drain()
	shown := raw
	if refused, ok := errors.AsType[*gabp.Error](err); ok {
		shown = refused.Data
	}
	if res, err := parseResult(shown); err == nil && res.item != nil {
		a.talk.shown(res.item)
	}
	a.talk.do(a.talk.machine.CallEnded(time.Now(), id))
	return raw, true, err
}

// turn ends the turn, and begins one with a step.
func (a *agent) turn(ctx context.Context, step int) error {
	if a.talk == nil {
		return nil
	}
	c := a.talk
	if c.next.Do == steer.Cancel { // its end is one by itself
		c.next = steer.Action{Do: steer.Prompt, Batch: c.machine.Ended(true).Batch}
	} else {
		c.do(c.machine.Ended(false))
	}
	for c.next.Do == steer.Prompt {
		b := c.next.Batch
		c.next = steer.Action{}
		if err := a.steered(ctx, &b); err != nil {
			return err
		}
		c.do(c.machine.Ended(false))
	}
	b := c.machine.Begin(steer.Message{Author: "user", Text: fmt.Sprintf("Build step %d.", step)})
	if b.Delivery == 0 {
		return nil
	}
	a.tally[bytesGiven] += len(steer.Render(b))
	known := blocking(c.machine.Confirm(b.Delivery))
	if len(known) == 0 {
		return nil
	}
	if err := a.pause(ctx); err != nil {
		return err
	}
	return a.handle(ctx, known, forSteer)
}

// blocking returns the items in messages that are not passive, with the entry up to which each is known.
func blocking(messages []steer.Message) map[string]uint64 {
	known := map[string]uint64{}
	for _, msg := range messages {
		if msg.Author == attention.Author && !msg.Rides {
			known[msg.Topic] = msg.Through
		}
	}
	return known
}

// steered handles a prompt: look, acknowledge, read the state again. If the agent is stopped once more before it acts,
// the new prompt has all messages of this one.
func (a *agent) steered(ctx context.Context, b *steer.Batch) error {
	a.tally[bytesGiven] += len(steer.Render(*b))
	a.tally[steers]++
	a.trace("  steered: %d messages", len(b.Messages))
	if err := a.pause(ctx); err != nil {
		return err
	}
	known := blocking(a.talk.machine.Confirm(b.Delivery))
	if len(known) == 0 && b.Unknown == 0 {
		a.tally[falseSteers]++ // it is no news any more
		return nil
	}
	return a.handle(ctx, known, forSteer)
}
