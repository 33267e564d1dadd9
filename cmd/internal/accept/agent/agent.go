package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/gabp"
)

// agent acts by a script: it builds, step by step. If it is stopped, it acknowledges the item that it was shown and
// reads the state. If a result has an item that does not block, or a verdict that is not clean, it reads the state, and
// every so often it does so by habit. It thinks before each of these.
type agent struct {
	client *gabp.Client
	by     way  // how it reaches the game, nil for the client
	asks   bool // attention/current before each call, as bridges do
	random *rand.Rand
	think  pace
	trace  func(format string, a ...any)

	talk     *conversation  // nil for an agent that is not steered
	inFlight sync.WaitGroup // calls whose result the agent may not see
	calls    int            // so far, of one that is steered

	tally   tally
	clean   []int     // steps whose result was clean
	recover []float64 // seconds from each fault that broke the state to the reading that found it
}

// way is a way to a game that has no bridge. Its results and refusals have the form of those over GABP.
type way interface {
	call(ctx context.Context, tool string, args any) (json.RawMessage, error)
	// ack acknowledges an item, which the agent knows up to an entry.
	ack(ctx context.Context, id string, through uint64) error
}

// pace is how long an agent thinks before each thing it does: always the same; 0: from 2 to 20 s.
type pace time.Duration

// paces of the table. With the first two an agent makes about three calls a second, or one.
var paces = []pace{pace(150 * time.Millisecond), pace(500 * time.Millisecond), 0}

func (p pace) next(r *rand.Rand) time.Duration {
	if p == 0 {
		return between(r, 2*time.Second, 20*time.Second)
	}
	return time.Duration(p)
}

// anyPace is the pace of an outcome that sums the outcomes of all paces.
const anyPace pace = -1

func (p pace) String() string {
	if p == anyPace {
		return "any"
	}
	return time.Duration(p).String()
}

// habit is how often an agent reads the state without a reason.
const habit = 20

// The causes of a reading of the state, except the result of a step.
const (
	forGate  = -1
	forHabit = -2
	forSteer = -3
)

