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

// finishTask ends the operation of a task once, and returns its outcome, unless the task is unknown.
func (p *Proxy) finishTask(ctx context.Context, id string, end event.Status, text string) (told string, known bool) {
	t, known := p.tasks.Get(id)
	if known {
		t.once.Do(func() { t.told = p.end(ctx, t.call, end, text) })
		told = t.told
	}
	return told, known
}

// polled adds the outcome and the news to the answer to a request about a task, once the task has ended.
func (p *Proxy) polled(ctx context.Context, c *call, m *message) {
	switch result := m.inner("result"); {
	case c.method == "tasks/result": // of 2025-11-25: it has the answer to the call
		status, text := ended(m.object)
		told, _ := p.finishTask(ctx, c.task, status, text)
		p.tasks.Remove(c.task)
		p.inform(ctx, m, told)
	case c.method == "tasks/cancel" && m.get("error") == nil:
		p.finishTask(ctx, c.task, event.StatusCancelled, "")
	case p.state(ctx, c.task, &result):
		m.set("result", result)
	}
}

// changed adds the outcome and the news to a notification about a task, once the task has ended.
func (p *Proxy) changed(ctx context.Context, m *message) {
	if p.state(ctx, m.params.text("taskId"), &m.params) {
		m.set("params", m.params)
	}
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
	told, known := p.finishTask(ctx, id, status, text)
	return known && whole && p.add(ctx, of, told)
}
