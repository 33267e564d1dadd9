package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// The methods of the protocol that a remote source asks by.
const (
	methodCurrent = "attention/current"
	methodAck     = "attention/ack"
)

// Caller sends a request and decodes the result into result: a client of package
// gabp. An error means that there is no result, whatever the reason.
type Caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Remote returns a [Source] that asks a peer over GABP. methods are those that the
// peer says that it has: Welcome().Capabilities.Methods of a client of package gabp.
// Without attention/current it is never asked, and the answer is [ErrNoAttention].
//
// An answer is taken whole or not at all: where a field is missing that the protocol
// requires, or a number is no integer of the protocol, it is an error. The summary of
// an item is a peer's text, and is cut and escaped. An acknowledgement has no upTo over
// GABP: what the peer showed last counts.
func Remote(c Caller, methods []string) Source {
	return &remote{caller: c, current: slices.Contains(methods, methodCurrent), ack: slices.Contains(methods, methodAck)}
}

type remote struct {
	caller       Caller
	current, ack bool
}

// Current implements [Source].
func (r *remote) Current(ctx context.Context, _ string) (heed.Attention, bool, error) {
	if !r.current {
		return heed.Attention{}, false, ErrNoAttention
	}
	var answer struct {
		Attention json.RawMessage `json:"attention"`
	}
	if err := r.caller.Call(ctx, methodCurrent, struct{}{}, &answer); err != nil {
		return heed.Attention{}, false, fmt.Errorf("%s: %w", methodCurrent, err)
	}
	a, err := decode(answer.Attention)
	if err != nil {
		return heed.Attention{}, false, fmt.Errorf("%s: %w", methodCurrent, err)
	}
	if a == nil {
		return heed.Attention{}, false, nil
	}
	return *a, true, nil
}

// Ack implements [Source].
func (r *remote) Ack(ctx context.Context, _, id string, _ uint64) (Acked, error) {
	if !r.ack {
		return Acked{}, ErrNoAttention
	}
	var answer struct {
		Acknowledged *bool           `json:"acknowledged"`
		Current      json.RawMessage `json:"currentAttention"`
	}
	params := struct {
		ID string `json:"attentionId"`
	}{id}
	if err := r.caller.Call(ctx, methodAck, params, &answer); err != nil {
		return Acked{}, fmt.Errorf("%s: %w", methodAck, err)
	}
	if answer.Acknowledged == nil {
		return Acked{}, fmt.Errorf("%s: the answer does not say whether it was acknowledged", methodAck)
	}
	current, err := decode(answer.Current)
	if err != nil {
		return Acked{}, fmt.Errorf("%s: %w", methodAck, err)
	}
	return Acked{Acknowledged: *answer.Acknowledged, ID: id, Current: current}, nil
}

// maxInteger is the largest integer that every reader of JSON takes in exactly.
const maxInteger = 1<<53 - 1

// maxSummary bounds what is kept of a peer's summary, in characters.
const maxSummary = 512

// item is an attention item of the protocol, with pointers where a zero would look
// like an answer.
type item struct {
	ID               *string `json:"attentionId"`
	State            *string `json:"state"`
	Severity         *string `json:"severity"`
	Blocking         *bool   `json:"blocking"`
	StateInvalidated *bool   `json:"stateInvalidated"`
	Summary          *string `json:"summary"`
	Opened           *uint64 `json:"openedAtSequence"`
	Latest           *uint64 `json:"latestSequence"`
	Total            *uint64 `json:"totalUrgentEntries"`
	Cursor           uint64  `json:"diagnosticsCursor"`
	Operation        string  `json:"causalOperationId"`
	Method           string  `json:"causalMethod"`
	Sample           []struct {
		Level   *string `json:"level"`
		Message *string `json:"message"`
		Repeat  *uint64 `json:"repeatCount"`
		Latest  *uint64 `json:"latestSequence"`
	} `json:"sample"`
}

// decode returns the open item that data is, nil for null.
func decode(data json.RawMessage) (*heed.Attention, error) {
	if len(data) == 0 {
		return nil, errors.New("the answer names no item, nor null")
	}
	var it *item
	if err := json.Unmarshal(data, &it); err != nil {
		return nil, fmt.Errorf("the item cannot be read: %w", err)
	}
	if it == nil {
		return nil, nil //nolint:nilnil // null is an answer: nothing is open
	}
	return it.attention()
}

func (it *item) attention() (*heed.Attention, error) {
	switch {
	case it.ID == nil || *it.ID == "" || it.State == nil || it.Severity == nil || it.Blocking == nil || it.StateInvalidated == nil ||
		it.Summary == nil || *it.Summary == "" || it.Opened == nil || it.Latest == nil || it.Total == nil:
		return nil, errors.New("the item lacks a field that the protocol requires")
	case max(*it.Opened, *it.Latest, *it.Total, it.Cursor) > maxInteger:
		return nil, errors.New("the item has a number beyond 2^53")
	case *it.State != "open":
		return nil, fmt.Errorf("the item is %q, and should be open", *it.State)
	}
	a := &heed.Attention{
		ID: *it.ID, State: *it.State, Blocking: *it.Blocking, StateInvalidated: *it.StateInvalidated,
		Summary:           text.Safe(*it.Summary, maxSummary),
		CausalOperationID: it.Operation, CausalMethod: it.Method,
		OpenedAtSequence: *it.Opened, LatestSequence: *it.Latest, DiagnosticsCursor: it.Cursor, TotalUrgentEntries: *it.Total,
	}
	var ok bool
	if a.Severity, ok = event.ParseSeverity(*it.Severity); !ok {
		return nil, fmt.Errorf("the item has the severity %q, which the protocol does not know", *it.Severity)
	}
	for _, s := range it.Sample {
		if s.Level == nil || s.Message == nil || s.Repeat == nil || s.Latest == nil {
			return nil, errors.New("a sample of the item lacks a field that the protocol requires")
		}
		level, ok := event.ParseSeverity(*s.Level)
		if !ok {
			return nil, fmt.Errorf("a sample of the item has the level %q, which the protocol does not know", *s.Level)
		}
		a.Sample = append(a.Sample, heed.Sample{Level: level, Message: *s.Message, RepeatCount: *s.Repeat, LatestSequence: *s.Latest})
	}
	return a, nil
}
