package mcp

import (
	"context"
	"sync"

	"github.com/heedlog/heed/event"
)

// task is a call whose answer named a task: the operation ends with the task.
type task struct {
	call *call

	once sync.Once
	told string // its outcome
}

// taskOf returns the id of the task that a result begins, "" for none.
func taskOf(result object) string {
	if result.text("resultType") == "task" {
		return result.text("taskId")
	}
	return result.inner("task").text("taskId") // of 2025-11-25
}

// finishTask ends the operation of a task once, and returns the task, nil for an unknown one.
func (p *Proxy) finishTask(ctx context.Context, id string, status event.Status, text string) *task {
	t, known := p.tasks.Get(id)
	if known {
		t.once.Do(func() { t.told = p.end(ctx, t.call, status, text) })
	}
	return t
}

// polled returns the answer to a request about a task, with the outcome and the news once the task has ended.
func (p *Proxy) polled(ctx context.Context, c *call, line []byte, msg object) []byte {
	switch result := msg.inner("result"); {
	case c.method == "tasks/result": // of 2025-11-25: it has the answer to the call
		status, text := ended(msg)
		tool, told := "", ""
		if t := p.finishTask(ctx, c.task, status, text); t != nil {
			tool, told = t.call.tool, t.told
			p.tasks.Remove(c.task)
		}
		if p.tell(ctx, &msg, tool, told) {
			return msg.line()
		}
	case c.method == "tasks/cancel" && msg.get("error") == nil:
		p.finishTask(ctx, c.task, event.StatusCancelled, "")
	case p.state(ctx, c.task, &result):
		msg.set("result", result)
		return msg.line()
	}
	return line
}

// changed returns a notification about a task, with the outcome and the news once the task has ended.
func (p *Proxy) changed(ctx context.Context, line []byte, msg object) []byte {
	params := msg.inner("params")
	if !p.state(ctx, params.text("taskId"), &params) {
		return line
	}
	msg.set("params", params)
	return msg.line()
}

// state takes the state of a task. It returns true if it added to the task's result, which the state has since
// 2026-07-28.
func (p *Proxy) state(ctx context.Context, id string, of *object) bool {
	status, text := ended(*of)
	whole := of.get("result") != nil || of.get("error") != nil
	switch of.text("status") {
	case "completed":
		if !whole {
			status, text = event.StatusCompleted, ""
		}
	case "failed":
		if !whole {
			text = of.text("statusMessage")
		}
	case "cancelled":
		status, text = event.StatusCancelled, ""
	default:
		return false
	}
	t := p.finishTask(ctx, id, status, text)
	return t != nil && whole && p.tell(ctx, of, t.call.tool, t.told)
}
