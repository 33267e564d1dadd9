package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// script makes replays out of few words.
type script struct {
	*Replay
	suspects []heed.Suspect // of the next entry
	items    []heed.Item    // that are open, as an engine has them
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{}
	s.Replay = newReplay(t, Config{
		File: "Player.log", Details: true, Blame: func() []heed.Suspect { return s.suspects },
		Rule: func(id string) RuleText {
			text := RuleText{Summary: "something about " + id}
			if after, ok := strings.CutPrefix(id, "after "); ok {
				text.ExplainedBy = []string{after}
			}
			return text
		},
	})
	return s
}

// entry adds an entry, and the item that it opens where it is urgent. What it says
// and its rule go by the line.
func (s *script) entry(line uint64, d event.Disposition, severity event.Severity, suspects ...heed.Suspect) {
	s.ruled(fmt.Sprint("rule ", line), line, d, severity, suspects...)
}

// ruled is entry, by a rule with a name.
func (s *script) ruled(rule string, line uint64, d event.Disposition, severity event.Severity,
	suspects ...heed.Suspect,
) {
	o := outcome(signature.ID(line), d, rule)
	o.Decision.Severity = severity
	s.suspects, o.Blame = suspects, blame.Likely(suspects)
	if d.Urgent() {
		o.AttentionID = fmt.Sprint("0-", line)
	}
	s.Observe(&capture.Record{Entry: event.Entry{Message: "message"}, StartLine: int(line), EndLine: int(line)}, o)
	if !d.Urgent() {
		return
	}
	s.open(o, line)
}

// shaped is ruled, of one shape.
func (s *script) shaped(rule string, line, shape uint64, d event.Disposition, suspects ...heed.Suspect) {
	o := outcome(signature.ID(shape), d, rule)
	o.Decision.Severity = event.SeverityWarning
	s.suspects, o.Blame = suspects, blame.Likely(suspects)
	o.AttentionID = "0-shape"
	s.Observe(&capture.Record{Entry: event.Entry{Message: "message"}, StartLine: int(line), EndLine: int(line)}, o)
	if d.Urgent() {
		s.open(o, line)
	}
}

// open opens the item of an outcome at a line, or adds that to it.
func (s *script) open(o *heed.Outcome, line uint64) {
	d := &o.Decision
	i := slices.IndexFunc(s.items, func(a heed.Item) bool { return a.ID == o.AttentionID })
	kind := "updated"
	if i < 0 {
		a := attention(o.AttentionID, d.Disposition, line)
		a.Severity, a.TotalUrgentEntries, a.Members = d.Severity, 0, nil
		a.Cause.Rule, a.Cause.Seq, a.Cause.Signature = d.Rule, line, o.Signature
		i, kind, s.items = len(s.items), "opened", append(s.items, a)
	}
	a := &s.items[i]
	a.TotalUrgentEntries++
	a.LatestPos, a.Severity, a.Disposition = line, max(a.Severity, d.Severity), max(a.Disposition, d.Disposition)
	a.Members = slices.Clone(a.Members)
	n := slices.IndexFunc(a.Members, func(m heed.Member) bool { return m.Rule == d.Rule })
	if n < 0 {
		n = len(a.Members)
		a.Members = append(a.Members, heed.Member{
			Rule: d.Rule, First: line, Signature: o.Signature, Message: "message",
			Effects: coalesce.EffectsOf(d, strings.HasPrefix(d.Rule, "default.log.")),
		})
	}
	m := &a.Members[n]
	m.Entries, m.Last = m.Entries+1, line
	m.Disposition, m.Severity = max(m.Disposition, d.Disposition), max(m.Severity, d.Severity)
	m.Invalidates = m.Invalidates || d.Invalidates
	for _, name := range blame.Likely(s.suspects) {
		o := heed.Member{
			Rule: d.Rule, First: line, Accused: coalesce.Accused{{Name: name, Entries: 1, First: line}}, Early: true, Over: true,
		}
		m.Join(&o)
	}
	slices.SortFunc(a.Members, func(a, b heed.Member) int { return a.Compare(&b) })
	lead(a)
	s.Update(&heed.Update{Kind: kind, Item: *a, Pos: line})
}

// End ends the replay with the items that are open, the most urgent first.
func (s *script) End(end End) {
	end.Open = slices.SortedFunc(slices.Values(s.items), func(a, b heed.Item) int {
		return a.Members[0].Compare(&b.Members[0])
	})
	s.Replay.End(end)
}

// with is an entry that was folded into the item opened at line item. Its shape is
// that of the first entry with that number.
func (s *script) with(item uint64, rule string, line, shape uint64, suspects ...heed.Suspect) {
	o := outcome(signature.ID(shape), event.Blocking, rule)
	o.AttentionID = fmt.Sprint("0-", item)
	s.suspects, o.Blame = suspects, blame.Likely(suspects)
	s.Observe(&capture.Record{Entry: event.Entry{Message: "message"}, StartLine: int(line), EndLine: int(line)}, o)
	s.open(o, line)
}

// over clears the item that a blocking entry opened.
func (s *script) over(line uint64) {
	i := slices.IndexFunc(s.items, func(a heed.Item) bool { return a.ID == fmt.Sprint("0-", line) })
	u := &heed.Update{Kind: coalesce.Cleared, Reason: coalesce.ReasonExpired, Item: s.items[i], Pos: line}
	u.Item.State, u.Item.Blocking, u.Item.ClearedBy = cleared, false, coalesce.ReasonExpired
	s.items = slices.Delete(s.items, i, i+1)
	s.Update(u)
}

// tagged is a blocking entry, times of it, whose rule has tags; invalidating where that is so.
func (s *script) tagged(line uint64, times int, invalidates bool, tags ...string) {
	for i := range uint64(times) {
		o := outcome(signature.ID(line), event.Blocking, fmt.Sprint("rule ", line))
		o.Decision.Severity, o.Decision.Tags, o.Decision.Invalidates = event.SeverityError, tags, invalidates
		o.AttentionID = fmt.Sprint("0-", line)
		s.suspects = nil
		s.Observe(&capture.Record{
			Entry: event.Entry{Message: "message"}, StartLine: int(line + i), EndLine: int(line + i),
		}, o)
		s.open(o, line+i)
	}
}

