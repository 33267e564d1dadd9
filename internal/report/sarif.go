package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/template"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/scrub"
)

// maxResults bounds the results of a SARIF log: as many as GitHub shows of one.
const maxResults = 5000

// maxHead bounds the part of a template's first line that names a result, in characters.
const maxHead = 160

// sarif has the contents of a run.
type sarif struct {
	Rules   []*found // the first problem of each rule
	Results []found
	Notes   []sarifNote
	Unread  bool // a log was not read to its end
	Marks   []scrub.Kind
}

// sarifNote is a sentence about a log, or about the run if File is "".
type sarifNote struct{ Level, Says, File string }

// sarifFingerprint names the kind of fingerprint that a disposition, a rule and a mod are.
const sarifFingerprint = "heedProblem/v1"

var sarifForm = form("sarif.json", template.FuncMap{
	"json":        func(v any) string { return string(text.JSON(v)) },
	"message":     func(s string) string { return string(text.JSON(map[string]string{"text": sarifText(s)})) },
	"fingerprint": func() string { return sarifFingerprint },
	"uri":         sarifURI,
})

// SARIF appends reports as one run of SARIF 2.1.0, for code scanning: a rule for each rule that decided, a
// result for each problem, with its groups as a property, at the line where it came first. The first 5,000 results
// are kept and the others counted.
//
// Fingerprints are the disposition, the rule and the mod, so that a problem stays the same one wherever it moves in the
// next log.
func SARIF[D Rendered](dst []byte, docs ...D) []byte {
	var s sarif
	for _, d := range docs {
		c := d.checked()
		s.Results, s.Marks = append(s.Results, c.found...), c.marks
		for i := range c.logs {
			l, level := &c.logs[i], "warning"
			if l.Unread != "" {
				s.Unread, level = true, "error"
			}
			for _, sentence := range l.notes {
				s.Notes = append(s.Notes, sarifNote{level, sentence, l.File})
			}
		}
	}
	if left := len(s.Results) - maxResults; left > 0 {
		s.Results = s.Results[:maxResults]
		says := fmt.Sprintf("%s left out: a log has at most %d.", text.Count(left, "result is", "results are"), maxResults)
		s.Notes = append(s.Notes, sarifNote{Level: "warning", Says: says})
	}
	for i := range s.Results {
		if s.Index(s.Results[i].Rule) < 0 {
			s.Rules = append(s.Rules, &s.Results[i])
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text.Rendered(sarifForm(), &s)); err != nil {
		panic("BUG: report: " + err.Error())
	}
	return append(text.AppendJSON(dst, compact.Bytes()), '\n')
}

// Index returns the place of a rule among the rules, and -1 if it has none.
func (s *sarif) Index(rule string) int {
	return slices.IndexFunc(s.Rules, func(p *found) bool { return p.Rule == rule })
}

// Help returns all that the author of the rule of a problem says about it.
func (p *found) Help() string {
	switch {
	case p.Advice != "":
		return strings.TrimSpace(sentence(p.Why) + " " + sentence(p.Advice))
	case p.Why != "":
		return p.Why
	}
	return p.Summary + "."
}

// Says returns the message of a problem.
func (p *found) Says() string {
	message := fmt.Sprintf("%s: %s (%s)", p.Summary, p.head(maxHead), p.Often())
	var mods []string
	for i := range p.Groups {
		for _, mod := range p.Groups[i].Blame {
			if !slices.Contains(mods, mod) {
				mods = append(mods, mod)
			}
		}
	}
	if mods != nil {
		message += "; blame: " + blamed(mods)
	}
	return p.Because(message)
}

// Identity is the fingerprint of a problem.
func (p *found) Identity() string {
	return strings.TrimSuffix(p.Disposition.String()+"."+p.Rule+"."+p.Mod, ".")
}

// Worst returns the highest severity of the groups of a problem, and Level the level of its result.
func (p *found) Worst() (worst event.Severity) {
	for i := range p.Groups {
		worst = max(worst, p.Groups[i].Severity)
	}
	return worst
}

func (p *found) Level() string {
	switch {
	case p.passes:
		return "note"
	case p.Disposition == event.Blocking:
		return "error"
	case p.Worst() == event.SeverityInfo:
		return "note"
	}
	return "warning"
}

// sarifText returns a message without links and placeholders. In messages of SARIF, [text](1) is a link and {0} a
// placeholder; viewers differ in how they read the escapes of the standard, so a space breaks both.
func sarifText(text string) string {
	text = strings.ReplaceAll(safe(text), "](", "] (")
	return placeholder().ReplaceAllString(text, "{ $1")
}

var placeholder = text.Lazy(`\{([0-9])`)

// sarifURI makes a reference of the name of a file of any system.
func sarifURI(file string) string {
	file = safe(strings.ReplaceAll(file, `\`, "/"))
	u := url.URL{Path: file}
	switch {
	case len(file) > 2 && file[1] == ':' && file[2] == '/': // C:/
		u.Scheme, u.Path = "file", "/"+file
	case strings.HasPrefix(file, "/"):
		u.Scheme = "file"
	}
	if u.Scheme != "" {
		return "file://" + u.EscapedPath()
	}
	return u.String() // escapes a colon in the first part, which would be a scheme
}
