package coalesce

import (
	"cmp"
	"strings"

	"github.com/heedlog/heed/event"
)

// The outcomes of an operation.
const (
	Unknown  = "unknown"  // evidence is missing, or does not show whether the operation caused it
	Clean    = "clean"    // nothing urgent happened while it ran, nor within Linger
	Advised  = "advisory" // something advisory came of it
	Affected = "blocking" // something blocking came of it
)

// Verdict is the result of an operation and of its parts, as far as known. It belongs to the caller.
type Verdict struct {
	// Operation is the id as far as it is kept: its first 256 bytes.
	Operation string       `json:"operation" jsonschema:"Its id."`
	Method    string       `json:"method" jsonschema:"The tool or method."`
	Status    event.Status `json:"status" jsonschema:"started while it runs, then completed, failed, cancelled or timed_out."`

	// Outcome is [Unknown], [Clean], [Advised] or [Affected]. Text is the same in one sentence, without log text.
	Outcome string        `json:"outcome" enum:"unknown,clean,advisory,blocking" jsonschema:"The verdict: clean, it resulted in no item; advisory or blocking, its worst result; unknown, evidence is missing or does not tell."`
	Reason  VerdictReason `json:"reason" enum:"quiet,charged,background,standing,blind,missing,running,abandoned,doubtful,unknown_operation" jsonschema:"Why the outcome is this one."`
	Text    string        `json:"text" jsonschema:"The verdict in one sentence."`

	// CleanThrough is the sequence number of the latest entry that the verdict covers.
	// It grows until the verdict is final.
	CleanThrough uint64 `json:"cleanThrough" jsonschema:"Number of the latest entry that the verdict covers."`

	// Known is false for an operation that was never seen, or was evicted.
	Known bool `json:"known" jsonschema:"False: heed has only its entries left, and no verdict."`

	// Final reports that the operation and its parts are over, and that Linger has
	// passed since: only what names it can still change the verdict.
	Final bool `json:"final" jsonschema:"The verdict does not change any more: enough time has passed since the end."`

	// Abandoned reports that no end was seen within OperationMax.
	Abandoned bool `json:"abandoned" jsonschema:"No end was seen in time."`

	// AttentionID is the item that holds the worst that came of it, or that makes the
	// outcome unknown, or "". It may be cleared.
	AttentionID string `json:"attentionId" jsonschema:"The item with its worst result, or that makes the outcome unknown; heed/item shows it."`
}

// Verdict returns the verdict about the operation called id. A blocking entry is reported even if evidence is missing:
// more evidence could not make the verdict better. Its cost grows with the number of operations known.
func (c *Coalescer) Verdict(id string) Verdict {
	o := c.Operations.get(id)
	if o == nil {
		v := Verdict{Operation: boundID(id), Outcome: Unknown, Reason: ReasonNotKnown}
		v.Text = v.text()
		return v
	}
	v := Verdict{
		Operation: o.ID, Method: o.Method, Status: o.Status, Known: true, Final: true, Abandoned: o.Abandoned,
		CleanThrough: c.Now.seq,
	}
	var worst event.Disposition
	var item uint64
	var marked mark
	for _, p := range c.Operations.Order {
		if !c.Operations.isPart(p, o) {
			continue
		}
		if p.Item != 0 && (item == 0 || p.Worst > worst || p.Worst == worst && p.Item < item) {
			worst, item = p.Worst, p.Item
		}
		marked = marked.stronger(p.Marked)
		if c.Operations.covered(p) && p != o {
			if v.Reason = cmp.Or(v.Reason, p.Gap); p.Doubtful {
				v.Reason = cmp.Or(v.Reason, ReasonDoubtful)
			}
			continue
		}
		v.Reason = cmp.Or(v.Reason, p.unknown(c.Counts.Blind))
		v.Final = v.Final && !p.running() && c.Config.Linger.passed(p.Ended, c.Now)
	}
	if marked.Why == ReasonCharged {
		// To the whole, or to a part of it: as a whole o has that itself.
		if marked.Why = ReasonBackground; c.Operations.root(o) == o {
			marked = mark{}
		}
	}
	switch {
	case worst == event.Blocking:
		v.Outcome, v.Reason = Affected, ReasonCharged
	case v.Reason != "":
		v.Outcome = Unknown
		if item == 0 && (v.Reason == ReasonBlind || v.Reason == ReasonMissing) {
			item = c.BlindItem
		}
	case marked.Item != 0:
		v.Outcome, v.Reason, item = Unknown, marked.Why, marked.Item
	case worst == event.Advisory:
		v.Outcome, v.Reason = Advised, ReasonCharged
	case o.running():
		v.Outcome, v.Reason = Unknown, ReasonRunning
	default:
		v.Outcome, v.Reason, item = Clean, ReasonQuiet, 0
	}
	v.AttentionID = c.id(item)
	v.Text = v.text()
	return v
}

// unknown returns why the result of o is not known, or "". now reports whether evidence is incomplete now.
func (o *operation) unknown(now bool) VerdictReason {
	switch {
	case o.Gap != "":
		return o.Gap
	case o.running() && now:
		return ReasonBlind
	case o.Abandoned:
		return ReasonAbandoned
	case o.Doubtful:
		return ReasonDoubtful
	case o.Status.Ended() && !o.Begun:
		return ReasonMissing // its start is not known
	}
	return ""
}

// text returns the verdict in one sentence.
func (v *Verdict) text() string {
	item := ""
	if v.AttentionID != "" {
		item = "; see item " + v.AttentionID
	}
	switch sentence := sentences[v.Reason]; {
	case v.Reason == ReasonQuiet && v.Final:
		return "Nothing urgent was logged while it ran and shortly after."
	case v.Reason == ReasonCharged && v.Outcome != Affected:
		return "Something less serious was logged meanwhile" + item + "."
	default:
		return strings.Replace(sentence, "*", item, 1)
	}
}

// sentences are the verdicts by their reasons. The item takes the place of an asterisk.
var sentences = map[VerdictReason]string{
	ReasonQuiet:      "Nothing urgent was logged so far.",
	ReasonCharged:    "It caused a fault, as far as the log shows*.",
	ReasonBackground: "A fault was open or logged while it ran, or shortly before, that cannot be charged to it alone*.",
	ReasonStanding: "A fault returned that stopped calls before and does not stop them any more*; " +
		"read the game's state again.",
	ReasonBlind:     "heed had no complete log while it ran*.",
	ReasonMissing:   "Its start is not known, or part of the log is missing from when it ran*.",
	ReasonRunning:   "It has not ended.",
	ReasonAbandoned: "Its end was not seen.",
	ReasonDoubtful:  "How it ended is not known*.",
	ReasonNotKnown:  "No operation of this id is known.",
}
