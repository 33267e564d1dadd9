package heedsource

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// The bounds of the text of one entry, in lines and characters.
const (
	maxMessageLines = 3
	maxStackLines   = 4
	maxLineChars    = 300
	maxNameChars    = 64
)

// monoOffset begins the useless rest of a frame of Mono.
const monoOffset = " [0x"

// defaultRule is the prefix of the rules of entries that none decided but their level or status.
const defaultRule = "default."

// entry returns an entry of the journal as a fragment: what heed knows about it in the title, its text as data. more
// reports whether there may be earlier entries of its kind than the run has.
func (l *ledger) entry(epoch string, r *run, more bool) briefing.Fragment {
	f := briefing.Fragment{
		Source: briefing.SourceLedger, SourceID: sourceID(epoch, r.Seq), Title: l.title(r, more), Seq: r.Seq,
		Section: "Other entries",
		Lines:   quote(r.Message, r.Stack),
	}
	switch {
	case r.Kind == event.KindLog:
		f.Refs = map[string]string{"signature": l.engine.Group(r.Signature).ID.String()}
		return f
	case r.Status == event.StatusPhase:
		f.Lines = nil // the title has it
	}
	f.Section = "Steps"
	return f
}

// title describes an entry in heed's own words: kind, place, decision unless it is ignored, and number of repeats.
func (l *ledger) title(r *run, more bool) string {
	var b strings.Builder
	b.WriteString(subject(&r.Entry))
	if at := l.at(r.Pos); at != "" {
		b.WriteString(" at " + at)
	}
	if d := r.Decision; d.Disposition.Urgent() {
		b.WriteString(": " + d.Disposition.String())
		if d.Rule != "" && !strings.HasPrefix(d.Rule, defaultRule) {
			b.WriteString(", rule " + named(d.Rule))
		}
	}
	if r.Kind == event.KindLog && r.OperationID != "" {
		b.WriteString(", in operation " + named(r.OperationID))
	}
	if r.times > 1 {
		b.WriteString(", ")
		if more {
			b.WriteString("at least ")
		}
		b.WriteString(strconv.FormatUint(r.times, 10) + " times since entry " + strconv.FormatUint(r.last, 10))
	}
	return b.String()
}

// at returns a line of the log, "" where it is not known.
func (l *ledger) at(pos uint64) string {
	if pos == 0 {
		return ""
	}
	return "line " + strconv.FormatUint(pos, 10)
}

// subject returns the kind of an entry: "error", "operation colony/build (op-7) failed", "phase play".
func subject(e *event.Entry) string {
	switch {
	case e.Kind == event.KindLog && e.Level == event.LevelUnknown:
		return "record"
	case e.Kind == event.KindLog:
		return e.Level.String()
	case e.Kind == event.KindOperation:
		return "operation " + operation(e.Source, e.OperationID) + " " + strings.ReplaceAll(e.Status.String(), "_", " ")
	case e.Status == event.StatusPhase:
		return "phase " + named(e.Message)
	}
	s := statusWords[e.Status]
	if s == "" {
		s = e.Kind.String() + " " + strings.ReplaceAll(e.Status.String(), "_", " ")
	}
	if e.Status == event.StatusHole && e.Count > 0 {
		return strconv.FormatUint(e.Count, 10) + " bytes of the log are missing"
	}
	return s
}

// statusWords are what states of the game and notices about the log mean, where the status alone does not say it.
var statusWords = map[event.Status]string{
	event.StatusStall:        "the game does not answer",
	event.StatusRecovered:    "the game answers again",
	event.StatusDisconnected: "the connection to the game is lost",
	event.StatusConnected:    "the game is connected",
	event.StatusExited:       "the game ended",
	event.StatusLongEvent:    "the game does something during which it cannot answer",
	event.StatusLongEventEnd: "the game can answer again",
	event.StatusHole:         "part of the log is missing",
	event.StatusRunCut:       "the game stopped writing repeats",
	event.StatusTruncated:    "the log ends within a record",
	event.StatusRestarted:    "another run of the game begins",
	event.StatusNoLog:        "there is no log to read",
	event.StatusLogFound:     "the log is there",
	event.StatusRaised:       "raised by the host",
	event.StatusWithdrawn:    "ended by the host",
	event.StatusAcknowledged: "acknowledged",
	event.StatusStateRead:    "the game's state was read again",
}

// quote returns the first lines of a message and of its stack as data, each bounded, and a line of heed's own about
// those that are left out.
func quote(message, stack string) []briefing.Line {
	lines, left := quoted(nil, message, maxMessageLines, briefing.Prose)
	lines, more := quoted(lines, stack, maxStackLines, briefing.Stack)
	if left += more; left > 0 {
		lines = append(lines, briefing.Line{Text: "and " + text.Count(left, "more line", "more lines")})
	}
	return lines
}

// quoted appends the first lines of s that are not blank, and returns how many others there are. Frames of Mono lose
// the offset in the method and the id of the module.
func quoted(dst []briefing.Line, s string, limit int, kind briefing.Kind) (lines []briefing.Line, left int) {
	n := 0
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); kind == briefing.Stack {
			line, _, _ = strings.Cut(" "+line, monoOffset)
			line = strings.TrimSpace(line)
		}
		if line == "" {
			continue
		}
		if n++; n <= limit {
			dst = append(dst, briefing.Line{Text: text.Safe(line, maxLineChars), Data: true, Kind: kind})
		}
	}
	return dst, max(0, n-limit)
}

// sourceID returns the form in which an entry is named.
func sourceID(epoch string, seq uint64) string { return epoch + "/" + strconv.FormatUint(seq, 10) }

// named returns a name that a peer, a mod or a rule file chose, bounded, for use in heed's own words: in quotes, which
// nothing in it ends, if it has other characters than [nameRune] reports.
func named(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool { return !nameRune(r) })
	s = text.Safe(s, maxNameChars)
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, "'") + `"`
}

// escaped returns a name as part of an id: characters that [nameRune] does not report are written as %XX.
func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if nameRune(rune(s[i])) {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:#@", r)
}
