package classify_test

import (
	"fmt"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

func Example() {
	set, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(`
version: 1
rules:
  - {id: load.begin, when: 'template startsWith "Loading game"', disposition: ignore, sets_phase: load}
  - {id: load.broken, when: 'phase == "load" and template contains "is missing"', disposition: blocking}
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := classify.New(classify.Config{Rules: set, InitialPhase: "menu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"Thing_12 is missing", "Loading game from file Autosave-1", "Thing_13 is missing", "Thing_14 is missing"} {
		l := event.Log{Message: text, Level: event.LevelWarning}
		e := l.Entry()
		r := c.Classify(&e)
		template, _ := c.Template(r.Signature)
		fmt.Printf("%-8s %-19s cached=%-5v phase=%s→%s  %s\n", r.Decision.Disposition, r.Decision.Rule, r.Cached,
			r.PhaseBefore, r.PhaseAfter, template)
	}
	// Output:
	// advisory default.log.warning cached=false phase=menu→menu  <*> is missing
	// ignore   load.begin          cached=false phase=menu→load  Loading game from file <*>
	// blocking load.broken         cached=false phase=load→load  <*> is missing
	// blocking load.broken         cached=true  phase=load→load  <*> is missing
}
