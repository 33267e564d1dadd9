package live

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// open is a server with open items, which notes what it was asked.
type open struct {
	items  []bridge.Item
	unread bool
	mu     sync.Mutex
	asked  []string
}

// serve returns what a command needs to be told to talk to it.
func (o *open) serve(t *testing.T) []string {
	t.Helper()
	return serve(t, func(_ context.Context, r *gabp.Request) (any, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		switch r.Method {
		case gabp.MethodToolsCall:
			call, err := gabp.ParseToolCall(r.Params)
			if err != nil {
				return nil, err
			}
			if o.asked = append(o.asked, call.Name); call.Name == bridge.ToolItems {
				return bridge.Items{Items: o.items, Read: !o.unread}, nil
			}
			if call.Name == bridge.ToolItem { // for the cursor, by which an id is short
				var a struct{ ID string }
				_ = json.Unmarshal(call.Arguments, &a)
				if a.ID == "99" {
					return nil, gabp.Errorf(gabp.CodeInvalidParams, "no %s", a.ID)
				}
				return bridge.ItemDetail{Item: bridge.Item{Item: heed.Item{ID: a.ID}, Cursor: o.items[0].Cursor}}, nil
			}
			if call.Name == bridge.ToolAck {
				return o.ack(call.Arguments), nil
			}
			return nil, gabp.Errorf(gabp.CodeToolNotFound, "no %s", call.Name)
		case gabp.MethodAttentionCurrent:
			o.asked = append(o.asked, r.Method)
			first := &o.items[0]
			return gabp.CurrentResult{Attention: &first.Item}, nil
		}
		return nil, gabp.Errorf(gabp.CodeMethodNotFound, "no %s", r.Method)
	})
}

// ack answers heed/ack: number 99 is not known, and all others that are not open were cleared before.
func (o *open) ack(arguments json.RawMessage) bridge.Acknowledgement {
	var p gabp.AckParams
	_ = json.Unmarshal(arguments, &p)
	o.asked = append(o.asked, bridge.ToolAck+" "+p.AttentionID)
	var a bridge.Acknowledgement
	a.Covered, a.Open = []heed.Item{}, []heed.Item{}
	a.Acknowledged, a.AttentionID = p.AttentionID != "99", p.AttentionID
	for i := range o.items {
		item := o.items[i].Item
		item.TotalUrgentEntries = 3
		if item.ID == p.AttentionID {
			a.Covered = append(a.Covered, item)
		} else {
			a.Open = append(a.Open, item)
		}
	}
	return a
}

// serve gives all requests to h until the test ends, and returns what a command needs to be told to talk to it.
func serve(t *testing.T, h func(context.Context, *gabp.Request) (any, error)) []string {
	t.Helper()
	token := gabp.NewToken()
	server := testkit.Must(gabp.NewServer(gabp.ServerConfig{
		Token: token, AgentID: "heed", App: gabp.App{Name: "Colony", Version: "1"}, Mux: serving(h),
	}))
	l := testkit.Must(gabp.Listen(t.Context(), "127.0.0.1:0"))
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() { done <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	t.Setenv(tokenEnv, token)
	return []string{"--connect", l.Addr().String()}
}

// serving returns a Mux that gives all requests to h.
func serving(h func(context.Context, *gabp.Request) (any, error)) *gabp.Mux {
	mux := new(gabp.Mux)
	mux.Fallback = h
	return mux
}

// TestCurrentChanged: that the game's state may have changed is said once.
func TestCurrentChanged(t *testing.T) {
	const changed = "; the game's state may have changed: read it again"
	for _, summary := range []string{"the roof fell in", "the roof fell in" + changed + "; see entries after 7"} {
		a := heed.Item{ID: "x-1", Summary: summary, StateInvalidated: true}
		a.Sanitize()
		to := serve(t, func(_ context.Context, r *gabp.Request) (any, error) {
			if r.Method == gabp.MethodAttentionCurrent {
				return gabp.CurrentResult{Attention: &a}, nil
			}
			return bridge.ItemDetail{Item: bridge.Item{Item: a}}, nil
		})
		out, _ := runCommand(t, append([]string{"current", "--width", "200"}, to...)...)
		require.Equal(t, 1, strings.Count(out, changed), out)
	}
}

// TestAck: which item an acknowledgement is of.
func TestAck(t *testing.T) {
	const day = "20260102T140317.3a7c90d1-"
	items := make([]bridge.Item, 3)
	for i, a := range []heed.Item{
		{ID: day + "1", Blocking: true, Summary: "the roof fell in"},
		{ID: "blind-1"},
		{ID: day + "12"},
	} {
		a.Sanitize()
		items[i].Item, items[i].Cursor = a, strings.TrimSuffix(day, "-")+"/7"
	}
	for _, c := range []struct {
		name, id, acked, says string
		code                  int
		advisory, unread      bool
	}{
		{name: "no person has seen it", unread: true, says: "nothing is acknowledged: this item was not shown before\n", code: exitFinding},
		{name: "a number, though no person has seen it", unread: true, id: "12", acked: day + "12", says: "item 12 is acknowledged"},
		{name: "none is what holds calls back", acked: day + "1", says: "item 1 is acknowledged, by a person, up to what was shown\n  covered   3 entries: the roof fell in\n"},
		{name: "nothing holds calls back", advisory: true, says: "nothing holds calls back", code: exitFinding},
		{name: "whole, though another begins so", id: day + "1", acked: day + "1"},
		{name: "a whole id without a number", id: "blind-1", acked: "blind-1"},
		{name: "of another", id: day + "12", acked: day + "12"},
		{name: "what is not open is taken at its word", id: day + "7", acked: day + "7", code: exitFinding},
		{name: "a number", id: "12", acked: day + "12", says: "item 12 is acknowledged"},
		{name: "an old number", id: "2", acked: "2", says: "item 2 was cleared before; open: 1, blind-1, 12", code: exitFinding},
		{name: "an unknown number", id: "99", acked: "99", says: "no item 99 is known; open: 1, blind-1, 12", code: exitFinding},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &open{items: append([]bridge.Item(nil), items...)}
			o.items[0].Blocking, o.unread = !c.advisory, c.unread
			args := append([]string{"ack"}, o.serve(t)...)
			if c.id != "" {
				args = append(args, c.id)
			}
			var out, errs strings.Builder
			require.Equal(t, c.code, run(t.Context(), args, strings.NewReader(""), &out, &errs), errs.String())
			require.Contains(t, out.String()+errs.String(), c.says)
			o.mu.Lock()
			defer o.mu.Unlock()
			if c.acked != "" {
				require.Contains(t, o.asked, bridge.ToolAck+" "+c.acked)
			} else {
				require.NotContains(t, o.asked, bridge.ToolAck)
			}
			if c.id == "" && !c.advisory {
				require.NotContains(t, o.asked, gabp.MethodAttentionCurrent, "what came since is not shown by asking")
			}
		})
	}
}
