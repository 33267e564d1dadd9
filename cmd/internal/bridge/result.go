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
		Success, OK, IsError, Error, Message, ErrorMessage any
		OperationID, Operation, Meta                       any
		MetaMCP                                            any `json:"_meta"`
	}
	if json.Unmarshal(result, &r) != nil { // no object
		return false, "", ""
	}
	// A member of another type is ignored.
	succeeded, said := r.Success.(bool)
	if !said {
		succeeded, said = r.OK.(bool)
	}
	_, object := r.Error.(map[string]any)
	failed = !succeeded
	if !said {
		failed = r.IsError == true || object || textAt(r.Error) != ""
	}
	if failed {
		text = cmp.Or(messageOf(r.ErrorMessage), messageOf(r.Error), messageOf(r.Message))
	}
	operation = cmp.Or(textAt(r.OperationID), textAt(r.Operation, "operationId"), textAt(r.Meta, "operationId"),
		textAt(r.MetaMCP, "operationId"))
	return failed, text, operation
}

// messageOf returns a text, or the member message of an object.
func messageOf(v any) string { return cmp.Or(textAt(v), textAt(v, "message")) }

// textAt returns the text at a path of names in decoded JSON, "" if there is none.
func textAt(v any, path ...string) string {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	text, _ := v.(string)
	return text
}

// textIn is [textAt] in JSON text.
func textIn(raw json.RawMessage, path ...string) string {
	var v any
	_ = json.Unmarshal(raw, &v) // nil if there is none
	return textAt(v, path...)
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