func (a *agent) run(ctx context.Context, calls int) error {
	a.tally = tally{}
	defer a.inFlight.Wait()
	if err := a.turn(ctx, 0); err != nil {
		return err
	}
	if _, _, err := a.call(ctx, "colony/read", nil); err != nil {
		return err
	}
	for i := range calls {
		if err := a.build(ctx, i); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if i%habit == habit-1 {
			if _, err := a.read(ctx, forHabit); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxTries is how often an agent tries a step before it leaves it out.
const maxTries = 20

func (a *agent) build(ctx context.Context, i int) error {
	if err := a.turn(ctx, i); err != nil {
		return err
	}
	for range maxTries {
		if err := a.pause(ctx); err != nil {
			return err
		}
		res, executed, err := a.try(ctx, i)
		if err != nil {
			return err
		}
		if executed { // not again
			return a.look(ctx, i, res)
		}
		a.trace("step %d: refused: %s", i, res.item.Summary)
		if err := a.stop(ctx, res.item, forGate); err != nil {
			return err
		}
	}
	a.tally[leftOut]++
	return nil
}

// try makes a call, unless an item blocks. The result is nil if the agent does not see it.
func (a *agent) try(ctx context.Context, i int) (res *result, executed bool, err error) {
	if item, err := a.current(ctx); err != nil || item != nil {
		return &result{item: item}, false, err
	}
	made := map[string]int64{"step": int64(i), "made": time.Now().UnixNano()}
	raw, seen, err := a.call(ctx, "colony/build", made)
	if !seen {
		return nil, true, err
	}
	refused, held := errors.AsType[*gabp.Error](err)
	if held = held && refused.Code == gabp.CodeToolUnavailable; held {
		raw = refused.Data
	} else if err != nil {
		return nil, false, err
	}
	res, err = parseResult(raw)
	if err != nil {
		return nil, false, err
	}
	a.tally[bytesGiven] += res.bytes
	if held && res.item == nil {
		return nil, false, refused
	}
	return res, !held, nil
}

// look takes the action that the result of a step suggests.
func (a *agent) look(ctx context.Context, i int, res *result) error {
	if res == nil {
		return nil
	}
	a.trace("step %d: %s %s %s", i, res.verdict.Outcome, res.verdict.Reason, res.summary())
	if res.verdict.Reason == string(coalesce.ReasonStanding) {
		a.tally[standing]++
	}
	news := res.item != nil || res.verdict.Outcome != "" && res.verdict.Outcome != coalesce.Clean
	switch {
	case res.item != nil && res.item.Blocking:
		return a.stop(ctx, res.item, i)
	case news && a.by != nil && a.talk != nil && a.talk.prompts():
		return nil // the verdict is in the prompt, with the item
	case news:
		r, err := a.read(ctx, i)
		if r.Broken == "" {
			a.tally[emptyReads]++
		}
		return err
	}
	a.clean = append(a.clean, i)
	return nil
}

// current asks for what blocks, as a bridge does before a call.
func (a *agent) current(ctx context.Context) (*heed.Item, error) {
	if !a.asks {
		return nil, nil //nolint:nilnil // nothing is open for who does not ask
	}
	raw, err := a.client.CallRaw(ctx, gabp.MethodAttentionCurrent, nil)
	if err != nil {
		return nil, err
	}
	var res gabp.CurrentResult
	if err := json.Unmarshal(raw, &res); err != nil || res.Attention == nil || !res.Attention.Blocking {
		return nil, err // nothing blocks
	}
	a.tally[bytesGiven] += len(raw)
	if a.talk != nil {
		a.talk.shown(res.Attention)
	}
	return res.Attention, nil
}

// result is the attention in a result, or in the data of an error.
type result struct {
	bytes   int        // about attention
	item    *heed.Item // nil for none
	verdict struct{ Outcome, Reason string }
}

func (r *result) summary() string {
	if r.item == nil {
		return ""
	}
	return fmt.Sprintf("blocking=%v %s", r.item.Blocking, r.item.Summary)
}

func parseResult(raw json.RawMessage) (*result, error) {
	var with struct{ Attention, Verdict, Brief json.RawMessage }
	if err := json.Unmarshal(raw, &with); err != nil {
		return nil, err
	}
	res := &result{bytes: len(with.Attention) + len(with.Verdict) + len(with.Brief)}
	if len(with.Verdict) > 0 {
		if err := json.Unmarshal(with.Verdict, &res.verdict); err != nil {
			return nil, err
		}
	}
	if len(with.Attention) > 0 {
		item, err := gabp.ParseAttention(with.Attention)
		if err != nil {
			return nil, err
		}
		res.item = &item
	}
	return res, nil
}

// blindPrefix begins the id of the item by which heed reports that it could not read the log in time, as on a machine
// under load: it is no evidence about the game.
const blindPrefix = "blind-"

// stop takes the actions that an agent is asked for when it is stopped, by the result of a step or before a call: look,
// acknowledge, read the state again.
func (a *agent) stop(ctx context.Context, item *heed.Item, step int) error {
	if err := a.pause(ctx); err != nil {
		return err
	}
	return a.handle(ctx, map[string]uint64{item.ID: item.LatestSequence}, step)
}

// handle acknowledges items, each up to the entry in known, and reads the state again.
func (a *agent) handle(ctx context.Context, known map[string]uint64, step int) error {
	reads := len(known) == 0
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if err := a.ack(ctx, id, known[id]); err != nil {
			return err
		}
		if !strings.HasPrefix(id, blindPrefix) { // else it looks again before the next call
			reads = true
			a.tally[acks]++
		}
	}
	if !reads {
		return nil
	}
	r, err := a.read(ctx, step)
	if err != nil {
		return err
	}
	if r.Broken == "" {
		a.tally[falseStops]++
		if step == forSteer {
			a.tally[falseSteers]++
		}
		a.trace("  a false stop")
	}
	return nil
}

func (a *agent) ack(ctx context.Context, id string, through uint64) error {
	if a.by != nil {
		return a.by.ack(ctx, id, through)
	}
	return a.client.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &gabp.AckResult{})
}

// read reads the state because of the result of a step, or because of a cause in the constants.
func (a *agent) read(ctx context.Context, step int) (r reading, err error) {
	if err := a.pause(ctx); err != nil {
		return r, err
	}
	raw, seen, err := a.call(ctx, "colony/read", nil)
	if err != nil || !seen {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil || r.Broken == "" {
		return r, err
	}
	a.trace("  broken by %q of step %d, %.3f s ago, %d calls", r.Broken, r.Step, r.SinceMs/1000, r.Calls)
	a.recover = append(a.recover, r.SinceMs/1000)
	switch {
	case r.Calls > 0:
		a.tally[missed.by(r.Broken)]++
	case step == forHabit: // before any report
	case step == r.Step:
		a.tally[onResult.by(r.Broken)]++
	default:
		a.tally[atGate.by(r.Broken)]++
	}
	return r, nil
}
