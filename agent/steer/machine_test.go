package steer

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCallsHoldStopsBack(t *testing.T) {
	m := working(t, Policy{CallWait: 10 * time.Second})
	m.CallBegan("1")
	_, a := m.Receive(start, item("i", "1"))
	require.Equal(t, Nothing, a.Do)
	require.Equal(t, start.Add(10*time.Second), m.Deadline())
	require.Equal(t, Nothing, m.Ready(start.Add(9*time.Second)).Do)
	a = m.CallEnded(start.Add(9*time.Second), "1")
	require.Equal(t, Action{Do: Cancel, Batch: Batch{Reason: ReasonSteer}}, a)

	m = working(t, Policy{CallWait: 10 * time.Second})
	m.CallBegan("1")
	m.Receive(start, item("i", "1"))
	a = m.Ready(m.Deadline())
	require.Equal(t, Cancel, a.Do)
	require.Contains(t, Framing{}.Render(m.Ended(start, true).Batch), "outcome is unknown")

	// What rides on the call's result stops nothing.
	m = working(t, Policy{})
	m.CallBegan("1")
	m.Receive(start, item("i", "1"))
	b := m.Ride()
	require.Len(t, b.Messages, 1)
	require.Equal(t, Nothing, m.CallEnded(start, "1").Do)
	require.Len(t, m.Confirm(b.Delivery), 1)
	require.Equal(t, "i 1", Framing{}.Render(b), "attention rides without a frame")
	m.CallBegan("2")
	m.Receive(start, Message{Author: "owner", Text: "Dig."})
	require.Contains(t, Framing{}.Render(m.Ride()), "From owner:\n\nDig.\n\nPlease continue")
}

func TestAttentionAsMessages(t *testing.T) {
	rides := item("a", "1")
	rides.Rides = true
	invalid := item("b", "1")
	invalid.Invalid = true

	m := working(t, Policy{InterruptOnInvalid: true})
	_, a := m.Receive(start, rides)
	require.Equal(t, Nothing, a.Do, "advisory never stops")
	_, a = m.Receive(start, invalid)
	require.Equal(t, ReasonInterrupt, a.Batch.Reason)
	_, a = working(t, Policy{}).Receive(start, invalid)
	require.Equal(t, ReasonSteer, a.Batch.Reason, "interrupts by policy only")
	_, a = newMachine(t, Policy{}, Ceiling{Cancel: true}).Receive(start, rides)
	require.Equal(t, Nothing, a.Do, "advisory begins no turn")

	m = working(t, Policy{})
	m.Receive(start, item("a", "1"))
	got, _ := m.Receive(start, item("a", "1"))
	require.Equal(t, Duplicate, got)
	got, _ = m.Receive(start, item("a", "2"))
	require.Equal(t, Accepted, got)
	b := m.Ended(start, true).Batch
	require.Len(t, b.Messages, 1)
	require.Equal(t, "a 2", b.Messages[0].Text)
	m.Confirm(b.Delivery)
	got, _ = m.Receive(start, item("a", "2"))
	require.Equal(t, Duplicate, got, "one delivery for each revision and turn")
	m.Ended(start, false)
	m.Begin(task)
	got, _ = m.Receive(start, item("a", "2"))
	require.Equal(t, Accepted, got)

	// Cleared before delivery: the turn goes on without it.
	m = working(t, Policy{})
	m.Receive(start, item("a", "1"))
	require.True(t, m.Withdraw("a"))
	require.False(t, m.Withdraw("a"))
	a = m.Ended(start, true)
	require.Equal(t, Prompt, a.Do)
	require.Equal(t, "[What you were working on]\n\nBuild a wall.\n\nYou were stopped for a message that is no news any "+
		"more. Please continue what you were working on.", Framing{}.Render(a.Batch))
}

// TestToldAgainNotStoppedAgain holds that what a stopped turn did not confirm is sent again with the next prompt, and
// stops no other turn.
func TestToldAgainNotStoppedAgain(t *testing.T) {
	m := working(t, Policy{})
	m.Receive(start, item("a", "1"))
	first := m.Ended(start, true).Batch // not confirmed
	_, a := m.Receive(start, item("b", "1"))
	require.Equal(t, Cancel, a.Do)
	b := m.Ended(start, true).Batch
	require.Empty(t, m.Confirm(first.Delivery))
	require.Equal(t, []string{"a 1", "b 1"}, []string{b.Messages[0].Text, b.Messages[1].Text})
	require.Len(t, b.Working, 1)
	require.Equal(t, "Build a wall.", b.Working[0].Text)
	a = m.Fail(start, b.Delivery)
	require.Equal(t, Prompt, a.Do)
	require.Len(t, m.Confirm(a.Batch.Delivery), 2)
}

