package mcp

import (
	"context"

	"github.com/heedlog/heed/event"
)

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
