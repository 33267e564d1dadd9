// Package event holds the plain data that flows through heed: an [Entry] is what a
// host or a captured log reports, made by [Log], [Operation], [State] or [Notice], and
// a [Decision] is what was decided about it.
//
// The package has no behavior beyond naming and parsing its enumerations. It
// imports nothing of heed, keeps no state and starts nothing, so every value
// may be used from any goroutine.
//
// Strings in these types are borrowed for the length of the call they are
// passed to: a host may reuse the memory behind them afterwards. A callee
// that keeps text copies it.
package event
