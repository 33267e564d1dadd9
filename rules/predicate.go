package rules

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// predicate is a condition as a Go function: what most conditions are compiled to,
// since the virtual machine of expr is far slower and boxes every text. It cannot fail, and means exactly what the
// machine makes of the same tree: a fuzz test holds the two together.
type predicate func(in *Input) bool

// textOf is the value of a text of a condition.
type textOf func(in *Input) string

// relations are the operators that compare two texts.
var relations = map[string]func(a, b string) bool{
	"==":         func(a, b string) bool { return a == b },
	"!=":         func(a, b string) bool { return a != b },
	"<":          func(a, b string) bool { return a < b },
	"<=":         func(a, b string) bool { return a <= b },
	">":          func(a, b string) bool { return a > b },
	">=":         func(a, b string) bool { return a >= b },
	"contains":   strings.Contains,
	"startsWith": strings.HasPrefix,
	"endsWith":   strings.HasSuffix,
}

// relationFuncs are the builtins that do the same.
var relationFuncs = map[string]func(a, b string) bool{"hasPrefix": strings.HasPrefix, "hasSuffix": strings.HasSuffix}

// textFuncs are the builtins that make one text of another.
var textFuncs = map[string]func(string) string{
	"lower": strings.ToLower, "upper": strings.ToUpper,
	"trim": strings.TrimSpace,
}

// predicate returns the function that an expanded tree stands for, nil where it is
// outside of the subset that has one: comparisons of texts, joined by and, or,
// not and ?:. Left to the machine is what may fail, counts, or loops.
func (r *resolver) predicate(n ast.Node) predicate {
	switch n := n.(type) {
	case *ast.BoolNode:
		v := n.Value
		return func(*Input) bool { return v }
	case *ast.UnaryNode:
		if x := r.predicate(n.Node); x != nil && n.Operator == "!" {
			return func(in *Input) bool { return !x(in) }
		}
	case *ast.ConditionalNode:
		c, a, b := r.predicate(n.Cond), r.predicate(n.Exp1), r.predicate(n.Exp2)
		if c != nil && a != nil && b != nil {
			return func(in *Input) bool {
				if c(in) {
					return a(in)
				}
				return b(in)
			}
		}
	case *ast.BinaryNode:
		return r.binaryPredicate(n)
	case *ast.CallNode:
		text := textFunc(n.Arguments[0])
		if text == nil {
			return nil
		}
		hit := r.anyOf(n.Callee.(*ast.IdentifierNode).Value, n.Arguments[1].(*ast.ConstantNode).Value.([]string)).holds
		return func(in *Input) bool { return hit(text(in)) }
	case *ast.BuiltinNode:
		if rel := relationFuncs[n.Name]; rel != nil && len(n.Arguments) == 2 {
			return compare(rel, n.Arguments[0], n.Arguments[1])
		}
	}
	return nil
}

func (r *resolver) binaryPredicate(n *ast.BinaryNode) predicate {
	switch n.Operator {
	case "&&", "||":
		a := r.predicate(n.Left)
		if a == nil {
			return nil
		}
		b := r.predicate(n.Right)
		switch {
		case b == nil:
			return nil
		case n.Operator == "&&":
			return func(in *Input) bool { return a(in) && b(in) }
		}
		return func(in *Input) bool { return a(in) || b(in) }
	case "in":
		text, items := textFunc(n.Left), constants(n.Right)
		if text == nil || items == nil {
			return nil
		}
		set := r.setOf(items)
		return func(in *Input) bool {
			_, ok := set[text(in)]
			return ok
		}
	case "matches":
		text := textFunc(n.Left)
		if text == nil {
			return nil
		}
		p, err := newPattern(n.Right.(*ast.StringNode).Value)
		if err != nil {
			return nil // the machine's compiler reports it
		}
		return func(in *Input) bool { return p.match(text(in)) }
	}
	if rel := relations[n.Operator]; rel != nil {
		return compare(rel, n.Left, n.Right)
	}
	return nil
}

// compare returns the predicate of a relation of two texts, nil where one of them
// is not a text or has no function.
func compare(rel func(a, b string) bool, left, right ast.Node) predicate {
	a, b := textFunc(left), textFunc(right)
	if a == nil || b == nil {
		return nil
	}
	if s, ok := right.(*ast.StringNode); ok {
		text := s.Value
		return func(in *Input) bool { return rel(a(in), text) }
	}
	return func(in *Input) bool { return rel(a(in), b(in)) }
}

