package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// A comparison asks for differences by a factor, at a confidence that is of all of its ratios together.
const (
	factor     = 2
	confidence = 0.99

	// DefaultExpiry is the number of days after which a group of a baseline is reported again: three months without a
	// review.
	DefaultExpiry = 90
)

// maxTexts bounds the signatures that are kept, for each side those that it was the first to have: a flood on one side
// leaves room for the other. maxTextBytes bounds their templates and samples in the same way.
const (
	maxTexts     = 16_384
	maxTextBytes = 8 << 20
)

// maxSample bounds the sample of an entry, in bytes.
const maxSample = 512

// maxText bounds, in bytes, the whole text of an entry: a baseline's sample.
const maxText = 4 << 10

// groupColumns is how many columns a text is given in the grouper: as many as a
// line of ten words takes. More than maxColumns are too much memory.
const (
	groupColumns = 16
	minColumns   = 1 << 14
	maxColumns   = 1 << 18
)

// Config sets up a [Collector].
type Config struct {
	// Rules is the set that decided. Baselines depend on it, and its authors' words describe groups.
	Rules *rules.Set

	// Scrub removes private text from all results, except for the templates of baselines.
	Scrub Scrubber

	// Mods are the names of the mods whose new problems a [Check] fails on; see [Group]. None: of all mods.
	Mods []string
}

// Scrubber removes private text. It learns names of people from the text of the first entry of each signature.
type Scrubber interface {
	Text(text string) string
	Mod(name string) string // a name or an id of a mod
	Learn(texts ...string)
}

// Side is a side of a comparison.
type Side uint8

// The sides of a comparison.
const (
	Old Side = iota // the known logs
	New             // the logs that are compared with them
)

// Collector gathers the entries of logs until they are compared.
type Collector struct {
	config Config

	maxTexts, maxTextBytes int
	normalizer             *signature.Normalizer
	texts                  map[signature.Signature]*entryText
	kept                   [2]int // texts
	bytes                  [2]int
	textBytes              int // of whole texts
	runs                   [2][]*Run
}

// entryText is one signature, with its counts by run.
type entryText struct {
	sig      signature.Signature
	template string
	tally    [2]tally
	first    map[*Run]int // its first line in each log
	ends     uint64       // logs that end with it
}

// tally has the counts and the decision of a text, or a group, on one side.
type tally struct {
	count    uint64
	decided  event.Decision // the weightiest
	own      event.Disposition
	alone    event.Disposition // the highest by the text, in the phase in which it is least
	sample   string
	text     string          // with the stack
	suspects []blame.Suspect // whom its first urgent entry points at, then the mods of named that it does not
	named    []blame.Suspect // the likely ones of all urgent entries, see [tally.join]
	breaks   bool            // an entry breaks play by itself
	asked    int             // for suspects, and the first time for a sample
}

// weightier reports whether d weighs more than e. Of equals the rule that sorts first does, so that the order of
// entries does not matter.
func weightier(d, e *event.Decision) bool {
	return cmp.Or(cmp.Compare(d.Disposition, e.Disposition), cmp.Compare(d.Severity, e.Severity),
		cmp.Compare(e.Rule, d.Rule)) > 0
}

// Engine answers about the entries of a log: a [heed.Engine].
type Engine interface {
	Template(s signature.Signature) (template string, known bool)
	Blame(e *event.Entry) []blame.Suspect
	Rules() *rules.Set
}

// Run is one log.
type Run struct {
	File // not scrubbed

	collector *Collector
	engine    Engine
	side      Side
	times     summary.Times
	uncounted uint64              // entries of signatures for which there was no room
	latest    *entryText          // of the last entry, nil where there was no room for it
	line      int                 // the last one read
	blind     *Gap                // the stretch of blindness that has not ended
	mods      []capture.ListedMod // nil without a list
}

// Kinds of gaps, besides the kinds of notices.
const (
	gapBlind     = "blind"
	gapBeginning = "beginning" // the log begins in the middle
	gapEmpty     = "empty"     // the log has no entry
	gapHeader    = "header"    // only the header of an upload is there
	gapUnread    = "unread"    // reading ended before the log did
)

