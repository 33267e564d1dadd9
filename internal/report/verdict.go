package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
)

// How a game fared, as far as its log shows.
const (
	stateCrashed    = "crashed"    // the process ended
	stateHung       = "hung"       // it does not go on
	stateBroken     = "broken"     // what breaks play; see coalesce.Member
	stateWrong      = "wrong"      // something blocks, but no more than single trifles
	stateBlind      = "blind"      // nothing broke before the log went blind, or while it was not
	stateComplaints = "complaints" // nothing blocks, something is advisory
	stateUnknown    = "unknown"    // nothing was found, and the log is too little to call the game healthy
	stateHealthy    = "healthy"    // nothing was found, and the log is whole
)

// states have the titles of states, and the classes of their styles.
var states = map[string]struct{ title, class string }{
	stateCrashed:    {"Crashed", "blocking"},
	stateHung:       {"Hung", "blocking"},
	stateBroken:     {"Broken", "blocking"},
	stateWrong:      {"Something is wrong", "advisory"},
	stateBlind:      {"The log stops", "blind"},
	stateComplaints: {"Runs with small problems", "advisory"},
	stateUnknown:    {"", "none"},
	stateHealthy:    {"Healthy", "healthy"},
}

// verdict answers what matters about a log: how did the game fare, since when, what hurts most, what to do about
// it, which mod, and is the log complete? It is made once, and every form of a report has its words. Its texts
// are escaped.
type verdict struct {
	State    string `json:"state" jsonschema:"The state of the game, as far as the log shows it." enum:"crashed,hung,broken,wrong,blind,complaints,unknown,healthy"`
	Reason   string `json:"reason,omitempty" jsonschema:"The probable reason of a crash, if known." enum:"out_of_memory,out_of_graphics_memory,stack_overflow,native_module,graphics,killed"`
	Headline string `json:"headline" jsonschema:"The state in words, with the line numbers below."`
	Since    uint64 `json:"sinceLine,omitempty" jsonschema:"The line of the crash, or of the first problem that is listed; for a state about blindness, the line where that began."`
	Blind    uint64 `json:"blindSinceLine,omitempty" jsonschema:"If something broke and the log ends blind: the line where that began."`
	What     string `json:"what" jsonschema:"What the state means, or what the first of the causes is."`

	// Causes are of the highest disposition there is, other than that the log went blind, of the run that the
	// verdict is about.
	Causes []verdictCause `json:"causes" jsonschema:"At most three problems, by what they do to the player: the worst, the most frequent, the first."`

	// Mods are those that no cause names, by how much of what names them blocks and how much there is. MoreMods
	// counts those beyond a few.
	Mods     []verdictMod `json:"mods" jsonschema:"Mods that other urgent entries name, the most relevant first."`
	MoreMods int          `json:"moreMods,omitempty" jsonschema:"How many more mods are named."`

	Log []string `json:"log" jsonschema:"Whether the log is complete, in sentences."`

	texts
	title   string // Headline without lines and reason
	because string // the reason in words, after a comma
	Counts  string `json:"-"`
	single  bool   // there is no other problem than the first of Causes
}

// verdictCause has the entries of one rule, in all items.
type verdictCause struct {
	As          []string          `json:"as" jsonschema:"What it is named for: worst, most, first, or also for none of these; cause if it explains the next. Worst only where others weigh less or are over, most only if it repeats."`
	Line        uint64            `json:"line" jsonschema:"The line of its first entry."`
	Last        uint64            `json:"lastLine" jsonschema:"The line of its last entry."`
	Times       uint64            `json:"times" jsonschema:"How many entries there are."`
	Disposition event.Disposition `json:"disposition" jsonschema:"What was decided about it."`
	Share       uint64            `json:"share,omitempty" jsonschema:"If its dominant group filled the log up to its limit: how much of the records before the limit it has, in percent."`
	Explains    uint64            `json:"explains,omitempty" jsonschema:"How many later entries it explains."`
	Because     uint64            `json:"because,omitempty" jsonschema:"The line of the earlier problem that explains it."`
	Rule        string            `json:"rule" jsonschema:"The rule that decided."`
	What        string            `json:"what" jsonschema:"What happened."`
	Says        string            `json:"says,omitempty" jsonschema:"The text of its dominant group."`
	Prefix      string            `json:"prefix,omitempty" jsonschema:"How the names in most of its entries begin, if they are names of definitions."`
	Advice      string            `json:"advice,omitempty" jsonschema:"What a player does now, as the rule describes it."`
	History     string            `json:"history,omitempty" jsonschema:"What earlier sessions on this machine show of it."`
	Mods        []verdictMod      `json:"mods,omitempty" jsonschema:"Mods that it points at."`
	Running     []string          `json:"running,omitempty" jsonschema:"Mods whose code was running when memory ran out, which is no fault of theirs."`
	Perhaps     bool              `json:"perhaps,omitempty" jsonschema:"Less than half of its entries name these mods."`

	texts
	time    time.Time // of its first entry, where Config.Details asks for it
	modded  bool      // the log is of a game with mods
	crash   bool      // the process ended
	modless bool      // no single mod is sought: memory ran out, or graphics or a file are at fault
	patched []string  // mods that changed code that it ran through, where nothing else points at a mod
}

