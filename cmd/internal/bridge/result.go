package bridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/gabp"
)

// inBand returns the failure that a tool's result itself reports, its text, and the mod's operation.
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
		text = cmp.Or(textOf(r.ErrorMessage), textOf(r.Error), textOf(r.Message))
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
	_ = json.Unmarshal(raw, &s) // "" if it is no text
	return s
}

func memberOf(object json.RawMessage, name string) json.RawMessage {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(object, &m) // nil if it is no object
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

// finding holds the members that heed adds to an answer of the mod.
type finding struct {
	Executed  bool       `json:"executed,omitempty"`
	Attention *heed.Item `json:"attention,omitempty"`
	Notice    string     `json:"notice,omitempty"`  // acknowledgements by others
	Verdict   *verdict   `json:"verdict,omitempty"` // nil for a call that is no operation
}

// maxNoticed bounds the items that a notice names.
const maxNoticed = 4

// notice describes acknowledgements by others in heed's own words. more counts further ones. The answer has the item
// shown in full.
func notice(items []session.AckedByOther, more uint64, shown string) string {
	var b strings.Builder
	for i := range items[:min(len(items), maxNoticed)] {
		a := &items[i]
		by := "another agent"
		if session.Person(a.By) {
			by = "a person"
		}
		about := ""
		if a.Item.ID != shown {
			about = " (" + named(a.Item.Summary) + ")"
		}
		fmt.Fprintf(&b, "Item %s%s was acknowledged by %s, %q, at %s. ", named(a.Item.ID), about, by, cutName(a.By),
			stamp(a.Time).Format(time.RFC3339))
	}
	if more += uint64(max(0, len(items)-maxNoticed)); more > 0 {
		fmt.Fprintf(&b, "So were %d earlier ones; heed/timeline shows them. ", more)
	}
	return b.String() + "The game's state may have changed meanwhile: read it again."
}

// addAcks adds acknowledgements by others that the consumer has not received to found. They count as delivered to it.
func (p *Proxy) addAcks(ctx context.Context, consumer string, found *finding) {
	if !p.attends || ctx.Err() != nil { // the bridge has gone
		return
	}
	items, more := p.session.TakeAckedByOthers(consumer)
	if len(items) == 0 {
		return
	}
	if found.Attention == nil {
		found.Attention = gabp.Project(&items[0].Item)
	}
	found.Notice = notice(items, more, found.Attention.ID)
}

// verdict is the verdict of an operation on its result. A clean one has no reason and no text.
type verdict struct {
	Outcome      string                 `json:"outcome"`
	Reason       coalesce.VerdictReason `json:"reason,omitempty"`
	Text         string                 `json:"text,omitempty"`
	CleanThrough uint64                 `json:"cleanThrough"`
}

func shownVerdict(v *heed.Verdict) *verdict {
	shown := &verdict{Outcome: v.Outcome, CleanThrough: integer(v.CleanThrough)}
	if v.Outcome != coalesce.Clean {
		shown.Reason, shown.Text = v.Reason, v.Text
	}
	return shown
}

// amend adds what heed found to a result, or to the data of an error. An object gets it as members at its end, the rest
// of it stays byte for byte; if it has one of these names itself, they go into a member "heed", or "_heed" and so on
// if it has that, too. A value that is not an object becomes the member "value" of one. If there is nothing but a
// clean verdict, an object gets that alone, and any other value stays byte for byte.
func amend(result json.RawMessage, found finding) json.RawMessage {
	quiet := found.Attention == nil && (found.Verdict == nil || found.Verdict.Outcome == coalesce.Clean)
	if quiet && (found.Verdict == nil || !isObject(result)) {
		return result
	}
	if quiet {
		found.Executed = false
	}
	said := Encode(found)
	var has map[string]skipped
	object := json.Unmarshal(result, &has) == nil && has != nil
	taken := func(name string) bool { _, ok := has[name]; return ok }
	switch {
	case len(bytes.TrimSpace(result)) == 0:
		return said
	case !object:
		return slices.Concat([]byte(`{"value":`), result, []byte(","), said[1:])
	case !taken("executed") && !taken("attention") && !taken("verdict") && (found.Notice == "" || !taken("notice")):
		return join(result, said[1:len(said)-1])
	}
	name := "heed"
	for taken(name) {
		name = "_" + name
	}
	return join(result, []byte(`"`+name+`":`+string(said)))
}

// skipped discards a JSON value, which may be large.
type skipped struct{}

// UnmarshalJSON implements [json.Unmarshaler].
func (*skipped) UnmarshalJSON([]byte) error { return nil }

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