func TestBounds(t *testing.T) {
	m := working(t, Policy{SteersPerTurn: 2, SteersPerMinute: 3})
	stop := func(n string) bool {
		_, a := m.Receive(start, item(n, "1"))
		if a.Do != Cancel {
			return false
		}
		m.Confirm(m.Ended(start, true).Batch.Delivery)
		return true
	}
	require.True(t, stop("a"))
	require.True(t, stop("b"))
	require.False(t, stop("c"), "of the turn")
	require.Zero(t, m.Deadline())
	a := m.Ended(start, false)
	require.Equal(t, Prompt, a.Do, "what waited is prompted")
	require.Empty(t, a.Batch.Working)
	m.Confirm(a.Batch.Delivery)
	require.True(t, stop("d"))
	require.False(t, stop("e"), "of the minute")
	require.Equal(t, start.Add(time.Minute), m.Deadline())

	// The first message of an item stops a turn beyond the bounds, and takes along what was held.
	first := item("f", "1")
	first.First = true
	_, a = m.Receive(start, first)
	require.Equal(t, Cancel, a.Do)
	require.Len(t, m.Ended(start, true).Batch.Messages, 2)
	require.Zero(t, m.Deadline())
	require.False(t, stop("g"), "the minute has as many as before")
	first.Author, first.Topic = "owner", "h"
	_, a = m.Receive(start, first)
	require.Equal(t, Nothing, a.Do, "none but attention")
	require.Equal(t, Cancel, m.Ready(m.Deadline()).Do)

	// The agent cannot be reached: prompts end, nothing is lost.
	m = newMachine(t, Policy{Tries: 2}, Ceiling{})
	_, a = m.Receive(start, item("a", "1"))
	n := 0
	for ; a.Do == Prompt; n++ {
		a = m.Fail(start, a.Batch.Delivery)
	}
	require.Equal(t, 2, n)
	b := m.Begin(task)
	require.Len(t, b.Messages, 1)

	m = working(t, Policy{MaxPending: 1, Mode: ModeQueue})
	m.Receive(start, Message{Author: "owner", Text: "one"})
	got, _ := m.Receive(start, Message{Author: "owner", Text: "two"})
	require.Equal(t, Full, got)
}

func TestPersonStopsTheTurn(t *testing.T) {
	m := working(t, Policy{})
	m.Receive(start, item("a", "1"))
	m.Stop()
	require.Equal(t, Nothing, m.Ended(start, true).Do)
	require.Equal(t, Nothing, m.Ready(start).Do)
	b := m.Begin(task)
	require.Len(t, b.Messages, 1)
}

// TestStrongestReasonIsKept holds that a prompt that is sent again has the strongest reason, and names the calls that
// were in flight.
func TestStrongestReasonIsKept(t *testing.T) {
	m := working(t, Policy{InterruptOnInvalid: true})
	m.CallBegan("1")
	m.Receive(start, item("a", "1"))
	require.Equal(t, Cancel, m.Ready(start.Add(DefaultCallWait)).Do)
	b := m.Ended(start, true).Batch // not confirmed
	require.Equal(t, ReasonSteer, b.Reason)
	invalid := item("b", "1")
	invalid.Invalid = true
	_, a := m.Receive(start, invalid)
	require.Equal(t, Action{Do: Cancel, Batch: Batch{Reason: ReasonInterrupt}}, a, "the call ended with its turn")
	b = m.Ended(start, true).Batch
	require.Equal(t, ReasonInterrupt, b.Reason)
	require.Equal(t, 1, b.Unknown)
	require.Equal(t, task.Text, b.Working[0].Text)
	require.Zero(t, b.Messages[0].Tries, "its delivery did not fail")
}

// TestRequestIsNoAttention holds that items are not among what the agent was asked, unless they began the turn.
func TestRequestIsNoAttention(t *testing.T) {
	m := working(t, Policy{})
	m.Receive(start, item("a", "1"))
	m.Confirm(m.Ended(start, true).Batch.Delivery)
	m.Receive(start, Message{Author: "owner", Text: "And a roof."})
	m.Confirm(m.Ended(start, true).Batch.Delivery)
	m.Receive(start, item("b", "1"))
	b := m.Ended(start, true).Batch
	require.Len(t, b.Working, 2)
	require.Equal(t, "And a roof.", b.Working[1].Text)

	m = newMachine(t, Policy{}, Ceiling{Cancel: true})
	_, a := m.Receive(start, item("a", "1"))
	m.Confirm(a.Batch.Delivery)
	m.Receive(start, item("b", "1"))
	require.Equal(t, "a 1", m.Ended(start, true).Batch.Working[0].Text)
}

