package bridge

import (
	"bytes"
	"encoding/json"

	"github.com/heedlog/heed"
)

// inBand returns what a tool's result reports of itself: whether it failed, with which text, and the mod's operation.
func inBand(result json.RawMessage) (failed bool, text, operation string) {
	var r struct {
		Success      json.RawMessage `json:"success"`
		OK           json.RawMessage `json:"ok"`
		IsError      json.RawMessage `json:"isError"`
		Error        json.RawMessage `json:"error"`
		Message      json.RawMessage `json:"message"`
		ErrorMessage json.RawMessage `json:"errorMessage"`
		OperationID  json.RawMessage `json:"operationId"`
		Operation    json.RawMessage `json:"operation"`
		Meta         json.RawMessage `json:"meta"`
		MetaMCP      json.RawMessage `json:"_meta"`
	}
	if !isObject(result) || json.Unmarshal(result, &r) != nil {
		return false, "", ""
	}
	// A member of another type is ignored.
	switch {
	case isBool(r.Success):
		failed = string(r.Success) == "false"
	case isBool(r.OK):
		failed = string(r.OK) == "false"
	default:
		failed = string(r.IsError) == "true" || isText(r.Error) || isObject(r.Error)
	}
	if failed {
		for _, raw := range []json.RawMessage{r.ErrorMessage, r.Error, r.Message} {
			if text = textOf(raw); text != "" {
				break
			}
		}
	}
	for _, raw := range []json.RawMessage{
		r.OperationID, memberOf(r.Operation, "operationId"),
		memberOf(r.Meta, "operationId"), memberOf(r.MetaMCP, "operationId"),
	} {
		if isText(raw) {
			operation = textOf(raw)
			break
		}
	}
	return failed, text, operation
}

// textOf returns the text of a string, or of the member message of an object.
func textOf(raw json.RawMessage) string {
	if isObject(raw) {
		raw = memberOf(raw, "message")
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func memberOf(object json.RawMessage, name string) json.RawMessage {
	var m map[string]json.RawMessage
	if !isObject(object) || json.Unmarshal(object, &m) != nil {
		return nil
	}
	return m[name]
}

func isBool(raw json.RawMessage) bool { return string(raw) == "true" || string(raw) == "false" }

// isText reports whether raw is a string that is not empty.
func isText(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 2 && raw[0] == '"'
}

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{'
}

// amend adds to a result, or to the data of an error, that the call was executed and the item that resulted from it. An
// object gets the members "executed" and "attention" at its end, the rest of it stays byte for byte; where it has one
// of these names itself, both go into a member "heed". A value that is not an object becomes the member "value" of one.
// Where "heed" is taken too, it stays as it is.
func amend(result json.RawMessage, a heed.Attention) json.RawMessage {
	said := encode(struct {
		Executed  bool           `json:"executed"`
		Attention heed.Attention `json:"attention"`
	}{true, a})
	var members map[string]json.RawMessage
	if !isObject(result) || json.Unmarshal(result, &members) != nil {
		if len(bytes.TrimSpace(result)) == 0 {
			return said
		}
		return join([]byte(`{"value":`+string(result)+`}`), said[1:len(said)-1])
	}
	_, executed := members["executed"]
	_, attention := members["attention"]
	if !executed && !attention {
		return join(result, said[1:len(said)-1])
	}
	if _, taken := members["heed"]; taken {
		return result
	}
	return join(result, []byte(`"heed":`+string(said)))
}

// join adds members to the end of an object.
func join(object, members []byte) json.RawMessage {
	object = bytes.TrimRight(object, " \t\r\n")
	object = bytes.TrimRight(object[:len(object)-1], " \t\r\n") // the brace
	out := make([]byte, 0, len(object)+len(members)+2)
	out = append(out, object...)
	if object[len(object)-1] != '{' {
		out = append(out, ',')
	}
	out = append(out, members...)
	return append(out, '}')
}
