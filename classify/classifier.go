package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// Classifier decides about entries. See the package documentation.
type Classifier struct {
	normalizer *signature.Normalizer
	rules      *rules.Set
	eval       *rules.Evaluator

	grouper    *signature.Grouper
	result     Result
	texts      textCache
	signatures signatures
	decisions  decisions
	sources    names
	phases     names

	unkept shape // of the latest entry, if the table does not hold it

	phase      string // held by phases, or a copy of its own
	phaseNum   uint32
	phaseKnown bool // phase has a number

	blind []*rules.Rule // that began a blindness which lasts, in order

	buf   []byte      // scratch for templates
	in    rules.Input // scratch, see input
	sum   uint64      // of the texts of the latest entry, or 0
	stats Stats
}

// Result is what [Classifier.Classify] returns about an entry. Its strings and
// pointers belong to the rule set or the classifier and stay valid.
type Result struct {
	rules.Outcome
	Signature signature.Signature

	// Group is the signature that names the group of Signature, as learned so far. See [Classifier.Groups].
	Group signature.Signature

	// Variant is the text by which the decision about the entry differs from others of its group. It is "" if nothing
	// differs, or if the decision is to ignore and no repetition raises it. Two entries of a group have the same
	// variant if and only if it is equal. It is safe to show, but log text, of at most maxVariant bytes.
	Variant string

	// Cached reports that the decision was remembered, whole or but for the rules
	// that look at each entry.
	Cached bool

	PhaseBefore string // before the entry
	PhaseAfter  string // from the next entry on

	Blind bool // evidence is incomplete after the entry
}

// Classify decides about e, and then lets it act: a phase change, or a rule's
// sets_phase, sets the phase (the rule's wins); a rule's resolves
// ends the blindness that the rules named there began, and its blinds begins
// one. Evidence is complete again when no rule's blindness is left.
//
// Of an operation, the text is its error and the source its method; of other
// entries the text is the message, and of log entries without the time, the level,
// the thread and the name that a logger wrote in front of it. The strings of e are not kept. The result is
// valid until the next call.
func (c *Classifier) Classify(e *event.Entry) *Result {
	c.stats.Entries++
	r := &c.result
	r.PhaseBefore = c.phase
	known := &c.unkept
	if i := c.find(e); i != none {
		known = &c.signatures.table.slots[i].value
	}
	r.Signature = known.signature()
	r.Group = c.grouper.GroupAt(known.group, r.Signature)
	c.decide(known, e, r)
	r.Variant = ""
	if r.mayBeUrgent() {
		r.Variant = c.variant(known)
	}
	if known == &c.unkept {
		c.unkept = shape{}
	}
	c.act(e, r)
	return r
}

// find returns the slot of the text of e, which it learns if it is new, and makes it the newest. It returns none if the
// key collides with the key of another text, or the template is too large to keep.
func (c *Classifier) find(e *event.Entry) int32 {
	c.sum = 0
	texts := &c.texts
	source, known := c.sources.number(logline.Source(e))
	if texts.off || !known {
		i, _ := c.findKey(e, logline.Of(e))
		return i
	}
	seed := uint64(source) * mixA
	var t *cachedText
	var text string
	var sum, line uint64
	if texts.storm {
		text = logline.Of(e)
		t, line = texts.findLine(&c.signatures, text, e.Stack, source, seed)
	}
	if t == nil {
		text, sum = e.Message, c.TextSum(e)+seed
		t = texts.exact.find(&c.signatures, sum, text, e.Stack, source)
		if t == nil || !t.isOf(e) {
			switch text = logline.Of(e); {
			case len(text) < len(e.Message):
				sum = textSum(text, e.Stack) + seed
				t = texts.exact.find(&c.signatures, sum, text, e.Stack, source)
			case t != nil:
				t.bare = e.Level + 1
			}
		}
		texts.storm = false
	}
	if t == nil && line == 0 {
		t, line = texts.findLine(&c.signatures, text, e.Stack, source, seed)
		texts.storm = t != nil
	}
	if t != nil {
		c.stats.Hits++
		c.signatures.table.touch(t.slot)
		return t.slot
	}
	i, key := c.findKey(e, text)
	switch {
	case i == none:
	case texts.note(sum, text, e.Stack, source, key, i): // by itself it is found sooner
	case line != 0:
		texts.noteLine(c.normalizer, line, text, logline.Source(e), source, key, i)
	}
	return i
}

