package bridge

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

func TestInBand(t *testing.T) {
	for _, tc := range []struct {
		result    string
		failed    bool
		text      string
		operation string
	}{
		{`{"success":true}`, false, "", ""},
		{`{"success":false}`, true, "", ""},
		{`{"success":false,"message":"no room"}`, true, "no room", ""},
		{`{"success":true,"error":"of a part"}`, false, "", ""},
		{`{"ok":false,"error":{"message":"no","code":3}}`, true, "no", ""},
		{`{"isError":true,"errorMessage":"broken"}`, true, "broken", ""},
		{`{"error":"broken"}`, true, "broken", ""},
		{`{"error":{"message":"broken"}}`, true, "broken", ""},
		{`{"error":{"code":3}}`, true, "", ""},
		{`{"error":null}`, false, "", ""},
		{`{"error":""}`, false, "", ""},
		{`{"error":0}`, false, "", ""},
		{`{"success":"no"}`, false, "", ""}, // not a boolean: nothing is said
		{`{"ok":"no","success":false,"message":"no room"}`, true, "no room", ""},
		{`{"success":1,"ok":false}`, true, "", ""},
		{`{"isError":1,"error":"broken","operationId":"op_0"}`, true, "broken", "op_0"},
		{`{"success":null,"ok":true,"error":"of a part"}`, false, "", ""},
		{`{"operationId":"op_1"}`, false, "", "op_1"},
		{`{"operation":{"operationId":"op_2"}}`, false, "", "op_2"},
		{`{"meta":{"operationId":"op_3"},"success":false}`, true, "", "op_3"},
		{`[{"success":false}]`, false, "", ""},
		{`12.5`, false, "", ""},
		{`null`, false, "", ""},
		{``, false, "", ""},
	} {
		failed, text, operation := inBand(json.RawMessage(tc.result))
		require.Equal(t, tc.failed, failed, tc.result)
		require.Equal(t, tc.text, text, tc.result)
		require.Equal(t, tc.operation, operation, tc.result)
	}
	large := json.RawMessage(`{"meta":[` + strings.Repeat("1,", 1<<16) + `1]}`)
	require.Less(t, testing.AllocsPerRun(1, func() { inBand(large) }), 100.0, "what says nothing is not decoded")
}

func TestAmend(t *testing.T) {
	const said = `"executed":true,"attention":{"attentionId":"x-1","state":"open","severity":"error","blocking":true,"stateInvalidated":false,"summary":"s","openedAtSequence":1,"latestSequence":2,"diagnosticsCursor":0,"totalUrgentEntries":3}`
	a := heed.Item{
		ID: "x-1", State: "open", Severity: event.SeverityError, Blocking: true, Summary: "s",
		OpenedAtSequence: 1, LatestSequence: 2, TotalUrgentEntries: 3,
	}
	charged := &verdict{Outcome: "blocking", Reason: "charged", Text: "t", CleanThrough: 9}
	const why = `"verdict":{"outcome":"blocking","reason":"charged","text":"t","cleanThrough":9}`
	for _, tc := range []struct{ result, want string }{
		{`{"n": 1.50}`, `{"n": 1.50,` + said + `}`},
		{` { } `, ` {` + said + `}`},
		{`{}`, `{` + said + `}`},
		{`{"executed":"mine"}`, `{"executed":"mine","heed":{` + said + `}}`},
		{`{"attention":null,"a":"}"}`, `{"attention":null,"a":"}","heed":{` + said + `}}`},
		{`{"verdict":"guilty"}`, `{"verdict":"guilty","heed":{` + said + `}}`},
		{`{"notice":1}`, `{"notice":1,` + said + `}`},
		{`{"executed":1,"heed":2}`, `{"executed":1,"heed":2,"_heed":{` + said + `}}`},
		{`{"executed":1,"_heed":3,"heed":2}`, `{"executed":1,"_heed":3,"heed":2,"__heed":{` + said + `}}`},
		{`12.50`, `{"value":12.50,` + said + `}`},
		{`[1]`, `{"value":[1],` + said + `}`},
		{`null`, `{"value":null,` + said + `}`},
		{``, `{` + said + `}`},
	} {
		got := amend(json.RawMessage(tc.result), finding{Executed: true, Attention: &a})
		require.Equal(t, tc.want, string(got), tc.result)
		require.True(t, json.Valid(got))
		got = amend(json.RawMessage(tc.result), finding{Executed: true, Attention: &a, Verdict: charged})
		require.Equal(t, strings.Replace(tc.want, said, said+","+why, 1), string(got), tc.result)
	}

	// Where there is no item.
	background := &verdict{Outcome: "unknown", Reason: "background", Text: "t", CleanThrough: 9}
	const clear, vague = `"verdict":{"outcome":"clean","cleanThrough":9}`,
		`"executed":true,"verdict":{"outcome":"unknown","reason":"background","text":"t","cleanThrough":9}`
	for _, tc := range []struct{ result, clean, unknown string }{
		{`{"n": 1.50}`, `{"n": 1.50,` + clear + `}`, `{"n": 1.50,` + vague + `}`},
		{`{"verdict":1}`, `{"verdict":1,"heed":{` + clear + `}}`, `{"verdict":1,"heed":{` + vague + `}}`},
		{`{"verdict":1,"heed":2}`, `{"verdict":1,"heed":2,"_heed":{` + clear + `}}`, `{"verdict":1,"heed":2,"_heed":{` + vague + `}}`},
		{` 12.50`, ` 12.50`, `{"value": 12.50,` + vague + `}`},
		{`null`, `null`, `{"value":null,` + vague + `}`},
		{``, ``, `{` + vague + `}`},
	} {
		clean := shownVerdict(&heed.Verdict{Outcome: "clean", Reason: "quiet", Text: "t", CleanThrough: 9})
		require.Equal(t, tc.clean, string(amend(json.RawMessage(tc.result), finding{Executed: true, Verdict: clean})))
		require.Equal(t, tc.unknown, string(amend(json.RawMessage(tc.result), finding{Executed: true, Verdict: background})))
		require.Equal(t, tc.result, string(amend(json.RawMessage(tc.result), finding{Executed: true})), "no operation")
	}
	// Nobody knows whether it was executed.
	require.Equal(t, `{"outcome":"unknown",`+why+`}`,
		string(amend(json.RawMessage(`{"outcome":"unknown"}`), finding{Verdict: charged})))
}