// verdictMod is a mod that an urgent entry points at. That is no proof: every form shows the evidence.
type verdictMod struct {
	Name      string       `json:"name" jsonschema:"Its name."`
	PackageID string       `json:"packageId,omitempty" jsonschema:"Its package id, if known."`
	Link      string       `json:"link,omitempty" jsonschema:"The address of its page in the Steam Workshop, if known."`
	Evidence  []blame.Kind `json:"evidence,omitempty" jsonschema:"What points at it, the strongest first."`
	Entries   uint64       `json:"entries" jsonschema:"How many urgent entries point at it, at least."`
	Line      uint64       `json:"line,omitempty" jsonschema:"Line of the first of them."`

	blocking uint64 // of the entries
}

// otherMods is how many mods are named that no cause names.
const otherMods = 3

// verdict returns the verdict about a replay that has ended.
func (r *Replay) verdict() *verdict {
	v := &verdict{texts: r.texts, Log: r.logSentences(), Causes: []verdictCause{}, Mods: []verdictMod{}}
	n, earlier := r.judged()
	n.joinEscalated()
	n.joinCrash()
	choice := Problems{Blinds: func(rule string) bool {
		return slices.ContainsFunc(r.blind.spans, func(s span) bool { return s.Rule == rule })
	}}
	item, filler, reason := r.top(n), r.filler(n), n.crashReason()
	members, mods := r.causes.all(), r.tallyMods(nil)
	for key, p := range n.problems {
		n.weigh(p, &r.causes)
		if m := members[key]; m != nil {
			p.Because = m.Because
		}
		if reason != nil && p.Disposition == event.Blocking && p.tagged(tagCrash) {
			p.Because = append(slices.Clip(p.Because), reason.Rule)
		}
		choice.All = append(choice.All, &p.Member)
	}
	blocking, advisory := choice.of(event.Blocking), choice.of(event.Advisory)
	v.Counts = r.counts(blocking, advisory)
	if len(blocking) > 0 {
		r.broke(v, n, blocking)
	} else {
		r.held(v, n, advisory)
	}
	if item != nil {
		choice.Top = &n.problems[causeKey{item.Rule, item.Disposition}].Member
	}
	if filler != nil {
		choice.Filler = &filler.Member
	}
	causes, found := choice.Named()
	listed := r.environment != nil && len(r.environment.Mods) > 0
	for i := range causes {
		p := &causes[i]
		m := members[causeKey{p.Rule, p.Disposition}]
		if item != nil && p.Member == choice.Top && slices.Contains(found, choice.Top) {
			m = &item.Members[0]
		}
		c := r.named(p, n.problems[causeKey{p.Rule, p.Disposition}], m)
		if because := p.Because; because != nil && c.crash {
			key := causeKey{because.Rule, because.Disposition}
			c.Advice = sentence(r.say(r.advice(key, members[key])))
		}
		c.modded = listed || !text.IsProgram(r.family) && len(mods) > 0
		if filler != nil && p.Member == choice.Filler {
			r.fills(&c, filler)
		}
		if slices.ContainsFunc(v.Causes, func(o verdictCause) bool { return o.Advice == c.Advice }) {
			c.Advice = "" // once is enough
		}
		v.Causes = append(v.Causes, c)
	}
	v.single = len(found) == 1 && len(v.Causes) == 1
	v.title, v.What, v.Log = r.words(v.title), r.words(v.What), each(v.Log, r.words)
	v.head(earlier)
	if v.What == "" {
		v.What = v.Causes[0].What
	}
	r.nameMods(v, mods)
	return v
}

// broke fills in the state of a run in which something blocked.
func (r *Replay) broke(v *verdict, n *run, blocking []*heed.Member) {
	if r.blind.now {
		v.Blind = r.blind.last.From
	}
	v.State = stateWrong // since the first of its causes
	formed := slices.DeleteFunc(slices.Clone(blocking), func(m *heed.Member) bool { return m.Harm() < 0 })
	switch {
	case n.ending.crash:
		v.State, v.Since = stateCrashed, n.ending.line
		if p := n.crashReason(); p != nil {
			reason := crashReasons[p.reason()]
			v.Reason, v.because = reason.id, r.say(", ")+r.say(reason.says)
		}
	case slices.ContainsFunc(blocking, (*heed.Member).Hangs):
		v.State = stateHung
	case v.Blind > 0 && len(formed) > 0, breaks(formed):
		v.State = stateBroken
	}
}

