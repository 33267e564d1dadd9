// Package gabp speaks GABP 1.0, the protocol between a game's mod and the
// bridge that acts for an agent: as a server, as a client, and as both at once
// in a proxy.
//
// # Server
//
// A [Server] is the mod's side. It takes connections from a listener on the
// loopback interface or a Unix socket ([Server.Serve]) or any one stream
// ([Server.ServeConn]), answers session/* and events/* by itself, and gives all
// other methods to a [Handler], usually a [Mux]. [Server.Publish] sends an event
// to those that subscribed to its channel.
//
// A [Plane] puts the attention of an engine on the wire: the methods
// attention/current and attention/ack, and the three event channels. The
// protocol's item is a heed.Attention; [ParseAttention] reads those of a peer.
//
// # Client
//
// A [Client] is the bridge's side: [Dial], then [Client.Call]. What a proxy
// passes on it gets and gives byte for byte ([Client.CallRaw], [Event.Payload]).
//
// # Tolerant and exact
//
// What is read may have header names in any case, any or no Content-Type, bare
// line feeds, frames cut and joined anywhere, unknown members, "error":null
// beside a result, ids that are no UUIDs. What is written follows the schemas of
// this package ([Schemas]) to the letter. An error that a peer gets carries the
// code of the protocol's registry.
//
// # Bounds
//
// [Limits] bounds all that a peer can make this package hold: the size, depth
// and strings of a message, which one scan checks before anything is decoded;
// connections; requests at a time and their duration; what waits to be written.
// Before its hello a peer may send 64 KiB a message. A frame once begun must end
// in time. A subscriber that does not keep up gets the latest event of each key,
// and past a bound is disconnected, unless events that pass can give way (see
// [Server.Pass]); it delays nobody else.
//
// All types are safe for concurrent use unless they say otherwise. A token is
// compared in constant time, and is in no log, error or String.
package gabp
