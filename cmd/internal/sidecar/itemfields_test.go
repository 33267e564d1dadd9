package sidecar

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
)

// without returns why a surface lacks a field of an item, "" if it does not.
func without(surface, field string) string {
	switch {
	case surface == "heed/items" && (field == "sample" || strings.HasPrefix(field, "sample.")):
		return "a list is short: heed/item has the texts"
	case surface == "GABP" && !slices.Contains(protocol, field):
		return "GABP 1.0 has no place for it"
	}
	return ""
}

// protocol are the fields of the attention item of GABP 1.0.
var protocol = []string{
	"attentionId", "state", "severity", "blocking", "stateInvalidated", "summary", "causalOperationId", "causalMethod",
	"openedAtSequence", "latestSequence", "diagnosticsCursor", "totalUrgentEntries", "sample", "sample.level",
	"sample.message", "sample.repeatCount", "sample.latestSequence",
}

// TestItemFields holds each surface to the JSON fields of an item. The page and the history have no items: neither is a
// surface of an item.
func TestItemFields(t *testing.T) {
	var a heed.Item
	testkit.Fill(&a)
	a.State, a.ClearedBy = coalesce.Open, coalesce.ReasonAcknowledged
	u := heed.Update{Kind: coalesce.Opened, Item: a}
	marshal := func(v any) []byte {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		return text
	}
	listed := bridge.Item{Item: a}
	listed.Sample = nil
	attention := func(text []byte) []byte {
		var line struct{ Attention json.RawMessage }
		require.NoError(t, json.Unmarshal(text, &line), "%s", text)
		return line.Attention
	}
	frame := appendFrame(nil, typeUpdate, update{u, ""})
	sent := gabp.Project(&a)
	surfaces := map[string][]byte{
		"heed/items":   marshal(listed),
		"heed/item":    marshal(bridge.ItemDetail{Item: bridge.Item{Item: a}, Cause: bridge.Cause{CauseEntry: a.Cause}}),
		"GABP":         marshal(sent),
		"sidecar":      attention(frame[headSize:]),
		"replay jsonl": attention(report.AppendUpdate(nil, "a.log", &u)),
	}
	fields := fieldsOf(t, reflect.TypeFor[heed.Item]())
	require.Contains(t, fields, "sample.variants.count")
	for name, text := range surfaces {
		var v any
		require.NoError(t, json.Unmarshal(text, &v))
		for _, field := range fields {
			is, why := has(v, strings.Split(field, ".")), without(name, field)
			assert.False(t, !is && why == "", "%s lacks the field %s of an item without a reason", name, field)
			assert.False(t, is && why != "", "%s has the field %s, in spite of: %s", name, field, why)
		}
	}

	// The client in C#, by its text.
	source, err := os.ReadFile("../../../embed/csharp/Heed.cs")
	require.NoError(t, err)
	_, decode, _ := strings.Cut(string(source), "HeedSample Of(Fields f)")
	decode, _, found := strings.Cut(decode, "HeedVerdict Of(")
	require.True(t, found)
	more, err := os.ReadFile("../../../embed/csharp/HeedMore.cs")
	require.NoError(t, err)
	decode += string(more)
	for _, field := range fields {
		name := field[strings.LastIndexByte(field, '.')+1:]
		assert.True(t, strings.Contains(decode, `"`+name+`"`), "Heed.cs does not read the field %s of an item", field)
	}

	// A group of a session in the history is no item, but calls the facts that both have the same.
	group := fieldsOf(t, reflect.TypeFor[summary.Group]())
	for _, field := range []string{"signature", "disposition", "severity", "rule", "blame"} {
		require.Contains(t, group, field)
		require.True(t, slices.Contains(fields, field) || slices.Contains(fields, "sample."+field), field)
	}
}

// fieldsOf returns the paths of the JSON fields of a struct, those of the structs in it as well.
func fieldsOf(t *testing.T, of reflect.Type) (paths []string) {
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		// The field called signature is its id, and members are for reports alone.
		if f.Anonymous && name == "" || name == "-" && (f.Name == "Signature" || f.Name == "Members") {
			continue
		}
		require.False(t, name == "" || name == "-", "%s.%s has no name in JSON", of, f.Name)
		paths = append(paths, name)
		inner := f.Type
		for inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			for _, path := range fieldsOf(t, inner) {
				paths = append(paths, name+"."+path)
			}
		}
	}
	return paths
}

// has reports whether a JSON value has a field, in each element of an array.
func has(v any, path []string) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(e any) bool { return !has(e, path) })
	case map[string]any:
		inner, is := v[path[0]]
		return is && (len(path) == 1 || has(inner, path[1:]))
	}
	return false
}
