package heedsource_test

import (
	"context"
	"fmt"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

func Example() {
	mine := rules.File{Name: "mine.yaml", Data: []byte(`version: 1
rules:
  - id: crane.broken
    when: 'template startsWith "Exception ticking"'
    disposition: blocking
    summary: A crane does not work.
    advice: Remove the crane, or load an older save.
`)}
	set, err := rules.Compile(append([]rules.File{mine}, rules.Defaults()...)...)
	if err != nil {
		panic(err)
	}
	engine, err := heed.New(heed.Config{Rules: set, Epoch: "run7"})
	if err != nil {
		panic(err)
	}
	engine.Observe(event.Operation{ID: "call-3", Method: "colony/build", Status: event.StatusStarted}.Entry())
	for line := range uint64(40) {
		engine.Log(event.Log{
			Level: event.LevelError, OperationID: "call-3", Pos: 600 + line,
			Message: "Exception ticking Crane7: System.NullReferenceException", Stack: "  at Harbor.Crane.Lift ()",
		})
	}

	template, err := briefing.Parse("call.yaml", []byte(`
template_id: call
pipeline:
  - {type: ledger_query, config: {max_entries: 10, filters: {operation: $work_order}}}
  - {type: halting, config: {min_fragments: 1}}
budget: {max_context_tokens: 300, timeout: 50ms}
`))
	if err != nil {
		panic(err)
	}
	sources := heedsource.Sources(heedsource.Config{
		Engine: engine, Rules: func() *rules.Set { return set },
	})
	sources.Templates, sources.Now = []*briefing.Template{template}, time.Now
	service, err := briefing.New(sources)
	if err != nil {
		panic(err)
	}
	brief, err := service.Assemble(context.Background(), briefing.Request{WorkOrderID: "call-3"})
	if err != nil {
		panic(err)
	}
	fmt.Print(brief.Text)
	// Output:
	// [ledger run7/1] operation colony/build (call-3) started
	// [ledger run7/41] error at line 639: blocking, rule crane.broken, in operation call-3, 40 times since entry 2
	// > Exception ticking Crane7: System.NullReferenceException
	// > at Harbor.Crane.Lift ()
}