// held fills in the state of a run in which nothing blocked, but perhaps that the log went blind.
func (r *Replay) held(v *verdict, n *run, advisory []*heed.Member) {
	b, complaints := &r.blind, len(advisory) > 0
	unread := r.unread != "" || r.end.Interrupted
	share, _ := r.missingShare()
	switch {
	case r.silent() && !complaints:
		v.State, v.title, v.What = stateUnknown, r.say("Empty"), r.silence()
	case b.now:
		v.State, v.Since = stateBlind, b.last.From
		v.What = r.say("Nothing broke before logging stopped. What happened after that is not known.")
	case n.times > 0:
		v.State, v.Since, v.title = stateBlind, b.last.From, r.say("The log stops for a while")
		v.What = r.say("Nothing broke while the game was logging. What happened in between is not known.")
	case share >= most:
		v.State, v.Since, v.title = stateBlind, r.notices[event.StatusHole].First, r.say("Most of the log is missing, first")
		v.What = r.say("The remaining part has no blocking problem. What the missing part reported is not known.")
	case complaints:
		v.State = stateComplaints
		if r.starting() {
			v.title = r.say("Small problems while the game starts")
		}
		v.What = r.asFar(r.say("nothing broke; there are only warnings."))
		if slices.ContainsFunc(advisory, func(m *heed.Member) bool { return m.Severity > event.SeverityWarning }) {
			v.What = r.asFar(r.say("nothing broke, but some things do not work as they should."))
		}
	case unread:
		v.State, v.title, v.What = stateUnknown, r.say("Not read to its end"), r.say("No problem was found in the part that was read.")
	case r.end.Headless:
		v.State, v.title, v.What = stateUnknown, r.say("The beginning is missing"), r.say("No problem was found in the remaining part.")
	case r.lacks(event.StatusHole, event.StatusTruncated, event.StatusNoLog):
		v.State, v.title, v.What = stateUnknown, r.say("Parts of the log are missing"), r.say("No problem was found in the remaining parts.")
	case r.starting():
		v.State, v.title = stateUnknown, r.say("Ended while the game starts")
		v.What = r.say("No problem was found up to there. Whether the game finished starting is not known.")
	case r.end.Unrecognized && !r.known && r.end.Stats.Phase == "":
		v.State, v.title = stateUnknown, r.say("Not recognized as a game log")
		v.What = r.say("No problem was found, but nothing in the file shows that a game wrote it.")
	default:
		v.State, v.What = stateHealthy, r.say("No problem was found.")
	}
}

// lacks reports whether a notice of any of these kinds was logged.
func (r *Replay) lacks(kinds ...event.Status) bool {
	return slices.ContainsFunc(kinds, func(s event.Status) bool { return r.notices[s] != nil })
}

// top returns the most urgent open item of a run, nil for none.
func (r *Replay) top(n *run) *heed.Item {
	for i := range r.open {
		a := &r.open[i]
		if p := n.problems[causeKey{a.Rule, a.Disposition}]; p != nil && a.LatestPos >= p.First {
			return a
		}
	}
	return nil
}

// named returns a problem in words. of is the problem in its run, and m its part of the items; each may be nil.
func (r *Replay) named(p *chosen, of *problem, m *heed.Member) verdictCause {
	key := causeKey{p.Rule, p.Disposition}
	rule := r.config.Rule(p.Rule).described(p.Rule, p.Severity)
	c := verdictCause{
		texts: r.texts,
		As:    p.As, Line: p.First, Last: p.Last, Times: p.Entries, Disposition: p.Disposition, Rule: safe(p.Rule),
		Explains: p.Explains, What: sentence(r.say(rule.Summary)), Advice: sentence(r.say(r.advice(key, m))),
		time: r.details.causes[key],
	}
	if p.Because != nil {
		c.Because = p.Because.First
	}
	if of != nil {
		c.crash = of.tagged(tagCrash)
		c.modless = slices.ContainsFunc([]string{tagMemory, tagGraphics, "graphics_driver", "file"}, of.tagged)
		c.Prefix = safe(r.config.Scrub.Mod(of.shared()))
	}
	if m == nil {
		return c
	}
	c.Says = safe(m.Message)
	group := r.config.Group(m.Signature)
	if r.config.History != nil {
		c.History = safe(r.config.History(group.ID))
	}
	names := r.tallyMods(p.Member)
	all, perhaps := m.Mods()
	if len(all) == 0 {
		all, c.Perhaps = perhaps, len(perhaps) > 0
	}
	c.Running = safeAll(m.Running())
	for _, name := range all {
		mod := verdictMod{Entries: 1, Line: m.First}
		if t := names[blame.Key(name)]; t != nil {
			mod = *t
		}
		c.Mods = append(c.Mods, r.identified(mod, name))
	}
	if len(all) == 1 && !c.Perhaps {
		c.narrow(names)
	}
	if len(all) == 0 {
		if row := r.tables[p.Disposition].byKey[rowKey{group, p.Rule}]; row != nil {
			c.patched = safeAll(row.patchers)
		}
	}
	return c
}

