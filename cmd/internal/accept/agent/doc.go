// Package agent lets scripted agents act on a game whose tools say "success" while its log has faults. A plan lists the
// faults. A policy is the reader of the log:
//
//	none        no program reads the log
//	heed        heed before the game, which sees the log file alone: the agent hears of a fault on a result, or at its
//	            next call
//	steer       the same, and an item that blocks stops the agent's turn while it thinks, as over ACP: it is prompted
//	            again, with its work and the item. A call to the game is waited for, for 30 s, and then left
//	brief       the same, with a brief of 600 tokens in place of the item's summary
//	mcp         heed between the agent and a game that is a server of MCP
//	hook        heed reads the log; before a call, the agent's host asks whether it is denied, and after it for a text
//	acp         heed reads the log, and an item that blocks stops the agent's turn while it thinks. No call is held back
//
// In the latter three, no text after a call counts as "clean".
//
// The plans:
//
//	distinct    each fault has a site of its own
//	same, few   all faults have one site, or one of three
//	background  as distinct, and an exception comes by itself, at a rate between 1 in 3 s and 1 in 2 min, from before
//	            the agent comes or from later on
//	periodic    the same, every 31 s
//	noise       as distinct, and errors that are none are logged all the time
//	load        as distinct, and once or twice the game is loaded, with 50 faults at different sites in 20 to 60 s. A
//	            call made in the load is answered after it; the state can be read in it
//	load-late   as distinct, and a call loads the game, with a fault; the log has no end of a load, and another fault
//	            comes 60 ms after every second of the next 100 results
//	slow        as distinct, and two calls of five take 5 s to 2 min, with a line in the log every 10 s
//	nolog       as distinct, and heed looks for the log where it is not
//	variants    as background, and the faults of calls are the exception that comes by itself, with other codes
//
// One call of twenty, at random, has a fault: during the call, 0, 5, 30 or 300 ms after its result, as a flood of 150
// records after it, or 3 to 15 s after it. One of six logs a harmless message as an error. The agent thinks for 2 to 20
// s before each of its actions.
//
// # Definitions
//
// A fault breaks the state of the game from its first record on, until the agent reads it. A fault that breaks a state
// that was whole is an incident. A call on a state that was broken before it was made is stale. A stop is false if the
// state was as it had been read.
//
// The exception that comes by itself breaks the state when it comes first, and changes nothing after that. The faults
// of a load are one incident: an agent that has read the state during the load knows that it is broken until the load
// has ended. If faults came after that reading, the state is broken once more when the load has ended.
//
// A call was wrongly reported as clean if its result was clean although an urgent record had been written from its
// start to the mod's result, or if its final verdict is clean although one was written up to 2 s after that. A record
// is urgent unless the default rules ignore it.
//
// A fault that shows right after a result, late by so much, is found on the result, before the next call, or later: the
// three counts of a cell. An idle read follows a result that did not show anything new. A call under a standing item
// had a verdict with that reason. An agent that was stopped twenty times in a step leaves it out, so that some policies
// make fewer calls.
//
// Tokens are of all text about attention that the agent was given, four bytes each, and of thinking that was stopped,
// which is paid for again: 50 a second. "stopped" is the latter in seconds. The time to recover is from a fault that
// broke the state to the reading that found it; faults that no reading found are not in it. A turn is a step. An agent
// that is prompted thinks as before any other action, acknowledges and reads the state; then it thinks again about its
// step. A steer is false if the state was as it had been read, or if the item had been cleared. A call that was left
// continues in the game, and its result is lost.
//
// # Running it
//
// The table is made in virtual time, since agents think and faults return in seconds and minutes; TestBars holds the
// rates of heed, at 0.15, 0.5 and 2 to 20 s of thinking. Without -seeds it plays few games:
//
//	HEED_TESTS=full go test ./cmd/internal/accept/agent -run Table -v -args -seeds 20 -think 500ms
//	HEED_TESTS=full go test ./cmd/internal/accept/agent -run Bars -args -seeds 20
package agent

// The policies.
const (
	policyNone  = "none"
	policyHeed  = "heed"
	policySteer = "steer"
	policyBrief = "brief"
	policyMCP   = "mcp"
	policyHook  = "hook"
	policyACP   = "acp"
)

var policies = []string{policyNone, policyHeed, policySteer, policyBrief}

// ways are the policies without a bridge, ofHeed those with heed, steered those that stop the agent's turn.
var (
	ways    = []string{policyMCP, policyHook, policyACP}
	ofHeed  = append([]string{policyHeed, policySteer, policyBrief}, ways...)
	steered = []string{policySteer, policyBrief, policyACP}
)