// NewCollector returns an empty collector.
func NewCollector(c Config) *Collector {
	normalizer, err := signature.New(c.Rules.Masking())
	if err != nil {
		panic("BUG: compare: " + err.Error()) // the rules are compiled
	}
	return &Collector{
		config: c, normalizer: normalizer, texts: map[signature.Signature]*entryText{}, maxTexts: maxTexts,
		maxTextBytes: maxTextBytes,
	}
}

// Run begins a log on one side.
func (c *Collector) Run(side Side, file string, e Engine) *Run {
	run := &Run{File: File{Name: file}, collector: c, engine: e, side: side}
	c.runs[side] = append(c.runs[side], run)
	return run
}

// Observe counts one record with the outcome of the engine. It copies the strings that it keeps. Headers of uploads and
// notices are not compared: they have mods and gaps.
func (r *Run) Observe(rec *capture.Record, o *heed.Outcome) {
	line, d := rec.Line(), &o.Decision
	r.line = max(r.line, line, rec.EndLine)
	switch {
	case o.Blind && r.blind == nil:
		r.blind = &Gap{Kind: gapBlind, From: line, Rule: d.Rule}
	case !o.Blind && r.blind != nil:
		r.blind.To = line
		r.gap(*r.blind)
		r.blind = nil
	}
	if rec.Mods != nil {
		r.mods = rec.Mods.AppendTo(r.mods)
	}
	switch {
	case rec.Context:
		r.Records++
	case rec.Kind != event.KindNotice:
		r.count(rec, o)
	case rec.Status == event.StatusRestarted:
		r.mods = nil // the mods of the last run count
	case rec.Status == event.StatusLogFound:
	default:
		r.gap(Gap{Kind: rec.Status.String(), From: line, To: line})
	}
}

// count counts an entry that is compared.
func (r *Run) count(rec *capture.Record, o *heed.Outcome) {
	r.Records++
	r.times.See(rec.Time)
	t := r.text(o.Signature, &rec.Entry)
	r.latest = t
	if t == nil {
		r.uncounted++
		return
	}
	see(t.first, r, rec.Line())
	d, tally := &o.Decision, &t.tally[r.side]
	if tally.count == 0 || weightier(d, &tally.decided) {
		tally.decided = *d
	}
	tally.count++
	tally.own = max(tally.own, r.collector.own(o))
	member := heed.Member{Disposition: d.Disposition, Severity: d.Severity, Effects: coalesce.EffectsOf(d)}
	tally.breaks = tally.breaks || member.Harm() > 0
	if !d.Disposition.Urgent() {
		return
	}
	if rec.IsLog() && tally.asked < maxAsked {
		suspects := r.engine.Blame(&rec.Entry)
		if tally.asked == 0 {
			tally.suspects = suspects
		}
		tally.join(suspects[:len(blame.Likely(suspects))], r.collector.config.Mods)
	}
	if tally.asked++; tally.asked == 1 {
		tally.alone, tally.sample = r.least(&rec.Entry, t.template), r.keep(text.Clip(Sample(&rec.Entry), maxSample))
		if c := r.collector; r.side == New && c.textBytes < c.maxTextBytes { // a baseline is of this side
			tally.text = strings.Clone(text.Clip(logline.Of(&rec.Entry)+"\n"+rec.Stack, maxText))
			c.textBytes += len(tally.text)
		}
	}
}

// maxAsked bounds the entries of a text that are asked whom they point at: asking all of a flood takes several times as
// long as the rest.
const maxAsked = 16

// join adds mods that another entry points at, the first ones and all of those that a check fails on: a group whose
// lines differ in the name of the mod alone is of each of them.
func (t *tally) join(likely []blame.Suspect, mods []string) {
	for _, s := range likely {
		same := func(o blame.Suspect) bool { return o.Mod == s.Mod && o.PackageID == s.PackageID }
		if slices.ContainsFunc(t.named, same) ||
			len(t.named) >= summary.MaxBlame && !slices.ContainsFunc(mods, hasName(s.Mod, s.PackageID)) {
			continue
		}
		t.named = append(slices.Clip(t.named), s)
		if !slices.ContainsFunc(t.suspects, same) {
			t.suspects = append(slices.Clip(t.suspects), s)
		}
	}
}

// see records a line of a run, if it is the first one.
func see(first map[*Run]int, r *Run, line int) {
	if known, ok := first[r]; !ok || line < known {
		first[r] = line
	}
}

