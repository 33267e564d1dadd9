package report

import (
	"math"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// maxSpans bounds the stretches of blindness that are listed. A log that goes
// blind more often is described well enough by their number.
const maxSpans = 16

// wentBlind returns [Document].WentBlind.
func (r *Replay) wentBlind() bool { return r.blind.count > 0 || r.end.Headless || r.silent() }

// silent reports whether the log has no record of a game.
func (r *Replay) silent() bool { return r.records == r.headers }

// silence returns what there is of a log that is silent, "" of another.
func (r *Replay) silence() string {
	switch {
	case !r.silent():
		return ""
	case r.headers > 0:
		return r.say("This is only the header of an upload; the log itself is missing.")
	}
	return r.say("The log has no record, so nothing is known about the game.")
}

// span is a stretch of a log during which evidence was incomplete. Missing bytes or repeats are a point: From and To
// are one line.
type span struct {
	From uint64 `json:"fromLine" jsonschema:"Where it begins."`
	To   uint64 `json:"toLine,omitempty" jsonschema:"Where logging resumed; fromLine if something is missing at that point, and absent if it did not resume."`
	Rule string `json:"rule" jsonschema:"The rule that decided so."`
}

// blindness keeps the first spans, and the last one.
type blindness struct {
	spans []span
	count uint64
	now   bool

	// Points have sentences of their own on the first screen; these are the
	// spans that are none.
	stretches uint64
	first     uint64 // line at which the first begins
	last      span
}

func (b *blindness) observe(rec *capture.Record, o *heed.Outcome) {
	line := uint64(rec.Line())
	span := span{From: line, Rule: o.Decision.Rule}
	switch {
	case o.Blind && !b.now:
		b.now = true
		b.add(span)
		if b.last = span; b.stretches == 0 {
			b.first = line
		}
		b.stretches++
	case !o.Blind && b.now:
		b.now = false
		b.spans[len(b.spans)-1].To, b.last.To = line, line
	case !b.now && (rec.Status == event.StatusHole || rec.Status == event.StatusRunCut):
		span.To = line
		b.add(span)
	}
}

// add adds a span. Gaps within a blind stretch are part of it.
func (b *blindness) add(span span) {
	b.count++
	if len(b.spans) < maxSpans {
		b.spans = append(b.spans, span)
	} else {
		b.spans[maxSpans-1] = span
	}
}

// missing sums up the notices of one kind.
type missing struct {
	Status event.Status `json:"status" jsonschema:"The kind of notice."`
	Times  uint64       `json:"times" jsonschema:"How many notices."`
	Amount uint64       `json:"amount" jsonschema:"The sum of the notices' counts, such as missing bytes."`
	First  uint64       `json:"firstLine" jsonschema:"Line of the first."`
	Last   uint64       `json:"lastLine" jsonschema:"Line of the last."`

	cut uint64 // bytes of lines that capture cut
}

func (r *Replay) missing(rec *capture.Record) {
	line := uint64(rec.Line())
	m := r.notices[rec.Status]
	if m == nil {
		m = &missing{Status: rec.Status, First: line}
		r.notices[rec.Status] = m
	}
	m.Times++
	m.Amount += rec.Count
	m.cut += rec.Cut
	m.Last = line
}

// noticed returns the sums of notices in a fixed order.
func (r *Replay) noticed() []missing {
	all := []missing{}
	for s := event.StatusHole; s <= event.StatusNoLog; s++ {
		if m := r.notices[s]; m != nil {
			all = append(all, *m)
		}
	}
	return all
}

// ending is how the game ended, by the last records of a log.
type ending struct {
	fatal  bool   // nothing came after something fatal
	crash  bool   // which was a crash
	worded bool   // before the crash, words of the highest level announced it
	line   uint64 // of the first of it, of the crash and its announcement where it was one
	weight int    // of the records after a crash
}

// aftermath is how many records may follow a crash that have a text from before it, or a level of ordinary work. With
// more the game is alive, and did not crash. Another record, such as a part of the report or of a shell's, counts a
// fraction. A game that stops in order does not live on.
const (
	aftermath = 8
	fraction  = 8
)

// reportTop is the last line at which a crash begins a file that is the report of it, as runtimes write one: the rest
// is about the crash, however long it is.
const reportTop = 3

// What rules call the phases of a game that has crashed, and of a game that stops in order.
const (
	crashed = "crashed"
	quits   = "quit"
)

// observe adds a record with a text that came first at a line.
func (n *ending) observe(rec *capture.Record, o *heed.Outcome, first uint64) {
	switch d := &o.Decision; {
	case rec.Kind == event.KindNotice:
	case d.Disposition == event.Blocking && d.Severity == event.SeverityFatal:
		crash := slices.Contains(d.Tags, tagCrash)
		if !n.fatal || crash && !n.crash && !n.worded {
			n.line = uint64(rec.Line())
		}
		n.worded = !n.crash && isDefault(d.Rule)
		n.fatal, n.weight, n.crash = true, 0, n.crash || crash
	case !n.fatal, n.crash && o.Phase == quits:
	case o.Phase != crashed || n.weight >= fraction*aftermath && n.line > reportTop:
		*n = ending{}
	case first < n.line, event.LevelUnknown < rec.Level && rec.Level <= event.LevelInfo && !d.Disposition.Urgent():
		n.weight += fraction
	default:
		n.weight++
	}
}

// sentence returns how the log ends. Call it where fatal is set.
func (n *ending) sentence(t texts) string {
	if n.crash {
		return t.say("The log ends with the crash at line %d: the game no longer runs.", n.line)
	}
	return t.say("The log ends with a fatal problem at line %d: the game may no longer run.", n.line)
}

// The shares of missing bytes, in percent, from which on a report mentions them, and gives no verdict about the whole
// log.
const (
	considerable = 10
	most         = 50
)

// missingShare returns how much of the log is missing bytes, in percent. Where
// the number of its bytes is not known, the text of its records counts for what there
// is: footers and blank lines are left out, so that tens are as exact as that is.
func (r *Replay) missingShare() (percent float64, exact bool) {
	m := r.notices[event.StatusHole]
	switch {
	case m == nil:
		return 0, false
	case r.end.Bytes >= m.Amount && r.end.Bytes > 0:
		return 100 * float64(m.Amount) / float64(r.end.Bytes), true
	case r.text == 0:
		return 0, false
	}
	return 10 * math.Floor(10*float64(m.Amount)/(float64(m.Amount)+float64(r.text))), false
}

// shareWords returns how much of the log is missing bytes, "" where that is not
// considerable.
func (r *Replay) shareWords() string {
	percent, exact := r.missingShare()
	switch {
	case percent < considerable:
		return ""
	case exact:
		if percent < 100 {
			percent = min(percent, 99) // something is left
		}
		return r.say("%.0f%% of the log", percent)
	}
	return r.say("about %.0f%% of the log", percent)
}

// asFar limits a sentence about a game to the part of its log that was read.
func (r *Replay) asFar(says string) string {
	switch {
	case r.unread != "" || r.end.Interrupted:
		return r.say("As far as the log was read, %s", says)
	case r.end.Headless || r.blind.stretches > 0 || r.notices[event.StatusHole] != nil:
		return r.say("In the remaining part of the log, %s", says)
	}
	return capital(says)
}

// opening is how far the start of the game came in the last run of a log.
type opening struct {
	began   bool // the engine logged the start
	scene   bool // the engine came to the first scene
	up      bool // the game was in a phase that comes after its start
	records int  // since the run began
}

// The phases in which a game starts, as the rules call them: the start of the engine, and of the game's own code. The
// rule unloadRule decides about the records of the engine at the first scene, and later.
const (
	phaseStart = "start"
	phaseBoot  = "boot"
	unloadRule = "engine.unload"
)

// prelude is within how many records the engine comes to the first scene. A game that
// has logged more is up, whatever rules know of its phases.
const prelude = 40

func (n *opening) observe(rec *capture.Record, o *heed.Outcome) {
	if rec.Kind == event.KindNotice {
		return
	}
	n.records++
	n.enter(o.Phase)
	n.scene = n.scene || o.Decision.Rule == unloadRule
}

func (n *opening) enter(phase string) {
	n.began = n.began || phase == phaseStart
	n.up = n.up || phase != "" && phase != phaseStart && phase != phaseBoot
}

// banner is how many records a log may have that shows no more than the banner of a game and its first steps.
const banner = 7

// starting reports whether the log ends before the game was up. Only the engine's own log shows that, or a banner with
// little after it: copies of the console, files of mods and uploads lack the engine's housekeeping.
func (r *Replay) starting() bool {
	n, last, e := r.run.opening, r.end.Stats.Phase, r.environment
	n.enter(last)
	if n.up || r.headers > 0 || r.run.ending.fatal || r.unread != "" || r.end.Interrupted {
		return false
	}
	if !n.began {
		return e != nil && e.Game+e.Loader+e.Engine != "" && r.records <= banner && r.run.from == 0 && !r.end.Headless
	}
	return last == phaseBoot || last == phaseStart && !n.scene && n.records <= prelude
}

// completeTo ends a sentence about a log that ends early, if nothing is known to be missing.
const completeTo = "The log is complete up to there."

// endSentence returns how far a log goes that nothing fatal ends. Of a complete log nothing is known to be missing.
func (r *Replay) endSentence(complete bool) string {
	says := r.say("logging continues to the end of the log at line %d.", r.end.Lines)
	switch starting := r.starting(); {
	case starting && complete:
		return r.endSentence(false) + " " + r.say(completeTo)
	case starting:
		return r.say("The log ends at line %d, while the game starts.", r.end.Lines)
	case complete:
		return r.say("Complete: %s", says)
	}
	return capital(says)
}

// runsSentence adds to a sentence about a log that starts again how the run before ended
// and to which run the environment belongs.
func (r *Replay) runsSentence(says string, times uint64) string {
	if before := &r.run.before; before.fatal {
		run, end := r.say("the run before"), r.say("a fatal problem")
		if times > 1 {
			run = r.say("the run before the last")
		}
		if before.crash {
			end = r.say("the crash")
		}
		says += r.say(": %s ended with %s at line %d", run, end, before.line)
	}
	if r.environment != nil {
		says = sentence(says) + " " + r.say("Versions and mods are those of the last run")
	}
	return sentence(says)
}

// completeness returns the class of the style of whether the log is complete.
func (r *Replay) completeness() string {
	switch {
	case r.end.Interrupted, r.silent():
		return "none"
	case r.unread != "", r.blind.now:
		return "blind"
	case r.doubts() != nil: // stretches of blindness among them
		return "gaps"
	case r.run.ending.fatal, r.starting():
		return "none"
	}
	return "healthy"
}
