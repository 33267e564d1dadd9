package steer

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"
)

// A Message is queued for delivery to the agent.
type Message struct {
	// Author is who sent it, as the adapter verifies it; Thread is where a reply goes, "" for the conversation itself.
	Author string `json:"author"`
	Thread string `json:"thread,omitempty"`

	// Topic and Revision identify it: of one topic the newest waits, and one revision is delivered once in a turn.
	// A message without a topic is one of its own.
	Topic    string `json:"topic,omitempty"`
	Revision string `json:"revision,omitempty"`

	// Text is in the author's words; Data are lines that a game or another peer wrote, which are shown as quotations.
	Text string   `json:"text"`
	Data []string `json:"data,omitempty"`

	// Rides marks a passive message of attention, which stops no turn and begins none; Invalid a message about an invalid
	// state of the game; First the first message that blocks about its topic, which no bound of stops holds back.
	Rides   bool `json:"rides,omitempty"`
	Invalid bool `json:"invalid,omitempty"`
	First   bool `json:"first,omitempty"`

	// Through is how far the sender had read when it wrote the message: its own, which Confirm gives back.
	Through uint64 `json:"through,omitempty"`

	// The Machine sets the number, the author's class, the effect on a turn in flight, and the number of failed
	// deliveries.
	ID     uint64 `json:"id"`
	Class  Class  `json:"class,omitempty"`
	Reason reason `json:"reason,omitempty"`
	Tries  int    `json:"tries,omitempty"`
}

// Ceiling has the abilities of an adapter. If it can neither inject nor cancel, messages come with results or wait.
type Ceiling struct {
	Inject bool // adds a message without stopping the turn
	Cancel bool // stops the turn, and prompts again
	// Hosted is set if only another begins turns: a message to an idle agent waits for Begin. Messages that wait at the
	// end of a turn are prompted even so.
	Hosted bool
}

// phase is where the turn is.
type phase string

// The phases of a turn.
const (
	Idle      phase = "idle"
	Working   phase = "working"
	Canceling phase = "canceling"
)

// do is the next step of an adapter.
type do string

// The steps: nothing, cancel the turn and report its end, add a batch to the turn, or begin a turn with it.
const (
	Nothing do = ""
	Cancel  do = "cancel"
	Inject  do = "inject"
	Prompt  do = "prompt"
)

// Action is the next step of an adapter, with the batch that it sends.
type Action struct {
	Do    do
	Batch Batch
}

// Batch is messages that are delivered together. The zero Batch is none.
type Batch struct {
	// Delivery is its number, for Confirm and Fail: 0 for none.
	Delivery uint64 `json:"delivery"`
	// Turn is the number of the turn that it is sent in.
	Turn uint64 `json:"turn"`
	// Prompts is set where it begins a turn; else it is added to one. Rides is set where a result or a refusal carries
	// attention alone, which needs no frame.
	Prompts bool `json:"prompts,omitempty"`
	Rides   bool `json:"rides,omitempty"`
	// Reason is why a turn was stopped, "" where none was.
	Reason reason `json:"reason,omitempty"`
	// Working has the earlier requests. It is empty if the batch is added to a turn, or begins one of its own.
	Working []Message `json:"working,omitempty"`
	// Messages are new. There are none where all were withdrawn after the turn had been canceled.
	Messages []Message `json:"messages,omitempty"`
	// Unknown counts calls to the game that were in flight when the turn was stopped.
	Unknown int `json:"unknown,omitempty"`
}

// receipt is the fate of a message.
type receipt string

// The receipts.
const (
	Accepted  receipt = "accepted"
	Duplicate receipt = "duplicate" // this revision waits, or was delivered in this turn
	Dropped   receipt = "dropped"   // its author is not admitted
	Full      receipt = "full"      // 64 messages wait
)

