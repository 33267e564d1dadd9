// Package gate holds back the calls of an agent while something that it has not
// looked at asks for it. It is for programs that dispatch calls to a game: ask
// before, tell after.
//
//	g, err := gate.New(gate.Config{Source: gate.Engine(engine, time.Now)})
//	…
//	d := g.Check(ctx, gate.Call{ID: id, Tool: "colony/build", Consumer: agent})
//	if !d.Allowed {
//		return errors.New(d.Refusal) // not executed
//	}
//	result, err := dispatch(call)
//	done := g.Done(ctx, d, event.StatusCompleted, "") // executed; done.Related is what came of it
//
// # What is said is true
//
// A [Decision] that does not allow a call means that it was not executed, and a
// [Result] with Executed that it was, whatever became of it. What opens between
// Check and the dispatch cannot stop the call any more: it is the related item of
// its Result, and stops the next one.
//
// # What is held back
//
// A call is refused while a blocking item is open, with that item: the same id for
// every call until somebody acknowledges it by its id ([Gate.Ack]). A retry is
// never an acknowledgement. Advisory items hold nothing back.
//
// Exempt are the tools that the owner names ([Config].Allow), and then those with
// a tag that says so ([Config].Tags). Words in a name say nothing: "reset_status"
// changes things. A refusal says what is exempt.
//
// # What cannot be asked
//
// A peer without the capability is never asked: its calls are allowed, and Exempt
// says why. Where the source was asked and failed, answered late, or gave an
// answer that does not hold together, the gate stays closed, unless
// Config.FailOpen says otherwise; either way it is said.
//
// # Concurrency and cost
//
// All methods are safe for concurrent use. A Check in process costs a look at the
// open items, some microseconds while one is open; over GABP, one request. It
// waits at most Config.Timeout, as far as its Source heeds the context.
package gate
