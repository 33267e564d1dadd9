package rules

import (
	"slices"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// Set is a compiled set of rule files. It never changes and is safe for
// concurrent use; what evaluates it is an [Evaluator].
type Set struct {
	rules    []*Rule // as in the files
	active   []*Rule // without those that are disabled for every family
	index    *index  // of active
	byID     map[string]*Rule
	masking  signature.Config
	gameCode []string // see [Set.GameCode]
	hash     uint64
	family   string // of the logs; "": of any
	whole    *Set   // the set of all families that this one was made of
	docs     []*document
	lists    map[string][]string
	macros   map[string]*macro
	ended    []string

	normalizer *signature.Normalizer // with the protected words

	defaults map[defaultKey]*Outcome // if no rule matches
}

// defaultKey is a kind of entries with a level, a status, byCallerKey, or "unknown" for entries that should not exist.
type defaultKey struct{ kind, key string }

// Rule is one rule of a [Set]. It is read only.
type Rule struct {
	ID string

	// File is the name of the file, as given to [Compile]. Of a rule that
	// overrides others this is its own file.
	File string
	Line int // where the rule begins, counting from 1
	// Column is where the rule begins in its line, counting from 1.
	Column int
	Place  string // file:line, where the rule begins

	// Overrides is the place of the rule that this one overrides, the last of them
	// where that overrides another. Empty for a rule that overrides none.
	Overrides string

	When        string // the condition, as written
	Disposition event.Disposition
	Severity    event.Severity // meaningful with HasSeverity
	HasSeverity bool           // false: the severity follows from level and disposition
	Invalidates bool
	Summary     string // heed's own words for people and agents; may be empty
	Why         string // reason, for people; may be empty
	Advice      string // for the player, now; may be empty

	// AdviceAtStart is Advice before the game has started: without the parts in brackets.
	AdviceAtStart string

	// ExplainedBy are the ids of the rules whose earlier problem explains this rule's; in order of the set.
	ExplainedBy []string

	// Effects of every entry that the rule decides.
	SetsPhase string   // the phase from the next entry on, with Continue for the rules after it too; empty: no change
	Blinds    bool     // evidence is incomplete from here on
	Resolves  []string // ids of the rules whose items, and whose blindness, this one ends; in order of the set

	// Escalate says when repetition raises the decision of the rule; nil means never. The
	// package that folds entries enforces it.
	Escalate *event.Escalation

	Tags     []string
	Continue bool // adds Tags and sets the phase; matching continues
	Disabled bool // compiled, but never matches

	// PerEntry reports that the rule or an exception reads message, stack or
	// operation, so that it is evaluated for each entry and not once per
	// signature.
	PerEntry bool

	// MatchesAll reports that the rule matches every entry, so that no rule after
	// it, and no default, ever decides.
	MatchesAll bool

	// ShadowedBy is the id of a rule in an earlier file that has the same conditions or fewer, so that this
	// one can never match, empty when there is none. (Within one file that is an
	// error.)
	ShadowedBy string

	program    ruleTexts
	index      int // in Set.rules
	file       int // index of File among those given
	home       int // index of the file of the rule that it overrides, else file
	cond       *condition
	exceptions []*condition                     // the rule does not match where one of them holds
	reads      varSet                           // by the condition and the exceptions
	possible   shapeSet                         // where the rule may match
	certain    shapeSet                         // where it surely does
	outcomes   [event.SeverityFatal + 1]Outcome // by severity, without tags of other rules
}

// Rules returns the rules in the order in which they are tried, those that are disabled included. The slice is
// the set's own and must not be changed.
func (s *Set) Rules() []*Rule { return s.rules }

// Rule returns the rule with the given id, or nil.
func (s *Set) Rule(id string) *Rule { return s.byID[id] }

// Masking returns how text is masked for the set: the protected words and the
// logger frames of its files, these after [signature.DefaultLoggerFrames]. The
// slices are the caller's.
func (s *Set) Masking() signature.Config {
	c := s.masking
	c.Protect, c.LoggerFrames = slices.Clone(c.Protect), slices.Clone(c.LoggerFrames)
	return c
}

// Hash returns a number that identifies the set: the hash of the names and texts of
// its files, in order. It is the same in every process and version.
func (s *Set) Hash() uint64 { return s.hash }

// Ended returns a sentence for each rule that is not used because its last day, "until", is over.
func (s *Set) Ended() []string { return slices.Clone(s.ended) }

// severity returns the severity of what rule r decides about an entry of level
// l: the rule's own, or else the level's where the level is warning or more
// (a lower level says nothing about the urgency of a rule), or else
// error for blocking, warning for advisory and info for ignore.
func (r *Rule) severity(l event.Level) event.Severity {
	switch {
	case r.HasSeverity:
		return r.Severity
	case l >= event.LevelWarning && l <= event.LevelFatal:
		return l.Severity()
	}
	return severityOf(r.Disposition)
}

// severityOf returns the severity that a disposition has by itself.
func severityOf(d event.Disposition) event.Severity {
	switch d {
	case event.Blocking:
		return event.SeverityError
	case event.Advisory:
		return event.SeverityWarning
	}
	return event.SeverityInfo
}

// fallback returns the outcome for an entry that no rule matches.
func (s *Set) fallback(in *Input) *Outcome {
	key := defaultKey{in.Kind.String(), in.Status.String()}
	switch {
	case in.Kind == event.KindLog:
		key.key = in.Level.String()
	case in.Status == event.StatusCancelled && in.ByCaller:
		key.key = byCallerKey
	}
	for _, k := range [...]defaultKey{key, {key.kind, "unknown"}} {
		if o := s.defaults[k]; o != nil {
			return o
		}
	}
	return s.defaults[defaultKey{"log", "unknown"}]
}

// setDefaults sets the decisions for entries that no rule decides; the earliest file wins.
func (s *Set) setDefaults() {
	s.defaults = map[defaultKey]*Outcome{}
	set := func(kind event.Kind, key string) {
		k := defaultKey{kind.String(), key}
		s.defaults[k] = &Outcome{Decision: event.Decision{Rule: "default." + k.kind + "." + key}}
	}
	for _, level := range levels {
		set(event.KindLog, level)
	}
	for k := event.KindOperation; k <= event.KindNotice; k++ {
		set(k, "unknown")
		for _, status := range statusesOf(k) {
			set(k, status)
		}
	}
	set(event.KindOperation, byCallerKey)
	for i := range builtinDecls {
		s.apply(&builtinDecls[i])
	}
	for _, doc := range slices.Backward(s.docs) {
		for i := range doc.defaults {
			if holdsFor(doc.families, s.family) {
				s.apply(&doc.defaults[i])
			}
		}
	}
}

// builtinDecls are the defaults that do not ignore entries at severity info.
var builtinDecls = []defaultDecl{
	{kind: "log", key: "warning", disposition: event.Advisory},
	{kind: "log", key: "error", disposition: event.Advisory},
	{kind: "log", key: "fatal", disposition: event.Blocking},
	{kind: "operation", key: "failed", severity: event.SeverityWarning, hasSeverity: true}, // its caller has the error
	// Missing evidence is worth knowing, but is no trouble by itself.
	{kind: "notice", key: "hole", disposition: event.Advisory},
	{kind: "notice", key: "run_cut", disposition: event.Advisory},
	{kind: "notice", key: "truncated", disposition: event.Advisory},
	{kind: "notice", key: "no_log", disposition: event.Advisory},
	{kind: "operation", key: "timed_out", disposition: event.Blocking, invalidates: true}, // the outcome is unknown
	{kind: "operation", key: "cancelled", disposition: event.Blocking, invalidates: true},
	{kind: "state", key: "stall", disposition: event.Blocking},
	{kind: "state", key: "disconnected", disposition: event.Blocking},
	{kind: "state", key: "exited", disposition: event.Blocking, severity: event.SeverityFatal, hasSeverity: true},
}

// apply changes a default to the default of a file.
func (s *Set) apply(d *defaultDecl) {
	to := &s.defaults[defaultKey{d.kind, d.key}].Decision
	to.Disposition, to.Invalidates, to.Severity = d.disposition, d.invalidates, severityOf(d.disposition)
	level, _ := event.Parse[event.Level](d.key)
	switch {
	case d.hasSeverity:
		to.Severity = d.severity
	case level >= event.LevelWarning: // of a log record, since no status has the name of a level
		to.Severity = level.Severity()
	}
}

// Bounds of game_code, like the bounds of logger_frames: far above real files.
const (
	maxGameCode     = 1000 // names in all files of a set
	maxGameCodeName = 128  // bytes of one
)

// GameCode returns the names that belong to no mod, as the files of the set give
// them under game_code: namespaces, assemblies, tags and package ids of the game,
// its engine, its runtime and of libraries that mods share. They are sorted; the
// slice is the caller's.
func (s *Set) GameCode() []string { return slices.Clone(s.gameCode) }
