// Package sidecar runs an engine behind frames: entries come in as frames of bytes, attention and answers go out as
// such. A mod inside a game starts a program that does so and talks to it over pipes; a library does so over rings in
// memory. docs/embedding-unity.md describes the frames byte by byte.
//
// [Serve] is the whole of it: it reads until its input ends. One goroutine reads and feeds the engine and never waits
// for the output; another one writes. What waits to be written is bounded: there is one update for each item, and
// answers beyond a bound are dropped, counted and reported.
package sidecar
