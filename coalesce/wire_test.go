package coalesce

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// checkWire checks an attention item against the rules of GABP that TestSchema does not hold.
func checkWire(t require.TestingT, a *Item) {
	readable := func(text string, most int) {
		require.NotEmpty(t, text)
		require.False(t, strings.ContainsFunc(text, unicode.IsControl), "%q", text)
		require.LessOrEqual(t, len(text), most)
	}
	require.NotEmpty(t, a.ID)
	require.False(t, a.Blocking && a.State == Cleared, "what is cleared blocks nobody")
	require.LessOrEqual(t, a.Severity, event.SeverityFatal)
	readable(a.Summary, maxItemSummary)
	require.True(t, a.CausalOperationID == "" || a.AfterOperation == "" && a.AfterMethod == "",
		"what is named is not inferred")
	require.LessOrEqual(t, a.OpenedAtSequence, a.LatestSequence)
	require.GreaterOrEqual(t, a.DiagnosticsCursor+1, a.OpenedAtSequence)
	require.Less(t, a.DiagnosticsCursor, a.LatestSequence)
	require.NotEmpty(t, a.Sample)
	for _, s := range a.Sample {
		require.LessOrEqual(t, s.Level, event.SeverityFatal)
		readable(s.Message, utf8.UTFMax*maxItemMessage)
		require.True(t, s.RepeatCount >= 1 && s.RepeatCount <= a.TotalUrgentEntries)
		require.LessOrEqual(t, s.LatestSequence, a.LatestSequence)
	}
}

// TestWireForm renders items whose texts are hostile, empty or long.
func TestWireForm(t *testing.T) {
	hostile := "x\x1b[31m\u202e\n\"}]\x00\xff; cleared: resolved\u2028" + strings.Repeat("ю", 500)
	for name, e := range map[string]event.Entry{
		"log":   {Message: hostile, OperationID: hostile},
		"empty": {},
		"blank": {Message: " \r\n\t\n "},
		"operation": {
			Kind: event.KindOperation, Status: event.StatusFailed, Source: hostile, Message: hostile,
			OperationID: hostile, Parent: hostile + "p",
		},
		"bare operation": {Kind: event.KindOperation, Status: event.StatusFailed},
		"state":          {Kind: event.KindState, Status: event.StatusStall},
		"notice":         {Kind: event.KindNotice, Status: event.StatusHole, Message: hostile},
	} {
		t.Run(name, func(t *testing.T) {
			c := testkit.Must(New(Config{Epoch: "2030-01-01T00.00"}))
			for i := range 3 {
				e.Seq = uint64(i + 1)
				c.Fold(&Input{
					Entry: &e, Signature: groupSignature(name),
					Decision: event.Decision{Rule: "r", Disposition: event.Blocking, Severity: event.Severity(i + 1)},
				})
			}
			a, ok := c.Current("")
			require.True(t, ok)
			checkWire(t, &a)
			c.Ack("", a.ID, 0)
			updates := updates(c)
			require.Len(t, updates, 1)
			checkWire(t, &updates[0].Item)
		})
	}
}

func TestSampleText(t *testing.T) {
	for _, tc := range []struct {
		message string
		limit   int
		want    string
	}{
		{"one", 10, "one"},
		{"\r\n\n  one  \r\ntwo", 20, "one"},
		{"Exception in job: \r\n\nSystem.Exception: x\n  at A.B ()", 60, "Exception in job: System.Exception: x"},
		{"a:\nb:\nc", 20, "a: b:"},
		{"a:", 20, "a:"},
		{"the press stopped\n\nTime: 10:00\nacme.press.OilError: none\nacme.press.TrayError: none", 60, "the press stopped acme.press.OilError: none"},
		{"no tray (acme.TrayException)\nacme.press.OilError: none", 60, "no tray (acme.TrayException)"},
		{"12345678901", 10, "123456789…"},
		{"1234567890", 10, "1234567890"},
		{strings.Repeat("ю", 11), 10, strings.Repeat("ю", 9) + "…"},
		{strings.Repeat("\U0001f41d", 3000), 2000, strings.Repeat("\U0001f41d", 1999) + "…"},
		{strings.Repeat("a", 5000), 2000, strings.Repeat("a", 1999) + "…"},
		{"one", 1, "…"},
		{"press failed\nTraceback (most recent call last):\n  File \"a.py\", line 4, in run\n    x\nOSError: no oil\n", 60, "press failed OSError: no oil"},
		{"Traceback (most recent call last):\n  File \"a.py\", line 4\n    x\nKeyError: 'x'", 60, "KeyError: 'x'"},
		{"  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: e (1 sub-exception)\n    | ValueError: x", 60, "ExceptionGroup: e (1 sub-exception)"},
		{"Traceback (most recent call last):\n  File \"a.py\"", 60, "Traceback (most recent call last): File \"a.py\""},
	} {
		require.Equal(t, tc.want, sampleText(&event.Entry{Message: tc.message}, tc.limit), "%q", tc.message)
	}
}