// State is all that a Machine knows, as JSON: it is kept where deliveries must survive a kill. The zero State is idle.
type State struct {
	Phase   phase     `json:"phase"`
	Working []Message `json:"working,omitempty"` // the requests of the turn in flight
	Pending []Message `json:"pending,omitempty"`
	Sent    []Batch   `json:"sent,omitempty"` // not confirmed
	Reason  reason    `json:"reason,omitempty"`
	Unknown int       `json:"unknown,omitempty"` // calls in flight when the turn was stopped
	Turn    uint64    `json:"turn"`              // number of the turn
	Told    []string  `json:"told,omitempty"`    // topics and revisions that were sent in this turn
	Last    uint64    `json:"last"`              // number of a message or delivery
	Stopped bool      `json:"stopped,omitempty"` // Working is a request whose turn was stopped and not prompted again
	Fails   int       `json:"fails,omitempty"`   // prompts for it that failed

	// Messages of authors who are not admitted, and requests left out of Working.
	Strangers uint64 `json:"strangers,omitempty"`
	Shortened uint64 `json:"shortened,omitempty"`

	// Notes are the adapter's own.
	Notes map[string]string `json:"notes,omitempty"`
}

// Machine is the state of one conversation. Make one with New or Restore.
type Machine struct {
	policy  Policy
	ceiling Ceiling
	verify  func(author string) Class

	state  State
	calls  map[string]bool
	waits  time.Time   // since when a stop waits for calls
	stops  []time.Time // of the last minute
	inTurn int         // stops of this turn
	held   bool        // the bounds hold a stop back
}

// New returns the machine of a conversation that is idle. The function verify decides who an author is, by evidence of
// the adapter and never by the text of a message. The class Attention is for the adapter's own source of attention,
// which every admission accepts.
func New(p Policy, c Ceiling, verify func(author string) Class) (*Machine, error) {
	return Restore(p, c, verify, State{})
}

// Restore returns the machine of a conversation whose adapter ended. Batches that were not confirmed wait again, with
// the request of a turn that was stopped; Ready sends them.
func Restore(p Policy, c Ceiling, verify func(author string) Class, s State) (*Machine, error) {
	m, err := Resume(p, c, verify, s)
	if err != nil {
		return nil, err
	}
	m.state.Stopped = s.Stopped || s.Phase == Canceling
	m.takeAllBack(true)
	m.idle()
	return m, nil
}

// SetCeiling changes the abilities of the adapter, for agents that announce them late. It takes effect with the next
// event.
func (m *Machine) SetCeiling(c Ceiling) { m.ceiling = c }

// Resume returns the machine of a conversation whose adapter ends between two events, and not in the middle of one: the
// turn continues, and batches that were sent still wait for their confirmation.
func Resume(p Policy, c Ceiling, verify func(author string) Class, s State) (*Machine, error) {
	if verify == nil {
		return nil, errors.New("steer: verify is nil: it decides who an author is")
	}
	p, err := p.complete()
	if err != nil {
		return nil, err
	}
	s.Phase = cmp.Or(s.Phase, Idle)
	return &Machine{policy: p, ceiling: c, verify: verify, state: s, calls: map[string]bool{}}, nil
}

// State returns the state; the caller must not change its slices and maps.
func (m *Machine) State() State { return m.state }

// Note keeps a note of the adapter with the state.
func (m *Machine) Note(name, text string) {
	notes := map[string]string{}
	maps.Copy(notes, m.state.Notes)
	notes[name] = text
	m.state.Notes = notes
}

// Knows reports whether a revision of a topic waits, or was sent in this turn or not confirmed: to receive it again is
// no news.
func (m *Machine) Knows(topic, revision string) bool {
	key := (&Message{Topic: topic, Revision: revision}).key()
	same := func(msg Message) bool { return msg.key() == key }
	return slices.Contains(m.state.Told, key) || slices.ContainsFunc(m.state.Pending, same) ||
		slices.ContainsFunc(m.state.Sent, func(b Batch) bool { return slices.ContainsFunc(b.Messages, same) })
}

// Begin reports that another than the machine began a turn, and returns a batch of the waiting messages, for the
// request to carry. It has earlier requests if their turn was stopped and could not be prompted again. While a turn is
// being canceled the request waits, and the next prompt carries it: the adapter does not send it.
func (m *Machine) Begin(request Message) Batch {
	s := &m.state
	s.Last++
	request.ID, request.Reason = s.Last, None
	if s.Phase == Canceling {
		s.Pending = append(s.Pending, request)
		return Batch{}
	}
	var before []Message
	if s.Stopped {
		before = s.Working
	}
	s.Phase, s.Working, s.Stopped, s.Fails = Working, slices.Concat([]Message{request}, before), false, 0
	m.newTurn()
	if len(s.Pending)+len(before) == 0 {
		return Batch{}
	}
	b := m.send(false)
	b.Working = before
	return b
}