// TextSum returns a hash of the message and the stack of e, which was classified last.
func (c *Classifier) TextSum(e *event.Entry) uint64 {
	if c.sum == 0 {
		c.sum = textSum(e.Message, e.Stack)
	}
	return c.sum
}

// findKey is find by the key of the text, which it returns.
func (c *Classifier) findKey(e *event.Entry, text string) (int32, signature.Key) {
	key := c.normalizer.Key(text, e.Stack).From(logline.Source(e))
	i := c.signatures.find(key.Hash)
	switch {
	case i == none:
		c.stats.Misses++
		i = c.learn(key, e, text)
	case c.signatures.table.slots[i].value.check != key.Check:
		c.stats.Collisions++
		i, c.unkept = none, c.shape(e, text)
	default:
		c.stats.Hits++
	}
	return i, key
}

// learn remembers the signature of e, whose key is not known, and returns its
// slot, or none when its template is too large to be kept.
func (c *Classifier) learn(key signature.Key, e *event.Entry, text string) int32 {
	v := c.shape(e, text)
	if len(v.template) > c.signatures.maxBytes {
		c.stats.Oversize++
		c.unkept = v
		return none
	}
	v.check = key.Check
	return c.signatures.add(key.Hash, v)
}

// shape finds the signature, the group and the template of e.
func (c *Classifier) shape(e *event.Entry, text string) shape {
	defer c.shrink()
	c.buf = signature.AppendSource(c.normalizer.AppendTemplate(c.buf[:0], text, e.Stack), logline.Source(e))
	sig := signature.Of(c.buf)
	return shape{id: sig.ID, sigCheck: sig.Check, group: c.grouper.Learn(sig, c.buf), template: string(c.buf)}
}

// decide decides about an entry whose template is known.
func (c *Classifier) decide(known *shape, e *event.Entry, r *Result) {
	r.Cached = false
	source, ok := c.sources.number(e.Source)
	if !ok || !c.phaseKnown || known == &c.unkept {
		c.stats.Uncached++
		r.Outcome = c.evaluate(e, known.template)
		return
	}
	key := keyOf(r.Signature, source, c.phaseNum, e)
	p := c.decisions.get(&key, &known.decision)
	if r.Cached = p != nil; r.Cached {
		c.stats.DecisionHits++
	} else {
		c.stats.DecisionMisses++
		plan := c.eval.Plan(c.input(e, known.template))
		c.in = rules.Input{}
		c.decisions.add(&key, plan, &known.decision)
		p = &plan
	}
	if o := p.Known(); o != nil {
		r.Outcome = *o
	} else {
		r.Outcome = c.evaluate(e, known.template)
	}
}

// mayBeUrgent reports whether the decision is urgent, or may become so by repetition.
func (r *Result) mayBeUrgent() bool {
	return r.Decision.Disposition.Urgent() || r.Rule != nil && r.Rule.Escalate != nil
}

// variant returns the variant of a known template. It is found when it is asked for, as most templates are of entries
// to ignore.
func (c *Classifier) variant(known *shape) string {
	if known.varied {
		return known.variant
	}
	defer c.shrink()
	c.buf = append(c.buf[:0], known.template...)
	c.buf = c.grouper.AppendFirstVariant(c.buf, c.buf, known.signature())
	v := c.buf[len(known.template):]
	safe := text.Safe(string(v), 0)
	if len(safe) > maxVariant {
		hash := fmt.Sprintf("#%016x", xxhash.Sum64(v))
		safe = safe[:text.Prefix(safe, maxVariant-len(hash))] + hash
	}
	known.variant, known.varied = safe, true
	return safe
}

