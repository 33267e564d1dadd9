// Package mcp is a proxy between a client and a server of the Model Context Protocol, on the lines of two streams. It
// holds calls of tools back by a gate, puts attention into their results, and adds heed's own tools and resources. All
// else passes byte for byte, in both directions and in its order, in each version of the protocol.
//
// # Abilities
//
// Attention reaches the model as text of a result: before the server's own text, and as a member of its structured
// content, since some clients show the model that alone. A refused call is a result that is an error, which every
// client shows to the model. A result cannot come before the model asks. A client that watches heed's resources gets
// notifications of changes, which it shows to people at most.
//
// A written result is no proof that the model read it: it counts as delivered when the client calls another tool after
// it. The next process sends a message again that was written and not followed by a call.
//
// # Transports
//
//	client on stdin/stdout ─┐                 ┌─ program's stdin/stdout
//	                        ├─ lines, [Proxy] ┤
//	client over HTTP, Front ┘                 └─ Remote, server over HTTP
//
// A [Remote] is a server over Streamable HTTP, and a [Front] a client, each as a stream of lines. Answers and progress
// go to the request that they belong to; all else to the stream of the session, or to the latest request.
//
// # Versions
//
// heed's own answers have the members that the version of the request requires. Since 2026-07-28 each request names its
// version, and a client may begin with any of them; before, initialize agrees on the version. A call that asks the
// client for input continues in a later request: it is one call, and its continuation passes the gate once. A call of a
// tool without an id is not passed on, also while nothing is held back: it has no answer, so that neither a refusal
// nor an outcome could reach the model, and heed could not see its end.
//
// # Why lines and not a library
//
// A proxy of the official SDK ends the protocol on both sides: members unknown to its types are lost, and each version
// needs an update. Here the SDK is the client and the server of the tests.
//
// # Concurrency and bounds
//
// Lines and open requests are bounded by package jsonrpc, which reads each direction in a goroutine. A call has its own
// while it waits, and at most 256 calls wait at a time; more are refused.
package mcp