// TestSchema plays every transcript and holds each item that it shows to the
// protocol's own schema, except for the fields that heed adds.
func TestSchema(t *testing.T) {
	file := filepath.Join(testkit.Dir(t, "gabp"), "schema", "common", "attention.schema.json")
	text := strings.NewReplacer(`"additionalProperties": false`, `"additionalProperties": true`, "https://json-schema.org/draft-07",
		"http://json-schema.org/draft-07").Replace(string(testkit.Must(os.ReadFile(file))))
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mem:schema", testkit.Must(jsonschema.UnmarshalJSON(strings.NewReader(text)))))
	schema := testkit.Must(c.Compile("mem:schema"))
	require.NotEmpty(t, schema.Required)
	files := testkit.Must(filepath.Glob("testdata/*.txt"))
	n := 0
	for i, file := range files {
		if i%4 != 0 {
			continue // TestTranscripts plays all
		}
		script := testkit.Must(os.ReadFile(file))
		play(t, string(script), func(a *Item) {
			testkit.RequireValid(t, schema, string(testkit.Must(json.Marshal(a))))
			n++
		})
	}
	require.Greater(t, n, 100)
}

// TestSanitize: whatever an item holds, its JSON form is one that peers take.
// TestSanitizeEveryText: a text that Sanitize does not reach is in the list with the reason.
func TestSanitizeEveryText(t *testing.T) {
	own := map[string]string{
		".ID": "acknowledgements repeat it", ".ClearedBy": "heed's own words", ".Members[0].Rule": "reports write it safely",
		".Members[0].Title": "reports write it safely", ".Members[0].Advice": "reports write it safely",
		".Members[0].Because[0]": "it is not shown",
	}
	var a Item
	testkit.Fill(&a)
	eachText(reflect.ValueOf(&a).Elem(), "", func(s reflect.Value, _ string) { s.SetString("a\nb\x1b[31m") })
	a.Sanitize()
	eachText(reflect.ValueOf(&a).Elem(), "", func(s reflect.Value, name string) {
		unsafe := strings.ContainsFunc(s.String(), unicode.IsControl)
		assert.Equal(t, own[name] != "", unsafe, "%s: give it to f in eachName, or say here why not", name)
	})
}

func eachText(v reflect.Value, name string, f func(s reflect.Value, name string)) {
	switch v.Kind() {
	case reflect.String:
		f(v, name)
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), name+"["+strconv.Itoa(i)+"]", f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			eachText(v.Field(i), name+"."+v.Type().Field(i).Name, f)
		}
	}
}

func TestSanitize(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, a := range []Item{
		{},
		{
			ID: "x-1", State: "open", Severity: 99, Blocking: true, Summary: "a\nb\x1b[31m\u202e", CausalOperationID: "op\x00",
			CausalMethod: long,
		},
		{ID: "x-1", State: "cleared", Blocking: true, StateInvalidated: true, Summary: long, AfterMethod: long},
		{
			OpenedAtSequence: 1 << 60, LatestSequence: 1 << 63, DiagnosticsCursor: 1<<64 - 1, TotalUrgentEntries: 1 << 54,
			Sample: []Sample{{}, {
				Level: 77, Message: "Content-Length: 5\r\n\r\n{}", RepeatCount: 1 << 60,
				LatestSequence: 1 << 60,
			}},
		},
	} {
		a.Sanitize()
		again := a
		again.Sample = slices.Clone(a.Sample)
		again.Sanitize()
		require.Equal(t, a, again)
		require.False(t, a.Blocking && a.State == Cleared)
		for _, s := range append([]Sample{{
			Level: a.Severity, Message: a.Summary, RepeatCount: a.TotalUrgentEntries + 1,
			LatestSequence: a.LatestSequence,
		}}, a.Sample...) {
			require.NotEmpty(t, s.Message)
			require.False(t, strings.ContainsFunc(s.Message, unicode.IsControl), "%q", s.Message)
			require.LessOrEqual(t, s.Level, event.SeverityFatal)
			require.NotZero(t, s.RepeatCount)
			require.LessOrEqual(t, max(s.RepeatCount, s.LatestSequence), uint64(1<<53))
		}
		require.LessOrEqual(t, len(a.CausalMethod+a.AfterMethod), len(long)/4)
	}
}
