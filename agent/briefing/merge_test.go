package briefing

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMerge(t *testing.T) {
	errs := func(n int) *LedgerQuery { return &LedgerQuery{EventType: "error", MaxEntries: n} }
	mods := &RegistryQuery{Registry: "mods"}
	file := func(paths ...string) *FileRead { return &FileRead{Paths: paths} }
	step := func(name string, c any) stage {
		for kind, config := range stageTypes {
			if reflect.TypeOf(c) == reflect.PointerTo(config) {
				return stage{Stage: name, Type: kind, Config: c}
			}
		}
		panic("no type of stage has this configuration")
	}
	structured := step("order", &structuring{Strategy: Chronological})
	halted := step("halt", &halting{})

	for _, c := range []struct {
		name     string
		pipeline []stage
		required RequiredContext
		want     []string // names of stages
	}{
		{
			"ledger_queries",
			[]stage{step("first", errs(3)), structured, halted},
			RequiredContext{LedgerQueries: []LedgerQuery{*errs(4), {Recency: time.Minute}}},
			[]string{"first", "contract.ledger_query.1", "contract.ledger_query.2", "order", "halt"},
		},
		{
			"ledger_queries/covered",
			[]stage{step("first", errs(0)), step("second", &LedgerQuery{Filters: map[string]string{}})},
			RequiredContext{LedgerQueries: []LedgerQuery{*errs(defaultMaxEntries), {}, *errs(1), *errs(1)}},
			[]string{"first", "second", "contract.ledger_query.3"},
		},
		{
			"framework_refs",
			[]stage{step("mods", mods), halted},
			RequiredContext{FrameworkRefs: []RegistryQuery{
				{
					Registry: "mods", MaxRows: defaultMaxRows,
				}, {Registry: "rules"}, {
					Registry: "mods", Filters: map[string]string{"id": "a"},
				},
			}},
			[]string{"mods", "contract.registry_query.2", "contract.registry_query.3", "halt"},
		},
		{
			"file_refs",
			[]stage{step("files", file("a", "b")), halted, structured},
			RequiredContext{FileRefs: []FileRead{*file("./a", "c/../b"), *file("b", "a"), *file("a")}},
			[]string{"files", "contract.file_read.2", "contract.file_read.3", "halt", "order"},
		},
		{
			"file_refs/nowhere_to_end",
			[]stage{step("mods", mods)},
			RequiredContext{FileRefs: []FileRead{*file("a")}},
			[]string{"mods", "contract.file_read.1"},
		},
		{
			"file_refs/disabled_does_not_cover",
			[]stage{{Stage: "files", Type: typeFileRead, Config: file("a"), Disabled: true}},
			RequiredContext{FileRefs: []FileRead{*file("a")}},
			[]string{"files", "contract.file_read.1"},
		},
		{
			"template_stages_take_priority",
			[]stage{structured, step("late", errs(3)), {Type: typeRegistryQuery, Config: mods, Share: 0.5}, halted},
			RequiredContext{
				FileRefs: []FileRead{*file("a")}, FrameworkRefs: []RegistryQuery{*mods, {Registry: "rules"}},
				LedgerQueries: []LedgerQuery{*errs(3), *errs(9)},
			},
			[]string{
				"contract.ledger_query.2", "contract.registry_query.2", "contract.file_read.1", "order", "late", "registry_query",
				"halt",
			},
		},
		{
			"template_stages_take_priority/nothing_required",
			[]stage{halted, structured},
			RequiredContext{},
			[]string{"halt", "order"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			template := Template{Pipeline: c.pipeline}
			before := append([]stage{}, c.pipeline...)
			got := merged(&template, &Contract{c.required})
			var names []string
			own := got[:0:0]
			for _, s := range got {
				names = append(names, s.Stage)
				require.IsType(t, reflect.New(stageTypes[s.Type]).Interface(), s.Config)
				require.Equal(t, canonical(s.Config), s.Config)
				if len(s.Stage) < len("contract.") || s.Stage[:len("contract.")] != "contract." {
					own = append(own, s)
				}
			}
			require.Equal(t, c.want, names)
			require.Equal(t, before, template.Pipeline, "the template is as it was")
			require.Len(t, own, len(before))
			for i, s := range own {
				require.Equal(t, before[i].Type, s.Type)
				require.Equal(t, before[i].Share, s.Share)
				require.Equal(t, before[i].Disabled, s.Disabled)
				require.Equal(t, canonical(before[i].Config), s.Config)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	v := variables{
		&Request{AgentID: "a1", AgentClass: "agent", FrameworkID: "game", Tier: "hot", WorkOrderID: "op-7", SessionID: "s"},
		[]Fragment{
			{Source: SourceLedger, Refs: map[string]string{"signature": "of a ledger"}},
			{Source: SourceAttention, Refs: map[string]string{"signature": "", "rule": "r"}},
			{Source: SourceAttention, Refs: map[string]string{"signature": "$agent", "rule": "later", "text_2": "t"}},
		},
	}
	for _, c := range []struct{ in, want, missing string }{
		{"", "", ""},
		{"plain", "plain", ""},
		{"$agent $class $framework $tier $work_order $session", "a1 agent game hot op-7 s", ""},
		{"$attention.signature/$attention.rule.x", "$agent/r.x", ""},
		{"$attention.text_2$tier.", "thot.", ""},
		{"$$agent $5 $ $", "$agent $5 $ $", ""},
		{"$attention", "", "$attention"},
		{"$attention.", "", "$attention"},
		{"$attention.operation and $none", "", "$attention.operation"},
		{"$work_orders", "", "$work_orders"},
		{"$Agent", "", "$Agent"},
	} {
		got, missing := v.expand(c.in)
		require.Equal(t, c.want, got, c.in)
		require.Equal(t, c.missing, missing, c.in)
	}
	_, missing := variables{request: &Request{}}.expand("$work_order")
	require.Equal(t, "$work_order", missing)
}
