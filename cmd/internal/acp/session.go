package acp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/deliver"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// session is a steered session of the agent.
type session struct {
	proxy        *proxy
	id           string
	conversation Conversation

	turn *turn // nil where the agent has none

	open  []*request // prompts of the editor that the machine knows and that are not answered
	queue []*request // prompts that come after the turn that a person stopped, or that the machine did not take

	blocks map[uint64][]jsontext.Value // of prompts, by the number of their message

	finished []string // the latest tool calls that were finished for the open prompts
	left     int      // how many before them are left out

	runID  string // of goose
	refuse bool   // the agent refused an injection
}

// call is an open tool call.
type call struct {
	title, kind string
	begun       chan struct{} // of a call of the game: closed when its start was reported
}

// ending is who has canceled a turn.
type ending int

const (
	notCanceled ending = iota
	byProxy            // to prompt again
	byPerson
)

// turn is a prompt that the agent has not answered.
type turn struct {
	request   *request // nil for one of the proxy
	delivery  uint64   // of the batch that it carries, 0 for none
	confirmed bool
	ending    ending
	calls     map[string]*call // that are open
}

// machine calls f with the machine, which decides nothing by it.
func (s *session) machine(f func(m *steer.Machine)) {
	s.conversation.Do(func(m *steer.Machine, _ time.Time) steer.Action {
		f(m)
		return steer.Action{}
	})
}

// act carries out an action of the machine.
func (s *session) act(a steer.Action) {
	switch a.Do {
	case steer.Cancel:
		s.cancel()
	case steer.Inject:
		s.inject(a.Batch)
	case steer.Prompt:
		s.prompt(a.Batch)
	}
}

// ceiling returns the actions that the machine may choose.
func (s *session) ceiling() steer.Ceiling {
	return steer.Ceiling{Inject: s.injection() != "", Cancel: true, Hosted: !s.proxy.PromptIdle}
}

// take gives the machine a prompt.
func (s *session) take(r *request) {
	if s.turn != nil && s.turn.ending == byPerson {
		s.queue = append(s.queue, r)
		return
	}
	words, _ := split(r.params.Prompt)
	if len(words) > maxRequest {
		words = words[:text.Prefix(words, maxRequest)] + " […]"
	}
	var batch steer.Batch
	begins, held := false, false
	s.conversation.Do(func(m *steer.Machine, now time.Time) steer.Action {
		state := m.State()
		r.message = state.Last + 1
		msg := steer.Message{Author: deliver.User, Class: steer.Owner, Topic: r.topic(), Text: words}
		switch {
		case state.Phase == steer.Canceling:
			m.Begin(msg)
		case state.Phase == steer.Working:
			receipt, a := m.Receive(now, msg)
			held = receipt != steer.Accepted
			return a
		case s.turn != nil:
			held = true
		default:
			batch, begins = m.Begin(msg), true
		}
		return steer.Action{}
	})
	if held {
		s.queue = append(s.queue, r)
		return
	}
	s.open = append(s.open, r)
	s.blocks[r.message] = r.params.Prompt
	if begins {
		s.finished, s.left = nil, 0
		s.begin(r, batch)
	}
}

// begin sends a prompt of the editor, as it came if the batch is none.
func (s *session) begin(r *request, b steer.Batch) {
	r.carried = true
	t := &turn{request: r, delivery: b.Delivery, calls: map[string]*call{}}
	s.turn = t
	s.proxy.answers[jsonrpc.Key(r.ID)] = func(m message, line []byte) { s.ended(t, m, line) }
	prompt := r.line
	if b.Delivery != 0 {
		params := r.params
		params.Prompt = slices.Concat(params.Prompt, s.content(b))
		prompt = message{ID: r.ID, Method: r.Method, Params: write(params)}.Line()
	}
	r.line = nil
	s.proxy.agent.Write(prompt)
}

