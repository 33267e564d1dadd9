package event

import "time"

// Escalation says when what a rule decides becomes more urgent than a single
// occurrence of it: as long as After entries that the rule decided lie within
// the window that ends at an entry. It is plain data; the zero Escalation is not
// valid.
type Escalation struct {
	// After is the number of entries, 2 or more: the one that completes them is
	// the first that is decided as To says.
	After int

	// Within and Entries are the window, counted back from an entry: the
	// duration where the time is known at both ends, else the number of entries
	// of any kind. Both are positive, and Entries is no less than After.
	Within  time.Duration
	Entries int

	// To is the disposition then, higher than the rule's own.
	To Disposition

	// Severity is the least severity then.
	Severity Severity
}
