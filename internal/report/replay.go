package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// maxRows is how many rows the table of signatures keeps of each disposition: 65,535 in all, about as many as an engine
// knows signatures.
const maxRows = 21_845

// GABP's words for the state of an attention item that has ended, and for a change between its beginning and its end.
const (
	cleared = "cleared"
	updated = "updated"
)

// Config sets up a [Replay].
type Config struct {
	// File is the name of the log as the reader should see it.
	File string

	// The methods of the engine. Template returns the canonical template of a signature while it is known, Group the
	// signature that names the group of another, Variant the variant of a template within its group, Blame the suspects
	// of an entry, and Mod the mod that blame calls name. Group, Variant and Mod are asked once the log has ended, when
	// most is known; Blame is asked for the first entry of each row that is urgent.
	Template func(signature.Signature) (string, bool)
	Group    func(signature.Signature) signature.Signature
	Variant  func(template string) string
	Blame    func(*event.Entry) []heed.Suspect
	Mod      func(name string) (heed.Mod, bool)

	// Rule returns, for the id of a rule, the words of its author. It is not asked about defaults.
	Rule func(id string) RuleText

	// Scrub removes private text on its way into the replay, so that no rendering can forget to. Optional; without it
	// texts stay. Scrubbed templates no longer hash to their signatures.
	Scrub *Scrubber
	// Learn learns the names in the log, as Scrub does, and removes nothing: for [Replay.Session] of a replay that shows
	// all. Optional.
	Learn *Scrubber
	// History returns in a sentence what earlier sessions show of a group, "" for nothing. It is asked about the problems
	// that the verdict names. Optional.
	History func(group signature.ID) string
	// Details asks to gather what [HTML] shows beyond the other forms: samples,
	// lines around, rates.
	Details bool
}

// Replay gathers what there is to report about one log.
type Replay struct {
	texts
	config  Config
	family  string                    // of the log
	tables  [len(dispositions)]*table // by event.Disposition
	updates uint64
	causes  causes
	raised  map[causeKey]bool // that a rule came to by repetition
	blind   blindness
	known   bool // a rule knew a record of it: none of the defaults
	stretch stretch
	run     run // the last
	earlier run // the last before it in which something blocked; none where it has no problem
	notices map[event.Status]*missing
	records uint64
	headers uint64 // of the records, those that are the header of an upload
	text    uint64 // bytes of the records' text
	end     End
	open    []heed.Item // at the end, the most urgent first
	unread  string      // why the log was not read to its end, "" where it was

	environment *Environment // scrubbed and escaped; nil where nothing is known

	times summary.Times

	details *details // empty without Config.Details
}

// New returns an empty replay.
func New(config Config) *Replay {
	rule := config.Rule
	config.Rule = func(id string) RuleText {
		if isDefault(id) {
			return RuleText{}
		}
		return rule(id).shown()
	}
	config.File = config.Scrub.Text(config.File)
	template := config.Template
	config.Template = func(s signature.Signature) (string, bool) {
		text, ok := template(s)
		return config.Scrub.Text(text), ok
	}
	r := &Replay{
		config:  config,
		causes:  causes{sums: map[causeKey]*cause{}},
		raised:  map[causeKey]bool{},
		notices: map[event.Status]*missing{},
		details: &details{causes: map[causeKey]time.Time{}},
	}
	for i := range r.tables {
		r.tables[i] = newTable(maxRows)
	}
	return r
}

// Observe counts one record with the outcome of the engine. Outcomes must come in
// the order of their sequence numbers. Rec needs to be valid during the call only;
// without [Config.Details] only the lengths of its texts count, and the names that
// [Config.Scrub] learns from the first of a row.
func (r *Replay) Observe(rec *capture.Record, o *heed.Outcome) {
	line := uint64(rec.Line())
	r.family = rec.Family
	if rec.Kind == event.KindNotice {
		r.missing(rec)
	} else {
		r.records++
		r.times.See(rec.Time)
		if rec.Context {
			r.headers++
		}
		r.text += uint64(len(rec.Message) + len(rec.Stack))
	}
	wasBlind := r.blind.now
	if rec.Kind == event.KindNotice && rec.Status == event.StatusRestarted {
		r.runBegins(line)
	}
	r.known = r.known || rec.Kind != event.KindNotice && !isDefault(o.Decision.Rule)
	r.blind.observe(rec, o)
	if o.Escalated {
		r.raised[causeKey{o.Decision.Rule, o.Decision.Disposition}] = true
	}
	key := rowKey{sig: o.Signature, rule: o.Decision.Rule}
	row, isNew := r.tables[o.Decision.Disposition].add(key, o.Group, o.Decision.Severity, line, r.config.Template)
	if row.Count <= asked {
		r.config.Scrub.Learn(rec.Message, rec.Stack)
		r.config.Learn.Learn(rec.Message, rec.Stack)
	}
	if isNew {
		row.phase = o.Phase
	}
	var suspects []heed.Suspect
	if o.Decision.Disposition.Urgent() {
		row.accused.Add(each(o.Blame, r.config.Scrub.Mod), line)
	}
	// An entry that is not urgent matters if it fills the log.
	describe := isNew && o.Decision.Disposition.Urgent() || row.Count == flood && row.says == ""
	if describe {
		suspects = r.config.Scrub.Suspects(r.config.Blame(&rec.Entry))
		row.attribute(suspects)
		row.says = text.Safe(r.config.Scrub.Text(headOf(rec.Message)), maxSays)
		if r.config.Scrub == nil && r.config.Learn != nil { // before it is cut: half of a name is not known for one
			row.kept = text.Safe(r.config.Learn.Text(headOf(rec.Message)), maxSays)
		}
	}
	if r.blind.now && !wasBlind && rec.Kind != event.KindNotice {
		r.run.limit = r.stretch
	}
	r.stretch.observe(o, row, wasBlind && !r.blind.now || rec.Status == event.StatusRestarted)
	r.run.observe(rec, o, line, row.First)
	if r.config.Details {
		r.details.observe(&r.config, rec, o, row, suspects, r.blind.now && !wasBlind, isNew)
	}
}