// newTurn forgets the turn before.
func (m *Machine) newTurn() {
	m.state.Turn++
	m.state.Told, m.state.Reason, m.state.Unknown = nil, "", 0
	m.inTurn, m.held, m.waits = 0, false, time.Time{}
	clear(m.calls)
}

// Receive takes a message, and returns what became of it and what to do.
func (m *Machine) Receive(now time.Time, msg Message) (receipt, Action) {
	s := &m.state
	msg.Class = m.verify(msg.Author)
	if !slices.Contains([]Class{Owner, Sibling, Attention}, msg.Class) {
		s.Strangers++
		return Dropped, Action{}
	}
	msg.Reason, msg.Tries = m.signal(&msg), 0
	if msg.Topic != "" && m.Knows(msg.Topic, msg.Revision) {
		return Duplicate, Action{}
	}
	m.Withdraw(msg.Topic)
	if len(s.Pending) >= maxPending {
		return Full, Action{}
	}
	s.Last++
	msg.ID = s.Last
	s.Pending = append(s.Pending, msg)
	return Accepted, m.Ready(now)
}

// signal returns the effect of a message on a turn in flight.
func (m *Machine) signal(msg *Message) reason {
	mode := m.policy.Mode
	switch {
	case mode == ModeQueue, msg.Class == Attention && msg.Rides:
		return None
	case msg.Class == Attention && msg.Invalid && m.policy.InterruptOnInvalid,
		msg.Class != Attention && mode == ModeInterrupt, msg.Class == Owner && mode == ModeOwnerInterrupt:
		return ReasonInterrupt
	case msg.Class == Sibling && mode == ModeOwnerInterrupt:
		return None
	}
	return ReasonSteer
}

// key identifies a message within a turn, "" for one without a topic.
func (msg *Message) key() string {
	if msg.Topic == "" {
		return ""
	}
	return msg.Topic + "\x00" + msg.Revision
}

// Withdraw removes the waiting messages of a topic: they are no news any more, or the agent has acknowledged it. A
// batch that was sent stays sent. It reports whether a message waited.
func (m *Machine) Withdraw(topic string) bool {
	before := len(m.state.Pending)
	if topic != "" {
		m.state.Pending = slices.DeleteFunc(m.state.Pending, func(msg Message) bool { return msg.Topic == topic })
	}
	return len(m.state.Pending) < before
}

// CallBegan reports that a call to the game is in flight.
func (m *Machine) CallBegan(id string) { m.calls[id] = true }

// CallEnded reports that a call to the game has ended, after its result took what Ride returned.
func (m *Machine) CallEnded(now time.Time, id string) Action {
	delete(m.calls, id)
	return m.Ready(now)
}

// Ride returns the messages that need not wait for the turn's end, for a result or a refusal to carry. The batch is
// confirmed as any other.
func (m *Machine) Ride() Batch {
	s := &m.state
	if s.Phase != Working || len(s.Sent) >= maxPending {
		return Batch{}
	}
	var take, wait []Message
	for _, msg := range s.Pending {
		if msg.Rides || msg.Reason != None || msg.Class == Attention || msg.Tries > 0 {
			take = append(take, msg)
		} else {
			wait = append(wait, msg)
		}
	}
	if len(take) == 0 {
		return Batch{}
	}
	s.Pending = take
	b := m.send(false)
	b.Rides = !slices.ContainsFunc(take, func(msg Message) bool { return msg.Class != Attention })
	s.Sent[len(s.Sent)-1] = b
	s.Pending = wait
	return b
}

// Ended reports that the turn has ended: canceled, as the machine asked for, or otherwise.
func (m *Machine) Ended(canceled bool) Action {
	switch {
	case m.state.Phase == Idle:
		return Action{}
	case m.state.Phase == Canceling && canceled:
		// Batches that the stopped turn did not confirm are sent again, and stop no turn.
		clear(m.calls)
		m.state.Stopped = true
		m.takeAllBack(false)
		return m.prompt()
	}
	m.idle()
	return m.begin()
}

