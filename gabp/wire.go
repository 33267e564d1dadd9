package gabp

import (
	"encoding/json"

	"github.com/heedlog/heed"
)

// protocolVersion is the version in each message.
const protocolVersion = "gabp/1"

// schemaVersion is the version of the protocol's schemas in the welcome of a server,
// unless [ServerConfig.Welcome] sets another.
const schemaVersion = "1.0"

// The methods of the protocol.
const (
	methodHello            = "session/hello"
	methodPing             = "session/ping"
	methodGoodbye          = "session/goodbye"
	MethodToolsList        = "tools/list"
	MethodToolsCall        = "tools/call"
	methodEventsSubscribe  = "events/subscribe"
	methodEventsUnsub      = "events/unsubscribe"
	methodEventsList       = "events/list"
	MethodAttentionCurrent = "attention/current"
	MethodAttentionAck     = "attention/ack"
	MethodResourcesList    = "resources/list"
	MethodResourcesRead    = "resources/read"
)

// The event channels of attention.
const (
	ChannelOpened  = "attention/opened"
	ChannelUpdated = "attention/updated"
	ChannelCleared = "attention/cleared"
)

// hello is the parameters of session/hello. Its texts are untrusted.
type hello struct {
	Token         string `json:"token"`
	BridgeVersion string `json:"bridgeVersion"`

	// Platform is "windows", "macos" or "linux"; other names are kept ("darwin").
	Platform   string `json:"platform"`
	LaunchID   string `json:"launchId"`
	ClientInfo *Info  `json:"clientInfo,omitempty"`
}

// Info identifies a program: the client in a hello, the server in a welcome.
type Info struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	Author  string `json:"author,omitempty"` // of a server only
}

// App is the game. Both members are required.
type App struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Welcome is the result of session/hello.
type Welcome struct {
	AgentID       string       `json:"agentId"`
	App           App          `json:"app"`
	Capabilities  Capabilities `json:"capabilities"`
	SchemaVersion string       `json:"schemaVersion"`
	ServerInfo    *Info        `json:"serverInfo,omitempty"`

	// Observed is the mod's report of how it was started, an extension that bridges in
	// the field read.
	Observed json.RawMessage `json:"observed,omitempty"`
}

// Capabilities lists the methods, events and resources of a server.
type Capabilities struct {
	Methods    []string                   `json:"methods"`
	Events     []string                   `json:"events"`
	Resources  []string                   `json:"resources,omitempty"`
	Extensions map[string]json.RawMessage `json:"extensions,omitempty"`
	Limits     *WireLimits                `json:"limits,omitempty"`
}

// WireLimits is the part of [Limits] that a server advertises.
type WireLimits struct {
	MaxMessageSize        int `json:"maxMessageSize,omitempty"`
	MaxConcurrentRequests int `json:"maxConcurrentRequests,omitempty"`
	RequestTimeout        int `json:"requestTimeout,omitempty"` // seconds
}

// Tool is an entry of tools/list. The protocol requires the first five members; those
// that a mod omits are empty.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Tags         []string        `json:"tags,omitempty"`
	Deprecated   bool            `json:"deprecated,omitempty"`
	Version      string          `json:"version,omitempty"`
}

// toolsListResult is the result of tools/list.
type toolsListResult struct {
	Tools []Tool `json:"tools"`
}

// ToolCall is the parameters of tools/call; see [ParseToolCall].
type ToolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Resource is an entry of resources/list.
type Resource struct {
	URI         string  `json:"uri"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	MIMEType    string  `json:"mimeType,omitempty"`
	Size        *uint64 `json:"size,omitempty"` // bytes
}

// resourcesListResult is the result of resources/list.
type resourcesListResult struct {
	Resources []Resource `json:"resources"`
}

// ResourceContent is the result of resources/read.
type ResourceContent struct {
	Content  any    `json:"content"`
	MIMEType string `json:"mimeType,omitempty"`
	Encoding string `json:"encoding,omitempty"` // "utf-8", "base64", "ascii" or "binary"
}

// channelsParams is the parameters of events/subscribe and events/unsubscribe.
type channelsParams struct {
	Channels []string `json:"channels"`
}

// subscribeResult is the result of events/subscribe.
type subscribeResult struct {
	Subscribed []string `json:"subscribed"`
}

// unsubscribeResult is the result of events/unsubscribe.
type unsubscribeResult struct {
	Unsubscribed []string `json:"unsubscribed"`
}

// eventsListResult is the result of events/list.
type eventsListResult struct {
	Channels   []string `json:"channels"`
	Subscribed []string `json:"subscribed"` // the ones of Channels that this connection receives
}

// Project returns an item that has the fields of the protocol's item alone: all others are omitted if they are zero.
func Project(a *heed.Item) *heed.Item {
	if a == nil {
		return nil
	}
	var samples []heed.Sample
	for _, s := range a.Sample {
		samples = append(samples, heed.Sample{
			Level: s.Level, Message: s.Message, RepeatCount: s.RepeatCount, LatestSequence: s.LatestSequence,
		})
	}
	return &heed.Item{
		ID: a.ID, State: a.State, Severity: a.Severity, Blocking: a.Blocking, StateInvalidated: a.StateInvalidated,
		Summary: a.Summary, CausalOperationID: a.CausalOperationID, CausalMethod: a.CausalMethod,
		OpenedAtSequence: a.OpenedAtSequence, LatestSequence: a.LatestSequence, DiagnosticsCursor: a.DiagnosticsCursor,
		TotalUrgentEntries: a.TotalUrgentEntries, Sample: samples,
	}
}

// CurrentResult is the result of attention/current.
type CurrentResult struct {
	Attention *heed.Item `json:"attention" jsonschema:"The most urgent item; null if none is open."`
}

// AckParams is the parameters of attention/ack.
type AckParams struct {
	AttentionID string `json:"attentionId"`
}

// AckResult is the result of attention/ack.
type AckResult struct {
	Acknowledged     bool       `json:"acknowledged" jsonschema:"The item was open and is now acknowledged."`
	AttentionID      string     `json:"attentionId" jsonschema:"The item."`
	CurrentAttention *heed.Item `json:"currentAttention" jsonschema:"The most urgent item now; null if none is open."`
}

// Event is an event that a client received.
type Event struct {
	Channel string
	Seq     uint64
	Payload json.RawMessage // byte for byte

	// Lost is the number of events dropped right before this one because the handler
	// did not keep up.
	Lost uint64
}
