package bridge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/session"
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

// TestTexts holds how texts, numbers and times are cut to what is shown.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
		cut   bool
	}{
		{"abc", 3, "abc", false}, {"abcd", 3, "ab…", true}, {"a\nb", 9, `a\nb`, false}, {"a\nbcd", 3, `a…`, true}, {"", 3, "", false},
	} {
		got, cut := logText(c.text, c.limit)
		require.Equal(t, c.want, got)
		require.Equal(t, c.cut, cut, c.text)
	}
	for _, c := range []struct {
		text         string
		lines, chars int
		want         []string
		cut          bool
	}{
		{"a\r\nb\nc", 3, 9, []string{"a", "b", "c"}, false},
		{"a\nb\nc", 2, 9, []string{"a", "b"}, true},
		{"abc\ndef", 3, 3, []string{"abc"}, true},
		{"abc\ndef", 3, 5, []string{"abc", "d…"}, true},
		{"abcdef\ng", 3, 4, []string{"abc…"}, true},
		{"", 3, 3, nil, false},
	} {
		got, cut := logLines(c.text, c.lines, c.chars)
		require.Equal(t, c.want, got, c.text)
		require.Equal(t, c.cut, cut, c.text)
	}
	require.EqualValues(t, 1<<53-1, integer(1<<53))
	require.EqualValues(t, 1<<53-1, integer(1<<53-1))
	require.EqualValues(t, 7, integer(7))
	require.Equal(t, []string{"a", "b"}, allNamed([]string{"a", "b", "c"}, 2))
	require.Equal(t, []string{"a"}, allNamed([]string{"a"}, 2))
	for year, kept := range map[int]bool{0: false, 1: true, 9999: true, 10000: false} {
		require.Equal(t, kept, !stamp(time.Date(year, 7, 1, 0, 0, 0, 0, time.UTC)).IsZero(), year)
	}
	zone := time.FixedZone("", 3600)
	require.Equal(t, time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), stamp(time.Date(2026, 1, 1, 10, 0, 0, 0, zone)))
}

// TestShown holds that what a timeline has is bounded.
func TestShown(t *testing.T) {
	long := strings.Repeat("x", 1000)
	e := shown(session.Event{
		Number: 1 << 60, CleanThrough: 1 << 60, Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Reason: long,
		Consumer: long, Tool: long, Operation: long, Request: long, Attention: long, Successor: long,
		Covered: slices.Repeat([]string{long}, maxCovered+1),
	})
	require.EqualValues(t, maxInteger, e.Number)
	require.EqualValues(t, maxInteger, e.CleanThrough)
	require.True(t, e.Time.IsZero())
	require.Len(t, e.Covered, 32)
	for _, s := range append(e.Covered, e.Reason, e.Consumer, e.Tool, e.Operation, e.Request, e.Attention, e.Successor) {
		require.Len(t, []rune(s), maxNameChars)
	}
}

// TestEntryStack holds how much of a stack is shown, and how long it is said to be.
func TestEntryStack(t *testing.T) {
	record := func(stack string) *journal.Record {
		return &journal.Record{Entry: event.Entry{Message: "m", Stack: stack}}
	}
	for stack, n := range map[string]int{"": 0, "\n": 0, "a": 1, "a\nb\r\n": 2} {
		e := look{Chars: 10}.entry(record(stack))
		require.Equal(t, n, e.StackLines, stack)
		require.Nil(t, e.Stack)
		require.False(t, e.Cut)
	}
	e := look{Chars: 10, Stack: true}.entry(record(strings.Repeat("a", 19) + "\nb\nc"))
	require.Equal(t, []string{strings.Repeat("a", 19), "b"}, e.Stack)
	require.True(t, e.Cut)
	e = look{Chars: 1, Stack: true}.entry(&journal.Record{Entry: event.Entry{Message: "mm", Stack: "a"}})
	require.True(t, e.Cut, "the message")
	e = look{Chars: 1000, Stack: true}.entry(record(lines(maxStackLines, "a")))
	require.Len(t, e.Stack, maxStackLines)
	require.False(t, e.Cut)
	e = look{Chars: 1000, Stack: true}.entry(record(lines(maxStackLines+1, "a")))
	require.Len(t, e.Stack, maxStackLines)
	require.True(t, e.Cut)
}

func lines(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+"\n", n), "\n") }

// TestPageSize holds that a page has as many entries as fit, and one in any case.
func TestPageSize(t *testing.T) {
	l := look{Chars: maxPageBytes}
	sized := func(n int) journal.Record {
		r := journal.Record{Entry: event.Entry{Message: "x"}}
		e := l.entry(&r)
		r.Message = strings.Repeat("x", n-len(Encode(&e))+1)
		return r
	}
	for _, c := range []struct {
		sizes []int
		want  int
	}{
		{[]int{maxPageBytes - 1000, 1000}, 2},
		{[]int{maxPageBytes - 1000, 1001}, 1},
		{[]int{maxPageBytes + 1, 1000}, 1},
		{[]int{1000, maxPageBytes, 1000}, 1},
		{nil, 0},
	} {
		var records []journal.Record
		for _, n := range c.sizes {
			records = append(records, sized(n))
		}
		require.Len(t, l.entries(records), c.want, c.sizes)
	}
}