// Stop reports that a person stops the turn: it is not prompted again, and waiting messages become passive.
func (m *Machine) Stop() {
	m.state.Stopped = false
	for i := range m.state.Pending {
		m.state.Pending[i].Rides = true
	}
	m.idle()
}

// idle is the state after a turn.
func (m *Machine) idle() {
	s := &m.state
	s.Phase = Idle
	reason, unknown := s.Reason, s.Unknown
	m.newTurn()
	if s.Stopped {
		s.Reason, s.Unknown = reason, unknown
	} else {
		s.Working = nil
	}
}

// Ready returns what to do now. Adapters call it at Deadline, and after Restore.
func (m *Machine) Ready(now time.Time) Action {
	s := &m.state
	reason, first := None, false
	for _, msg := range s.Pending {
		if r := msg.Reason; r != None && (reason == None || r == ReasonInterrupt) {
			reason = r
		}
		first = first || msg.First && msg.Reason != None && msg.Class == Attention
	}
	switch s.Phase {
	case Canceling:
		return Action{}
	case Idle:
		if m.ceiling.Hosted {
			return Action{}
		}
		return m.begin()
	}
	if reason == None || !m.ceiling.Inject && !m.ceiling.Cancel {
		m.waits, m.held = time.Time{}, false
		return Action{}
	}
	if !first && !m.mayStop(now) {
		return Action{}
	}
	if m.waits.IsZero() {
		m.waits = now
	}
	if len(m.calls) > 0 && now.Sub(m.waits) < m.policy.CallWait {
		return Action{}
	}
	m.waits, m.held = time.Time{}, false
	if !first {
		m.inTurn++
		m.stops = append(m.stops, now)
	}
	s.Reason, s.Unknown = reason, len(m.calls)
	if m.ceiling.Inject {
		return Action{Inject, m.send(false)}
	}
	s.Phase = Canceling
	return Action{Do: Cancel, Batch: Batch{Reason: reason, Unknown: s.Unknown}}
}

// begin prompts an idle agent if a message waits that is not passive, or a turn was stopped.
func (m *Machine) begin() Action {
	s := &m.state
	prompts := func(msg Message) bool { return !msg.Rides && msg.Tries < maxTries }
	if s.Stopped && s.Fails < maxTries || slices.ContainsFunc(s.Pending, prompts) {
		return m.prompt()
	}
	return Action{}
}

func (m *Machine) prompt() Action { return Action{Prompt, m.send(true)} }