// narrow leaves out entries before the first that names the only mod, if they name others, which are listed elsewhere.
func (c *verdictCause) narrow(names map[string]*verdictMod) {
	begin, before := names[blame.Key(c.Mods[0].Name)], uint64(0)
	if begin == nil || begin.Line <= c.Line {
		return
	}
	for _, other := range names {
		if other.Line == c.Line {
			before = max(before, other.Entries)
		}
	}
	if before > 0 {
		c.Line, c.Times = begin.Line, c.Times-min(before, c.Times-1)
	}
}

// fills adds to a problem in words the group that filled the log.
func (r *Replay) fills(c *verdictCause, filler *problem) {
	row := filler.filled
	c.Share, c.Says = filler.share, cmp.Or(safe(row.says), row.head(maxSays))
	if !c.Disposition.Urgent() {
		c.What = r.say("This message filled the log.")
	}
	if len(c.Mods) > 0 {
		return
	}
	for _, name := range row.Blame {
		mod := verdictMod{Entries: row.Count, Line: row.First, Evidence: row.evidenceAgainst(name)}
		c.Mods = append(c.Mods, r.identified(mod, name))
	}
}

// identified returns a mod with a name, and with its package id and its link if they are known.
func (r *Replay) identified(m verdictMod, name string) verdictMod {
	m.Name = safe(name)
	if of, ok := r.config.Mod(m.Name); ok {
		if m.Name != of.PackageID {
			m.PackageID = safe(of.PackageID)
		}
		m.Link = of.Link()
	}
	return m
}

// advice returns the advice of the entries of a rule at a disposition, of the rule, or else the default. m is the part
// that items have of the rule, or nil.
func (r *Replay) advice(key causeKey, m *heed.Member) string {
	advice, names := r.config.Rule(key.rule).Advice, []string(nil)
	if m != nil {
		likely, perhaps := m.Mods()
		advice, names = cmp.Or(safe(oneSpace(m.Advice)), advice), slices.Concat(likely, perhaps)
	}
	usual := text.DefaultAdvice(key.disposition == event.Blocking, text.IsProgram(r.family))
	return text.Advice(cmp.Or(advice, usual), names...)
}

// tallyMods returns the mods that urgent entries of kept rows name, by their keys: the entries of one problem, or all
// if of is nil.
func (r *Replay) tallyMods(of *heed.Member) map[string]*verdictMod {
	byKey := map[string]*verdictMod{}
	for _, d := range dispositions {
		if !d.Urgent() || of != nil && of.Disposition != d {
			continue
		}
		for _, row := range r.tables[d].rows.Values() {
			if of != nil && of.Rule != row.Rule {
				continue
			}
			for _, a := range row.accused {
				t := byKey[blame.Key(a.Name)]
				if t == nil {
					t = &verdictMod{Line: a.First + 1}
					byKey[blame.Key(a.Name)] = t
				}
				t.Name = moreReadable(t.Name, safe(a.Name))
				t.Entries += a.Entries
				if evidence := row.evidenceAgainst(a.Name); evidence != nil && (a.First < t.Line || t.Evidence == nil) {
					t.Evidence = evidence
				}
				t.Line = min(t.Line, a.First)
				if d == event.Blocking {
					t.blocking += a.Entries
				}
			}
		}
	}
	return byKey
}

// nameMods adds the mods that no cause names, of all that urgent entries name.
func (r *Replay) nameMods(v *verdict, others map[string]*verdictMod) {
	if len(v.Causes) == 0 {
		return
	}
	for i := range v.Causes {
		for _, m := range v.Causes[i].Mods {
			delete(others, blame.Key(m.Name))
		}
		for _, name := range v.Causes[i].Running {
			delete(others, blame.Key(name))
		}
	}
	sorted := slices.SortedFunc(maps.Values(others), func(a, b *verdictMod) int {
		return cmp.Or(
			cmp.Compare(b.blocking, a.blocking),
			cmp.Compare(b.Entries, a.Entries),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Name, b.Name),
		)
	})
	shown := min(len(sorted), otherMods)
	v.MoreMods = len(sorted) - shown
	for _, t := range sorted[:shown] {
		v.Mods = append(v.Mods, r.identified(*t, t.Name))
	}
}

// moreReadable returns the longer of two names of a mod, which shows its words; of equally long names the first in
// order.
func moreReadable(a, b string) string {
	if cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(b, a)) > 0 {
		return a
	}
	return b
}
