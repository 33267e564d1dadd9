package rules

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/internal/text/template"
	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/signature"
)

// unmasked reports n, which template is compared with, where an earlier version of signatures masked a part of it that
// stays now: text after "error=", or a code. A text that the template of a test has is none of these.
func (l *linter) unmasked(r *Rule, c *condition, n ast.Node, how fit) {
	for _, text := range textsIn(n) {
		at := template.Stays(text, l.template)
		if !how.start && at > 0 && template.Stays("x "+text, l.template) < 0 {
			continue // of the beginning of a text only
		}
		if at <= 0 || l.ownTemplate(r, text) != "" {
			continue
		}
		hint := fmt.Sprintf("compare with %s alone", quoteWhole(text[:at]))
		if own := l.ownTemplate(r, text[:at]); own != "" {
			hint = fmt.Sprintf("write %s, or what of it decides, as in its test", quoteWhole(own))
		}
		l.node(r, c, n, checkVersion, hint, "version %d of signatures masks no text or code after %s: templates have it "+
			"in place of the \"<*>\"", signature.Version, yamlfile.Quote(text[:at]))
		return
	}
}

// ownTemplate returns the template of the first text that a rule must match and that has part in it, or "".
func (l *linter) ownTemplate(r *Rule, part string) string {
	for _, t := range l.set.tests {
		if t.rule == r && t.decl.match {
			if own := l.template(t.decl.message()); strings.Contains(own, part) {
				return own
			}
		}
	}
	return ""
}

// idPattern is the form of an id.
var idPattern = regexp.MustCompile(`\b[0-9a-f]{16}\b`)

// ofVersion is what "rules propose" writes after an id of this version.
var ofVersion = fmt.Sprintf(" (version %d)", signature.Version)

// ids reports ids in comments, such as "rules propose" writes, and in the texts of rules, where neither a test has them
// nor a version follows: those of an earlier version are no line's.
func (l *linter) ids() {
	known := map[string]bool{}
	for _, t := range l.set.tests {
		known[l.set.normalizer.Signature(t.decl.message(), t.decl.stack).ID.String()] = true
	}
	report := func(file int, e Error, text string, at []int) {
		id := text[at[0]:at[1]]
		if known[id] || strings.HasPrefix(text[at[1]:], ofVersion) {
			return
		}
		e.Msg = fmt.Sprintf("names the id %s, which no test has under version %d of signatures", id, signature.Version)
		e.Hint = `"signatures" and "rules propose" print those of a log`
		l.found = append(l.found, warning(file, checkVersion, e))
	}
	for _, src := range l.set.sources {
		for i, line := range src.lines {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			for _, at := range idPattern.FindAllStringIndex(line, -1) {
				column := utf8.RuneCountInString(line[:at[0]]) + 1
				report(src.index, Error{File: src.name, Line: i + 1, Column: column, Field: "comment"}, line, at)
			}
		}
	}
	for _, r := range l.set.rules {
		for _, f := range []struct{ name, text string }{{"summary", r.Summary}, {"why", r.Why}, {"advice", r.Advice}} {
			for _, at := range idPattern.FindAllStringIndex(f.text, -1) {
				report(r.file, Error{File: r.File, Line: r.Line, Column: r.Column, Rule: r.ID, Field: f.name}, f.text, at)
			}
		}
	}
}
