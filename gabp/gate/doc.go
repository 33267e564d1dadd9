// Package gate holds back the calls of an agent while an attention item that it has not
// acknowledged is blocking. It is for programs that dispatch calls to a game: check
// before each call, report after it.
//
//	g, err := gate.New(gate.Config{Source: gate.Engine(engine, time.Now)})
//	…
//	d := g.Check(ctx, gate.Call{ID: id, Tool: "colony/build", Consumer: agent})
//	if !d.Allowed {
//		return errors.New(d.Refusal) // not executed
//	}
//	result, err := dispatch(call)
//	done := g.Done(ctx, d, event.StatusCompleted, "") // executed; done.Related opened because of it
//
// # Guarantees
//
// A call that its [Decision] does not allow is not executed; a [Result] with Executed
// means that it was, whatever its outcome. An item that opens between Check and the
// dispatch cannot stop the call any more: it is the related item of its Result, and
// stops the next one. The Result has the call's verdict, too: it is clean only if the
// evidence was complete.
//
// # Held calls
//
// A call is refused while a blocking item is open, with that item: the same id for
// every call until it is acknowledged by its id ([Gate.Ack]). A retry is never an
// acknowledgement. Advisory items hold nothing back.
//
// Tools that the owner names ([Config].Allow) are exempt, and those with one of the tags diagnostic, diagnostics,
// health, lifecycle, observation, read-only, status, telemetry and attention-bypass, in any case. Words in a name have
// no meaning: "reset_status" changes things. A refusal names the exempt tools.
//
// # Failures
//
// A peer without the capability is never asked: its calls are allowed, with the reason
// in Exempt. If the source fails, answers late or inconsistently, the gate stays
// closed, unless Config.FailOpen is set; the Decision has the reason in either case.
//
// # Concurrency and cost
//
// All methods are safe for concurrent use. A Check in process renders the open items;
// over GABP it costs one request. It waits at most Config.Timeout, provided that its
// Source obeys the context.
package gate
