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
	switch c.method {
	case "tasks/result": // of 2025-11-25: it has the answer to the call
		told := ""
		if of, known := p.continued.Get(taskKey(c.task)); known {
			told = p.end(ctx, &of, m.object)
		}
		p.continued.Remove(taskKey(c.task))
		p.inform(ctx, m, told)
	case "tasks/cancel":
		if of, known := p.continued.Get(taskKey(c.task)); known && m.get("error") == nil {
			p.endWith(ctx, &of, event.StatusCancelled, "")
		}
	default:
		p.state(ctx, c.task, m, "result")
	}
}

// state takes the state of a task, a member of m. A task that has ended has its result in it since 2026-07-28: the
// outcome and the news are added there.
func (p *Proxy) state(ctx context.Context, id string, m *message, member string) {
	of, known := p.continued.Get(taskKey(id))
	if !known {
		return
	}
	state := m.inner(member)
	whole := state.get("result") != nil || state.get("error") != nil
	told := ""
	switch status := state.text("status"); {
	case status == "cancelled":
		told = p.endWith(ctx, &of, event.StatusCancelled, "")
	case status != "completed" && status != "failed":
		return
	case whole:
		told = p.end(ctx, &of, state)
	case status == "completed":
		p.endWith(ctx, &of, event.StatusCompleted, "")
	default:
		p.endWith(ctx, &of, event.StatusFailed, state.text("statusMessage"))
	}
	if whole {
		p.inform(ctx, m, told, member)
	}
}
