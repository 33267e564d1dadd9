package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/testkit"
)

type embedded struct {
	Line uint64 `json:"line" jsonschema:"Where it stands." minimum:"1"`
}

type node struct {
	Children []node `json:"children,omitempty" jsonschema:"What is below it."`
}

type document struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"Its version."`
	embedded
	Severity event.Severity    `json:"severity" jsonschema:"Its weight."`
	State    string            `json:"state" jsonschema:"How it is." enum:"open,cleared"`
	ID       []string          `json:"ids" jsonschema:"Its ids." pattern:"^[0-9]+$"`
	Began    time.Time         `json:"began,omitzero" jsonschema:"When it began."`
	Tree     *node             `json:"tree" jsonschema:"A tree; null without one."`
	Maybe    *node             `json:"maybe,omitempty" jsonschema:"Another."`
	Counts   map[string]uint64 `json:"counts" jsonschema:"By name."`
	Level    int               `json:"level" jsonschema:"One of three." enum:"0,1,2"`
	Data     []byte            `json:"data,omitempty" jsonschema:"As base64."`
	Hidden   string            `json:"-"`
}

var exampleForm = schema.Form{Name: "x", Title: "x --format json", Values: []any{document{}}}

func TestForm(t *testing.T) {
	s := testkit.Schema(t, exampleForm.JSON())
	d := document{SchemaVersion: schema.Version, State: "open", ID: []string{"1"}, Counts: map[string]uint64{"a": 1}}
	d.Line = 1
	written := func(d document) string {
		text := testkit.Must(json.Marshal(d))
		return string(text)
	}
	testkit.RequireValid(t, s, written(d))
	d.Tree = &node{Children: []node{{}, {Children: []node{{}}}}}
	d.Data = []byte{1, 2}
	d.Maybe, d.Began = d.Tree, time.Unix(0, 0)
	testkit.RequireValid(t, s, written(d))
	for _, wrong := range [][2]string{
		{`"schemaVersion":3`, `"schemaVersion":1`},
		{`"line":1`, `"line":0`},
		{`"info"`, `"heavy"`},
		{`"open"`, `"ajar"`},
		{`["1"]`, `["a"]`},
		{`["1"]`, `null`},
		{`"children"`, `"parents"`},
		{`{"a":1}`, `{"a":-1}`},
		{`"level":0`, `"level":3`},
		{`"level":0`, `"level":"0"`},
		{`"AQI="`, `[1,2]`},
	} {
		text := written(d)
		require.Contains(t, text, wrong[0])
		require.Error(t, s.Validate(decoded(strings.Replace(text, wrong[0], wrong[1], 1))), wrong)
	}
}

func decoded(text string) any { return testkit.Must(jsonschema.UnmarshalJSON(strings.NewReader(text))) }

func TestFormOfSeveral(t *testing.T) {
	f := schema.Form{Name: "y", Values: []any{document{}, node{}}}
	s := testkit.Schema(t, f.JSON())
	testkit.RequireValid(t, s, `{"children":[]}`)
	require.Error(t, s.Validate(decoded(`{"schemaVersion":2}`)))
	require.Equal(t, &exampleForm, schema.Find([]schema.Form{exampleForm}, "x"))
	require.Nil(t, schema.Find([]schema.Form{exampleForm}, "z"))
}
