package gabp

import (
	"cmp"
	"fmt"
	"time"
)

// The defaults of [Limits].
const (
	defaultMessageSize        = 4 << 20
	defaultConnections        = 32
	defaultConcurrentRequests = 32
	defaultJSONDepth          = 64
	defaultStringBytes        = 1 << 20
	defaultEventQueue         = 1024
	defaultSubscriptions      = 256
	defaultRequestTimeout     = 5 * time.Minute
	defaultHelloTimeout       = 5 * time.Second
	defaultFrameTimeout       = 10 * time.Second
	defaultWriteTimeout       = 10 * time.Second
)

// Bounds that are not worth a setting.
const (
	maxHeaderBytes = 4 << 10 // all headers of a frame; real ones have two, of 60 bytes
	maxHeaders     = 16
	maxHelloSize   = 64 << 10 // a message before the hello
	maxRefusals    = 8        // messages refused before the hello; then the connection is closed
	maxIDBytes     = 256      // an id is a UUID of 36, or whatever a peer echoes
	maxNameBytes   = 256      // methods, tools, channels, strings of a hello
)

// Limits bounds what a peer can make this side hold or do. A zero field is the
// default, a negative one an error.
type Limits struct {
	// MessageSize bounds the JSON text of a message in bytes, in both directions.
	// Default 4 MiB; at least 8192.
	MessageSize int

	// Connections bounds the connections of a server at a time. One more
	// displaces the oldest that has not said hello, or else is closed. Default 32.
	Connections int

	// ConcurrentRequests bounds the requests of a connection at a time; one more
	// is refused with [CodeBusy]. In a client it bounds calls that wait for an
	// answer. Default 32.
	ConcurrentRequests int

	// JSONDepth bounds how deep arrays and objects of a message nest. Default 64.
	JSONDepth int

	// StringBytes bounds each string of a message, as written. Default 1 MiB, and
	// no more than MessageSize.
	StringBytes int

	// EventQueue bounds the events that wait for a subscriber, which together may
	// take MessageSize; past that those that pass give way (see [Server.Pass]), and where there
	// are none it is disconnected. In a client it bounds the
	// events that wait for their handler; past that the oldest are lost, and
	// counted. Default 1024.
	EventQueue int

	// Subscriptions bounds the channels that a connection is subscribed to.
	// Default 256.
	Subscriptions int

	// RequestTimeout bounds a request. A server answers when it has passed, and
	// ends the context of the handler. A client gives up. Default 5 minutes.
	RequestTimeout time.Duration

	// HelloTimeout bounds the time from a connection to its hello, and a client's
	// from dialing to the welcome. Default 5 s.
	HelloTimeout time.Duration

	// FrameTimeout bounds the time from a frame's first byte to its last. There
	// is no bound on the time between frames. Default 10 s.
	FrameTimeout time.Duration

	// WriteTimeout bounds a write: a peer that does not read for so long is
	// disconnected. Default 10 s.
	WriteTimeout time.Duration
}

// withDefaults returns l with defaults in place of zeros. An error names the
// field.
func (l Limits) withDefaults() (Limits, error) {
	for _, f := range []struct {
		name  string
		value *int
		def   int
		least int
	}{
		{"MessageSize", &l.MessageSize, defaultMessageSize, 8 << 10},
		{"Connections", &l.Connections, defaultConnections, 1},
		{"ConcurrentRequests", &l.ConcurrentRequests, defaultConcurrentRequests, 1},
		{"JSONDepth", &l.JSONDepth, defaultJSONDepth, 4},
		{"StringBytes", &l.StringBytes, defaultStringBytes, 256},
		{"EventQueue", &l.EventQueue, defaultEventQueue, 1},
		{"Subscriptions", &l.Subscriptions, defaultSubscriptions, 1},
	} {
		*f.value = cmp.Or(*f.value, f.def)
		if *f.value < f.least {
			return l, fmt.Errorf("gabp: Limits.%s is %d, want at least %d", f.name, *f.value, f.least)
		}
	}
	for _, f := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"RequestTimeout", &l.RequestTimeout, defaultRequestTimeout},
		{"HelloTimeout", &l.HelloTimeout, defaultHelloTimeout},
		{"FrameTimeout", &l.FrameTimeout, defaultFrameTimeout},
		{"WriteTimeout", &l.WriteTimeout, defaultWriteTimeout},
	} {
		*f.value = cmp.Or(*f.value, f.def)
		if *f.value < 0 {
			return l, fmt.Errorf("gabp: Limits.%s is %v, want it positive", f.name, *f.value)
		}
	}
	l.StringBytes = min(l.StringBytes, l.MessageSize)
	return l, nil
}
