// Package steer decides how a message reaches an agent in the middle of its turn: it waits, comes with a tool's result,
// is injected, or the turn is canceled and prompted again with the message. It is generic, and knows neither the engine
// nor a protocol: adapters carry out its actions.
//
//	m, err := steer.New(steer.Policy{}, steer.Ceiling{Cancel: true}, verifier)
//	…
//	_, action := m.Receive(now, message)
//	switch action.Do {
//	case steer.Cancel: // cancel the turn, then report it with m.Ended
//	case steer.Prompt, steer.Inject: // send action.Batch, rendered; then m.Confirm or m.Fail
//	}
//
// # Guarantees
//
// An accepted message is delivered once its delivery is confirmed, or withdrawn by its sender: it is never lost between
// a canceled turn and the next prompt, and not confirmed twice in one turn. A turn is not canceled while a call to the
// game is in flight, until Policy.CallWait has passed. A canceled turn is always prompted again with its request.
// Steers are bounded for each turn and minute, but for the first message of an item that blocks; beyond that, messages
// wait for the turn's end.
//
// # Authors
//
// A message passes two gates: first a verifier says who its author is, then the policy's mode decides its effect. A
// message of a [Stranger] is dropped and counted, and can never steer.
//
// # Concurrency and bounds
//
// The package has no clock, no goroutine and no I/O: time comes with each call. A [Machine] is for one conversation and
// one goroutine at a time. It holds at most 64 messages; its [State] is all that must survive a kill.
package steer