// crash is the report of one.
func (s *script) crash(line uint64, tags ...string) {
	o := outcome(signature.ID(line), event.Blocking, fmt.Sprint("rule ", line))
	o.Decision.Severity, o.Decision.Tags = event.SeverityFatal, append([]string{"crash"}, tags...)
	s.Observe(&capture.Record{Entry: event.Entry{Message: "message"}, StartLine: int(line), EndLine: int(line + 9)}, o)
	o.AttentionID = fmt.Sprint("0-", line)
	s.open(o, line)
}

// after is an entry that the game saw as one that has crashed.
func (s *script) after(line uint64) {
	o := outcome(signature.ID(line), event.Ignore, "chat")
	o.Phase = "crashed"
	s.Observe(&capture.Record{Entry: event.Entry{Message: "message"}, StartLine: int(line), EndLine: int(line)}, o)
}

// phase is an entry that the game saw in a phase.
func (s *script) phase(line uint64, phase string) {
	o := outcome(signature.ID(line), event.Ignore, "chat")
	o.Phase = phase
	s.Observe(&capture.Record{Entry: event.Entry{Message: "message"}, StartLine: int(line), EndLine: int(line)}, o)
}

// text is an entry of so many bytes that says nothing.
func (s *script) text(line uint64, bytes int) {
	o := outcome(signature.ID(line), event.Ignore, "chat")
	s.Observe(&capture.Record{
		Entry: event.Entry{Message: strings.Repeat("x", bytes)}, StartLine: int(line),
		EndLine: int(line),
	}, o)
}

// mute is an entry by whose rule the log goes blind.
func (s *script) mute(line uint64) {
	o := outcome(signature.ID(line), event.Blocking, "limit")
	o.Blind = true
	s.Observe(&capture.Record{Entry: event.Entry{Message: "message"}, StartLine: int(line), EndLine: int(line)}, o)
	u := opened(fmt.Sprint("0-", line), event.Blocking, line)
	u.Item.Cause.Rule, u.Item.Cause.Seq = "limit", line
	s.Update(u)
}

func (s *script) restart(line uint64) {
	s.Observe(&capture.Record{
		Entry:     event.Entry{Kind: event.KindNotice, Status: event.StatusRestarted},
		StartLine: int(line),
	}, outcome(signature.ID(line), event.Ignore, "notice.restarted"))
}

func (s *script) hole(line, bytes uint64) {
	s.Observe(&capture.Record{
		Entry:     event.Entry{Kind: event.KindNotice, Status: event.StatusHole, Count: bytes},
		StartLine: int(line),
	}, outcome(signature.ID(line), event.Ignore, "notice"))
}

func suspect(mod string, kinds ...blame.Kind) heed.Suspect {
	s := heed.Suspect{Mod: mod, Score: 60}
	for i, k := range kinds {
		s.Evidence = append(s.Evidence, blame.Evidence{Kind: k, Line: i + 1})
	}
	return s
}

// weak is a suspect that is not likely.
func weak(mod string, kinds ...blame.Kind) heed.Suspect {
	s := suspect(mod, kinds...)
	s.Score = 20
	return s
}

