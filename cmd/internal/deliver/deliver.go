package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/agent/steer/attention"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// User is the author of the requests of the person that the agent works for: the owner.
const User = "user"

// Config sets up a [Conversation].
type Config struct {
	Policy  steer.Policy // which is valid
	Ceiling steer.Ceiling

	// State is the state of the conversation when its process ended. The zero State begins one. With Resume, the process
	// ended between two events, and the turn continues.
	State  steer.State
	Resume bool
	// Keep keeps the state before the next action. An error is logged, and nothing is held back for it. Optional.
	Keep func(steer.State) error
	// Act carries out an action of the machine, if the adapter can act. It is called in order, with the lock held: it must
	// not block, and not call the Conversation. Optional.
	Act func(steer.Action)

	// Heed has the open items: a [gabp.Client]. Required.
	Heed Heed
	// Agent is the name under which the agent itself acknowledges, which is no news to it. "" is an unknown name: then all
	// consumers that are no persons are the agent.
	Agent string
	// Caller is the name of the agent in the reports of its calls.
	Caller string
	// BriefTokens is the budget of the brief about an item; with 0, messages have no text of the game.
	BriefTokens int
	// Way names the calls of heed that the agent has. Required.
	Way way.Way

	Now func() time.Time // required
	Log *slog.Logger     // required
}

// Heed answers calls of heed's methods, as [gabp.Client.Call] does.
type Heed interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Conversation is one with an agent. Make one with [New].
type Conversation struct {
	cfg Config

	looking sync.Mutex // one look at a time
	mu      sync.Mutex
	machine *steer.Machine
	feed    *attention.Feed
	kept    []byte // the state, as it was kept last
	timer   *time.Timer
}

// verified knows the user and heed. Adapters pass on no messages of others.
func verified(author string) steer.Class {
	return map[string]steer.Class{User: steer.Owner, attention.Author: steer.Attention}[author]
}

// New returns a conversation, by a policy that is valid. A restored one sends its waiting messages.
func New(cfg Config) *Conversation {
	begin := steer.Restore
	if cfg.Resume {
		begin = steer.Resume
	}
	m, err := begin(cfg.Policy, cfg.Ceiling, verified, cfg.State)
	if err != nil {
		panic("BUG: deliver: " + err.Error())
	}
	c := &Conversation{cfg: cfg, machine: m, feed: attention.NewFeed(m)}
	c.feed.Next = cfg.Way.Next
	if !cfg.Resume {
		c.Do((*steer.Machine).Ready)
	}
	return c
}