// TestTakenBackIsSentAgain holds that a revision whose delivery failed is none that the turn was told.
func TestTakenBackIsSentAgain(t *testing.T) {
	m := working(t, Policy{})
	m.CallBegan("1")
	m.Receive(start, item("a", "1"))
	m.Fail(start, m.Ride().Delivery)
	require.True(t, m.Withdraw("a"))
	got, _ := m.Receive(start, item("a", "1"))
	require.Equal(t, Accepted, got)
}

// TestUnsettledDeliveriesAreBounded holds that an adapter that settles nothing gets no more to carry.
func TestUnsettledDeliveriesAreBounded(t *testing.T) {
	m := working(t, Policy{MaxPending: 2, SteersPerTurn: 1})
	m.CallBegan("1")
	for _, topic := range []string{"a", "b", "c"} {
		m.Receive(start, item(topic, "1"))
		require.Equal(t, topic != "c", m.Ride().Delivery != 0)
	}
	require.Len(t, m.State().Sent, 2)
}

func TestBeginWhileCanceling(t *testing.T) {
	m := working(t, Policy{})
	m.Receive(start, item("a", "1"))
	require.Zero(t, m.Begin(Message{Author: "owner", Text: "And a roof.", Reason: ReasonInterrupt}))
	b := m.Ended(start, true).Batch
	require.Len(t, b.Messages, 2)
	require.Greater(t, b.Messages[1].ID, b.Messages[0].ID)
	require.Equal(t, ReasonSteer, b.Reason, "the machine decides what a request does")
	require.Contains(t, Framing{}.Render(b), "And a roof.")
}

func TestInject(t *testing.T) {
	m := newMachine(t, Policy{}, Ceiling{Inject: true, Cancel: true})
	m.Begin(task)
	_, a := m.Receive(start, Message{Author: "owner", Text: "And a roof."})
	require.Equal(t, Inject, a.Do)
	require.Empty(t, a.Batch.Working)
	require.Equal(t, Working, m.State().Phase)
	require.Equal(t, Nothing, m.Fail(start, a.Batch.Delivery).Do, "it stopped the turn once")
	require.Len(t, m.Ride().Messages, 1)
}

// TestRefusedInjectionCancels holds that a message that an agent would not take in its turn stops the turn.
func TestRefusedInjectionCancels(t *testing.T) {
	m := newMachine(t, Policy{}, Ceiling{Cancel: true})
	m.Begin(task)
	m.SetCeiling(Ceiling{Inject: true, Cancel: true})
	_, a := m.Receive(start, item("a", "1"))
	require.Equal(t, Inject, a.Do)
	require.Equal(t, Cancel, m.Refused(start, a.Batch.Delivery).Do)
	require.Zero(t, m.Refused(start, a.Batch.Delivery))
	b := m.Ended(start, true).Batch
	require.Len(t, b.Messages, 1)
	require.Len(t, b.Working, 1)
	require.Len(t, m.Confirm(b.Delivery), 1)
}

// TestHosted holds that an adapter that begins no turn is asked for none, and loses nothing by it.
func TestHosted(t *testing.T) {
	m := newMachine(t, Policy{}, Ceiling{Cancel: true, Hosted: true})
	_, a := m.Receive(start, item("a", "1"))
	require.Equal(t, Nothing, a.Do)
	b := m.Begin(task)
	require.Len(t, b.Messages, 1)
	require.Equal(t, Nothing, m.Ended(start, false).Do)
	require.Equal(t, Nothing, m.Fail(start, b.Delivery).Do)
	require.Len(t, m.Begin(task).Messages, 1)
	m.Receive(start, item("b", "1"))
	require.Equal(t, Prompt, m.Ended(start, false).Do, "a turn of its host goes on")
}

// TestDeadlineEnds: a stop that was held back and is wanted no more leaves no deadline behind, which an adapter would
// wait for again and again.
func TestDeadlineEnds(t *testing.T) {
	m := working(t, Policy{SteersPerMinute: 1})
	_, a := m.Receive(start, Message{Author: "owner", Topic: "a"})
	require.Equal(t, Cancel, a.Do)
	m.Confirm(m.Ended(start, true).Batch.Delivery)
	m.Receive(start, Message{Author: "owner", Topic: "b"})
	require.Equal(t, start.Add(time.Minute), m.Deadline())
	m.Withdraw("b")
	m.Ready(m.Deadline())
	require.Zero(t, m.Deadline())
}