// constants returns the items of a list of constant texts, nil where n is
// something else.
func constants(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.ConstantNode:
		items, _ := n.Value.([]string)
		return items
	case *ast.ArrayNode:
		items := make([]string, len(n.Nodes))
		for i, item := range n.Nodes {
			s, ok := item.(*ast.StringNode)
			if !ok {
				return nil
			}
			items[i] = s.Value
		}
		return items
	}
	return nil
}

// textFunc returns the function of a text, nil where n is something else.
func textFunc(n ast.Node) textOf {
	switch n := n.(type) {
	case *ast.StringNode:
		text := n.Value
		return func(*Input) string { return text }
	case *ast.IdentifierNode:
		return values[varOf(n.Value)]
	case *ast.BuiltinNode:
		f := textFuncs[n.Name]
		if f == nil || len(n.Arguments) != 1 {
			return nil
		}
		if text := textFunc(n.Arguments[0]); text != nil {
			return func(in *Input) string { return f(text(in)) }
		}
	}
	return nil
}

// values are those of the variables.
var values = map[varSet]textOf{
	varTemplate:  func(in *Input) string { return in.Template },
	varFrames:    func(in *Input) string { return in.Frames },
	varLevel:     func(in *Input) string { return in.Level.String() },
	varSource:    func(in *Input) string { return in.Source },
	varKind:      func(in *Input) string { return in.Kind.String() },
	varStatus:    func(in *Input) string { return in.Status.String() },
	varPhase:     func(in *Input) string { return in.Phase },
	varMethod:    func(in *Input) string { return in.method() },
	varMessage:   func(in *Input) string { return in.Message },
	varStack:     func(in *Input) string { return in.Stack },
	varOperation: func(in *Input) string { return in.Operation },
}

// pattern is a regular expression. Package regexp tries one that begins with a
// class at every character; but often the class is followed by
// a literal, as in [a-z]Exception, and the places where it stands are soon found.
type pattern struct {
	whole *regexp.Regexp

	// The rest is zero for expressions of another form.
	here    *regexp.Regexp // whole, at the beginning of a text
	literal string
	before  int // bytes of a match before literal
	places  int // that are tried
}

// How often a pattern is tried at a literal before the whole expression takes
// over, whose time is linear in the text: an expression such as ab.*c reads to the
// end each time.
const (
	placesTried   = 4
	endlessPlaces = 1
)

func newPattern(text string) (*pattern, error) {
	whole, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{whole: whole, places: placesTried}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, nil
	}
	if p.literal, p.before = anchor(re); p.literal == "" {
		return p, nil
	}
	if p.here, err = regexp.Compile(`\A(?:` + text + `)`); err != nil {
		return &pattern{whole: whole}, nil
	}
	if endless(re) {
		p.places = endlessPlaces
	}
	return p, nil
}

// anchor returns the literal that stands in every match of re after so many
// bytes, "" where re is of another form.
func anchor(re *syntax.Regexp) (literal string, before int) {
	if re.Op != syntax.OpConcat || looksBack(re) {
		return "", 0
	}
	before = slices.IndexFunc(re.Sub, func(sub *syntax.Regexp) bool { return !isByteClass(sub) })
	if before < 0 || !isText(re.Sub[before]) {
		return "", 0
	}
	return string(re.Sub[before].Rune), before
}

// match reports whether s holds a match.
func (p *pattern) match(s string) bool {
	if p.here == nil {
		return p.whole.MatchString(s)
	}
	next := 0
	for range p.places {
		i := strings.Index(s[next:], p.literal)
		if i < 0 {
			return false
		}
		i += next
		if i >= p.before && p.here.MatchString(s[i-p.before:]) {
			return true
		}
		next = i + 1
	}
	return p.whole.MatchString(s[max(next-p.before, 0):])
}

// looksBack reports whether a match of re depends on what is before it.
func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, looksBack)
}

// isByteClass reports whether re matches one byte, and a character of its own.
func isByteClass(re *syntax.Regexp) bool {
	return re.Op == syntax.OpCharClass && len(re.Rune) > 0 && re.Rune[len(re.Rune)-1] <= unicode.MaxASCII
}

// isText reports whether re is a literal that matches one text. One in any case
// matches several, and so does the character that stands for every invalid byte.
func isText(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError)
}