// Do calls f with the machine and the time. The state is kept before the action that f returns, and the clock is set
// after it.
func (c *Conversation) Do(f func(m *steer.Machine, now time.Time) steer.Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := f(c.machine, c.cfg.Now())
	if c.cfg.Keep != nil {
		state := c.machine.State()
		if now, err := json.Marshal(state); err != nil || !bytes.Equal(now, c.kept) {
			c.kept = now
			if err := c.cfg.Keep(state); err != nil {
				c.cfg.Log.Error("what is to be delivered is not on disk", "error", err)
			}
		}
	}
	if a.Do != steer.Nothing && c.cfg.Act != nil {
		c.cfg.Act(a)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	if at := c.machine.Deadline(); !at.IsZero() && c.cfg.Act != nil {
		c.timer = time.AfterFunc(max(0, at.Sub(c.cfg.Now())), func() { c.Do((*steer.Machine).Ready) })
	}
}

// briefWithin bounds a brief in time. Without one, the item's summary is sent.
const briefWithin = time.Second

// Look reads the open items, and the acknowledgements of others since the last look.
func (c *Conversation) Look(ctx context.Context) error {
	c.looking.Lock()
	defer c.looking.Unlock()
	var items bridge.Items
	if err := c.ask(ctx, bridge.ToolItems, struct{}{}, &items); err != nil {
		return err
	}
	open := make([]heed.Item, len(items.Items))
	for i := range items.Items {
		open[i] = items.Items[i].Item
	}
	if items.Behind != "" {
		// Only attention/current has an item that says so.
		c.cfg.Log.Warn("the heed is behind", "because", items.Behind)
	}
	var source string
	var news []*heed.Item
	c.Do(func(m *steer.Machine, _ time.Time) steer.Action {
		source, news = m.State().Notes[cursorNote], c.feed.News(open)
		return steer.Action{}
	})
	acks, source, err := c.acks(ctx, source)
	if err != nil {
		return err
	}
	briefs := c.brief(ctx, news)
	c.Do(func(m *steer.Machine, now time.Time) (last steer.Action) {
		m.Note(cursorNote, source)
		c.feed.Brief = func(item *heed.Item) string { return briefs[item.ID] }
		last = c.feed.Open(now, open)
		for _, msg := range acks { // after items that are open no more are withdrawn
			m.Receive(now, msg)
		}
		return last
	})
	return nil
}

// Offer looks, and returns the text that the agent is to read now, "" for none. If the look fails, Offer returns its
// error and the messages from before.
func (c *Conversation) Offer(ctx context.Context) (text string, err error) {
	batch, err := c.next(ctx)
	return steer.Render(batch), err
}

// Refuse returns the text in place of the result of a call that r is about, with all else that Offer would return.
func (c *Conversation) Refuse(ctx context.Context, r way.Refusal) (string, error) {
	batch, err := c.next(ctx)
	for _, msg := range batch.Messages { // copies: the batch is part of the machine's state
		if r.Item != nil && msg.Topic == r.Item.ID && msg.Through > 0 {
			r.Told = msg.Text
		} else {
			if msg.Rides && msg.Through > 0 && len(msg.Data) == 0 {
				msg.Text, _, _ = strings.Cut(msg.Text, "\n")
			}
			r.Rest = append(r.Rest, steer.Render(steer.Batch{Messages: []steer.Message{msg}, Rides: true}))
		}
	}
	return c.cfg.Way.Refuse(r), err
}

// maxTool bounds the name of a tool, in characters.
const maxTool = 80

// next looks, and returns the batch for the next result.
func (c *Conversation) next(ctx context.Context) (batch steer.Batch, err error) {
	err = c.Look(ctx)
	c.Do(func(m *steer.Machine, _ time.Time) steer.Action {
		batch = m.Ride()
		return steer.Action{}
	})
	return batch, err
}

// Report reports the start or the end of a call to the heed. The verdicts in its answer are passive messages.
func (c *Conversation) Report(ctx context.Context, call bridge.Call) error {
	call.Agent = c.cfg.Caller
	var verdicts []heed.Verdict
	if err := c.cfg.Heed.Call(ctx, bridge.MethodCall, call, &verdicts); err != nil {
		return err
	}
	c.Do(func(m *steer.Machine, now time.Time) (last steer.Action) {
		for _, v := range verdicts {
			if _, a := m.Receive(now, steer.Message{
				Author: attention.Author, Topic: "call of " + v.Method, Revision: v.Operation, Rides: true,
				Text: fmt.Sprintf("Outcome of the call %s: %s. %s", text.Safe(v.Method, maxTool), v.Outcome, v.Text),
			}); a.Do != steer.Nothing {
				last = a
			}
		}
		return last
	})
	return nil
}

// Unchecked says, after its name, that a heed was lost.
const Unchecked = " does not answer any more: faults of its game are not seen, and calls to it are not checked"

// Lost makes a message of the loss of a heed, which stops a turn unless it is passive.
func (c *Conversation) Lost(who string, passive bool) {
	c.Do(func(m *steer.Machine, now time.Time) steer.Action {
		_, a := m.Receive(now, steer.Message{
			Author: attention.Author, Topic: "heed", Revision: now.String(), Rides: passive, Text: who + Unchecked + ".",
		})
		return a
	})
}

// Confirm records that the agent has read all batches, and returns their messages.
func Confirm(m *steer.Machine) (read []steer.Message) {
	for _, b := range slices.Clone(m.State().Sent) {
		read = append(read, m.Confirm(b.Delivery)...)
	}
	return read
}

// brief returns briefs about items.
func (c *Conversation) brief(ctx context.Context, news []*heed.Item) map[string]string {
	briefs := map[string]string{}
	if c.cfg.BriefTokens == 0 {
		return briefs
	}
	ctx, cancel := context.WithTimeout(ctx, briefWithin)
	defer cancel()
	for _, item := range news {
		var b bridge.Brief
		tokens := c.cfg.BriefTokens
		if item.Groups > 1 { // of the further ones the head has a line each, if the brief has room for them
			tokens = min(2*tokens, bridge.MaxBriefTokens)
		}
		err := c.ask(ctx, bridge.ToolBrief, map[string]any{"id": item.ID, "tokens": tokens}, &b)
		if err != nil {
			c.cfg.Log.Debug("an item is told without a brief", "item", item.ID, "error", err)
		}
		briefs[item.ID] = way.Head(item, &b.Context)
	}
	return briefs
}

// cursorNote is the note of how far acknowledgements were read.
const cursorNote = "acknowledgements"

// maxAcks bounds the acknowledgements that one look reads.
const maxAcks = 50

// acks returns messages about the acknowledgements of others after a cursor, and the next cursor. Without a cursor, or
// with a cursor of another process of heed, there are none.
func (c *Conversation) acks(ctx context.Context, after string) (list []steer.Message, next string, err error) {
	arguments := map[string]any{"kinds": []session.EventKind{session.Acknowledged}, "limit": maxAcks}
	if after != "" {
		arguments["after"] = after
	}
	var t bridge.Timeline
	err = c.ask(ctx, bridge.ToolTimeline, arguments, &t)
	if refused, ok := errors.AsType[*gabp.Error](err); ok && after != "" && refused.Code == gabp.CodeInvalidParams {
		return c.acks(ctx, "")
	}
	if err != nil || after == "" {
		return nil, t.Next, err
	}
	for i := range t.Events {
		e := &t.Events[i]
		if !c.mine(e.Consumer) {
			item := heed.Item{ID: e.Attention}
			by, name := "another agent, whose name is below,", e.Consumer
			if session.Person(name) {
				by, name = "a person", ""
			}
			msg := attention.Acknowledged(&item, by, name, e.Time)
			msg.Text += " To see it: " + c.cfg.Way.Look(&item) + "."
			list = append(list, msg)
		}
	}
	return list, t.Next, nil
}

// mine reports whether a consumer is the agent of this conversation.
func (c *Conversation) mine(consumer string) bool {
	return consumer == c.cfg.Agent || c.cfg.Agent == "" && !session.Person(consumer)
}

// ask calls a tool of heed.
func (c *Conversation) ask(ctx context.Context, tool string, arguments, result any) error {
	call := gabp.ToolCall{Name: tool, Arguments: bridge.Encode(arguments)}
	return c.cfg.Heed.Call(ctx, gabp.MethodToolsCall, call, result)
}

// Watch calls look at once, and whenever attention changes at a heed, until ctx is done, the client ends, or look
// returns an error, which it returns.
func Watch(ctx context.Context, client *gabp.Client, look func(context.Context) error) error {
	changed := make(chan struct{}, 1)
	change := func(gabp.Event) {
		select {
		case changed <- struct{}{}:
		default: // a look is due
		}
	}
	channels := []string{gabp.ChannelOpened, gabp.ChannelUpdated, gabp.ChannelCleared}
	known, err := client.Events(ctx, channels, change)
	if err != nil {
		return err
	}
	if !slices.Contains(known, gabp.ChannelOpened) {
		return fmt.Errorf("this heed sends no %s: attention is left to the mod", strings.Join(channels, ", "))
	}
	change(gabp.Event{}) // for the items that are open already
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-client.Done():
			return client.Err()
		case <-changed:
			if err := look(ctx); err != nil {
				return err
			}
		}
	}
}

// State returns the state, which is read only.
func (c *Conversation) State() steer.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.machine.State()
}