// Update adds an update of the engine, and returns it scrubbed by [Config.Scrub]. Updates should be drained after each
// entry, so that each has the line that prompted it, and the entries of a cause are counted in full.
func (r *Replay) Update(u *heed.Update) *heed.Update {
	shown := *u
	shown.Item = r.config.Scrub.attention(u.Item)
	r.updates++
	r.causes.add(&shown)
	return &shown
}

// End is how the reading of a log ended.
type End struct {
	Layout string // of the log, as capture names it
	Lines  int    // read

	// Bytes is the length of the log, decompressed, with the missing bytes that notices count; 0 if it is not known. With
	// it the share that is missing is exact.
	Bytes uint64

	// Headless is set where the beginning of the log is missing, and Unrecognized where nothing in it shows
	// that a game or a logger wrote it; see capture.Environment.
	Headless, Unrecognized bool

	// Unended is set where the last line has no end, unlike others; see capture.Position.
	Unended bool

	// Err is why the log was not read to its end; nil when it was.
	Err error
	// Interrupted is set where the reader was asked to stop.
	Interrupted bool

	// Stats is the engine's accounting after the last entry, and Open the items
	// that are open then. Updates are few by design, so that the last one of an
	// item may show less than there was.
	Stats heed.Stats
	Open  []heed.Item

	// Environment is where the log was made.
	Environment Environment
}

// End closes the replay. Call it once, last, or before each [Replay.Session] of a log that still grows.
func (r *Replay) End(end End) {
	r.end = end
	r.rescrub()
	renamed := r.rename()
	for _, t := range r.tables {
		t.fold(r.config.Group, r.config.Variant)
	}
	if end.Err != nil {
		r.unread = safe(r.config.Scrub.Text(end.Err.Error()))
	}
	r.open = nil
	for i := range end.Open {
		open := r.config.Scrub.attention(end.Open[i])
		renamed(&open)
		r.open = append(r.open, open)
		r.causes.see(&open)
	}
	r.environment = end.Environment.clean(r.config.Scrub)
	r.end.Open, r.end.Environment = nil, Environment{}
}

// rename gives each mod one name, once the log has ended: a record may have named a mod before a list did, by its code
// or its package id. It returns a function that renames the mods of an item.
func (r *Replay) rename() func(a *heed.Item) {
	// A mod without a name in a list has the name that a record gives it, other than its package id.
	named := map[string]string{}
	for _, t := range r.tables {
		for _, row := range t.rows.Values() {
			for _, name := range row.Blame {
				if m, ok := r.config.Mod(name); ok && m.Name == "" && name != m.PackageID {
					named[m.PackageID] = moreReadable(named[m.PackageID], strings.TrimPrefix(name, text.Code))
				}
			}
		}
	}
	mod := func(name *string, isMod bool) {
		if !isMod {
			return
		}
		if m, ok := r.config.Mod(*name); ok {
			*name = cmp.Or(r.config.Scrub.Mod(m.Name), named[m.PackageID], strings.TrimPrefix(*name, text.Code))
		}
	}
	r.eachText(mod)
	return func(a *heed.Item) { a.EachText(mod) }
}

// eachText calls f for each text of a log that a replay keeps, and reports whether it names a mod.
func (r *Replay) eachText(f func(s *string, mod bool)) {
	for _, t := range r.tables {
		for _, row := range slices.Concat(t.rows.Values(), t.groups) {
			row.eachText(f)
		}
	}
	for _, open := range [][]heed.Item{r.causes.open, r.open} {
		for i := range open {
			open[i].EachText(f)
		}
	}
	for _, c := range r.causes.sums {
		c.FirstItem.EachText(f)
		for _, m := range c.members {
			m.EachText(f)
		}
	}
}

// eachText calls f as [Replay.eachText] does.
func (r *row) eachText(f func(s *string, mod bool)) {
	all := func(texts *[]string, mods bool) {
		*texts = slices.Clone(*texts) // the engine may hold the same
		for i := range *texts {
			f(&(*texts)[i], mods)
		}
	}
	f(&r.Template, false)
	f(&r.says, false)
	all(&r.Blame, true)
	all(&r.patchers, true)
	for i := range r.accused {
		f(&r.accused[i].Name, true)
	}
	for i := range r.Detail.Sample {
		f(&r.Detail.Sample[i].Text, false)
	}
}
