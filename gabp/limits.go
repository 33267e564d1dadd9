package gabp

import (
	"cmp"
	"time"

	"github.com/heedlog/heed/internal/bounds"
)

// Defaults of [Limits].
const (
	defaultMessageSize   = 4 << 20
	defaultEventQueue    = 1024
	defaultSubscriptions = 256
	defaultHelloTimeout  = 5 * time.Second
)

// Bounds without a setting.
const (
	maxHeaderBytes = 4 << 10 // all headers of a frame; real ones have two, of 60 bytes
	maxHeaders     = 16
	maxHelloSize   = 64 << 10 // of a message before the hello
	maxRefusals    = 8        // messages refused before the hello, until the connection is closed
	maxIDBytes     = 256      // of an id, which is a UUID of 36 in practice
	maxURIBytes    = 4096     // of a resource
	maxQueued      = 16 << 20 // bytes of queued events, unless a single one is larger; four times that in a client
	maxNameBytes   = 256      // methods, tools, channels, strings of a hello
)

// Limits bounds the memory and work that a peer can cause. A zero field is the
// default, a negative one an error.
type Limits struct {
	// MessageSize bounds the JSON text of a message in bytes, in both directions. A
	// larger answer to a client is [CodeTooLarge] for its call, a larger request ends the
	// connection to a server. Default 4 MiB; at least 8192.
	MessageSize int

	// Connections bounds the concurrent connections of a server. One more evicts the
	// oldest without a hello, or else is closed. Default 32.
	Connections int

	// ConcurrentRequests bounds the concurrent requests of a connection; one more is
	// refused with [CodeBusy]. In a client it bounds calls in flight. Default 32.
	ConcurrentRequests int

	// JSONDepth bounds the nesting of arrays and objects in a message. Default 64; at
	// most 10,000 are possible.
	JSONDepth int

	// StringBytes bounds each string of a message, as encoded. Default 1 MiB; at most
	// MessageSize.
	StringBytes int

	// EventQueue bounds the queued events of a subscriber, which together may have
	// MessageSize bytes, at most 16 MiB; beyond, events of [Server.Pass] are dropped, and without any the
	// subscriber is disconnected. In a client it bounds the events queued for handlers;
	// beyond, the oldest are dropped and counted. Default 1024.
	EventQueue int

	// Subscriptions bounds the subscribed channels of a connection. Default 256.
	Subscriptions int

	// RequestTimeout bounds a request. After it a server answers with an error and
	// cancels the context of the handler, and a client returns. Default 5 minutes.
	RequestTimeout time.Duration

	// HelloTimeout bounds the time from a connection to its hello, and a client's
	// from dialing to the welcome. Default 5 s.
	HelloTimeout time.Duration

	// FrameTimeout bounds the time from a frame's first byte to its last. The time
	// between frames is not bounded. Default 10 s.
	FrameTimeout time.Duration

	// WriteTimeout bounds a write: a peer that reads nothing for that time is
	// disconnected. Default 10 s.
	WriteTimeout time.Duration
}

// withDefaults returns l with defaults in place of zeros. An error names the field.
func (l Limits) withDefaults() (Limits, error) {
	err := cmp.Or(
		bounds.Complete("gabp: Limits",
			bounds.Of("MessageSize", &l.MessageSize, defaultMessageSize, 8<<10, 0),
			bounds.Of("Connections", &l.Connections, 32, 1, 0),
			bounds.Of("ConcurrentRequests", &l.ConcurrentRequests, 32, 1, 0),
			bounds.Of("JSONDepth", &l.JSONDepth, 64, 4, 0),
			bounds.Of("StringBytes", &l.StringBytes, 1<<20, 256, 0),
			bounds.Of("EventQueue", &l.EventQueue, defaultEventQueue, 1, 0),
			bounds.Of("Subscriptions", &l.Subscriptions, defaultSubscriptions, 1, 0),
		),
		bounds.Complete("gabp: Limits",
			bounds.Of("RequestTimeout", &l.RequestTimeout, 5*time.Minute, 1, 0),
			bounds.Of("HelloTimeout", &l.HelloTimeout, defaultHelloTimeout, 1, 0),
			bounds.Of("FrameTimeout", &l.FrameTimeout, 10*time.Second, 1, 0),
			bounds.Of("WriteTimeout", &l.WriteTimeout, 10*time.Second, 1, 0),
		),
	)
	l.StringBytes = min(l.StringBytes, l.MessageSize)
	return l, err
}
