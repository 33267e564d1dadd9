// Package event holds the plain data that flows through heed: an [Entry] is the report of a host or a captured log,
// made by [Log], [Operation], [State] or [Notice], and a [Decision] is the decision about it.
//
//	Log{Level: LevelError, Message: "Save failed"}.Entry()              Entry of KindLog
//	Operation{ID: "1", Method: "build", Status: StatusStarted}.Entry()  Entry of KindOperation
//	State{Status: StatusPhase, Phase: "play"}.Entry()                   Entry of KindState
//	Notice{Status: StatusHole, Count: 512}.Entry()                      Entry of KindNotice: 512 bytes are missing
//
// The package only names and parses its enumerations. It imports nothing of heed, keeps no state and starts nothing, so
// that every value may be used from any goroutine.
//
// Strings in these types are borrowed for the length of the call they are passed to: a host may reuse the memory of
// them afterwards. A callee that keeps text copies it.
package event
