package brief

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/scrub"
)

// The facts that a text about a fault has, or should have. A tally also counts the texts that have all of them.
const (
	cause = iota
	culprit
	where
	next
	nobody
	all
)

type facts [all]bool

// count is how many texts have a fact, of those that should.
type count struct{ has, of int }

func (c *count) add(has, wanted bool) {
	if wanted {
		c.of++
		if has {
			c.has++
		}
	}
}

// String returns the share in percent.
func (c count) String() string {
	if c.of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", (100*c.has+c.of/2)/c.of)
}

// tally counts facts.
type tally [all + 1]count

func (t *tally) add(has, wanted facts) {
	for i := range has {
		t[i].add(has[i], wanted[i])
	}
	t[all].add(len(has.missing(wanted)) == 0, true)
}

func (t *tally) plus(o tally) {
	for i := range t {
		t[i].has += o[i].has
		t[i].of += o[i].of
	}
}

// missing names the facts that are wanted and not there.
func (f facts) missing(wanted facts) []string {
	var out []string
	for i, name := range []string{cause: "cause", culprit: "culprit", where: "operation or phase", next: "next"} {
		if wanted[i] && !f[i] {
			out = append(out, name)
		}
	}
	return out
}

// truth has the facts that a text about a fault should have.
type truth struct {
	cause    string   // the beginning of its line
	culprits []string // each of them is right
	nobody   bool     // none is to be named
	names    []string // of its operation: its id, its tool
	phase    string
	marker   string // the line with which the phase began
	frame    string // the code nearest to it

	item, advice string
	line         int
}

// shown is how many characters of a cause a text must have.
const shown = 100

// beginning returns the part of a line that a text must have: briefs for agents have no private data.
func beginning(line string) string {
	line = text.Safe(scrub.Text(strings.TrimSpace(line)), longest)
	left := shown
	for i := range line {
		if left--; left < 0 {
			return line[:i]
		}
	}
	return line
}

// truth returns the facts about f.
func (r *replayed) truth(f *fault) truth {
	t := truth{culprits: f.culprits, nobody: f.nobody, line: f.line, cause: beginning(r.lines[f.line-1])}
	rec := r.at(f.line)
	if rec == nil {
		return t
	}
	if r.blocking[rec.item] > 0 {
		t.item = rec.item
	}
	t.advice = r.advice[t.item+" "+rec.rule]
	if rec.message != "" {
		t.cause = beginning(rec.message)
	}
	t.frame = rec.frame
	if rec.operation != "" {
		t.names = append(t.names, rec.operation)
		if m := r.methods[rec.operation]; m != "" {
			t.names = append(t.names, m)
		}
		return t
	}
	if t.phase = rec.phase; rec.began > 0 {
		t.marker = beginning(r.lines[rec.began-1])
	}
	return t
}

// wanted are the facts that are known. What to do next is always wanted.
func (t *truth) wanted() facts {
	return facts{
		cause: t.cause != "", culprit: t.culprits != nil, where: t.names != nil || t.phase != "", next: true,
		nobody: t.nobody,
	}
}

// inBrief returns the facts that a brief has. The next step is a line of its own words that begins with "Next" and
// points at the item, its line, or gives the rule's advice.
func (t *truth) inBrief(brief string) facts {
	lines := strings.Split(brief, "\n")
	f := t.inAny(lines)
	f[nobody] = !t.attributes(lines)
	phase := regexp.MustCompile(`(?i)\bphase:? "?` + regexp.QuoteMeta(t.phase) + `\b`)
	for i, line := range lines {
		if strings.HasPrefix(line, briefing.DataPrefix) {
			continue
		}
		if t.names == nil && t.phase != "" && phase.MatchString(line) {
			f[where] = true
		}
		if strings.HasPrefix(strings.TrimLeft(line, " -"), "Next") && t.points(lines[i:min(i+4, len(lines))]) {
			f[next] = true
		}
	}
	return f
}

// attributes reports whether own words about the item name a culprit.
func (t *truth) attributes(lines []string) bool {
	about := false
	for _, line := range lines {
		if strings.HasPrefix(line, "[") {
			about = t.item != "" && strings.HasPrefix(line, "[attention "+t.item+"@")
		}
		if culprit, ok := strings.CutPrefix(line, "Culprit: "); ok && about && !strings.HasPrefix(culprit, "not known") {
			return true
		}
	}
	return false
}

// points reports whether own lines point at the fault.
func (t *truth) points(lines []string) bool {
	where := []string{"line " + strconv.Itoa(t.line)}
	for _, s := range []string{t.item, t.advice} {
		if s != "" {
			where = append(where, s)
		}
	}
	return slices.ContainsFunc(lines, func(line string) bool {
		return !strings.HasPrefix(line, briefing.DataPrefix) &&
			slices.ContainsFunc(where, func(s string) bool { return strings.Contains(line, s) })
	})
}

// inLog returns the facts that lines of a log have. A phase is known where its beginning is seen. What to look at
// next is the code nearest to the fault or, where the log has none, the cause itself: more than most would see.
func (t *truth) inLog(excerpt string) facts {
	excerpt = scrub.Text(excerpt)
	lines := strings.Split(excerpt, "\n")
	f := t.inAny(lines)
	if t.names == nil {
		f[where] = t.marker != "" && strings.Contains(excerpt, t.marker)
	}
	f[nobody] = true // a log blames no mod
	f[next] = t.frame == "" && f[cause] || t.frame != "" && strings.Contains(excerpt, t.frame)
	return f
}

// inAny returns the facts that each kind of text can have.
func (t *truth) inAny(lines []string) facts {
	var f facts
	for _, line := range lines {
		f[cause] = f[cause] || strings.Contains(line, t.cause)
		folded := fold(line)
		for _, name := range t.culprits {
			f[culprit] = f[culprit] || strings.Contains(folded, fold(name))
		}
		for _, name := range t.names {
			f[where] = f[where] || strings.Contains(line, name)
		}
	}
	return f
}

// fold returns the letters and digits of a name, without case, by which its spellings are one.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
