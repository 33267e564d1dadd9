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
	CodeToolUnavailable = -32401 // also: refused by the gate, not executed
	CodeToolFailed      = -32402
	CodeToolTimeout     = -32403

	codeChannelNotFound    = -32500
	codeSubscriptionFailed = -32501
)

// Codes of this package, from the range that the registry leaves to implementations.
const (
	CodeBusy    = -32000 // more concurrent requests than the limits allow
	CodeTimeout = -32001 // a request took longer than the limits allow
	CodeEnded   = -32002 // the application has ended

	// CodeTooLarge is for an answer that has more bytes than the limits allow. The request was executed.
	CodeTooLarge = -32003
)

// maxErrorText bounds the characters of a message made from another error's text.
const maxErrorText = 1000

// Error is the error member of a response, sent or received. Callers branch on Code.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the sanitized message and the code.
func (e *Error) Error() string {
	return text.Safe(e.Message, maxErrorText) + " (gabp error " + strconv.Itoa(e.Code) + ")"
}

// Errorf returns an error with a code of the registry. The message is sent to the peer:
// it is sanitized, and must hold no secret.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: text.Safe(fmt.Sprintf(format, args...), maxErrorText)}
}

// WithData returns a copy of e with the JSON form of v as its data, none if v has
// no JSON form.
func (e *Error) WithData(v any) *Error {
	data, _ := marshal(v)
	return &Error{Code: e.Code, Message: e.Message, Data: data}
}

// asError returns the wire form of a handler's error. A plain error is internal, with
// its text sanitized.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Message == "" {
			return &Error{Code: e.Code, Message: "error without a message", Data: e.Data}
		}
		return e
	}
	return Errorf(codeInternal, "internal error: %v", err)
}

// frameError is a frame that is not valid: the beginning of the next message is
// unknown, and the connection must be closed. Err may be sent as a last answer. It is not
// in the chain of errors, in which an [*Error] is a refusal by the peer.
type frameError struct {
	Err *Error
}

// Error describes the frame.
func (e *frameError) Error() string { return "frame: " + e.Err.Error() }

func frameErrorf(code int, format string, args ...any) *frameError {
	return &frameError{Err: Errorf(code, format, args...)}
}
