package report

import (
	"fmt"
	"strings"
)

// attention tells what deserved attention, cause by cause.
func (t *textReport) attention() {
	all := t.causes.list()
	shown := min(len(all), textCauses)
	for _, c := range all[:shown] {
		t.cause(c)
	}
	if len(all) == shown {
		return
	}
	t.section(strong, "ALSO")
	g := grid{columns: []column{{title: "LINE", right: true}, {title: "DISPOSITION", style: dispositionStyle}, {title: "ITEMS", right: true}, {title: "ENTRIES", right: true}, {title: "WHAT"}}, minLast: 32, color: t.options.Color}
	rest := all[shown:]
	for _, c := range rest[:min(len(rest), textAlso)] {
		what, _ := t.explain(c)
		if len(c.FirstItem.Blame) > 0 {
			what += "; blame: " + blamed(c.FirstItem.Blame)
		}
		g.add(number(c.First), c.Disposition.String(), number(c.Items), number(c.Entries), what+" ("+c.Rule+t.repetition(c)+")")
	}
	if more := len(rest) - textAlso; more > 0 {
		g.add("...", "", "", "", fmt.Sprintf("(%d more; see json)", more))
	}
	t.out = g.appendTo(t.out, t.options.Width)
}

// repetition says that a rule is as urgent as c only by repetition.
func (r *Replay) repetition(c *cause) string {
	if r.escalated(c.Rule, c.Disposition) {
		return ", escalated by repetition"
	}
	return ""
}

// cause tells one cause in full.
func (t *textReport) cause(c *cause) {
	t.section(styleOf(c.Disposition)+";1", "%s %s, first at line %d", strings.ToUpper(c.Disposition.String()), c.Severity, c.First)
	what, why := t.explain(c)
	if c.Invalidates {
		what += "; what is known of the game's state may be stale"
	}
	t.labeled("what", what)
	rule := "rule " + c.Rule + t.repetition(c)
	if why != "" {
		rule += ": " + why
	}
	t.labeled("why", rule)
	if len(c.FirstItem.Blame) > 0 {
		t.labeledIn("blame", blamed(c.FirstItem.Blame), name)
	}
	often := howOften(c)
	if c.Items > 1 {
		often += fmt.Sprintf(" in %d items, the first %s", c.Items, c.FirstItem.ID)
	} else {
		often += " in item " + c.FirstItem.ID
	}
	if c.Last != c.FirstItem.OpenedPos {
		often += fmt.Sprintf(", lines %d to %d", c.FirstItem.OpenedPos, c.Last)
	}
	often += "; " + t.fateOf(c)
	t.labeled("often", safe(often))
	t.with(c)
	label := "sample"
	for _, s := range c.samples() {
		line := fmt.Sprintf("line %d: %s", s.FirstPos, safe(s.Message))
		if s.RepeatCount > 1 {
			line = fmt.Sprintf("line %d, %d times: %s", s.FirstPos, s.RepeatCount, safe(s.Message))
		}
		indent := t.label(label)
		if t.options.Width > 0 {
			line = fit(line, t.options.Width-indent)
		}
		t.printf("%s\n", line)
		label = ""
	}
}

// with tells in a line each what came with a cause.
func (t *textReport) with(c *cause) {
	others, more := c.others(textWith)
	label := "with"
	say := func(line string) {
		if indent := t.label(label); t.options.Width > 0 {
			line = fit(line, t.options.Width-indent)
		}
		t.printf("%s\n", line)
		label = ""
	}
	for _, o := range others {
		what, _ := t.describe(o.rule, c.Severity)
		line := fmt.Sprintf("%s from line %d on, %s: %s (%s)", times(o.entries), o.first, o.disposition, what, o.rule)
		if len(o.blame) > 0 {
			line += "; blame: " + blamed(o.blame)
		}
		say(line)
	}
	if more > 0 {
		say(fmt.Sprintf("… and what %s decided", count(uint64(more), "more rule")))
	}
}
