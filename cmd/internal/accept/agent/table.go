package agent

import (
	"fmt"
	"io"
	"slices"

	"github.com/heedlog/heed/cmd/internal/accept/stage"
)

// outcome is how one agent did with one game.
type outcome struct {
	Plan   planName
	Policy string
	Think  pace
	score
	tally
	Told  int // calls with a result or a final verdict that was clean
	Wrong int // of those: an urgent record was in the call's window; -1: not known
}

// game returns the plan, and the pace of the agent where it is not the usual one.
func (r *outcome) game() string {
	if r.Think == 0 {
		return string(r.Plan)
	}
	return fmt.Sprintf("%s, %s", r.Plan, r.Think)
}

func (r *outcome) counts() []*int {
	return []*int{
		&r.Executed, &r.Faults, &r.Incidents, &r.Stops, &r.LeftOut, &r.FalseStops, &r.Acks, &r.Reads, &r.EmptyReads,
		&r.Bytes, &r.ByHabit, &r.Standing, &r.Steers, &r.FalseSteers, &r.Unknown, &r.Told, &r.Wrong,
	}
}

// add adds the counts of o.
func (r *outcome) add(o *outcome) {
	for i, sum := range r.counts() {
		*sum += *o.counts()[i]
	}
	r.Canceled += o.Canceled
	if r.Stale == nil {
		r.Stale, r.Late, r.Recover = map[kind]int{}, map[kind][3]int{}, map[kind][]float64{}
	}
	for k, n := range o.Stale {
		r.Stale[k] += n
	}
	for k, s := range o.Recover {
		r.Recover[k] = append(r.Recover[k], s...)
	}
	for k, n := range o.Late {
		sum := r.Late[k]
		for i := range n {
			sum[i] += n[i]
		}
		r.Late[k] = sum
	}
}

// stale returns how many calls acted on a fault that had shown before they were made.
func (r *outcome) stale() (n int) {
	for k, calls := range r.Stale {
		if k != meanwhile {
			n += calls
		}
	}
	return n
}

// per returns n for each of so many.
func per(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

func (r *outcome) stalePercent() float64  { return 100 * per(r.stale(), r.Executed) }
func (r *outcome) falsePer100() float64   { return 100 * per(r.FalseStops, r.Executed) }
func (r *outcome) acksPerFault() float64  { return per(r.Acks, r.Incidents) }
func (r *outcome) readsPer100() float64   { return 100 * per(r.EmptyReads, r.Executed) }
func (r *outcome) bytesPerFault() float64 { return per(r.Bytes, r.Incidents) }

// What text and thinking cost: so many bytes are a token, and an agent thinks so many tokens a second. Both are
// assumptions, the same for all policies.
const (
	bytesPerToken   = 4
	tokensPerSecond = 50
)

// tokensPerFault returns what attention cost for an incident: text that the agent was given, and thinking that was
// stopped and so is paid for again.
func (r *outcome) tokensPerFault() float64 {
	return (float64(r.Bytes)/bytesPerToken + r.Canceled.Seconds()*tokensPerSecond) / float64(max(r.Incidents, 1))
}

// canceledPerFault returns the seconds of thinking that were stopped, for an incident.
func (r *outcome) canceledPerFault() float64 {
	return r.Canceled.Seconds() / float64(max(r.Incidents, 1))
}

// recovery returns the time in seconds within which so many percent of the faults that a reading found were found.
func (r *outcome) recovery(percent int) float64 {
	var all []float64
	for _, s := range r.Recover {
		all = append(all, s...)
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)*percent+99)/100-1]
}

// lateCell returns where faults of a kind were found: on the result, before the next call, later.
func (r *outcome) lateCell(k kind) string {
	n := r.Late[k]
	return fmt.Sprintf("%d/%d/%d", n[onResult], n[atGate], n[missed])
}

// ofHeed returns a count of what only heed reports; less than 0 is not known.
func (r *outcome) ofHeed(n int) string {
	if !slices.Contains(ofHeed, r.Policy) || n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
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
		{"stale calls, %", r.stalePercent(), maxStalePercent},
		{"false stops in 100 calls", r.falsePer100(), maxFalsePer100},
		{"acknowledgements for an incident", r.acksPerFault(), maxAcks},
		{"calls told clean and were not", float64(r.Wrong), 0},
	} {
		if most := b.most * times; b.got > most {
			m = append(m, fmt.Sprintf("%s: %s %.2f, want at most %v", r.game(), b.what, b.got, most))
		}
	}
	if r.Plan == planNoLog && r.Told > 0 {
		m = append(m, fmt.Sprintf("%s: %d calls told clean, want none", r.Plan, r.Told))
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
			r.game(), r.Policy, r.Executed, r.Incidents, r.stalePercent(), r.falsePer100(), r.acksPerFault(),
			r.readsPer100(), r.bytesPerFault(), r.ofHeed(r.Wrong), r.ofHeed(r.Standing))
		for _, k := range afters {
			out = fmt.Appendf(out, "\t%s", r.lateCell(k))
		}
		out = append(out, "\t\n"...)
	}
	out = append(out, "\nplan\tpolicy\ttokens/\tstopped\trecover\t\tsteers\tfalse\tcalls\t\n"+
		"\t\tincid.\ts/incid.\tp50 s\tp95 s\t\tsteers\tleft\t\n"...)
	for _, r := range rows {
		out = fmt.Appendf(out, "%s\t%s\t%.0f\t%.1f\t%.1f\t%.1f\t%d\t%d\t%d\t\n", r.game(), r.Policy,
			r.tokensPerFault(), r.canceledPerFault(), r.recovery(50), r.recovery(95), r.Steers, r.FalseSteers, r.Unknown)
	}
	return stage.Table(w, out)
}
