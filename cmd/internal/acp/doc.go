// Package acp is a proxy between an editor and an agent that speak the Agent Client Protocol (JSON-RPC 2.0, one message
// in a line). It passes each line through as it is, and brings messages to the agent in the middle of its turn as
// package steer decides: by an injection if the agent takes them, see [session.injection], else by canceling the turn
// and prompting again with the request and the message.
//
// # Guarantees
//
// The editor sees one turn: each of its requests is answered once, and a prompt at the end of the last prompt that
// carried it. At most one prompt of a session is open at the agent. A person's session/cancel ends the turn, which is
// not prompted again. Permissions that the agent asked for in a turn that the proxy cancels are answered as canceled,
// and tool calls that were open in it are shown as failed. When the agent ends, the editor's open requests are answered
// with an error.
//
// A batch counts as delivered when the agent's first output after the prompt has come, or its answer; an injected one
// when the agent says so. A line that is not JSON is passed on and counted. An agent of a later version of the protocol
// than 1 is not steered.
//
// # Prompts during a turn
//
// A prompt that the editor sends while the agent works is a message of the user, which the policy of the conversation
// steers by; both requests are answered. A prompt after session/cancel waits until the agent has stopped.
//
// # Finished calls
//
// A prompt that follows a canceled turn lists the tool calls that were finished in it, as data, since some agents
// forget a canceled turn.
//
// # Calls of the game
//
// A tool call that goes to the game is reported to its [Conversation] when the agent first shows it, and when it has
// completed or failed. The calls that are open when a turn ends in order have completed; if the turn was canceled or
// failed, the caller left them. For the machine a call ends when the verdict is known.
//
// # Bounds
//
// Package jsonrpc bounds lines and open requests; maxSessions and maxCalls bound sessions and tool calls. A machine
// keeps 64 KiB of the text of a prompt, which is sent again if the proxy was killed. Otherwise the whole prompt is sent
// again.
//
// # Concurrency
//
// One line or action is handled at a time. A [Conversation] may be used by others at the same time: its
// actions are queued.
package acp
