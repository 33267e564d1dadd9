package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/event"
)

// subscriptionID is the key of the id of a subscription, in its messages.
const subscriptionID = "io.modelcontextprotocol/subscriptionId"

// maxSubscribed bounds the resources of a subscription.
const maxSubscribed = 256

// watched are the paths of the resources in a subscription, and of its parts.
var watched = []string{"params", "notifications", "resourceSubscriptions"}

// meta names the subscription c.
func (c *call) meta() any { return map[string]any{subscriptionID: c.id} }

// listen takes a request for notifications, which stays open. The server gets it without heed's resources, and not at
// all if it asks for nothing else.
func (p *Proxy) listen(c *call, m *message) {
	filter := m.params.inner("notifications")
	theirs := slices.DeleteFunc(list(filter.get("resourceSubscriptions")), func(raw json.RawMessage) bool {
		uri := plainText(raw)
		if !strings.HasPrefix(uri, bridge.ResourceBase) {
			return false
		}
		c.uris = append(c.uris, uri)
		return true
	})
	if len(c.uris) > maxSubscribed || !p.expect(c) {
		p.reply(refuse(c.id, jsonrpc.CodeInternal, tooMany))
		return
	}
	if len(c.uris) > 0 {
		filter.set(theirs, "resourceSubscriptions")
		asks := func(m jsonMember) bool { return string(m.value) != "false" && string(m.value) != "[]" }
		if !slices.ContainsFunc(filter, asks) {
			p.watch(c)
			return
		}
		m.set(theirs, watched...)
	}
	p.server.Write(m.line)
}

// watch acknowledges a subscription to heed's resources alone.
func (p *Proxy) watch(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending[keyOf(c.id)] = c
	c.watches = true
	p.client.Write(notification("notifications/subscriptions/acknowledged", map[string]any{
		"_meta": c.meta(), "notifications": map[string]any{"resourceSubscriptions": c.uris},
	}))
}

// acknowledged passes on that the server acknowledged a subscription, with heed's resources.
func (p *Proxy) acknowledged(m *message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.pending[keyOf(m.params.inner("_meta").get(subscriptionID))]
	if c != nil && len(c.uris) > 0 {
		all := list(m.params.inner("notifications").get("resourceSubscriptions"))
		m.set(append(all, list(encode(c.uris))...), watched...)
		c.watches = true
	}
	p.client.Write(m.line)
}

// subscribe adds a resource to those that the client subscribed to, or removes it. It returns false if there are too
// many.
func (p *Proxy) subscribe(uri string, on bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.subscribed = slices.DeleteFunc(p.subscribed, func(s string) bool { return s == uri })
	if on && len(p.subscribed) < maxSubscribed {
		p.subscribed = append(p.subscribed, uri)
		return true
	}
	return !on
}

// notification returns a notification as a line.
func notification(method string, params any) []byte {
	return jsonrpc.Message{Method: method, Params: jsontext.Value(encode(params))}.Line()
}

// notify sends a client the changes of the resources that it watches.
func (p *Proxy) notify(updates []heed.Update) {
	items := bridge.ResourceBase + "items/"
	var lines [][]byte
	add := func(uris []string, params map[string]any) {
		for _, uri := range uris {
			id, one := strings.CutPrefix(uri, items) // a resource of one item changes with this item alone
			if !one || slices.ContainsFunc(updates, func(u heed.Update) bool {
				return u.Item.ID == id || strings.HasSuffix(u.Item.ID, "-"+id)
			}) {
				params["uri"] = uri
				lines = append(lines, notification("notifications/resources/updated", params))
			}
		}
	}
	p.mu.Lock()
	add(p.subscribed, map[string]any{})
	for _, c := range p.pending {
		if c.watches {
			add(c.uris, map[string]any{"_meta": c.meta()})
		}
	}
	p.mu.Unlock()
	for _, line := range lines {
		p.reply(line)
	}
}

// taskOf returns the id of the task that a result begins, "" for none.
func taskOf(result object) string {
	if result.text("resultType") == "task" {
		return result.text("taskId")
	}
	return result.inner("task").text("taskId") // of 2025-11-25
}

// taskKey is the key of a task among the calls that continue.
func taskKey(id string) string { return "task " + id }

// polled takes the answer to a request about a task.
func (p *Proxy) polled(ctx context.Context, c *call, m *message) {
	d, _ := p.continued.Get(taskKey(c.task)) // for an unknown task, the end of a call that was none
	switch {
	case c.method == "tasks/result": // of 2025-11-25: it has the answer to the call
		p.continued.Remove(taskKey(c.task))
		p.inform(ctx, m, p.end(ctx, &d, m.object))
	case c.method != "tasks/cancel":
		p.state(ctx, c.task, m, "result")
	case m.get("error") == nil:
		p.endWith(ctx, &d, event.StatusCancelled, "")
	}
}

// state takes the state of a task, a member of m. A task that has ended has its result in it since 2026-07-28: the
// outcome and the news are added there.
func (p *Proxy) state(ctx context.Context, id string, m *message, member string) {
	d, known := p.continued.Get(taskKey(id))
	state := m.inner(member)
	status, ok := event.Parse[event.Status](state.text("status"))
	if !known || !ok || !status.Ended() {
		return
	}
	whole := state.get("result") != nil || state.get("error") != nil
	outcome, why := "", ""
	if status == event.StatusFailed {
		why = state.text("statusMessage")
	}
	if whole && status != event.StatusCancelled {
		outcome = p.end(ctx, &d, state)
	} else {
		outcome = p.endWith(ctx, &d, status, why)
	}
	if whole {
		p.inform(ctx, m, outcome, member)
	}
}
