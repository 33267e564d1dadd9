package rules

import (
	"math"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
)

// Bounds of an escalation. Whoever enforces it has to remember that many
// occurrences for each rule that has one.
const (
	maxEscalateAfter   = 1000
	maxEscalateWithin  = 24 * time.Hour
	maxEscalateEntries = 1_000_000
)

// entriesPerSecond turns one measure of a window into the other where a file
// gives only one: a captured log has no clock, and a live one no fixed rate. It
// is the rate of the windows that coalesce has by default.
const entriesPerSecond = 50

// parseEscalate reads when a rule becomes more urgent, and returns the place of
// "to" as well. It returns nil when there are errors.
func parseEscalate(p at, n *yaml.Node, errs *collector) (e *event.Escalation, to at) {
	before := errs.count()
	e = &event.Escalation{}
	given := map[string]bool{}
	to = p.here(n)
	var within at
	for _, f := range mapping(p, n, escalateFields, errs) {
		given[f.key] = true
		fp := p.under(f.key)
		switch f.key {
		case "after":
			e.After = number(fp, f.value, 2, maxEscalateAfter, errs)
		case "within":
			within = fp.here(f.value)
			e.Within, e.Entries = parseWithin(fp, f.value, errs)
		case "to":
			to = fp.here(f.value)
			s, _ := oneOf(fp, f.value, dispositions[event.Advisory:], errs)
			e.To, _ = event.ParseDisposition(s)
		case "severity":
			s, _ := oneOf(fp, f.value, severities, errs)
			e.Severity, _ = event.ParseSeverity(s)
		}
	}
	if n.Kind == yaml.MappingNode {
		for _, f := range [...]struct{ name, hint string }{
			{"after", "how many occurrences, such as after: 20"},
			{"within", "in what time, such as within: 30s"},
			{"to", "one of advisory, blocking"},
		} {
			if !given[f.name] {
				errs.add(p.here(n).under(f.name), "is missing", f.hint)
			}
		}
	}
	if errs.count() > before {
		return nil, to
	}
	if !given["severity"] {
		e.Severity = severityOf(e.To)
	}
	// A rate that was not given must not be one that cannot be reached.
	if e.Entries == 0 {
		e.Entries = min(max(int(math.Ceil(e.Within.Seconds()*entriesPerSecond)), e.After), maxEscalateEntries)
	}
	if e.Within == 0 {
		e.Within = time.Duration(e.Entries) * time.Second / entriesPerSecond
	}
	if e.Entries < e.After {
		errs.addf(within, "give more entries, or a lower after", "%d occurrences cannot lie within %d entries", e.After, e.Entries)
		return nil, to
	}
	return e, to
}

// parseWithin reads a window: a duration alone, or a mapping of a duration and
// a number of entries, of which either may be missing. What is not given is 0.
func parseWithin(p at, n *yaml.Node, errs *collector) (d time.Duration, entries int) {
	if n.Kind != yaml.MappingNode {
		return duration(p, n, errs), 0
	}
	fields := mapping(p, n, withinFields, errs)
	for _, f := range fields {
		fp := p.under(f.key)
		switch f.key {
		case "duration":
			d = duration(fp, f.value, errs)
		case "entries":
			entries = number(fp, f.value, 2, maxEscalateEntries, errs)
		}
	}
	if len(n.Content) == 0 {
		errs.add(p.here(n), "is empty", "give a duration, such as 30s, or entries, or both")
	}
	return d, entries
}

// duration returns the value of n, which must be a positive duration with its
// unit; 0 when it is not.
func duration(p at, n *yaml.Node, errs *collector) time.Duration {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!int" || n.ShortTag() == "!!float") {
		errs.add(p.here(n), "a duration has a unit", "such as 30s, 5m or 1h; a number of entries is written {entries: 500}")
		return 0
	}
	s, ok := text(p, n, errs)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		errs.addf(p.here(n), "such as 30s, 5m or 1h30m", "%s is not a duration", quote(s))
	case d < time.Millisecond || d > maxEscalateWithin:
		errs.addf(p.here(n), "", "must be from 1ms to 24h, not %s", clean(s))
	default:
		return d
	}
	return 0
}

// number returns the value of n, which must be a whole number from low to high;
// 0 when it is not.
func number(p at, n *yaml.Node, low, high int, errs *collector) int {
	got := kindName(n)
	if n.Kind == yaml.ScalarNode {
		got = quote(n.Value)
		if n.ShortTag() == "!!int" {
			if v, err := strconv.Atoi(n.Value); err == nil && v >= low && v <= high {
				return v
			}
		}
	}
	errs.addf(p.here(n), "", "must be a whole number from %d to %d, not %s", low, high, got)
	return 0
}