// content returns a batch as content blocks: the earlier requests with their own blocks, if they are known, then the
// rendered messages, then the blocks of messages that are no text.
func (s *session) content(b steer.Batch) []jsontext.Value {
	var blocks, others []jsontext.Value
	known := func(msg steer.Message) bool { return s.blocks[msg.ID] != nil }
	if len(b.Working) > 0 && !slices.ContainsFunc(b.Working, func(msg steer.Message) bool { return !known(msg) }) {
		heading := steer.Render(steer.Batch{Working: []steer.Message{{}}})
		blocks = append(blocks, block(strings.TrimSpace(heading)))
		for _, msg := range b.Working {
			blocks = append(blocks, s.blocks[msg.ID]...)
		}
		b.Working = nil
	}
	blocks = append(blocks, block(steer.Render(b)))
	if b.Prompts && b.Reason != "" && len(s.finished) > 0 {
		blocks = append(blocks, block(s.done()))
	}
	for _, msg := range slices.Concat(b.Working, b.Messages) {
		words, own := split(s.blocks[msg.ID])
		if len(words) > maxRequest {
			own = s.blocks[msg.ID]
		}
		others = append(others, own...)
	}
	return append(blocks, others...)
}

// The bounds of the finished calls that a prompt lists: how many, and the characters of a title.
const (
	maxFinished = 20
	maxTitle    = 120
)

// done returns the list of the calls that were finished before the turn was canceled.
func (s *session) done() string {
	lines := []string{"These calls were finished before you were stopped. Do not repeat them without looking:"}
	if s.left > 0 {
		lines = append(lines, fmt.Sprintf("(%d earlier ones are left out)", s.left))
	}
	return strings.Join(append(lines, s.finished...), "\n")
}

// prompt begins a turn, or continues the editor's, unless that is not possible any more.
func (s *session) prompt(b steer.Batch) {
	sends := false
	var next steer.Action
	s.conversation.Do(func(m *steer.Machine, now time.Time) steer.Action {
		sends = s.turn == nil && (len(s.open) > 0 || s.proxy.PromptIdle) && m.State().Turn == b.Turn
		if !sends {
			next = m.Fail(now, b.Delivery)
		}
		return next
	})
	if !sends {
		s.next(next)
		return
	}
	s.carries(b)
	t := &turn{delivery: b.Delivery, calls: map[string]*call{}}
	s.turn = t
	params := promptParams{SessionID: s.id, Prompt: s.content(b)}
	s.proxy.ask(methodPrompt, params, func(m message, line []byte) { s.ended(t, m, line) })
}

// carries notes that the agent has the open prompts among the messages of a batch.
func (s *session) carries(b steer.Batch) {
	for _, r := range s.open {
		is := func(msg steer.Message) bool { return msg.ID == r.message }
		r.carried = r.carried || slices.ContainsFunc(b.Messages, is)
	}
}

// cancel cancels the turn, unless it has ended. Permissions that the agent asked for in it are answered.
func (s *session) cancel() {
	still := false
	s.machine(func(m *steer.Machine) { still = m.State().Phase == steer.Canceling })
	if !still || s.turn == nil || s.turn.ending != notCanceled {
		return
	}
	s.turn.ending = byProxy
	s.proxy.agent.Write(message{Method: methodCancel, Params: write(promptParams{SessionID: s.id})}.Line())
	for _, w := range s.proxy.wanted {
		if w.session == s.id && !w.answered {
			w.answered = true
			s.proxy.agent.Write(message{ID: w.id, Result: permissionCanceled}.Line())
		}
	}
}

// stop takes note that a person stops the turn. Waiting prompts are not sent.
func (s *session) stop() {
	for _, r := range s.queue {
		s.proxy.answer(r, canceled())
	}
	s.queue = nil
	if s.turn != nil {
		s.turn.ending = byPerson
		return
	}
	s.machine(s.stopMachine)
	s.answerOpen(canceled(), nil, func(*request) bool { return true })
}

// stopMachine stops the machine's turn, if there is one, and withdraws the person's own words that the agent has not.
func (s *session) stopMachine(m *steer.Machine) {
	for _, r := range s.open {
		if !r.carried {
			m.Withdraw(r.topic())
		}
	}
	if m.State().Phase != steer.Idle {
		m.Stop()
	}
}

