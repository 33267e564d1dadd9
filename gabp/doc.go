// Package gabp implements GABP 1.0, the protocol between a game's mod and the
// bridge that acts for an agent: as a server, as a client, and as both at once
// in a proxy.
//
// # Server
//
// A [Server] is the mod's side. It accepts connections from a listener on the
// loopback interface or a Unix socket ([Server.Serve]) or any one stream
// ([Server.ServeConn]), answers session/* and events/* by itself, and passes all
// other methods to the handlers of a [Mux]. [Server.Publish] sends an event to
// the subscribers of its channel.
//
// An [Attention] serves the attention of an engine: the methods attention/current and attention/ack, and the three
// event channels. The protocol's item is a heed.Item; [ParseAttention] reads a peer's item.
//
// [Tools] serves the tools of a host, [Resources] its resources. [AddTool] makes JSON Schemas of Go types. Arguments
// are checked, and a refusal has the path of the wrong value. There are events for changes of a list. Tools.Around is
// the place of a gate.
//
// # Client
//
// A [Client] is the bridge's side: [Dial], then [Client.Call]. A proxy receives and
// sends messages byte for byte ([Client.CallRaw], [Event.Payload]).
//
// # Tolerant and exact
//
// Input may have header names in any case, any or no Content-Type, bare line feeds, frames cut and joined anywhere,
// unknown members, "error":null with a result; with [ServerConfig].Lax, other names and ids, too. Output follows the
// schemas of the protocol exactly. Errors that a peer receives carry the codes of the protocol's registry.
//
// Servers in the field let their threads write at once: a client also reads frames as header, header, body, body, as
// far as the bodies differ in length. They count characters in place of bytes: a client sends only ASCII, with escapes.
// They write header and body separately: a client acknowledges received bytes at once, if the system can.
//
// # Bounds
//
// [Limits] bounds all memory that a peer can make this package use: the size, depth
// and strings of a message, which one scan checks before anything is decoded;
// connections; concurrent requests and their duration; queued output. Before its
// hello a peer may send 64 KiB a message. A frame once begun must end in time. A
// subscriber that does not keep up receives the latest event of each key; past a
// bound it is disconnected, unless droppable events are queued (see [Server.Pass]). It
// delays no other peer. An answer that is too large is dropped as it arrives, and is an
// error of its call.
//
// All types are safe for concurrent use unless documented otherwise. Tokens are
// compared in constant time, and are in no log, error or formatted value.
package gabp
