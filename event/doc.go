// Package event holds the plain data that flows through heed: what a host or a
// captured log reports ([Log], [Operation], [State], [Notice]), the one form in
// which the engine handles all of it ([Entry]), and what was decided about it
// ([Decision]).
//
// The package has no behavior beyond naming and parsing its enumerations. It
// imports nothing of heed, keeps no state and starts nothing, so every value
// may be used from any goroutine.
//
// Strings in these types are borrowed for the length of the call they are
// passed to: a host may reuse the memory behind them afterwards. Whoever keeps
// text copies it.
package event
