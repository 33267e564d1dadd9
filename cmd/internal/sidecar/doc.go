// Package sidecar runs an engine that talks in frames of bytes: entries come in, attention and answers go out. A mod
// inside a game starts the program and talks to it over pipes. docs/embedding-unity.md describes the frames byte by
// byte.
//
// [Serve] reads until its input ends. One goroutine reads and feeds the engine, and never waits for the output; another
// one writes. The waiting output is bounded: there is one update for each item, and answers beyond a bound are dropped,
// counted and reported.
package sidecar