// ended handles the agent's answer to a prompt.
func (s *session) ended(t *turn, m message, line []byte) {
	var result promptResult
	jsonrpc.Read(m.Result, &result)
	failed := m.Error != nil
	left := failed || result.StopReason == stopCanceled // an agent may answer a canceled prompt with an error
	again := t.ending == byProxy && left
	retries := !again && failed && t.request == nil && !t.confirmed
	s.turn = nil

	next := s.decide(t, failed, again, retries)
	s.leave(t.calls, left, again)
	waits := func(r *request) bool { return !r.carried }
	if t.ending == byPerson {
		s.answerOpen(canceled(), nil, waits)
	}
	switch {
	case again:
	case failed && next.Do != steer.Prompt:
		s.answerOpen(m, line, func(*request) bool { return true })
	case failed && !retries, next.Do != steer.Prompt, !failed && slices.ContainsFunc(s.open, waits):
		s.answerOpen(m, line, func(r *request) bool { return !waits(r) })
	}
	s.next(next)
}

// decide reports the end of a turn to the machine, and returns its next action.
func (s *session) decide(t *turn, failed, again, retries bool) (next steer.Action) {
	s.conversation.Do(func(m *steer.Machine, now time.Time) steer.Action {
		if !failed && !again {
			m.Confirm(t.delivery)
		}
		switch {
		case t.ending == byPerson:
			s.stopMachine(m)
		case retries:
			next = m.Fail(now, t.delivery)
		default:
			next = m.Ended(again)
		}
		s.forget(m)
		return next
	})
	if failed && !again && t.delivery != 0 { // nothing, where the machine knows it
		s.conversation.Do(func(m *steer.Machine, now time.Time) steer.Action { return m.Fail(now, t.delivery) })
	}
	return next
}

// leave ends the calls that are open at the end of a turn: an agent ends a turn in order when all are answered. If the
// proxy has canceled the turn, the editor sees that they have ended.
func (s *session) leave(calls map[string]*call, left, canceled bool) {
	status := event.StatusCompleted
	if left {
		status = event.StatusCancelled
	}
	for id, c := range calls {
		s.callEnds(id, c, status)
		if canceled {
			s.proxy.editor.Write(message{Method: methodUpdate, Params: write(updateParams{
				SessionID: s.id, Update: write(update{Kind: "tool_call_update", CallID: id, Status: "failed"}),
			})}.Line())
		}
	}
}

// next begins a waiting prompt, unless the machine continues. Open prompts that the agent does not have get a turn of
// their own.
func (s *session) next(a steer.Action) {
	if a.Do != steer.Nothing || s.turn != nil {
		return
	}
	var waiting []*request
	s.machine(func(m *steer.Machine) {
		s.open = slices.DeleteFunc(s.open, func(r *request) bool {
			if r.carried || !m.Withdraw(r.topic()) {
				return false
			}
			waiting = append(waiting, r)
			return true
		})
	})
	s.queue = append(waiting, s.queue...)
	if len(s.queue) > 0 {
		r := s.queue[0]
		s.queue = s.queue[1:]
		s.take(r)
	}
}

// answerOpen answers the open prompts that match with a response of the agent, which is passed on as it came to the
// request that it answers.
func (s *session) answerOpen(m message, line []byte, match func(*request) bool) {
	s.open = slices.DeleteFunc(s.open, func(r *request) bool {
		switch {
		case !match(r):
			return false
		case line != nil && jsonrpc.Key(m.ID) == jsonrpc.Key(r.ID):
			s.proxy.asked.Take(r.ID)
			s.proxy.editor.Write(line)
		default:
			s.proxy.answer(r, m)
		}
		return true
	})
}

// forget drops the content of prompts that the machine does not know any more.
func (s *session) forget(m *steer.Machine) {
	state := m.State()
	all := slices.Concat(state.Working, state.Pending)
	for _, b := range state.Sent {
		all = slices.Concat(all, b.Working, b.Messages)
	}
	for id := range s.blocks {
		if !slices.ContainsFunc(all, func(msg steer.Message) bool { return msg.ID == id }) {
			delete(s.blocks, id)
		}
	}
}