// verdicts are logs with what is to be said of them.
var verdicts = []struct {
	name   string
	log    func(s *script)
	end    End
	state  string
	lead   string
	causes []string // label, place and mod
	others string   // mods that are named elsewhere
	says   []string // about the log
}{
	{
		"empty", func(*script) {},
		End{},
		stateUnknown, "Empty. The log has no record, so nothing is known about the game.",
		nil, "",
		[]string{"The log has no record."},
	},
	{
		"nothing but the header of an upload", func(s *script) {
			s.Observe(&capture.Record{Entry: event.Entry{Message: "message"}, Context: true, StartLine: 1, EndLine: 9},
				outcome(1, event.Ignore, "engine.context"))
		},
		End{Lines: 9},
		stateUnknown, "Empty. This is only the header of an upload; the log itself is missing.",
		nil, "",
		[]string{"The log has no record."},
	},
	{
		"healthy", func(s *script) { s.entry(1, event.Ignore, event.SeverityError, suspect("Lantern Festival")) },
		End{Lines: 1},
		stateHealthy, "Healthy. No problem was found.",
		nil, "",
		[]string{"Complete: logging continues to the end of the log at line 1."},
	},
	{
		"complains", func(s *script) {
			s.entry(1, event.Advisory, event.SeverityWarning, suspect("Lantern Festival", blame.Path, blame.Tag))
		},
		End{Lines: 1},
		stateComplaints, "Runs with small problems. Nothing broke, but some things do not work as they should. 1 small problem.",
		[]string{
			"problem: Something about rule 1 (line 1). Lantern Festival: the text names one of its files.",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 1."},
	},
	{
		"broken", func(s *script) {
			s.entry(2, event.Advisory, event.SeverityFatal)
			s.entry(3, event.Blocking, event.SeverityError)
		},
		End{Lines: 3},
		stateWrong, "Something is wrong since line 3. 1 problem; 1 small problem.",
		[]string{"problem: Something about rule 3 (line 3)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 3."},
	},
	{
		"one of two", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError, suspect("Windmills", blame.Tag, blame.Frame),
				suspect("Riverboats", blame.Patch))
		},
		End{Lines: 3},
		stateWrong, "Something is wrong since line 3. 1 problem.",
		[]string{
			"problem: Something about rule 3 (line 3). Windmills or Riverboats: its code is in the stack trace.",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 3."},
	},
	{
		"what comes later is not what broke first", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError)
			for line := range uint64(5) {
				s.entry(10+line, event.Blocking, event.SeverityError, suspect("Windmills", blame.Frame))
			}
			for line := range uint64(9) {
				s.entry(20+line, event.Advisory, event.SeverityError, suspect("Riverboats"))
			}
			s.entry(30, event.Advisory, event.SeverityError, suspect("Beekeeping"))
			s.entry(31, event.Advisory, event.SeverityError, suspect("Alchemy"))
			s.entry(32, event.Advisory, event.SeverityError, suspect("Zeppelins"))
		},
		End{Lines: 40},
		stateWrong, "Something is wrong since line 3. 6 problems; 12 small problems.",
		[]string{
			"worst: Something about rule 3 (line 3; also the first). Not known. To find it, remove the mods added last, " +
				"or half of them at a time.",
			"also: Something about rule 10 (line 10). Windmills: its code is in the stack trace.",
		},
		"Riverboats by 9 entries (first at line 20), Beekeeping " +
			"by 1 entry (first at line 30), Alchemy by 1 entry (first at line 31), and 1 more.",
		[]string{"Complete: logging continues to the end of the log at line 40."},
	},
	{
		"one mod under two names", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError, suspect("Riverboats"))
			s.entry(10, event.Advisory, event.SeverityError, suspect("LanternFestival"))
			s.entry(11, event.Advisory, event.SeverityError, suspect("Lantern Festival"))
			s.entry(12, event.Advisory, event.SeverityError, suspect("River Boats"))
		},
		End{Lines: 40},
		stateWrong, "Something is wrong since line 3. 1 problem; 3 small problems.",
		[]string{"problem: Something about rule 3 (line 3). Riverboats."},
		"Lantern Festival by 2 entries (first at line 10).",
		[]string{"Complete: logging continues to the end of the log at line 40."},
	},
	{
		"worse to come", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError, suspect("Riverboats", blame.Type))
			s.entry(4, event.Blocking, event.SeverityFatal, suspect("Windmills", blame.Frame))
		},
		End{Lines: 4},
		stateBroken, "Broken since line 4. 2 problems.",
		[]string{
			"worst: Something about rule 4 (line 4). Windmills: its code is in the stack trace.",
			"first: Something about rule 3 (line 3). Riverboats: the text names its code.",
		},
		"",
		[]string{
			"The log ends with a fatal problem at line 4: the game may no longer run. The log is complete up to " +
				"there.",
		},
	},
	{
		"broken, then blind", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError)
			s.mute(4)
		},
		End{Lines: 4},
		stateBroken, "Broken since line 3; the log stops at line 4. 1 problem.",
		[]string{"problem: Something about rule 3 (line 3)."},
		"",
		[]string{"The log stops at line 4: what would have been logged after that line is not known."},
	},
	{
		"blind", func(s *script) { s.mute(4) },
		End{Lines: 4},
		stateBlind, "The log stops at line 4. Nothing broke before logging stopped. What happened after that is not known.",
		nil, "",
		[]string{"The log stops at line 4: what would have been logged after that line is not known."},
	},
	{
		"blind for a while", func(s *script) {
			s.mute(4)
			s.entry(5, event.Ignore, event.SeverityInfo)
		},
		End{Lines: 5},
		stateBlind, "The log stops for a while at line 4. Nothing broke while the game was logging. What happened in between " +
			"is not known.",
		nil, "",
		[]string{
			"The log stops from line 4 to line 5: what would have been logged in between is not known.",
		},
	},
	{
		"a hole", func(s *script) {
			s.text(1, 8192)
			s.hole(2, 512)
		},
		End{Lines: 2},
		stateUnknown, "Parts of the log are missing. No problem was found in the remaining parts.",
		nil, "",
		[]string{"512 bytes are missing at line 2."},
	},
	{
		"two runs, the first of which crashed", func(s *script) {
			s.crash(3)
			s.restart(20)
			s.entry(21, event.Ignore, event.SeverityInfo)
		},
		End{Lines: 30, Environment: Environment{Facts: capture.Facts{Game: "Some Game 1.2"}}},
		stateCrashed, "Crashed in an earlier run at line 3. 1 problem.",
		[]string{"problem: Something about rule 3 (line 3)."},
		"",
		[]string{
			"The log starts again at line 20: the run before ended with the crash at line 3. Versions and mods " +
				"are those of the last run.",
			"Logging continues to the end of the log at line 30.",
		},
	},
	{
		"two runs, both of which crashed", func(s *script) {
			s.crash(3)
			s.restart(20)
			s.crash(30)
		},
		End{Lines: 30},
		stateCrashed, "Crashed at line 30. 1 problem.",
		[]string{"problem: Something about rule 30 (line 30)."},
		"",
		[]string{
			"The log starts again at line 20: the run before ended with the crash at line 3.",
			"The log ends with the crash at line 30: the game no longer runs.",
		},
	},
	{
		"three runs, nothing wrong", func(s *script) {
			s.restart(20)
			s.restart(30)
			s.entry(31, event.Ignore, event.SeverityInfo)
		},
		End{Lines: 31},
		stateHealthy, "Healthy. No problem was found.",
		nil, "",
		[]string{
			"The log starts again in 2 places, lines 20 to 30.",
			"Logging continues to the end of the log at line 31.",
		},
	},
	{
		"two runs, the last of which did not come up", func(s *script) {
			s.phase(1, "start")
			s.phase(2, "play")
			s.restart(20)
			s.phase(21, "start")
		},
		End{Lines: 31, Stats: heed.Stats{Phase: "start"}},
		stateUnknown, "Ended while the game starts. No problem was found up to there. Whether the game finished starting is " +
			"not known.",
		nil, "",
		[]string{"The log starts again at line 20.", "The log ends at line 31, while the game starts."},
	},
	{
		"no beginning", func(s *script) { s.entry(1, event.Ignore, event.SeverityInfo) },
		End{Lines: 9, Headless: true},
		stateUnknown, "The beginning is missing. No problem was found in the remaining part.",
		nil, "",
		[]string{"The beginning of the log is missing: the first problem may be in that part."},
	},
	{
		"no beginning, broken", func(s *script) { s.entry(3, event.Blocking, event.SeverityError) },
		End{Lines: 9, Headless: true},
		stateWrong, "Something is wrong since line 3. 1 problem.",
		[]string{"problem: Something about rule 3 (line 3)."},
		"",
		[]string{"The beginning of the log is missing: the first problem may be in that part."},
	},
	{
		"no beginning, complains", func(s *script) { s.entry(3, event.Advisory, event.SeverityError) },
		End{Lines: 9, Headless: true},
		stateComplaints, "Runs with small problems. In the remaining part of the log, nothing broke, but some things do not work " +
			"as they should. 1 small problem.",
		[]string{"problem: Something about rule 3 (line 3)."},
		"",
		[]string{"The beginning of the log is missing: the first problem may be in that part."},
	},
	{
		"ends while the engine starts", func(s *script) { s.phase(1, "start") },
		End{Lines: 2, Stats: heed.Stats{Phase: "start"}},
		stateUnknown, "Ended while the game starts. No problem was found up to there. Whether the game finished starting is " +
			"not known.",
		nil, "",
		[]string{"The log ends at line 2, while the game starts. The log is complete up to there."},
	},
	{
		"ends while the game's own code starts, with complaints and a hole", func(s *script) {
			s.phase(1, "start")
			s.text(2, 8192)
			s.hole(3, 512)
			s.entry(4, event.Advisory, event.SeverityError)
		},
		End{Lines: 4, Stats: heed.Stats{Phase: "boot"}},
		stateComplaints, "Small problems while the game starts. In the remaining part of the log, nothing broke, but some things " +
			"do not work as they should. 1 small problem.",
		[]string{"problem: Something about rule 4 (line 4)."},
		"",
		[]string{"512 bytes are missing at line 3.", "The log ends at line 4, while the game starts."},
	},
	{
		"a game whose phases no rule knows", func(s *script) {
			s.phase(1, "start")
			s.ruled("engine.unload", 2, event.Ignore, event.SeverityInfo)
		},
		End{Lines: 2, Stats: heed.Stats{Phase: "start"}},
		stateHealthy, "Healthy. No problem was found.",
		nil, "",
		[]string{"Complete: logging continues to the end of the log at line 2."},
	},
	{
		"a game that talks, whose phases no rule knows", func(s *script) {
			for line := range uint64(prelude + 1) {
				s.phase(1+line, "start")
			}
		},
		End{Lines: prelude + 1, Stats: heed.Stats{Phase: "start"}},
		stateHealthy, "Healthy. No problem was found.",
		nil, "",
		[]string{"Complete: logging continues to the end of the log at line 41."},
	},
	{
		"data loaded anew while the game runs", func(s *script) {
			s.phase(1, "start")
			s.phase(2, "menu")
			s.phase(3, "boot")
		},
		End{Lines: 3, Stats: heed.Stats{Phase: "boot"}},
		stateHealthy, "Healthy. No problem was found.",
		nil, "",
		[]string{"Complete: logging continues to the end of the log at line 3."},
	},
	{
		"a console, which has no word of the start", func(s *script) { s.phase(1, "boot") },
		End{Lines: 1, Stats: heed.Stats{Phase: "boot"}},
		stateHealthy, "Healthy. No problem was found.",
		nil, "",
		[]string{"Complete: logging continues to the end of the log at line 1."},
	},
	{
		"a table", func(s *script) { s.ruled("default.log.unknown", 1, event.Ignore, event.SeverityInfo) },
		End{Lines: 1, Unrecognized: true},
		stateUnknown, "Not recognized as a game log. No problem was found, but nothing in the file shows that a game wrote it.",
		nil, "",
		[]string{"Complete: logging continues to the end of the log at line 1."},
	},
	{
		"text that a rule knows", func(s *script) { s.ruled("mine.started", 1, event.Ignore, event.SeverityInfo) },
		End{Lines: 1, Unrecognized: true},
		stateHealthy, "Healthy. No problem was found.",
		nil, "",
		[]string{"Complete: logging continues to the end of the log at line 1."},
	},
	{
		"interrupted", func(s *script) { s.entry(1, event.Ignore, event.SeverityInfo) },
		End{Lines: 1, Interrupted: true},
		stateUnknown, "Not read to its end. No problem was found in the part that was read.",
		nil, "",
		[]string{"Reading was interrupted after line 1: the report covers the log up to there."},
	},
	{
		"unreadable", func(s *script) { s.entry(1, event.Ignore, event.SeverityInfo) },
		End{Lines: 1, Err: fmt.Errorf("bad <b>disk</b>")},
		stateUnknown, "Not read to its end. No problem was found in the part that was read.",
		nil, "",
		[]string{"The log could not be read to its end: bad <b>disk</b>."},
	},
	{
		"over before the end", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError)
			s.over(3)
		},
		End{Lines: 9},
		stateWrong, "Something is wrong since line 3. 1 problem.",
		[]string{"problem: Something about rule 3 (line 3)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 9."},
	},
	{
		"one of two is over", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError)
			s.entry(4, event.Blocking, event.SeverityError)
			s.over(3)
		},
		End{Lines: 9},
		stateWrong, "Something is wrong since line 4. 2 problems.",
		[]string{"worst: Something about rule 4 (line 4).", "first: Something about rule 3 (line 3)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 9."},
	},
	{
		"its like names a mod", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError)
			s.with(3, "rule 3", 5, 50, suspect("Windmills", blame.Type))
			s.with(3, "rule 3", 6, 60, suspect("Wind Mills", blame.Frame))
			s.with(3, "rule 7", 7, 70, suspect("Riverboats", blame.Frame))
		},
		End{Lines: 9},
		stateWrong, "Something is wrong since line 3. 2 problems, the most frequent 3 times.",
		[]string{
			"worst: Something about rule 3 (3 times, lines 3 to 6; also the most frequent and the first). Windmills: the text names its code.",
			"also: Something about rule 7 (line 7). Riverboats: its code is in the stack trace.",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 9."},
	},
	{
		"its likes name different mods", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError)
			s.with(3, "rule 3", 5, 50, suspect("Windmills", blame.Type))
			s.with(3, "rule 3", 6, 60, suspect("Riverboats", blame.Frame))
		},
		End{Lines: 9},
		stateWrong, "Something is wrong since line 3. 1 problem: 3 of these.",
		[]string{
			"problem: Something about rule 3 (3 times, lines 3 to 6). Perhaps Windmills or Riverboats, which 1 of 3 names, " +
				"first at line 5: the text names its code.",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 9."},
	},
	{
		"likes of one shape name different mods", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError)
			s.with(3, "rule 3", 5, 50, suspect("Windmills", blame.Type))
			s.with(3, "rule 3", 6, 50, suspect("Riverboats", blame.Frame))
			s.with(3, "rule 3", 7, 50, suspect("River-Boats", blame.Frame))
			s.with(3, "rule 3", 8, 50)
		},
		End{Lines: 9},
		stateWrong, "Something is wrong since line 3. 1 problem: 5 of these.",
		[]string{
			"problem: Something about rule 3 (5 times, lines 3 to 8). Perhaps Riverboats, which 2 of 5 name, first at line 6.",
		},
		"Windmills by 1 entry (first at line 5).",
		[]string{"Complete: logging continues to the end of the log at line 9."},
	},
	{
		"likes of another item do not count", func(s *script) {
			s.ruled("rule", 3, event.Blocking, event.SeverityError)
			s.ruled("rule", 5, event.Blocking, event.SeverityError, suspect("Windmills", blame.Type))
		},
		End{Lines: 9},
		stateWrong, "Something is wrong since line 3. 1 problem: 2 of these.",
		[]string{
			"problem: Something about rule (twice, lines 3 to 5). Not known. To find it, remove the mods added last, or half " +
				"of them at a time.",
		},
		"Windmills by 1 entry (first at line 5).",
		[]string{"Complete: logging continues to the end of the log at line 9."},
	},
	{
		"no rule knows it", func(s *script) {
			s.ruled("default.log.error", 3, event.Blocking, event.SeverityError)
			s.with(3, "default.log.error", 5, 50, suspect("Windmills", blame.Type))
		},
		End{Lines: 9},
		stateWrong, "Something is wrong since line 3. 1 problem: 2 of these.",
		[]string{"problem: An error was reported (twice, lines 3 to 5). Windmills: the text names its code."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 9."},
	},
	{
		"many of one shape", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError, suspect("Windmills", blame.Path))
			for line := uint64(4); line < 40; line++ {
				s.with(3, "rule 3", line, 3, suspect(fmt.Sprint("Riverboats ", line), blame.Path))
			}
		},
		End{Lines: 40},
		stateBroken, "Broken since line 3. 1 problem: 37 of these.",
		[]string{
			"problem: Something about rule 3 (37 times, lines 3 to 39). Not known. To find it, remove the mods added last, " +
				"or half of them at a time.",
		},
		"Windmills by 1 entry (first at line 3), Riverboats 4 by 1 entry (first at line 4), Riverboats 5 by 1 entry " +
			"(first at line 5), and 1 more.",
		[]string{"Complete: logging continues to the end of the log at line 40."},
	},
	{
		"patched", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError, weak("Windmills", blame.Patch), weak("Riverboats", blame.Patch))
		},
		End{Lines: 3},
		stateWrong, "Something is wrong since line 3. 1 problem.",
		[]string{
			"problem: Something about rule 3 (line 3). Not known. The stack trace contains game code that " +
				"Windmills and Riverboats patch; that alone is no proof.",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 3."},
	},
	{
		"patched by many", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError, weak("Windmills", blame.Patch), weak("Riverboats", blame.Patch),
				weak("Beekeeping", blame.Patch))
		},
		End{Lines: 3},
		stateWrong, "Something is wrong since line 3. 1 problem.",
		[]string{"problem: Something about rule 3 (line 3)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 3."},
	},
	{
		"patched, and its like names a mod", func(s *script) {
			s.entry(3, event.Blocking, event.SeverityError, weak("Riverboats", blame.Patch))
			s.with(3, "rule 3", 5, 50, suspect("Windmills", blame.Type))
		},
		End{Lines: 5},
		stateWrong, "Something is wrong since line 3. 1 problem: 2 of these.",
		[]string{
			"problem: Something about rule 3 (twice, lines 3 to 5). Windmills: the text names its code.",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 5."},
	},
	{
		"crashed", func(s *script) {
			s.entry(1, event.Ignore, event.SeverityInfo)
			s.crash(2)
			s.after(12)
		},
		End{Lines: 12},
		stateCrashed, "Crashed at line 2. 1 problem.",
		[]string{"problem: Something about rule 2 (line 2)."},
		"",
		[]string{
			"The log ends with the crash at line 2: the game no longer runs. The log is complete up to there.",
		},
	},
	{
		"what was taken for a crash", func(s *script) {
			s.crash(4)
			for line := range uint64(9) {
				s.after(12 + line)
			}
		},
		End{Lines: 20},
		stateBroken, "Broken since line 4. 1 problem.",
		[]string{"problem: Something about rule 4 (line 4)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 20."},
	},
	{
		"a file that is the report of a crash", func(s *script) {
			s.crash(2)
			for line := range uint64(9) {
				s.after(12 + line)
			}
		},
		End{Lines: 20},
		stateCrashed, "Crashed at line 2. 1 problem.",
		[]string{"problem: Something about rule 2 (line 2)."},
		"",
		[]string{"The log ends with the crash at line 2: the game no longer runs. The log is complete up to there."},
	},
	{
		"crashed, and started anew", func(s *script) {
			s.crash(2)
			s.entry(12, event.Ignore, event.SeverityInfo)
		},
		End{Lines: 12},
		stateBroken, "Broken since line 2. 1 problem.",
		[]string{"problem: Something about rule 2 (line 2)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 12."},
	},
	{
		"something fatal at the end", func(s *script) {
			s.entry(2, event.Blocking, event.SeverityFatal)
		},
		End{Lines: 2},
		stateBroken, "Broken since line 2. 1 problem.",
		[]string{"problem: Something about rule 2 (line 2)."},
		"",
		[]string{
			"The log ends with a fatal problem at line 2: the game may no longer run. The log is complete up to " +
				"there.",
		},
	},
	{
		"crashed, with a hole", func(s *script) {
			s.hole(1, 512)
			s.text(2, 512*9)
			s.crash(3)
		},
		End{Lines: 12},
		stateCrashed, "Crashed at line 3. 1 problem.",
		[]string{"problem: Something about rule 3 (line 3)."},
		"",
		[]string{
			"512 bytes are missing at line 1.",
			"The log ends with the crash at line 3: the game no longer runs.",
		},
	},
	{
		"complains, with a hole", func(s *script) {
			s.entry(1, event.Advisory, event.SeverityWarning)
			s.hole(2, 5120)
			s.text(3, 7000)
		},
		End{Lines: 3},
		stateComplaints, "Runs with small problems. In the remaining part of the log, nothing broke, but some things do not work " +
			"as they should. 1 small problem.",
		[]string{"problem: Something about rule 1 (line 1)."},
		"",
		[]string{"5,120 bytes are missing at line 2, about 40% of the log."},
	},
	{
		"complains, and most is missing", func(s *script) {
			s.entry(1, event.Advisory, event.SeverityWarning)
			s.hole(2, 512000)
			s.text(3, 20000)
		},
		End{Lines: 3},
		stateBlind, "Most of the log is missing, first at line 2. The remaining part has no blocking problem. What the " +
			"missing part reported is not known. 1 small problem.",
		[]string{"problem: Something about rule 1 (line 1)."},
		"",
		[]string{"512,000 bytes are missing at line 2, about 90% of the log."},
	},
	{
		"most is missing", func(s *script) {
			s.hole(2, 512000)
			s.text(3, 20000)
		},
		End{Lines: 3},
		stateBlind, "Most of the log is missing, first at line 2. The remaining part has no blocking problem. What the " +
			"missing part reported is not known.",
		nil, "",
		[]string{"512,000 bytes are missing at line 2, about 90% of the log."},
	},
	{
		"most is missing, exactly", func(s *script) {
			s.hole(2, 512000)
			s.text(3, 20000)
		},
		End{Lines: 3, Bytes: 550000},
		stateBlind, "Most of the log is missing, first at line 2. The remaining part has no blocking problem. What the " +
			"missing part reported is not known.",
		nil, "",
		[]string{"512,000 bytes are missing at line 2, 93% of the log."},
	},
	{
		"nearly all is missing", func(s *script) {
			s.hole(2, 549999)
			s.text(3, 1)
		},
		End{Lines: 3, Bytes: 550000},
		stateBlind, "Most of the log is missing, first at line 2. The remaining part has no blocking problem. What the " +
			"missing part reported is not known.",
		nil, "",
		[]string{"549,999 bytes are missing at line 2, 99% of the log."},
	},
	{
		"nearly half is missing", func(s *script) {
			s.hole(2, 499)
			s.text(3, 400)
		},
		End{Lines: 3, Bytes: 1000},
		stateUnknown, "Parts of the log are missing. No problem was found in the remaining parts.",
		nil, "",
		[]string{"499 bytes are missing at line 2, 50% of the log."},
	},
	{
		"a hole that is small in bytes", func(s *script) {
			s.hole(2, 5120)
			s.text(3, 7000)
		},
		End{Lines: 3, Bytes: 52000},
		stateUnknown, "Parts of the log are missing. No problem was found in the remaining parts.",
		nil, "",
		[]string{"5,120 bytes are missing at line 2."},
	},
	{
		"nothing but a hole", func(s *script) { s.hole(1, 5120) },
		End{Lines: 1, Bytes: 5120},
		stateUnknown, "Empty. The log has no record, so nothing is known about the game.",
		nil, "",
		[]string{"5,120 bytes are missing at line 1, 100% of the log."},
	},
	{
		"complains, interrupted", func(s *script) { s.entry(1, event.Advisory, event.SeverityWarning) },
		End{Lines: 1, Interrupted: true},
		stateComplaints, "Runs with small problems. As far as the log was read, nothing broke, but some things do not work as " +
			"they should. 1 small problem.",
		[]string{"problem: Something about rule 1 (line 1)."},
		"",
		[]string{"Reading was interrupted after line 1: the report covers the log up to there."},
	},
	{
		"single trifles", func(s *script) {
			for line := range uint64(5) {
				s.tagged(3+line, 1, true)
			}
		},
		End{Lines: 9},
		stateWrong, "Something is wrong since line 3. 5 problems.",
		[]string{"worst: Something about rule 3 (line 3; also the first).", "also: Something about rule 4 (line 4)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 9."},
	},
	{
		"a storm of trifles", func(s *script) {
			for line := range uint64(5) {
				s.tagged(3+10*line, 4, false)
			}
		},
		End{Lines: 90},
		stateBroken, "Broken since line 3. 5 problems, the most frequent 4 times.",
		[]string{
			"worst: Something about rule 3 (4 times, lines 3 to 6; also the most frequent and the first).",
			"also: Something about rule 13 (4 times, lines 13 to 16).",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 90."},
	},
	{
		"a trifle at boot and a storm in play", func(s *script) {
			s.tagged(3, 1, true)
			s.tagged(100, 608, false)
		},
		End{Lines: 900},
		stateBroken, "Broken since line 100. 2 problems, the most frequent 608 times.",
		[]string{
			"worst: Something about rule 100 (608 times, lines 100 to 707; also the most frequent).",
			"first: Something about rule 3 (line 3).",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 900."},
	},
	{
		"a load that failed once weighs more than a storm", func(s *script) {
			s.tagged(3, 1, false)
			s.tagged(50, 1, true, "breaks")
			s.tagged(100, 608, false)
		},
		End{Lines: 900},
		stateBroken, "Broken since line 50. 3 problems, the most frequent 608 times.",
		[]string{
			"worst: Something about rule 50 (line 50).",
			"most: Something about rule 100 (608 times, lines 100 to 707).",
			"first: Something about rule 3 (line 3).",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 900."},
	},
	{
		"a crash after a storm, out of memory between them", func(s *script) {
			s.tagged(3, 30, true)
			s.tagged(50, 2, true, "memory")
			s.crash(60)
		},
		End{Lines: 99},
		stateCrashed, "Crashed at line 60, probably out of memory. 3 problems, the most frequent 30 times.",
		[]string{
			"cause: Something about rule 50 (twice, lines 50 to 51; it explains 1 later entry).",
			"worst: Something about rule 60 (line 60; because of line 50).",
			"most: Something about rule 3 (30 times, lines 3 to 32; also the first).",
		},
		"",
		[]string{"The log ends with the crash at line 60: the game no longer runs. The log is complete up to there."},
	},
	{
		"the record of the crash has the reason", func(s *script) {
			s.tagged(50, 2, true, "memory", "graphics")
			s.crash(60, "stack_overflow")
		},
		End{Lines: 99},
		stateCrashed, "Crashed at line 60, by a stack overflow. 2 problems, the most frequent twice.",
		[]string{
			"worst: Something about rule 60 (line 60).",
			"most: Something about rule 50 (twice, lines 50 to 51; also the first).",
		},
		"",
		[]string{"The log ends with the crash at line 60: the game no longer runs. The log is complete up to there."},
	},
	{
		"killed for want of memory, as two records say", func(s *script) {
			s.crash(60, "memory", "killed")
			s.crash(61, "killed")
		},
		End{Lines: 99},
		stateCrashed, "Crashed at line 60, killed by the system because memory ran out. 2 problems.",
		[]string{
			"worst: Something about rule 60 (line 60; also the first; it explains 1 later entry).",
			"also: Something about rule 61 (line 61; because of line 60).",
		},
		"",
		[]string{"The log ends with the crash at line 60: the game no longer runs. The log is complete up to there."},
	},
	{
		"hung", func(s *script) {
			s.tagged(3, 1, false)
			s.tagged(50, 1, false, "hang")
		},
		End{Lines: 99},
		stateHung, "Hung since line 50. 2 problems.",
		[]string{
			"worst: Something about rule 50 (line 50).",
			"first: Something about rule 3 (line 3).",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 99."},
	},
	{
		"hung for a while", func(s *script) {
			s.tagged(50, 1, false, "hang")
			s.over(50)
		},
		End{Lines: 99},
		stateWrong, "Something is wrong since line 50. 1 problem.",
		[]string{"problem: Something about rule 50 (line 50)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 99."},
	},
	{
		"broken, and well in the next run", func(s *script) {
			s.tagged(3, 30, true)
			s.restart(50)
			s.entry(51, event.Advisory, event.SeverityError)
		},
		End{Lines: 99},
		stateBroken, "Broken in an earlier run since line 3. 1 problem: 30 of these.",
		[]string{"problem: Something about rule 3 (30 times, lines 3 to 32)."},
		"",
		[]string{"The log starts again at line 50.", "Logging continues to the end of the log at line 99."},
	},
	{
		"counts do not span runs", func(s *script) {
			s.ruled("rule", 3, event.Blocking, event.SeverityError)
			s.ruled("rule", 4, event.Blocking, event.SeverityError)
			s.restart(50)
			s.ruled("rule", 60, event.Blocking, event.SeverityError)
		},
		End{Lines: 99},
		stateWrong, "Something is wrong since line 60. 1 problem.",
		[]string{"problem: Something about rule (line 60)."},
		"",
		[]string{"The log starts again at line 50.", "Logging continues to the end of the log at line 99."},
	},
	{
		"messages that are no problem fill the log", func(s *script) {
			s.ruled("rule", 3, event.Advisory, event.SeverityError)
			for line := range uint64(200) {
				s.shaped("chat", 10+line, 7, event.Ignore, suspect("Lantern Festival", blame.Frame))
			}
			s.mute(300)
		},
		End{Lines: 300},
		stateBlind, "The log stops at line 300. Nothing broke before logging stopped. What happened after that is not " +
			"known. 1 small problem.",
		[]string{
			"worst: Something about rule (line 3; also the first).",
			"most: This message filled the log (200 times, lines 10 to 209, 99% of the log before it stops). Lantern Festival: its code is in " +
				"the stack trace.",
		},
		"",
		[]string{"The log stops at line 300: what would have been logged after that line is not known."},
	},
	{
		"a small problem fills the log of a broken game", func(s *script) {
			for line := range uint64(30) {
				s.ruled("rule", 3+line, event.Blocking, event.SeverityError)
			}
			for line := range uint64(270) {
				s.shaped("trifle", 100+line, 7, event.Advisory)
			}
			s.mute(400)
		},
		End{Lines: 400},
		stateBroken, "Broken since line 3; the log stops at line 400. 1 problem: 30 of these; 1 small problem: 270 of these.",
		[]string{
			"worst: Something about rule (30 times, lines 3 to 32; also the first).",
			"most: Something about trifle (270 times, lines 100 to 369, 90% of the log before it stops).",
		},
		"",
		[]string{"The log stops at line 400: what would have been logged after that line is not known."},
	},
	{
		"what filled the log came after the last phase began", func(s *script) {
			s.ruled("rule", 3, event.Advisory, event.SeverityError)
			for line := range uint64(300) {
				s.shaped("noise", 10+line, 7, event.Ignore)
			}
			s.phase(400, "play")
			for line := range uint64(100) {
				s.shaped("chat", 500+line, 8, event.Ignore)
			}
			s.mute(600)
		},
		End{Lines: 600},
		stateBlind, "The log stops at line 600. Nothing broke before logging stopped. What happened after that is not known. " +
			"1 small problem.",
		[]string{"worst: Something about rule (line 3; also the first).", "most: This message filled the log (100 times, lines 500 to 599, 100% of the log before it stops)."},
		"",
		[]string{"The log stops at line 600: what would have been logged after that line is not known."},
	},
	{
		"a cause above what came of it", func(s *script) {
			s.ruled("assembly", 3, event.Blocking, event.SeverityError)
			s.ruled("after assembly", 5, event.Blocking, event.SeverityFatal)
			for line := range uint64(30) {
				s.ruled("after after assembly", 10+line, event.Blocking, event.SeverityError)
			}
		},
		End{Lines: 50},
		stateBroken, "Broken since line 3. 3 problems, the most frequent 30 times.",
		[]string{
			"cause: Something about assembly (line 3; also the first; it explains 31 later entries).",
			"worst: Something about after assembly (line 5; because of line 3).",
			"most: Something about after after assembly (30 times, lines 10 to 39; because of line 3).",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 50."},
	},
	{
		"a trifle that explains all", func(s *script) {
			s.ruled("assembly", 3, event.Advisory, event.SeverityWarning)
			s.ruled("after assembly", 5, event.Blocking, event.SeverityFatal)
			s.ruled("after after assembly", 10, event.Blocking, event.SeverityError)
		},
		End{Lines: 50},
		stateBroken, "Broken since line 3. 2 problems; 1 small problem.",
		[]string{
			"cause: Something about assembly (line 3; it explains 2 later entries).",
			"worst: Something about after assembly (line 5; also the first; because of line 3).",
			"also: Something about after after assembly (line 10; because of line 3).",
		},
		"",
		[]string{"Complete: logging continues to the end of the log at line 50."},
	},
	{
		"little more than a banner", func(s *script) { s.text(1, 20); s.text(2, 20) },
		End{Lines: 2, Environment: Environment{Facts: capture.Facts{Loader: "Loader 1.0"}}},
		stateUnknown, "Ended while the game starts. No problem was found up to there. Whether the game finished starting is " +
			"not known.",
		nil, "",
		[]string{"The log ends at line 2, while the game starts. The log is complete up to there."},
	},
	{
		"complains a lot", func(s *script) {
			for line := range uint64(200) {
				s.ruled("rule", 3+line, event.Advisory, event.SeverityError)
			}
		},
		End{Lines: 300},
		stateComplaints, "Runs with small problems. Nothing broke, but some things do not work as they should. " +
			"1 small problem: 200 of these.",
		[]string{"problem: Something about rule (200 times, lines 3 to 202)."},
		"",
		[]string{"Complete: logging continues to the end of the log at line 300."},
	},
}

func TestVerdict(t *testing.T) {
	for _, c := range verdicts {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			c.log(s)
			s.End(c.end)
			v := s.Document(0).Summary.Verdict
			require.Equal(t, c.state, v.State)
			require.Equal(t, c.lead, v.lead())
			require.Equal(t, c.causes, causesOf(v))
			require.Equal(t, c.others, v.elsewhere(literally))
			require.Equal(t, c.says, v.Log)
			requireSameVerdict(t, s.Replay)
		})
	}
}

// causesOf is what the first screen has of each cause, other than what the log says and what to do.
func causesOf(v *verdict) []string {
	var all []string
	for i := range v.Causes {
		c := &v.Causes[i]
		all = append(all, strings.TrimSpace(v.label(c)+": "+v.place(c)+" "+c.mod(literally)))
	}
	return all
}

// requireSameVerdict fails where a form of a report does not say the verdict, in its
// words.
func requireSameVerdict(t *testing.T, r *Replay) {
	t.Helper()
	v := r.Document(0).Summary.Verdict
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }

	var facts []string
	for i := range v.Causes {
		c := &v.Causes[i]
		facts = append(facts, strings.TrimSuffix(c.What, "."))
		for _, fact := range []string{c.mod(literally), c.Advice} {
			if fact != "" {
				facts = append(facts, fact)
			}
		}
	}
	facts = append(facts, v.Log...)

	if r.end.Lines > 0 {
		all := append([]string{v.lead()}, facts...)
		if others := v.elsewhere(literally); others != "" {
			all = append(all, others)
		}
		text := flat(string(Text(nil, r.Document(0), TextOptions{})))
		markdown := strings.ReplaceAll(flat(string(Markdown(nil, r.Document(0)))), "`", "")
		for i := range v.Causes {
			require.Contains(t, text, v.label(&v.Causes[i])+" "+v.place(&v.Causes[i]), "text")
		}
		for _, want := range all {
			require.Contains(t, text, want, "text")
			require.Contains(t, markdown, strings.TrimSuffix(prose(want), "."), "markdown")
		}
	}
	page := readable(requireValidPage(t, page(t, r)))
	for _, want := range append([]string{strings.TrimSuffix(v.Headline, v.because), v.title + v.because}, facts...) {
		require.Contains(t, page, want, "page")
	}
	for _, m := range v.Mods {
		require.Contains(t, page, fmt.Sprintf("%s, line %d", m.named(nil, literally), m.Line), "page")
	}
	require.Equal(t, v.MoreMods > 0, strings.Contains(page, v.moreMods()))

	want := string(text.JSON(v))
	var line struct {
		Summary struct{ Verdict json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(AppendSummary(nil, r.Document(0)), &line))
	require.JSONEq(t, want, string(line.Summary.Verdict), "json lines")
	require.NoError(t, json.Unmarshal(text.JSON(r.Document(0)), &line))
	require.JSONEq(t, want, string(line.Summary.Verdict), "json")
	require.Contains(t, string(JUnit(nil, r.Document(0))), v.Headline)
}

// TestVerdictHoldsNoHostileText: it is fit to be shown as it is.
func TestVerdictHoldsNoHostileText(t *testing.T) {
	v := hostileReplay(t).Document(0).Summary.Verdict
	for line := range strings.Lines(string(text.JSON(v))) {
		require.NotContains(t, line, "\u202e")
	}
	require.NotContains(t, strings.Join(append(append(v.Log, causesOf(v)...), v.elsewhere(literally), v.lead()), ""), "\n")
}

// TestEndingIsNoGoodSign: that the log of a crash is whole is nothing to be shown as
// good, and nothing bad either.
func TestEndingIsNoGoodSign(t *testing.T) {
	ended := func(with func(s *script)) (text, html string) {
		s := newScript(t)
		with(s)
		s.End(End{Lines: 12})
		return string(Text(nil, s.Document(0), TextOptions{Color: true})), page(t, s.Replay)
	}
	text, html := ended(func(s *script) { s.crash(2) })
	require.Contains(t, text, "The log ends with the crash")
	require.NotContains(t, text, "\x1b["+string(calm)+"m")
	require.Contains(t, html, `<p class="complete none">`)

	text, html = ended(func(s *script) { s.entry(2, event.Blocking, event.SeverityError) })
	require.Contains(t, text, "\x1b["+string(calm)+"mComplete: logging continues to the end")
	require.Contains(t, html, `<p class="complete healthy">`)
}

// TestLevelAloneBreaksNothing: a level word is below any form of a fault, however often it comes, unless the log ends
// within a few records of it.
func TestLevelAloneBreaksNothing(t *testing.T) {
	for name, test := range map[string]struct {
		levels, exceptions, after int
		state, worst              string
	}{
		"once, and the log goes on": {levels: 1, after: aftermath + 1, state: stateWrong},
		"often":                     {levels: 2 * storm, after: aftermath + 1, state: stateWrong},
		"before an exception":       {levels: 1, exceptions: 1, after: aftermath, state: stateWrong, worst: "exception"},
		"before many": {
			levels: 1, exceptions: 10, after: aftermath, state: stateBroken, worst: "exception",
		},
		"the log ends with it": {levels: 1, state: stateBroken},
		"a few records follow": {levels: 1, after: aftermath, state: stateBroken},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			line := uint64(0)
			for range test.levels {
				line++
				s.ruled("default.log.fatal", line, event.Blocking, event.SeverityFatal)
			}
			for range test.exceptions {
				line++
				s.ruled("exception", line, event.Blocking, event.SeverityError)
			}
			for range test.after {
				line++
				s.text(line, 10)
			}
			s.End(End{Lines: int(line)})
			v := s.Document(0).Summary.Verdict
			require.Equal(t, test.state, v.State)
			for _, c := range v.Causes {
				require.Equal(t, test.worst != "" && c.Rule == test.worst, c.As[0] == asWorst, "%+v", c)
			}
		})
	}
}

// TestModsHaveLinks: of the form that heed makes itself, in each form of a report.
func TestModsHaveLinks(t *testing.T) {
	s := newScript(t)
	s.config.Mod = func(name string) (heed.Mod, bool) {
		return heed.Mod{Name: name, PackageID: "author.mill", WorkshopID: "1234567890"}, name == "Windmills"
	}
	s.entry(3, event.Blocking, event.SeverityError, suspect("Windmills", blame.Frame))
	s.End(End{Lines: 3})
	const link = "https://steamcommunity.com/sharedfiles/filedetails/?id=1234567890"
	require.Contains(t, string(Text(nil, s.Document(0), TextOptions{})), "Windmills (author.mill): its code is in the "+
		"stack trace.\n            "+link+"\n")
	require.Contains(t, string(Markdown(nil, s.Document(0))),
		"`Windmills` (`author.mill`): its code is in the stack trace. "+link)
	require.Contains(t, page(t, s.Replay), `<a href="`+link+`" rel="noreferrer">mod page</a>`)
	requireSameVerdict(t, s.Replay)
}

// TestEarlyProblem holds that a problem is of the game's start only if all of its entries are.
func TestEarlyProblem(t *testing.T) {
	for _, phases := range [][]string{{phaseStart, phaseBoot}, {phaseStart, "play"}, {"play", phaseStart}} {
		var n run
		for _, phase := range phases {
			o := outcome(1, event.Blocking, "rule")
			o.Phase = phase
			n.observe(o, 1)
		}
		require.Equal(t, phases[1] == phaseBoot, n.problem(&event.Decision{Rule: "rule", Disposition: event.Blocking},
			1).Early, phases)
	}
}