func TestAttentionWaitsInModeQueue(t *testing.T) {
	m := working(t, Policy{Mode: ModeQueue, InterruptOnInvalid: true})
	for _, invalid := range []bool{false, true} {
		receipt, a := m.Receive(start, Message{Author: "heed", Text: "it broke", Invalid: invalid, First: true})
		require.Equal(t, Accepted, receipt)
		require.Equal(t, Nothing, a.Do)
	}
	require.Equal(t, Working, m.State().Phase)
	a := m.Ended(start, false)
	require.Equal(t, Prompt, a.Do)
	require.Len(t, a.Batch.Messages, 2)
	require.Empty(t, a.Batch.Working, "the turn has ended in order")
}

func TestStrongestReasonWinsInAnyOrder(t *testing.T) {
	for _, firstInvalid := range []bool{true, false} {
		m := working(t, Policy{InterruptOnInvalid: true})
		m.CallBegan("c")
		for _, invalid := range []bool{firstInvalid, !firstInvalid} {
			_, a := m.Receive(start, Message{Author: "heed", Text: "it broke", Invalid: invalid})
			require.Equal(t, Nothing, a.Do, "a call is in flight")
		}
		a := m.CallEnded(start, "c")
		require.Equal(t, Cancel, a.Do)
		require.Equal(t, ReasonInterrupt, a.Batch.Reason)
		require.Equal(t, ReasonInterrupt, m.State().Reason)
		require.Equal(t, ReasonInterrupt, m.Ended(start, true).Batch.Reason)
	}
}

func TestDropKeepsMessagesToAnIdleAgent(t *testing.T) {
	m := newMachine(t, Policy{Mode: ModeQueue, Dedup: DedupDrop}, Ceiling{Cancel: true})
	receipt, a := m.Receive(start, Message{Author: "owner", Text: "Build."})
	require.Equal(t, Accepted, receipt)
	require.Equal(t, Prompt, a.Do)
	require.Equal(t, "Build.", a.Batch.Messages[0].Text)

	receipt, _ = m.Receive(start, Message{Author: "owner", Text: "Dig."})
	require.Equal(t, Dropped, receipt, "a turn is in flight")
	receipt, _ = m.Receive(start, Message{Author: "heed", Text: "it broke"})
	require.Equal(t, Accepted, receipt, "attention is never dropped")
	require.EqualValues(t, 1, m.State().Dropped)
}

func TestDefaults(t *testing.T) {
	require.Equal(t, Policy{
		Mode: ModeSteer, Admit: AdmitVerified, CallWait: 30 * time.Second, SteersPerTurn: 3, SteersPerMinute: 6,
		MaxPending: 64, Tries: 3,
	}, Policy{}.withDefaults())
}

// TestBeginForgetsTheTurnBefore begins a turn whose host did not report the end of the turn before.
func TestBeginForgetsTheTurnBefore(t *testing.T) {
	m := working(t, Policy{})
	m.CallBegan("c")
	m.Receive(start, item("i", "1"))
	m.Confirm(m.Ride().Delivery)
	turn := m.State().Turn
	m.Begin(task)
	require.Equal(t, turn+1, m.State().Turn)
	receipt, a := m.Receive(start, item("i", "1"))
	require.Equal(t, Accepted, receipt, "this turn was not told")
	require.Equal(t, Cancel, a.Do, "calls of the turn before hold nothing back")
}

func TestOnlyAttentionRidesInModeQueue(t *testing.T) {
	m := working(t, Policy{Mode: ModeQueue})
	m.Receive(start, Message{Author: "owner", Text: "Dig."})
	require.Zero(t, m.Ride(), "it waits for the end of the turn")
	m.Receive(start, Message{Author: "heed", Text: "it broke"})
	b := m.Ride()
	require.Len(t, b.Messages, 1)
	require.Equal(t, "it broke", b.Messages[0].Text)
	require.Equal(t, "Dig.", m.State().Pending[0].Text)
}

