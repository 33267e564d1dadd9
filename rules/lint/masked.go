package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/rules/internal/compiled"
)

// hiddenText is a text that masking hides; the zero value where none is.
type hiddenText struct {
	text  string
	shown string // what templates have in its place
	more  int    // further ones in the same list
}

// listUse is a list and how it is compared.
type listUse struct {
	first *string // of its items
	n     int
	fit   compiled.Fit
}

// comparison reports n when it compares template with a text that no template
// can hold.
func (l *linter) comparison(r *rules.Rule, c *compiled.Condition, n ast.Node) {
	op, args := compiled.Relation(n)
	how, ok := compiled.Fits[op]
	if !ok {
		return
	}
	if how == compiled.Whole && isTemplate(args[1]) {
		slices.Reverse(args)
	}
	if !isTemplate(args[0]) {
		return
	}
	h := l.hidden(args[1], how)
	if h.text == "" {
		return
	}
	others := ""
	if h.more > 0 {
		others = " (and of other items in the list)"
	}
	hint := "write " + quoteWhole(h.shown)
	if strings.Trim(h.shown, "<*> ") == "" {
		hint = `"<*>" stands in its place; add the word to protect, or compare message`
	}
	l.node(r, c, args[1], checkMasked, hint, "no template contains %s: masking replaces a part of it%s",
		yamlfile.Quote(h.text), others)
}

func isTemplate(n ast.Node) bool {
	id, ok := n.(*ast.IdentifierNode)
	return ok && id.Value == "template"
}

// hidden returns the first text in n, a text or a list of texts, that no
// template can hold.
func (l *linter) hidden(n ast.Node, how compiled.Fit) hiddenText {
	items := compiled.Texts(n)
	if _, named := n.(*ast.ConstantNode); !named || len(items) == 0 {
		return l.hiddenOf(items, how)
	}
	use := listUse{&items[0], len(items), how}
	h, known := l.lists[use]
	if !known {
		h = l.hiddenOf(items, how)
		l.lists[use] = h
	}
	return h
}

func (l *linter) hiddenOf(items []string, how compiled.Fit) (h hiddenText) {
	for _, text := range items {
		switch {
		case text == "" || l.possible(text, how):
		case h.text != "":
			h.more++
		default:
			h.text, h.shown = text, l.template(logline.Text(text, event.LevelUnknown)) // without the head of a logger
			if !how.Start && strings.HasPrefix(text, " ") {
				h.shown = " " + h.shown
			}
			if !how.End && strings.HasSuffix(text, " ") {
				h.shown += " "
			}
		}
	}
	return h
}

// The texts before and after a text that differ for masking: nothing, more of the
// same word, another word, a variable, an open quotation. Before a number it may be a
// word that announces a code, which then stays.
var (
	textsBefore = []string{"", "x", "x ", "x: ", "<*> ", "x'", "x'x '"}
	codesBefore = append(slices.Clip(textsBefore), "code ", "(code=")
	textsAfter  = []string{"", "x", " x", ": x", " <*>", "'x", "x'"}
)

// mayBeCode reports whether text may begin with an error code.
func mayBeCode(text string) bool {
	text = strings.TrimLeft(text, " :=([#-")
	end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEFxX", r) })
	if end < 0 {
		end = len(text)
	}
	return strings.ContainsAny(text[:end], "0123456789")
}

// missingHead returns the missing beginning of a word that announces a code, if text
// begins within such a word: "rror was 5" may be a part of "error was 5".
func missingHead(text string) string {
	for _, word := range [...]string{"error was ", "code ", "status ", "hresult ", "errno "} {
		for i := 1; i < len(word)-1; i++ {
			if strings.HasPrefix(text, word[i:]) {
				return word[:i]
			}
		}
	}
	return ""
}

// possible reports whether there is a template that text fits into. It tries
// texts around it, so it may err, in both directions: masking has more rules than it
// tries, and no template needs to occur. Its result is for a warning.
func (l *linter) possible(text string, how compiled.Fit) bool {
	before, after := textsBefore, textsAfter
	switch {
	case how.Start:
		before = before[:1]
	case mayBeCode(text):
		before = codesBefore
	}
	if how.End {
		after = after[:1]
	}
	if b := missingHead(text); b != "" && !how.Start {
		before = append(slices.Clip(before), b)
	}
	for _, b := range before {
		for _, a := range after {
			got := l.template(b + text + a)
			i := strings.Index(got, text)
			switch {
			case i < 0:
			case how == compiled.Whole && got != text, how.Start && i > 0, how.End && !strings.HasSuffix(got, text):
			default:
				return true
			}
		}
	}
	return false
}

// template returns the first line of the template of a message.
func (l *linter) template(message string) string {
	l.buf = l.Normalizer.AppendTemplate(l.buf[:0], message, "")
	head, _, _ := strings.Cut(string(l.buf), "\n")
	return head
}

// quoteWhole quotes a text that people copy.
func quoteWhole(s string) string {
	const most = 2000
	if len(s) > most {
		s = s[:text.Prefix(s, most)] + "…"
	}
	return strconv.Quote(s)
}
