package gabp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/heedlog/heed/internal/text"
)

// The error codes of the protocol's registry.
const (
	codeParse          = -32700 // not JSON
	codeInvalidRequest = -32600 // JSON, but not one message
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	codeInternal       = -32603

	codeAuthRequired = -32100 // a method before session/hello, or a hello without a token
	CodeAuthFailed   = -32101

	codeVersionMismatch = -32200
	codeInvalidType     = -32201
	codeMissingField    = -32202
	codeInvalidField    = -32203

	CodeResourceNotFound = -32300

	CodeToolNotFound    = -32400
	CodeToolUnavailable = -32401 // also: refused by the gate and not executed
	CodeToolFailed      = -32402
	CodeToolTimeout     = -32403

	codeChannelNotFound    = -32500
	codeSubscriptionFailed = -32501
)

// Codes of our own, from the range that the registry leaves to implementations.
const (
	CodeBusy    = -32000 // more requests at a time than the limits allow
	CodeTimeout = -32001 // a request took longer than the limits allow
)

// maxErrorText bounds the characters of a message that this package makes from
// another error's text.
const maxErrorText = 1000

// Error is the error member of a response, and what a peer's error becomes
// here. Callers branch on Code.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message, made safe to show, and the code.
func (e *Error) Error() string {
	return text.Safe(e.Message, maxErrorText) + " (gabp error " + strconv.Itoa(e.Code) + ")"
}

// Errorf returns an error with a code of the registry. Its message is for the
// peer: it is made safe to show, and must hold no secret.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: text.Safe(fmt.Sprintf(format, args...), maxErrorText)}
}

// WithData returns a copy of e whose data is the JSON form of v. A value that
// has none leaves the data out.
func (e *Error) WithData(v any) *Error {
	data, err := marshal(v)
	if err != nil {
		data = nil
	}
	return &Error{Code: e.Code, Message: e.Message, Data: data}
}

// asError returns what a handler's error is on the wire. A plain error is
// internal: its text is made safe and cut.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Message == "" {
			return &Error{Code: e.Code, Message: "error without a message", Data: e.Data}
		}
		return e
	}
	return Errorf(codeInternal, "internal error: %v", err)
}

// FrameError says that the stream of a connection cannot be understood any
// more: where the next message begins is not known. The connection must be
// closed; Err may be sent as a last answer. It is not in the chain of errors: who
// finds an [*Error] there has been refused by the peer.
type frameError struct {
	Err *Error
}

// Error returns what is wrong with the frame.
func (e *frameError) Error() string { return "frame: " + e.Err.Error() }

func frameErrorf(code int, format string, args ...any) *frameError {
	return &frameError{Err: Errorf(code, format, args...)}
}