// maxVariant bounds the text of a variant, in bytes. A longer one is cut, and ends in a hash of all of it.
const maxVariant = 120

// Decision returns what Classify would decide about e now, and changes nothing. It uses no table.
func (c *Classifier) Decision(e *event.Entry) event.Decision {
	defer c.shrink()
	c.buf = rules.AppendTemplate(c.buf[:0], c.normalizer, e)
	return c.evaluate(e, string(c.buf)).Decision
}

// evaluate returns the outcome of the rules for e with a template.
func (c *Classifier) evaluate(e *event.Entry, template string) rules.Outcome {
	o := c.eval.Evaluate(c.input(e, template))
	c.in = rules.Input{}
	return o
}

// input returns the view that rules have of e: c.in, which the caller clears after use, so that it does not go to the
// heap and keeps no pointer.
func (c *Classifier) input(e *event.Entry, template string) *rules.Input {
	c.in = rules.InputOf(e, template, c.phase)
	return &c.in
}

// byCaller reports whether e is an operation that its own caller cancelled. The
// flag means nothing for other entries, and must not split their decisions.
func byCaller(e *event.Entry) bool {
	return e.ByCaller && e.Kind == event.KindOperation && e.Status == event.StatusCancelled
}

// maxScratch bounds the memory that stays allocated after one very long text.
const maxScratch = 1 << 20

func (c *Classifier) shrink() {
	if cap(c.buf) > maxScratch {
		c.buf = nil
	}
}

// act lets a decided entry change the phase and the blindness.
func (c *Classifier) act(e *event.Entry, r *Result) {
	if e.Kind == event.KindState && e.Status == event.StatusPhase {
		c.setPhase(e.Message)
	}
	if r.SetsPhase != "" {
		c.setPhase(r.SetsPhase)
	}
	if rule := r.Rule; rule != nil {
		c.resolve(rule)
		if rule.Blinds {
			c.begin(rule)
		}
	}
	if e.Kind == event.KindNotice && e.Status == event.StatusHole {
		// After a hole the log is whole again: no later entry could end a blindness. coalesce keeps the doubt about
		// operations that ran.
		c.stats.Holes++
	}
	r.PhaseAfter = c.phase
	r.Blind = len(c.blind) > 0
}

// setPhase makes p the phase. It copies the string if it keeps it.
func (c *Classifier) setPhase(p string) {
	p = strings.ToValidUTF8(p[:min(len(p), maxPhaseBytes)], "")
	c.phaseNum, c.phaseKnown = c.phases.number(p)
	switch {
	case c.phaseKnown:
		c.phase = c.phases.texts[c.phaseNum]
	case c.phase != p:
		c.phase = strings.Clone(p)
	}
}

func (c *Classifier) begin(rule *rules.Rule) {
	if !slices.Contains(c.blind, rule) {
		c.blind = append(c.blind, rule)
	}
}

func (c *Classifier) resolve(rule *rules.Rule) {
	c.blind = slices.DeleteFunc(c.blind, func(b *rules.Rule) bool { return slices.Contains(rule.Resolves, b.ID) })
}

// Template returns the canonical template of a signature, while it is held.
func (c *Classifier) Template(s signature.Signature) (string, bool) {
	return c.signatures.template(s)
}

// Groups returns the groups learned so far. A new signature may bring merges; drain them after each
// [Classifier.Classify].
func (c *Classifier) Groups() *signature.Grouper { return c.grouper }

// Phase returns the phase that the next entry will be decided in.
func (c *Classifier) Phase() string { return c.phase }

// Blind returns the ids of the rules whose blindness lasts, in the order in which they began it. Evidence is incomplete
// if there is one.
func (c *Classifier) Blind() (ids []string) {
	for _, r := range c.blind {
		ids = append(ids, r.ID)
	}
	return ids
}

// Blinded lets a blindness go on that rules have begun, as far as they still begin one.
func (c *Classifier) Blinded(ids []string) {
	for _, id := range ids {
		if r := c.rules.Rule(id); r != nil && r.Blinds && !r.Disabled {
			c.begin(r)
		}
	}
}