// inject adds a batch to the turn.
func (s *session) inject(b steer.Batch) {
	method := s.injection()
	if method == "" || s.turn == nil {
		s.settle(b, noTurn)
		return
	}
	params := promptParams{SessionID: s.id, RunID: s.runID, Prompt: s.content(b)}
	if method == methodSteering {
		params.Meta = jsontext.Value(`{"steering":{"idleBehavior":"promptRequired"}}`)
	}
	s.proxy.ask(method, params, func(m message, _ []byte) {
		o := outcomeOf(m)
		s.refuse = s.refuse || o == refused
		s.settle(b, o)
	})
}

// settle reports the fate of an injection to the machine. The turn may have ended before.
func (s *session) settle(b steer.Batch, o outcome) {
	var next steer.Action
	idle := false
	s.conversation.Do(func(m *steer.Machine, now time.Time) steer.Action {
		if o == taken {
			m.Confirm(b.Delivery)
		} else {
			next = m.Refused(now, b.Delivery)
			m.SetCeiling(s.ceiling())
		}
		idle = m.State().Phase == steer.Idle
		return next
	})
	if o == taken {
		s.carries(b)
	}
	if idle {
		s.answerOpen(message{Result: write(promptResult{stopEnd})}, nil, func(r *request) bool { return r.carried })
	}
	s.next(next)
}

// update takes note of an update of the agent.
func (s *session) update(data jsontext.Value) {
	var u update
	if !jsonrpc.Read(data, &u) {
		return
	}
	if run := u.Meta.Goose.RunID; run != nil {
		s.runID = ""
		jsonrpc.Read(run, &s.runID)
		s.machine(func(m *steer.Machine) { m.SetCeiling(s.ceiling()) })
	}
	t := s.turn
	if t == nil {
		return
	}
	switch u.Kind {
	case "agent_message_chunk", "agent_thought_chunk", "tool_call", "plan", "plan_update":
		if t.delivery != 0 && !t.confirmed {
			t.confirmed = true
			s.machine(func(m *steer.Machine) { m.Confirm(t.delivery) })
		}
	}
	if u.CallID != "" && (u.Kind == "tool_call" || u.Kind == "tool_call_update") {
		s.call(&u)
	}
}

// call takes note of a tool call.
func (s *session) call(u *update) {
	open := s.turn.calls
	c := open[u.CallID]
	title := cmp.Or(u.Name, u.Title)
	status, _ := event.Parse[event.Status](u.Status)
	switch {
	case status.Ended():
		delete(open, u.CallID)
		s.callEnds(u.CallID, c, status)
		if c != nil {
			title = cmp.Or(c.title, title)
		}
		if title == "" { // it had ended
			return
		}
		s.finished = append(s.finished, steer.Quote+text.Safe(title, maxTitle)+" ("+u.Status+")")
		if extra := len(s.finished) - maxFinished; extra > 0 {
			s.finished, s.left = slices.Delete(s.finished, 0, extra), s.left+extra
		}
		return
	case c == nil && len(open) >= maxCalls:
		s.proxy.unsteered++
		return
	case c == nil:
		c = &call{}
		open[u.CallID] = c
	}
	c.title, c.kind = cmp.Or(title, c.title), cmp.Or(u.Work, c.kind) // which may be known late
	if c.begun == nil && s.proxy.Game(c.title, c.kind) {
		c.begun = make(chan struct{})
		s.machine(func(m *steer.Machine) { m.CallBegan(u.CallID) })
		exempt := c.kind == "read"
		go s.report(c.begun, bridge.Call{ID: u.CallID, Tool: c.title, Exempt: exempt, Status: event.StatusStarted})
	}
}

// callEnds reports the end of a call, if it is one of the game.
func (s *session) callEnds(id string, c *call, status event.Status) {
	if c != nil && c.begun != nil {
		go s.report(c.begun, bridge.Call{ID: id, Status: status})
	}
}

// reportWithin bounds a report of a call.
const reportWithin = 5 * time.Second

// report reports the start of a call, which closes begun, or the end after it. For the machine the call ends when the
// verdict is known.
func (s *session) report(begun chan struct{}, call bridge.Call) {
	if call.Status.Ended() {
		<-begun
		defer s.conversation.Do(func(m *steer.Machine, now time.Time) steer.Action { return m.CallEnded(now, call.ID) })
	} else {
		defer close(begun)
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportWithin)
	defer cancel()
	_ = s.conversation.Report(ctx, call) // without a heed, nothing is reported
}
