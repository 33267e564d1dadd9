package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/template"
)

// RuleText has the texts of the author of a rule, each in a line or "": the event, why it matters, and the next step of
// a player.
type RuleText struct {
	Summary, Why, Advice string
	ExplainedBy          []string // the rules whose earlier problem explains this one's
}

// shown returns the text of a rule escaped, each in one line.
func (t RuleText) shown() RuleText {
	return RuleText{safe(oneSpace(t.Summary)), safe(oneSpace(t.Why)), safe(oneSpace(t.Advice)), t.ExplainedBy}
}

// described returns the text of a rule, with a summary by severity if the rule has none.
func (t RuleText) described(rule string, severity event.Severity) RuleText {
	t.Summary = cmp.Or(t.Summary, coalesce.Reported(rule, severity))
	if t.Why == "" && isDefault(rule) {
		t.Why = "no rule matches it, so the default for its kind applies"
	}
	return t
}

// maxName bounds the name of an operation in a sentence, in characters.
const maxName = 64

// defaultRule returns the kind of entry of a default, such as "default.log.error", and "" for a rule of a file.
func defaultRule(id string) (kind string) {
	rest, ok := strings.CutPrefix(id, "default.")
	kind, _, more := strings.Cut(rest, ".")
	if !ok || !more {
		return ""
	}
	return kind
}

func isDefault(rule string) bool { return defaultRule(rule) != "" }

// baseName is the last part of a path of any system.
func baseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

// oneSpace folds white space, line feeds included, to single spaces.
func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// blamed shows the names of mods, which hold no comma.
func blamed(names []string) string { return safe(strings.Join(names, ", ")) }

// noTemplate is shown for a template that the engine has evicted.
const noTemplate = "(template no longer stored)"

// oneLine shows a canonical template in one line.
func oneLine(t string) string {
	if t == "" {
		return noTemplate
	}
	return template.Line(t)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// sentence makes a phrase of a rule's author begin and end as a sentence does.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = capital(strings.TrimRight(s, stops))
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return s + "。"
	}
	return s + "."
}

// stops end sentences.
const stops = ".。"

// capital begins a sentence.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if first == utf8.RuneError { // or none
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// HowOften counts the entries of a cause's rule, and then the entries of other rules: the name of the first fault is
// not the name of all.
func (c *Cause) HowOften() string {
	often := text.Many(c.own, "entry", "entries")
	if with := c.Entries - min(c.own, c.Entries); with > 0 {
		often += fmt.Sprintf(", plus %s", text.Many(with, "other"))
	}
	return often
}

// where returns how often another rule decided, and from which line on.
func (p *causePart) where() string {
	if p.Entries == 1 {
		return fmt.Sprintf("once at line %d", p.First)
	}
	return fmt.Sprintf("%s from line %d on", texts(nil).times(p.Entries), p.First)
}

// changed is the part of a summary about the state of the game.
const changed = "; the game's state may have changed"

// words returns words about a game, in the log of a program as words about that.
func (r *Replay) words(s string) string {
	if text.IsProgram(r.family) {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "the game", "the program"), "The game", "The program")
	}
	return s
}

// fateOf returns whether the items of a cause ended before the log did. Where that ends with a crash, nothing after it
// is known.
func (r *Replay) fateOf(c *cause) string {
	open := "still open"
	if r.run.ending.crash {
		open = "open when the game crashed"
	}
	switch {
	case c.Last < r.run.from:
		return "over: the game was started again"
	case c.Open == 0 && c.Items > 1:
		return "all over before the end"
	case c.Open == 0:
		return "over before the end"
	case r.run.ending.crash && c.Severity == event.SeverityFatal && c.Last >= r.run.ending.line:
		return "the game ended with it"
	case c.Open < c.Items:
		return text.Number(c.Open) + " " + open
	case c.Items > 1:
		return "all " + open
	}
	return open
}

// texts has the texts of a language by the English ones: sentences of the first screen and of rules. Without one, a
// text stays English; nil is English.
type texts map[string]string

// say returns a text, with its arguments if it has any.
func (t texts) say(english string, args ...any) string {
	if own := t[english]; own != "" {
		english = own
	}
	if len(args) == 0 {
		return english
	}
	return fmt.Sprintf(english, args...)
}

// one returns the first text for one thing, and the second for any other number.
func (t texts) one(n uint64, one, many string, args ...any) string {
	if n == 1 {
		many = one
	}
	return t.say(many, args...)
}

// number returns a number with the separator of thousands.
func (t texts) number(n uint64) string { return strings.ReplaceAll(text.Number(n), ",", t.say(",")) }

func (t texts) times(n uint64) string {
	switch n {
	case 1:
		return t.say("once")
	case 2:
		return t.say("twice")
	}
	return t.say("%s times", t.number(n))
}
