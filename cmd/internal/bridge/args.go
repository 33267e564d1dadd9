package bridge

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/heedlog/heed/gabp"
)

// maxText bounds an argument that is text, in characters, if its field has no bound.
const maxText = 256

// ref is an argument that names an item, or a place in a list: a text, or its number in this epoch.
type ref string

// UnmarshalJSON reads a text or a number.
func (r *ref) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(r))
	}
	*r = ref(raw)
	return nil
}

// oneID returns the id of an item that is given as id or as attentionId.
func oneID(id, attentionID ref) (string, error) {
	switch {
	case id == "" && attentionID == "": // the schema cannot require one of both: see inputSchema
		return "", gabp.BadArgument("id", "a text", "nothing")
	case id != "" && attentionID != "" && id != attentionID:
		return "", gabp.BadArgument("attentionId", "the same as id", "another value")
	}
	return string(cmp.Or(id, attentionID)), nil
}

// wantCursor describes the values of a parameter for a cursor.
const wantCursor = `a cursor as "next" gave it, or an integer from 0, such as the diagnosticsCursor of an item`

// Refused is the data of an error that refuses the arguments of a tool: the data of [gabp.BadArgument], and more if the
// form is right.
type Refused struct {
	Path   string `json:"path"` // of the argument at fault: "arguments.id"
	Want   string `json:"want"`
	Got    string `json:"got"`
	Reason string `json:"reason,omitempty"` // "not_found", "epoch" or "beyond"

	// Oldest and Latest are the cursors to continue from if a cursor was refused: with all held entries, and with new
	// entries.
	Oldest string `json:"oldest,omitempty"`
	Latest string `json:"latest,omitempty"`
}

// notHeld refuses an argument that names something that is not held any more, or never was.
func notHeld(name, want, got string) *gabp.Error {
	return Refused{Reason: "not_found"}.about(name, want, got)
}

// about returns the error that refuses an argument, with more data.
func (r Refused) about(name, want, got string) *gabp.Error {
	r.Path, r.Want, r.Got = "arguments."+name, want, got
	return gabp.BadArgument(name, want, got).WithData(r)
}

// notAfter refuses the argument after, and names the cursors to continue from: of entries or events.
func notAfter(reason, got, of, oldest, latest string) *gabp.Error {
	want := fmt.Sprintf("a cursor such as %q for all %s, or %q for new %s", oldest, of, latest, of)
	return Refused{Reason: reason, Oldest: oldest, Latest: latest}.about("after", want, got)
}
