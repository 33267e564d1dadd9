package sim

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

//go:embed rules.yaml
var rulesText []byte

// ruleSet compiles the rules once for all plays.
var ruleSet = sync.OnceValues(func() (*rules.Set, error) {
	return rules.Compile(rules.File{Name: "sim.yaml", Data: rulesText})
})

// law is what the model knows of one of the rules.
type law struct {
	id          string
	prefix      string       // of the text
	contains    string       // in the text
	status      event.Status // of the entry
	phase       string       // of the game, "" for any
	disposition event.Disposition
	severity    event.Severity
	invalidates bool

	sets     string
	blinds   bool
	resolves []string

	// repeated says after how many within what it becomes more.
	repeated int
	within   coalesce.Window
	severer  event.Severity
}

var laws = []law{
	{id: "sim.load", prefix: "Loading", sets: "load"},
	{id: "sim.play", prefix: "Loaded", sets: "play"},
	{
		id: "sim.limit", prefix: "No more logging", disposition: event.Blocking, severity: event.SeverityWarning,
		blinds: true,
	},
	{id: "sim.closed", prefix: "Console closed", disposition: event.Advisory, blinds: true},
	{id: "sim.resumed", prefix: "Logging again", resolves: []string{"sim.limit"}},
	{id: "sim.console", prefix: "Console open", resolves: []string{"sim.closed"}},
	{id: "sim.mended", prefix: "Mended", resolves: []string{"sim.broken", "sim.worn"}},
	{id: "sim.broken", prefix: "Broken", disposition: event.Blocking, severity: event.SeverityError, invalidates: true},
	{id: "sim.stuck", prefix: "Stuck", disposition: event.Blocking, severity: event.SeverityError},
	{id: "sim.lost", prefix: "Lost", phase: "play", disposition: event.Blocking, severity: event.SeverityError},
	{id: "sim.missing", prefix: "Lost", disposition: event.Advisory, severity: event.SeverityWarning},
	{id: "sim.fatal", prefix: "Fatal", disposition: event.Blocking, severity: event.SeverityFatal},
	{id: "sim.secret", contains: "secret 7", disposition: event.Blocking, severity: event.SeverityWarning},
	{
		id: "sim.path", prefix: "No path", repeated: 3, within: coalesce.Window{Duration: 10 * time.Second, Entries: 6},
		severer: event.SeverityError,
	},
	{
		id: "sim.worn", prefix: "Worn", disposition: event.Advisory,
		repeated: 4, within: coalesce.Window{Duration: 8 * time.Second, Entries: 12}, severer: event.SeverityWarning,
	},
	{id: "sim.stall", status: event.StatusStall, disposition: event.Blocking, severity: event.SeverityError},
	{id: "sim.alive", status: event.StatusRecovered, resolves: []string{"sim.stall"}},
}

// lawOf returns the law that decides about an entry in a phase, or nil where a
// default does.
func lawOf(e *event.Entry, phase string) *law {
	i := slices.IndexFunc(laws, func(l law) bool {
		switch {
		case l.status != event.StatusNone && e.Status != l.status, l.phase != "" && phase != l.phase:
			return false
		case l.status != event.StatusNone:
			return true
		}
		return l.contains != "" && strings.Contains(e.Message, l.contains) || l.prefix != "" &&
			strings.HasPrefix(e.Message, l.prefix)
	})
	if i < 0 {
		return nil
	}
	return &laws[i]
}

// byDefault returns what is decided where no law does.
func byDefault(e *event.Entry) event.Decision {
	d := event.Decision{Rule: "default." + e.Kind.String() + "." + e.Status.String()}
	advise := func() { d.Disposition, d.Severity = event.Advisory, event.SeverityWarning }
	block := func() { d.Disposition, d.Severity = event.Blocking, event.SeverityError }
	switch e.Kind {
	case event.KindLog:
		d.Rule = "default.log." + e.Level.String()
		d.Severity = e.Level.Severity()
		switch e.Level {
		case event.LevelWarning, event.LevelError:
			d.Disposition = event.Advisory
		case event.LevelFatal:
			d.Disposition = event.Blocking
		}
	case event.KindOperation:
		switch e.Status {
		case event.StatusFailed:
			d.Severity = event.SeverityWarning
		case event.StatusCancelled, event.StatusTimedOut:
			if e.Status == event.StatusCancelled && e.ByCaller {
				d.Rule = "default.operation.cancelled_by_caller"
				break
			}
			block()
			d.Invalidates = true
		}
	case event.KindState:
		switch e.Status {
		case event.StatusDisconnected:
			block()
		case event.StatusExited:
			d.Disposition, d.Severity = event.Blocking, event.SeverityFatal
		}
	case event.KindNotice:
		if e.Status != event.StatusRestarted {
			advise()
		}
	}
	return d
}
