package steering

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

// stepsOfTurn is how many steps an agent takes in a turn.
const stepsOfTurn = 40

// agent is an agent of the Agent Client Protocol: in each turn it asks the model, and calls a tool, until it is
// canceled or has taken its steps. It gives acknowledgements to the editor, which replaces its shell.
func agent(model string, stdin io.Reader, stdout io.Writer) error {
	var turn sync.WaitGroup
	defer turn.Wait()
	cancel := func() {}
	defer func() { cancel() }()
	return serve(stdin, stdout, func(m message) any {
		switch m.Method {
		case "initialize":
			return map[string]any{"protocolVersion": 1, "agentCapabilities": struct{}{}}
		case "session/new":
			return map[string]string{"sessionId": "s1"}
		case "session/cancel":
			cancel()
		case "session/prompt":
			var p struct{ Prompt []struct{ Text string } }
			_ = json.Unmarshal(m.Params, &p) // of heed
			var texts []string
			for _, b := range p.Prompt {
				texts = append(texts, b.Text)
			}
			turn.Wait()
			cancel()
			ctx, end := context.WithCancel(context.Background())
			cancel = end
			turn.Go(func() {
				defer end()
				work(ctx, model, stdout, m.ID, strings.Join(texts, "\n"))
			})
		}
		return nil
	})
}

// work is one turn.
func work(ctx context.Context, model string, out io.Writer, id json.RawMessage, prompt string) {
	update := func(u map[string]any) {
		_ = json.NewEncoder(out).Encode(map[string]any{ // it ends with the agent
			"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{"sessionId": "s1", "update": u},
		})
	}
	messages, reason := []string{prompt}, "end_turn"
	for n := range stepsOfTurn {
		tool, err := ask(ctx, model, messages)
		if err != nil {
			reason = "cancelled"
			break
		}
		if tool == "ack" {
			update(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{
				"type": "text", "text": "ACKNOWLEDGE " + strings.Join(messages, "\n"),
			}})
			messages = []string{"acknowledged"}
			continue
		}
		call := fmt.Sprintf("%s-%d", id, n)
		update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": call, "title": "build", "status": "in_progress"})
		update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed"})
		messages = append(messages, "built")
	}
	_ = answer(out, id, map[string]string{"stopReason": reason})
}