func FuzzAmend(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":{"b":"}"}} `, `"{"`, `{"executed":{}}`, "\t{\n}\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		inBand(json.RawMessage(s))
		found := finding{Executed: true, Attention: &heed.Item{ID: "x"}, Verdict: &verdict{Outcome: "unknown"}}
		require.True(t, json.Valid(amend(json.RawMessage(s), found)), s)
	})
}

func TestHanded(t *testing.T) {
	h := Handed{
		Prefix: []string{"heed", "wrap", "--", "game"},
		Outer:  gabp.Bridge{Address: "127.0.0.1:1111", Token: "outer", Path: "/outer"},
		Inner:  gabp.Bridge{Address: "127.0.0.1:2222", Token: "inner", Path: "/inner"},
	}
	environ := func(from ...string) []string { return (&exec.Cmd{Env: h.Environ(from)}).Environ() }
	require.Equal(t, []string{
		"A=1", "GABS_GAME_ID=colony", "GABP_SERVER_PORT=2222", "GABP_TOKEN=inner", "GABS_BRIDGE_PATH=/inner",
	}, environ("A=1", "GABP_SERVER_PORT=1111", "GABP_TOKEN=outer", "GABS_BRIDGE_PATH=/outer", "GABS_GAME_ID=colony"))
	require.Equal(t, []string{"A=1", "GABP_SERVER_PORT=2222", "GABP_TOKEN=inner"}, environ("A=1"), "started by a person")

	one := Handed{Prefix: []string{"heed"}, Outer: gabp.Bridge{Token: "outer"}, Inner: gabp.Bridge{Token: "inner"}}
	require.JSONEq(t, `{"argv":["heed","-x"],"envValues":{"GABP_TOKEN":"outer"}}`,
		string(one.observed(json.RawMessage(`{"argv":["game","-x"],"envValues":{"GABP_TOKEN":"inner"}}`))))
	require.JSONEq(t, `{"envValues":{"OTHER":"inner"}}`, string(one.observed(json.RawMessage(`{"envValues":{"OTHER":"inner"}}`))))
	for _, tc := range []struct{ name, seen, want string }{
		{"nothing", ``, ``},
		{"null", `null`, `null`},
		{
			"as handed", `{"argv":["./game","-x"],"cwd":"/c","envValues":{"GABP_SERVER_PORT":"2222","GABP_TOKEN":"inner","GABS_BRIDGE_PATH":"/inner","B":"2"},"envAbsent":["C"]}`,
			`{"argv":["heed","wrap","--","game","-x"],"cwd":"/c","envValues":{"GABP_SERVER_PORT":"1111","GABP_TOKEN":"outer","GABS_BRIDGE_PATH":"/outer","B":"2"},"envAbsent":["C"]}`,
		},
		{
			"something got lost", `{"argv":["game"],"envValues":{"GABP_SERVER_PORT":"3333","GABP_TOKEN":""}}`,
			`{"argv":["heed","wrap","--","game"],"envValues":{"GABP_SERVER_PORT":"3333","GABP_TOKEN":""}}`,
		},
		{"what is new", `{"argv":[],"more":[1.50]}`, `{"argv":[],"more":[1.50]}`},
		{"another form", `[1]`, `[1]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := string(h.observed(json.RawMessage(tc.seen)))
			if tc.want == "" {
				require.Empty(t, got)
				return
			}
			require.JSONEq(t, tc.want, got)
		})
	}
}
