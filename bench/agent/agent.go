package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/gabp"
)

// agent acts by a script: it builds, step by step, and reads the state again where it
// is stopped, and every so often by habit. It never acknowledges what it was not
// shown.
type agent struct {
	client *gabp.Client
	think  time.Duration // between two calls
	asks   bool          // attention/current before each call, as bridges do

	stops      int
	falseStops int
	acks       int
	bytes      int // of attention that it was given
	delays     []float64
	missed     int // faults found by habit, not by being stopped
}

// habit is how often an agent reads the state without a reason.
const habit = 20

func (a *agent) run(ctx context.Context, calls int) error {
	for i := range calls {
		if err := a.build(ctx, i); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if i%habit == habit-1 {
			r, err := a.read(ctx)
			if err != nil {
				return err
			}
			if r.Broken != "" {
				a.missed++
				a.delays = append(a.delays, r.SinceMs)
			}
		}
		time.Sleep(a.think)
	}
	return nil
}

// maxTries bounds how often a step is retried.
const maxTries = 100

func (a *agent) build(ctx context.Context, i int) error {
	for range maxTries {
		if item, err := a.current(ctx); err != nil {
			return err
		} else if item != nil {
			if err := a.stop(ctx, item); err != nil {
				return err
			}
			continue // the call was not sent
		}
		raw, err := a.client.CallTool(ctx, "colony/build", map[string]int64{"step": int64(i), "made": time.Now().UnixNano()})
		var refused *gabp.Error
		if errors.As(err, &refused) && refused.Code == gabp.CodeToolUnavailable {
			item, err := a.attention(refused.Data)
			if err != nil {
				return err
			}
			if item == nil {
				return refused
			}
			if err := a.stop(ctx, item); err != nil {
				return err
			}
			continue // it was not executed
		}
		if err != nil {
			return err
		}
		item, err := a.attention(raw)
		if err != nil {
			return err
		}
		if item != nil && item.Blocking {
			return a.stop(ctx, item) // it was executed: not again
		}
		return nil
	}
	return fmt.Errorf("refused %d times", maxTries)
}

// current asks for what blocks, as a bridge does before a call.
func (a *agent) current(ctx context.Context) (*heed.Attention, error) {
	if !a.asks {
		return nil, nil //nolint:nilnil // nothing is open for who does not ask
	}
	raw, err := a.client.CallRaw(ctx, gabp.MethodAttentionCurrent, nil)
	if err != nil {
		return nil, err
	}
	var res gabp.CurrentResult
	if err := json.Unmarshal(raw, &res); err != nil {
		return nil, err
	}
	if res.Attention == nil || !res.Attention.Blocking {
		return nil, nil //nolint:nilnil // nothing blocks
	}
	a.bytes += len(raw)
	return res.Attention, nil
}

// attention returns the item in a result or in the data of an error, or nil.
func (a *agent) attention(raw json.RawMessage) (*heed.Attention, error) {
	var with struct {
		Attention json.RawMessage `json:"attention"`
	}
	if err := json.Unmarshal(raw, &with); err != nil || len(with.Attention) == 0 {
		return nil, err
	}
	item, err := gabp.ParseAttention(with.Attention)
	if err != nil {
		return nil, err
	}
	a.bytes += len(with.Attention)
	return &item, nil
}

// blindPrefix begins the id of the item by which heed reports that it could not read the
// log in time, as on a machine that stands still: it is no evidence about the game.
const blindPrefix = "blind-"

// stop does what an agent is asked to when it is stopped: look, acknowledge, read the
// state again.
func (a *agent) stop(ctx context.Context, item *heed.Attention) error {
	var res gabp.AckResult
	if err := a.client.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: item.ID}, &res); err != nil {
		return err
	}
	if strings.HasPrefix(item.ID, blindPrefix) {
		return nil // it looks again before the next call
	}
	a.stops++
	a.acks++
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	if r.Broken == "" {
		a.falseStops++
	} else {
		a.delays = append(a.delays, r.SinceMs)
	}
	return nil
}

func (a *agent) read(ctx context.Context) (reading, error) {
	raw, err := a.client.CallTool(ctx, "colony/read", nil)
	if err != nil {
		return reading{}, err
	}
	var r reading
	return r, json.Unmarshal(raw, &r)
}
