package briefing

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// The names that a template may use.
var (
	stageKeys      = []string{"stage", "type", "enabled", "share", "config"}
	tierStrategies = []string{HighestFirst, AllParallel}
	structurings   = []string{Chronological, ByRelevance, Hierarchical}
	onTimeouts     = []string{ReturnPartial, Fail, UseCached}
	onEmpties      = []string{ProceedEmpty, Fail}
)

// fieldsOf returns the names of the fields of a struct, in their order.
func fieldsOf(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("yaml")
	}
	return names
}

// TestSchemaDescribesAll: the schema has every key, name and default, and no other.
func TestSchemaDescribesAll(t *testing.T) {
	type object struct {
		Properties  map[string]json.RawMessage `json:"properties"`
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	read := func(data []byte) (o object) {
		require.NoError(t, json.Unmarshal(data, &o))
		return o
	}
	var described func(of string, data []byte)
	described = func(of string, data []byte) {
		var d struct{ Description string }
		require.NoError(t, json.Unmarshal(data, &d))
		require.NotEmpty(t, d.Description, of)
		for name, p := range read(data).Properties {
			described(of+"."+name, p)
		}
	}
	keys := func(o object) []string { return slices.Sorted(maps.Keys(o.Properties)) }
	names := func(t reflect.Type) []string { return slices.Sorted(slices.Values(fieldsOf(t))) }
	value := func(data []byte, into any) { require.NoError(t, json.Unmarshal(data, into)) }

	root := read(schema)
	described("template", schema)
	require.Equal(t, names(reflect.TypeFor[Template]()), keys(root))
	require.Equal(t, names(reflect.TypeFor[appliesTo]()), keys(read(root.Properties["applies_to"])))
	require.Equal(t, names(reflect.TypeFor[budget]()), keys(read(root.Properties["budget"])))
	require.Equal(t, names(reflect.TypeFor[fallback]()), keys(read(root.Properties["fallback"])))
	stage := read(root.Definitions["stage"])
	require.Equal(t, slices.Sorted(slices.Values(stageKeys)), keys(stage))

	var enum struct{ Enum []string }
	value(stage.Properties["type"], &enum)
	types := slices.Sorted(maps.Keys(stageTypes))
	require.Len(t, enum.Enum, len(types))
	for _, kind := range types {
		require.Contains(t, enum.Enum, kind)
		config := stageTypes[kind]
		described(kind, root.Definitions[kind])
		o := read(root.Definitions[kind])
		require.Equal(t, names(reflect.TypeOf(config)), keys(o), kind)

		v, want := reflect.ValueOf(config), map[string]any{}
		for i, name := range fieldsOf(v.Type()) {
			if f := v.Field(i); !f.IsZero() && f.Kind() != reflect.Map && f.Kind() != reflect.Slice {
				want[name] = f.Interface()
			}
		}
		got := map[string]any{}
		for name, p := range o.Properties {
			var d struct{ Default any }
			if value(p, &d); d.Default != nil {
				got[name] = d.Default
			}
		}
		a := testkit.Must(json.Marshal(want))
		b := testkit.Must(json.Marshal(got))
		require.JSONEq(t, string(a), string(b), kind)
	}
	for path, want := range map[[2]string][]string{
		{"tier_select", "strategy"}: tierStrategies, {"structuring", "strategy"}: structurings,
	} {
		value(read(root.Definitions[path[0]]).Properties[path[1]], &enum)
		require.Equal(t, want, enum.Enum)
	}
	for name, want := range map[string][]string{"on_timeout": onTimeouts, "on_empty": onEmpties} {
		value(read(root.Properties["fallback"]).Properties[name], &enum)
		require.Equal(t, want, enum.Enum)
	}
	var ttl struct{ Default string }
	value(root.Properties["cache_ttl"], &ttl)
	d := testkit.Must(time.ParseDuration(ttl.Default))
	require.Equal(t, DefaultCacheTTL, d)
	var chars struct {
		Default float64
		object
	}
	value(root.Properties["chars_per_token"], &chars)
	require.EqualValues(t, DefaultCharsPerToken, chars.Default)
	require.Subset(t, keys(chars.object), kindNames)
}

func TestSchemaIsTheCallers(t *testing.T) {
	s := Schema()
	s[0] = 'x'
	require.NotEqual(t, s, Schema())
}
