package report

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/scrub"
)

// maxResults bounds the results of a SARIF log: as many as GitHub shows of one.
const maxResults = 5000

// maxHead bounds the part of a template's first line that names a result, in characters.
const maxHead = 160

// sarif gathers the results of a run.
type sarif struct {
	sarifRun
	index map[string]int // of rules, by id
	left  int
}

type sarifLog struct {
	Schema  string      `json:"$schema"`
	Version string      `json:"version"`
	Runs    [1]sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name  string      `json:"name"`
			URI   string      `json:"informationUri"`
			Rules []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Invocations     [1]sarifInvocation `json:"invocations"`
	Results         []sarifResult      `json:"results"`
	ColumnKind      string             `json:"columnKind"`
	RedactionTokens []scrub.Kind       `json:"redactionTokens,omitempty"`
}

type sarifRule struct {
	ID    string        `json:"id"`
	Short sarifMessage  `json:"shortDescription"`
	Full  *sarifMessage `json:"fullDescription,omitempty"`
	Help  sarifMessage  `json:"help"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifMessage      `json:"message"`
	Locations    [1]sarifLocation  `json:"locations"`
	Fingerprints map[string]string `json:"fingerprints"`
	Partial      map[string]string `json:"partialFingerprints"`
	Occurrences  uint64            `json:"occurrenceCount"`
	Properties   sarifProperties   `json:"properties"`
}

type sarifProperties struct {
	Disposition event.Disposition `json:"heed/disposition"`
	Severity    event.Severity    `json:"heed/severity"`
	Groups      []sarifGroup      `json:"heed/groups"`
}

type sarifGroup struct {
	Signature string   `json:"signature"`
	Template  string   `json:"template"`
	Count     uint64   `json:"count"`
	Forms     uint64   `json:"forms"`
	FirstLine uint64   `json:"firstLine"`
	LastLine  uint64   `json:"lastLine,omitempty"`
	Blame     []string `json:"blame,omitempty"`
	News      string   `json:"news,omitempty"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region map[string]uint64 `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

// sarifFingerprint names the kind of fingerprint that a disposition, a rule and a mod are.
const sarifFingerprint = "heedProblem/v1"

// SARIF appends reports as one run of SARIF 2.1.0, for code scanning: a rule for each rule that decided, a
// result for each problem, with its groups as a property, at the line where it came first. The first 5,000 results
// are kept and the others counted.
//
// Fingerprints are the disposition, the rule and the mod, so that a problem stays the same one wherever it moves in the
// next log.
func SARIF[D rendered](dst []byte, docs ...D) []byte {
	s := &sarif{index: map[string]int{}}
	s.Results, s.ColumnKind, s.Invocations[0].Successful = []sarifResult{}, "unicodeCodePoints", true
	tool := &s.Tool.Driver
	tool.Name, tool.URI, tool.Rules = "heed", "https://github.com/heedlog/heed", []sarifRule{}
	for _, d := range docs {
		c := d.checked()
		for i := range c.found {
			s.add(&c.found[i])
		}
		for i := range c.logs {
			s.about(&c.logs[i])
		}
		s.RedactionTokens = c.marks
	}
	if s.left > 0 {
		message := fmt.Sprintf("%s left out: a log has at most %d.", text.Count(s.left, "result is", "results are"),
			maxResults)
		notes := &s.Invocations[0].Notifications
		*notes = append(*notes, sarifNotification{Level: "warning", Message: sarifText(message)})
	}
	return appendJSON(dst, &sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", [1]sarifRun{s.sarifRun}})
}

// about adds sentences about a log, which may not have been read to its end.
func (s *sarif) about(l *checkedLog) {
	level, of := "warning", &s.Invocations[0]
	if l.unread != "" {
		of.Successful, level = false, "error"
	}
	for _, sentence := range l.notes {
		note := sarifNotification{level, sarifText(sentence), []sarifLocation{sarifAt(l.file, 0)}}
		of.Notifications = append(of.Notifications, note)
	}
}

// add adds a problem, or counts it if there are too many.
func (s *sarif) add(p *found) {
	if len(s.Results) == maxResults {
		s.left++
		return
	}
	index, ok := s.index[p.Rule]
	if !ok {
		index = len(s.Tool.Driver.Rules)
		s.index[p.Rule] = index
		rule := sarifRule{ID: p.Rule, Short: sarifText(p.Summary), Help: sarifText(p.Summary + ".")}
		if p.Why != "" {
			why := sarifText(p.Why)
			rule.Full, rule.Help = &why, why
		}
		if p.Advice != "" {
			rule.Help = sarifText(strings.TrimSpace(sentence(p.Why) + " " + sentence(p.Advice)))
		}
		s.Tool.Driver.Rules = append(s.Tool.Driver.Rules, rule)
	}
	message := fmt.Sprintf("%s: %s (%s)", p.Summary, p.head(maxHead), p.often())
	properties := sarifProperties{Disposition: p.Disposition}
	var mods []string
	for i := range p.groups {
		f := &p.groups[i]
		properties.Severity = max(properties.Severity, f.Severity)
		properties.Groups = append(properties.Groups, sarifGroup{
			f.Signature.String(), f.Template, f.Count, f.Forms, f.First, f.Last, f.Blame, f.news,
		})
		for _, mod := range f.Blame {
			if !slices.Contains(mods, mod) {
				mods = append(mods, mod)
			}
		}
	}
	if mods != nil {
		message += "; blame: " + blamed(mods)
	}
	level := sarifLevel(properties.Disposition, properties.Severity)
	if p.passes {
		level = "note"
	}
	key := map[string]string{sarifFingerprint: strings.TrimSuffix(p.Disposition.String()+"."+p.Rule+"."+p.mod, ".")}
	s.Results = append(s.Results, sarifResult{
		RuleID: p.Rule, RuleIndex: index, Level: level,
		Message: sarifText(p.summary(message)), Locations: [1]sarifLocation{sarifAt(p.file, p.first)}, Fingerprints: key,
		Partial:     map[string]string{"primaryLocationLineHash": key[sarifFingerprint]}, // as GitHub names it
		Occurrences: p.entries, Properties: properties,
	})
}

// sarifLevel is the level of a result.
func sarifLevel(d event.Disposition, severity event.Severity) string {
	switch {
	case d == event.Blocking:
		return "error"
	case severity == event.SeverityInfo:
		return "note"
	}
	return "warning"
}

// sarifText returns a message without links and placeholders. In messages of SARIF, [text](1) is a link and {0} a
// placeholder; viewers differ in how they read the escapes of the standard, so a space breaks both.
func sarifText(text string) sarifMessage {
	text = strings.ReplaceAll(safe(text), "](", "] (")
	return sarifMessage{placeholder().ReplaceAllString(text, "{ $1")}
}

var placeholder = text.Lazy(`\{([0-9])`)

func sarifAt(file string, line uint64) sarifLocation {
	var l sarifLocation
	l.Physical.Artifact.URI = sarifURI(file)
	if line > 0 {
		l.Physical.Region = map[string]uint64{"startLine": line}
	}
	return l
}

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
