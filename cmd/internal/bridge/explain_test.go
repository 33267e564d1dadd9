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

// TestBound holds how much of an explanation is shown: the trials that came closest, the beginnings of
// their texts.
func TestBound(t *testing.T) {
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
			{Clauses: []rules.Clause{{Text: long}}, AddsTags: []string{long}},
			{Exception: &rules.Clause{
				Text: long, Words: []string{long}, Place: long, Error: long, Reads: map[string]string{"r": long},
			}},
		},
		Decision: rules.Details{Rule: long, Summary: long, Tags: []string{long}},
		Without:  &rules.Details{Why: long, Resolves: []string{long}},
	}
	bound(&x)
	require.Len(t, []rune(x.Trials[0].AddsTags[0]), maxNameChars)
	e := x.Trials[1].Exception
	for text, n := range map[*string]int{
		&x.Trials[0].Clauses[0].Text: clauseChars, &e.Text: clauseChars, &e.Words[0]: clauseChars,
		&e.Place: maxNameChars, &e.Error: maxSaid,
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

// TestAgree holds what is said of a decision that the rules would not make now.
func TestAgree(t *testing.T) {
	was := event.Decision{Rule: "a", Disposition: event.Blocking}
	host, other, ignored := was, was, was
	host.Rule, other.Rule, ignored.Disposition = "host.raised", "b", event.Ignore
	for says, c := range map[string]struct {
		record journal.Record
		now    event.Decision
	}{
		"the host decided this itself":                     {journal.Record{Decision: host}, was},
		"the host or another version of the rules decided": {journal.Record{Decision: was}, ignored},
		"the rules received text that heed did not keep":   {journal.Record{Decision: was, Truncated: true}, other},
	} {
		var out Explanation
		out.agree(&c.record, &rules.Outcome{Decision: c.now})
		require.False(t, out.Agrees)
		require.Equal(t, says, out.Differs[len(out.Differs)-1])
	}
}
