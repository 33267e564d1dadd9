package bridge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestAgree holds which reasons are given where the rules decide otherwise now.
func TestAgree(t *testing.T) {
	decided := func(rule string, d event.Disposition, s event.Severity) event.Decision {
		return event.Decision{Rule: rule, Disposition: d, Severity: s}
	}
	was := decided("a", event.Blocking, event.SeverityError)
	for _, c := range []struct {
		name    string
		record  journal.Record
		now     rules.Outcome
		differs []string // their beginnings
	}{
		{"the same", journal.Record{Decision: was}, rules.Outcome{Decision: was}, nil},
		{
			"the host's record",
			journal.Record{Entry: event.Entry{Kind: event.KindHost}, Decision: was},
			rules.Outcome{},
			[]string{"the host itself"},
		},
		{
			"the host's decision",
			journal.Record{Decision: decided("host.raised", event.Blocking,
				event.SeverityError)},
			rules.Outcome{},
			[]string{"the host decided"},
		},
		{
			"repeats",
			journal.Record{Decision: was},
			rules.Outcome{
				Decision: decided("a", event.Ignore, event.SeverityError),
				Rule:     &rules.Rule{Escalate: &event.Escalation{}},
			},
			[]string{"repeats raised it"},
		},
		{
			"the same rule, which does not escalate",
			journal.Record{Decision: was},
			rules.Outcome{Decision: decided("a", event.Ignore, event.SeverityError), Rule: &rules.Rule{}},
			[]string{"the host or another version"},
		},
		{
			"the same rule, of no file",
			journal.Record{Decision: was},
			rules.Outcome{Decision: decided("a", event.Blocking, event.SeverityFatal)},
			[]string{"the host or another version"},
		},
		{
			"another rule",
			journal.Record{Decision: was},
			rules.Outcome{Decision: decided("b", event.Blocking, event.SeverityError)},
			[]string{"another version", "the host set a phase"},
		},
		{
			"another rule, of a cut text",
			journal.Record{Decision: was, Truncated: true},
			rules.Outcome{Decision: decided("b", event.Blocking, event.SeverityError)},
			[]string{"another version", "the host set a phase", "the rules received text"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out Explanation
			out.agree(&c.record, &c.now)
			require.Equal(t, len(c.differs) == 0, out.Agrees)
			require.Len(t, out.Differs, len(c.differs))
			for i, d := range c.differs {
				require.True(t, strings.HasPrefix(out.Differs[i], d), out.Differs[i])
			}
		})
	}
}

// TestBound holds how much of an explanation is shown: the trials that came closest, the first clauses of each, with
// their parts.
func TestBound(t *testing.T) {
	clauses := func(n int) (all []rules.Clause) {
		for i := range n {
			all = append(all, rules.Clause{Text: fmt.Sprint(i)})
		}
		return all
	}
	long := strings.Repeat("x", 1000)
	for _, n := range []int{maxTrials, maxTrials + 1, maxTrials + 2} {
		x := rules.Explanation{Omitted: 5}
		for i := range n {
			x.Trials = append(x.Trials, rules.Trial{ID: fmt.Sprint(i)})
		}
		bound(&x)
		require.Len(t, x.Trials, maxTrials)
		require.Equal(t, fmt.Sprint(n-maxTrials), x.Trials[0].ID)
		require.Equal(t, 5+n-maxTrials, x.Omitted)
	}
	x := rules.Explanation{
		Trials: []rules.Trial{
			{Clauses: clauses(maxClauses), AddsTags: []string{long}},
			{Clauses: clauses(maxClauses + 3), Omitted: 2},
			{Clauses: []rules.Clause{{Text: "a", Parts: clauses(maxClauses + 3)}, {Text: "b"}}},
			{Exception: &rules.Clause{
				Text: long, Item: long, Place: long, Error: long,
				Reads: map[string]string{"r": long}, Parts: clauses(maxClauses),
			}},
		},
		Decision: rules.Details{Rule: long, Summary: long, Tags: []string{long}},
		Without:  &rules.Details{Why: long, Resolves: []string{long}},
	}
	bound(&x)
	require.Len(t, x.Trials[0].Clauses, maxClauses)
	require.Zero(t, x.Trials[0].Omitted)
	require.Len(t, []rune(x.Trials[0].AddsTags[0]), maxNameChars)
	require.Len(t, x.Trials[1].Clauses, maxClauses)
	require.Equal(t, 5, x.Trials[1].Omitted)
	require.Len(t, x.Trials[2].Clauses, 1)
	require.Len(t, x.Trials[2].Clauses[0].Parts, maxClauses-1)
	require.Equal(t, 1, x.Trials[2].Omitted)
	e := x.Trials[3].Exception
	require.Len(t, e.Parts, maxClauses-1)
	for text, n := range map[*string]int{
		&e.Text: clauseChars, &e.Item: clauseChars, &e.Place: maxNameChars, &e.Error: maxSaid,
		&x.Decision.Rule: maxNameChars, &x.Decision.Summary: maxSaid, &x.Decision.Tags[0]: maxNameChars,
		&x.Without.Why: maxSaid, &x.Without.Resolves[0]: maxNameChars,
	} {
		require.Len(t, []rune(*text), n)
	}
	require.Len(t, []rune(e.Reads["r"]), clauseChars)
}

// TestExplainedTemplate holds how much of a template is shown.
func TestExplainedTemplate(t *testing.T) {
	var out Explanation
	var in rules.Input
	out.template(&in, signature.Signature{},
		strings.Repeat("t", defaultChars+1)+"\n"+lines(maxFrames+1, strings.Repeat("f", clauseChars+1)))
	require.Len(t, []rune(out.Template), defaultChars)
	require.Len(t, out.Frames, maxFrames)
	require.Len(t, []rune(out.Frames[0]), clauseChars)
	require.Len(t, in.Template, defaultChars+1, "rules see all of it")
	out.template(&in, signature.Signature{}, "t")
	require.Equal(t, []string{}, out.Frames)
}