// TestFirstStopsOnce holds that a first message that has stopped its turn lifts the bounds for no other.
func TestFirstStopsOnce(t *testing.T) {
	m := newMachine(t, Policy{SteersPerTurn: 1}, Ceiling{Inject: true})
	m.Begin(task)
	_, a := m.Receive(start, Message{Author: "heed", Text: "b"})
	require.Equal(t, Inject, a.Do)
	m.Confirm(a.Batch.Delivery)
	_, a = m.Receive(start, Message{Author: "heed", Text: "a", First: true})
	require.Equal(t, Inject, a.Do)
	require.Equal(t, Nothing, m.Fail(start, a.Batch.Delivery).Do)
	_, a = m.Receive(start, Message{Author: "heed", Text: "c"})
	require.Equal(t, Nothing, a.Do)
}

func TestWorkIsShortenedToTheBound(t *testing.T) {
	m := working(t, Policy{MaxPending: 2})
	for _, text := range []string{"one", "two"} {
		_, a := m.Receive(start, Message{Author: "owner", Text: text})
		require.Equal(t, Cancel, a.Do)
		m.Confirm(m.Ended(start, true).Batch.Delivery)
	}
	work := m.State().Working
	require.Len(t, work, 2)
	require.Equal(t, []string{task.Text, "two"}, []string{work[0].Text, work[1].Text})
	require.EqualValues(t, 1, m.State().Shortened)
}

// TestFailedRideStops holds that a message whose result did not reach the agent may still stop the turn.
func TestFailedRideStops(t *testing.T) {
	m := working(t, Policy{})
	m.CallBegan("c")
	m.Receive(start, item("i", "1"))
	require.Equal(t, Nothing, m.Fail(start, m.Ride().Delivery).Do)
	require.Equal(t, Cancel, m.CallEnded(start, "c").Do)
}

func TestTopicsAreReplacedAndWithdrawn(t *testing.T) {
	m := working(t, Policy{Mode: ModeQueue, MaxPending: 2})
	m.Receive(start, item("i", "1"))
	m.Receive(start, item("i", "2"))
	m.Receive(start, item("j", "1"))
	receipt, _ := m.Receive(start, item("k", "1"))
	require.Equal(t, Full, receipt)
	require.False(t, m.Withdraw("k"), "it does not wait")
	require.True(t, m.Withdraw("j"))
	require.False(t, m.Withdraw("j"))
	require.Len(t, m.State().Pending, 1)
}

func TestToldIsBounded(t *testing.T) {
	m := newMachine(t, Policy{}, Ceiling{})
	m.Begin(task)
	for i := range 1025 {
		m.Receive(start, Message{Author: "heed", Topic: strconv.Itoa(i), Text: "x", Rides: true})
		m.Confirm(m.Ride().Delivery)
	}
	require.Len(t, m.State().Told, 1024)
	require.False(t, m.Knows("0", ""), "the oldest is forgotten")
	require.True(t, m.Knows("1", ""))
}

// TestNextRequestCarriesTheStoppedOne holds that a request whose prompts failed is carried by the next one.
func TestNextRequestCarriesTheStoppedOne(t *testing.T) {
	m := working(t, Policy{Tries: 1})
	m.Receive(start, Message{Author: "owner", Text: "Dig."})
	require.Equal(t, Nothing, m.Fail(start, m.Ended(start, true).Batch.Delivery).Do, "it was tried once")
	b := m.Begin(Message{Author: "owner", Text: "Rest."})
	require.Len(t, b.Working, 1)
	require.Equal(t, task.Text, b.Working[0].Text)
	require.Equal(t, "Dig.", b.Messages[0].Text)
	var work []string
	for _, msg := range m.State().Working {
		work = append(work, msg.Text)
	}
	require.Equal(t, []string{"Rest.", task.Text, "Dig."}, work)
}

func TestEndedTurnLeavesNoWork(t *testing.T) {
	m := working(t, Policy{})
	require.Len(t, m.State().Working, 1)
	require.Equal(t, Nothing, m.Ended(start, false).Do)
	require.Empty(t, m.State().Working)
	_, a := m.Receive(start, Message{Author: "owner", Text: "Dig."})
	require.Equal(t, Prompt, a.Do)
	require.Len(t, m.State().Working, 1)
}

func TestConfirmedPromptForgetsFailures(t *testing.T) {
	m := working(t, Policy{Tries: 2})
	m.Receive(start, Message{Author: "owner", Text: "Dig."})
	a := m.Fail(start, m.Ended(start, true).Batch.Delivery)
	require.Equal(t, Prompt, a.Do)
	require.Equal(t, 1, m.State().Fails)
	m.Confirm(a.Batch.Delivery)
	require.Zero(t, m.State().Fails)
}
