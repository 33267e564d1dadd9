package agent

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/heedlog/heed/cmd/internal/accept/stage"
)

// count names a count of a game, or of its agent.
type count string

const (
	executedCalls count = "executed calls"
	incidents     count = "faults that broke a state that still held"
	stale         count = "calls on a state that was broken before they were made"
	leftOut       count = "steps that were stopped too often"
	falseStops    count = "stops: the state was as it had been read"
	acks          count = "acknowledgements"
	emptyReads    count = "readings for a result's sake: the state was as it had been read"
	bytesGiven    count = "bytes of attention that the agent was given"
	standing      count = "calls under a standing item"
	steers        count = "prompts after a turn was stopped"
	falseSteers   count = "steers: the state was as it had been read, or it was no news any more"
	unknown       count = "calls whose result the agent did not see"
	canceled      count = "nanoseconds of thinking that was stopped"
	told          count = "calls with a result or a final verdict that was clean"
	wrong         count = "of those, calls with an urgent record in their window; less than 0: not known"

	// Where faults right after a result were found: on that result, before the next call, or later.
	onResult count = "on the result "
	atGate   count = "before the next call "
	missed   count = "later "
)

// by returns the count for one kind of faults.
func (c count) by(k kind) count { return c + count(k) }

// tally has the counts of a game, of an agent, or of both in many games.
type tally map[count]int

// add adds the counts of other.
func (t tally) add(other tally) {
	for c, n := range other {
		t[c] += n
	}
}

// outcome is how one agent did with one game, or with several.
type outcome struct {
	Plan   planName
	Policy string
	Think  pace
	tally
	recover []float64 // seconds from each fault to the reading that found it
}

// take adds the outcome of another game.
func (r *outcome) take(o *outcome) {
	r.add(o.tally)
	r.recover = append(r.recover, o.recover...)
}

// game returns the plan, and the pace of the agent where it is not the usual one.
func (r *outcome) game() string {
	if r.Think == 0 {
		return string(r.Plan)
	}
	return fmt.Sprintf("%s, %s", r.Plan, r.Think)
}

// per returns n for each of so many.
func per(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// per100 returns a count for 100 calls, perFault for an incident.
func (r *outcome) per100(c count) float64   { return 100 * per(r.tally[c], r.tally[executedCalls]) }
func (r *outcome) perFault(c count) float64 { return per(r.tally[c], r.tally[incidents]) }

// What text and thinking cost: so many bytes are a token, and an agent thinks so many tokens a second. Both are
// assumptions, the same for all policies.
const (
	bytesPerToken   = 4
	tokensPerSecond = 50
)

// canceledPerFault returns the seconds of thinking that were stopped, for an incident.
func (r *outcome) canceledPerFault() float64 { return r.perFault(canceled) / float64(time.Second) }

// tokensPerFault returns what attention cost for an incident: text that the agent was given, and thinking that was
// stopped and so is paid for again.
func (r *outcome) tokensPerFault() float64 {
	return r.perFault(bytesGiven)/bytesPerToken + r.canceledPerFault()*tokensPerSecond
}

// recovery returns the time in seconds within which so many percent of the faults that a reading found were found.
func (r *outcome) recovery(percent int) float64 {
	n := len(r.recover)
	if n == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(r.recover))[(n*percent+99)/100-1]
}

// lateCell returns where faults of a kind were found: on the result, before the next call, later.
func (r *outcome) lateCell(k kind) string {
	return fmt.Sprintf("%d/%d/%d", r.tally[onResult.by(k)], r.tally[atGate.by(k)], r.tally[missed.by(k)])
}

// ofHeed returns a count of what only heed reports; less than 0 is not known.
func (r *outcome) ofHeed(c count) string {
	if !slices.Contains(ofHeed, r.Policy) || r.tally[c] < 0 {
		return "-"
	}
	return fmt.Sprint(r.tally[c])
}

// The bars that heed is held to, in every plan.
const (
	maxStalePercent = 1.0
	maxFalsePer100  = 1.0
	maxAcks         = 1.3 // per incident
)

// misses returns which bars an outcome of heed misses, where rates may be so many times as high.
func (r *outcome) misses(times float64) (m []string) {
	for _, b := range []struct {
		what string
		got  float64
		most float64
	}{
		{"stale calls, %", r.per100(stale), maxStalePercent},
		{"false stops in 100 calls", r.per100(falseStops), maxFalsePer100},
		{"acknowledgements for an incident", r.perFault(acks), maxAcks},
		{"calls told clean and were not", float64(r.tally[wrong]), 0},
	} {
		if most := b.most * times; b.got > most {
			m = append(m, fmt.Sprintf("%s: %s %.2f, want at most %v", r.game(), b.what, b.got, most))
		}
	}
	if n := r.tally[told]; r.Plan == planNoLog && n > 0 {
		m = append(m, fmt.Sprintf("%s: %d calls told clean, want none", r.Plan, n))
	}
	return m
}

// table prints two rows for each outcome: its events, and its cost.
func table(w io.Writer, rows []*outcome) error {
	out := []byte("plan\tpolicy\tcalls\tinci-\tstale\tfalse\tacks/\tidle\tbytes/\tclean,\tstand-\tlate by\t\t\t\t\n" +
		"\t\t\tdents\t%\tstops %\tincid.\treads %\tincid.\tbut not\ting")
	for _, k := range afters {
		out = fmt.Appendf(out, "\t%s", k)
	}
	out = append(out, "\t\n"...)
	for _, r := range rows {
		out = fmt.Appendf(out, "%s\t%s\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.1f\t%.0f\t%s\t%s",
			r.game(), r.Policy, r.tally[executedCalls], r.tally[incidents], r.per100(stale), r.per100(falseStops),
			r.perFault(acks), r.per100(emptyReads), r.perFault(bytesGiven), r.ofHeed(wrong), r.ofHeed(standing))
		for _, k := range afters {
			out = fmt.Appendf(out, "\t%s", r.lateCell(k))
		}
		out = append(out, "\t\n"...)
	}
	out = append(out, "\nplan\tpolicy\ttokens/\tstopped\trecover\t\tsteers\tfalse\tcalls\t\n"+
		"\t\tincid.\ts/incid.\tp50 s\tp95 s\t\tsteers\tleft\t\n"...)
	for _, r := range rows {
		out = fmt.Appendf(out, "%s\t%s\t%.0f\t%.1f\t%.1f\t%.1f\t%d\t%d\t%d\t\n", r.game(), r.Policy,
			r.tokensPerFault(), r.canceledPerFault(), r.recovery(50), r.recovery(95), r.tally[steers],
			r.tally[falseSteers], r.tally[unknown])
	}
	return stage.Table(w, out)
}