// own returns the disposition of the rule that decided, without what repetition made of it.
func (c *Collector) own(o *heed.Outcome) event.Disposition {
	if o.Escalated {
		if rule := c.config.Rules.Rule(o.Decision.Rule); rule != nil {
			return rule.Disposition
		}
	}
	return o.Decision.Disposition
}

// Sample returns one line that an entry can be recognized by.
func Sample(e *event.Entry) string {
	head, _, _ := strings.Cut(strings.TrimSpace(e.Message), "\n")
	if e.Kind == event.KindLog {
		return head
	}
	return strings.TrimSpace(strings.Join([]string{e.Kind.String(), e.Status.String(), e.Source, head}, " "))
}

// least returns the least disposition that the rules give an entry with a template in any phase of the game.
func (r *Run) least(e *event.Entry, template string) event.Disposition {
	evaluator, least := r.engine.Rules().NewEvaluator(), event.Blocking
	for _, phase := range [...]string{"", "start", "play"} {
		in := rules.InputOf(e, template, phase)
		least = min(least, evaluator.Evaluate(&in).Decision.Disposition)
	}
	return least
}

// End ends the log, which err kept from being read to its end, if it is not nil. It returns what there is of a log that
// has nothing to compare, such as "empty", and "" of another.
func (r *Run) End(err error, log *capture.Environment) (silence string) {
	r.Game, _ = summary.Game(log.Facts().Game)
	if r.blind != nil {
		r.gap(*r.blind)
	}
	var silent Gap
	switch {
	case err != nil:
		r.gap(Gap{Kind: gapUnread, From: r.line})
	case r.latest == nil && r.uncounted == 0: // no entry is compared
		silent.Kind = gapEmpty
		if r.Records > 0 {
			silent.Kind = gapHeader
		}
		r.gap(silent)
	}
	if log.Headless() {
		r.gap(Gap{Kind: gapBeginning, From: 1, To: 1})
	}
	if r.latest != nil {
		r.latest.ends++
	}
	return silent.Silence()
}

// maxGaps bounds the gaps of a log that are kept, the first ones. The others are counted.
const maxGaps = 16

// gap adds a gap in the evidence of the log.
func (r *Run) gap(g Gap) {
	if len(r.Gaps) == maxGaps {
		r.MoreGaps++
		return
	}
	r.Gaps = append(r.Gaps, g)
}

// Mods sets the mods that were loaded on a side, in load order, in the place of what its logs have.
func (c *Collector) Mods(side Side, mods []capture.ListedMod) {
	for i, r := range c.runs[side] {
		if r.mods = nil; i == 0 {
			r.mods = append([]capture.ListedMod{}, mods...)
		}
	}
}

// listed returns the mods that the logs of a side list, one list after the other, nil if none has a list.
func (c *Collector) listed(side Side) (mods []capture.ListedMod) {
	for _, r := range c.runs[side] {
		if mods == nil && r.mods != nil {
			mods = []capture.ListedMod{}
		}
		mods = append(mods, r.mods...)
	}
	return mods
}

// text returns the counts of a signature, which an entry has, nil if there is no room for it.
func (r *Run) text(s signature.Signature, e *event.Entry) *entryText {
	c := r.collector
	if t := c.texts[s]; t != nil {
		return t
	}
	if c.kept[r.side] >= c.maxTexts {
		return nil
	}
	c.config.Scrub.Learn(e.Message, e.Stack)
	template, ok := r.engine.Template(s)
	if !ok {
		template = string(rules.AppendTemplate(nil, c.normalizer, e))
	}
	if c.bytes[r.side]+len(template) > c.maxTextBytes {
		return nil
	}
	t := &entryText{sig: s, template: strings.Clone(template), first: map[*Run]int{}}
	c.kept[r.side]++
	c.bytes[r.side] += len(template)
	c.texts[s] = t
	return t
}

// keep returns a copy of a sample, or "" where there is no room for it.
func (r *Run) keep(sample string) string {
	c := r.collector
	if c.bytes[r.side]+len(sample) > c.maxTextBytes {
		return ""
	}
	c.bytes[r.side] += len(sample)
	return strings.Clone(sample)
}