// mayStop reports whether the bounds permit another stop.
func (m *Machine) mayStop(now time.Time) bool {
	m.stops = slices.DeleteFunc(m.stops, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	m.held = m.inTurn >= m.policy.SteersPerTurn || len(m.stops) >= m.policy.SteersPerMinute
	return !m.held
}

// Deadline returns when Ready may have something to do without another event, the zero time for never.
func (m *Machine) Deadline() time.Time {
	switch {
	case !m.waits.IsZero():
		return m.waits.Add(m.policy.CallWait)
	case m.held && m.inTurn < m.policy.SteersPerTurn && len(m.stops) > 0:
		return m.stops[0].Add(time.Minute)
	}
	return time.Time{}
}

// send moves the waiting messages into a batch, which begins a turn or is added to the turn in flight.
func (m *Machine) send(prompts bool) Batch {
	s := &m.state
	s.Last++
	b := Batch{
		Delivery: s.Last, Turn: s.Turn, Prompts: prompts, Reason: s.Reason, Messages: s.Pending, Unknown: s.Unknown,
	}
	stops := !prompts || s.Stopped // a turn
	if prompts && s.Stopped {
		b.Reason, b.Working = cmp.Or(b.Reason, ReasonSteer), s.Working
	}
	for i := range b.Messages {
		msg := &b.Messages[i]
		if msg.Reason == ReasonInterrupt && stops {
			b.Reason = ReasonInterrupt
		}
		if key := msg.key(); key != "" {
			s.Told = append(s.Told, key)
		}
	}
	s.Told = s.Told[max(0, len(s.Told)-maxTold):]
	s.Working = m.worksOn(s.Working, b.Messages, b.Reason)
	s.Pending, s.Reason, s.Unknown, s.Stopped, s.Phase = nil, "", 0, false, Working
	s.Sent = append(s.Sent, b)
	return b
}

// The bounds of State.Told, of messages that wait, of batches that are not confirmed and of requests in Working, and of
// the prompts for one message: then it waits for the next turn or result.
const (
	maxTold    = 1024
	maxPending = 64
	maxTries   = 3
)

// worksOn returns the requests after messages: attention is no request, unless there is no other.
func (m *Machine) worksOn(before, messages []Message, r reason) []Message {
	if r == ReasonInterrupt {
		before = nil
	}
	all := slices.Clone(before)
	for _, msg := range messages {
		if msg.Class != Attention || len(before) == 0 {
			all = append(all, msg)
		}
	}
	if extra := len(all) - maxPending; extra > 0 { // the first is the original request
		m.state.Shortened += uint64(extra)
		all = slices.Delete(all, 1, 1+extra)
	}
	return all
}

// Confirm reports that the agent has the batch: its messages are delivered. It returns them.
func (m *Machine) Confirm(delivery uint64) []Message {
	i := m.sent(delivery)
	if i < 0 {
		return nil
	}
	b := m.state.Sent[i]
	m.state.Sent = slices.Delete(m.state.Sent, i, i+1)
	if b.Prompts {
		m.state.Fails = 0
	}
	return b.Messages
}

// Fail reports that the batch did not reach the agent: its messages wait again. There is no turn then where the batch
// was to begin it.
func (m *Machine) Fail(now time.Time, delivery uint64) Action {
	i := m.sent(delivery)
	if i < 0 {
		return Action{}
	}
	prompts := m.state.Sent[i].Prompts && m.state.Sent[i].Turn == m.state.Turn
	m.takeBack(i, true, false)
	if prompts {
		m.idle()
		return m.begin()
	}
	return m.Ready(now)
}

// Refused reports that the agent took no injection of the batch: the machine injects no more, and its messages wait
// again with their effect on the turn.
func (m *Machine) Refused(now time.Time, delivery uint64) Action {
	m.ceiling.Inject = false
	i := m.sent(delivery)
	if i < 0 {
		return Action{}
	}
	m.takeBack(i, true, true)
	return m.Ready(now)
}

func (m *Machine) sent(delivery uint64) int {
	return slices.IndexFunc(m.state.Sent, func(b Batch) bool { return b.Delivery == delivery })
}

// takeAllBack takes back all batches that were not confirmed.
func (m *Machine) takeAllBack(failed bool) {
	for len(m.state.Sent) > 0 {
		m.takeBack(len(m.state.Sent)-1, failed, false)
	}
}

// takeBack lets the messages of a batch wait again, before newer ones, with the requests of a stopped turn. failed
// reports whether its delivery failed, which bounds its prompts. Refused messages may still stop a turn.
func (m *Machine) takeBack(i int, failed, refused bool) {
	s := &m.state
	b := s.Sent[i]
	s.Sent = slices.Delete(s.Sent, i, i+1)
	if b.Prompts && b.Turn == s.Turn {
		s.Working, s.Stopped = b.Working, len(b.Working) > 0
		if s.Stopped && s.Reason != ReasonInterrupt {
			s.Reason = b.Reason
		}
		s.Unknown = max(s.Unknown, b.Unknown)
		if failed {
			s.Fails++
		}
	}
	var again []Message
	for _, msg := range b.Messages {
		s.Working = slices.DeleteFunc(slices.Clone(s.Working), func(w Message) bool { return w.ID == msg.ID })
		key := msg.key()
		s.Told = slices.DeleteFunc(s.Told, func(k string) bool { return k == key })
		if same := slices.IndexFunc(s.Pending, func(p Message) bool { return key != "" && p.Topic == msg.Topic }); same >= 0 {
			if s.Pending[same].ID > msg.ID {
				continue
			}
			s.Pending = slices.Delete(slices.Clone(s.Pending), same, same+1)
		}
		if !refused && (b.Prompts || b.Reason != "") {
			msg.Reason = None // it has stopped a turn, and stops no other
		}
		if failed {
			msg.Tries++
		}
		again = append(again, msg)
	}
	s.Pending = slices.Concat(again, s.Pending)
}
