package rules

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// index finds, in one pass over the texts of an entry, the rules that may match
// it: rules with a needed text that is there, and rules whose need is not known.
// Each rule is filed under its rarest need; its condition decides whether it matches.
// An index never changes.
type index [len(indexed)]literalTable

// anything is the need of rules whose need is not known: every text holds it.
var anything = []literals{{items: []string{""}}}

// maxLiterals bounds how many texts an index looks at. It takes some 100 bytes
// for each that it files, besides the text itself, which is the rule's; rules
// beyond the bound are tried every time. All can be numbered with 16 bits, with
// 0 left for none.
const maxLiterals = 1<<16 - 1

// newIndex returns the index of rules, which name each other by their position.
func newIndex(rules []*Rule) *index {
	var parts [len(indexed)][]part
	known := map[literal]int{} // in parts
	for i, r := range rules {
		n := r.cond.need
		if n.score == 0 {
			n.any = anything
		}
		for _, l := range n.any {
			for _, text := range l.items {
				key, of := literal{l.field, text, l.prefix}, &parts[l.field]
				at, found := known[key]
				if !found {
					at = len(*of)
					known[key] = at
					*of = append(*of, part{literal: key})
				}
				(*of)[at].rules = append((*of)[at].rules, uint16(i))
			}
		}
	}
	x := index{}
	for i := range x {
		x[i] = newLiteralTable(parts[i])
	}
	return &x
}

// candidates sets found to the rules that may match in. It reads nothing of in
// that differs between entries with one plan.
func (x *index) candidates(in *Input, found []bool) {
	clear(found)
	for i := range x {
		x[i].find(indexed[i].value()(in), found)
	}
}

// literalTable finds the texts of a set that the text of a variable holds.
type literalTable struct {
	short []part // with less than four bytes: tried one by one
	parts []part
	heads []uint16 // by the hash of four bytes: 1 + the first of parts with it, 0 without
	shift uint8    // of the hash
}

// literal is a text that others may hold, or begin with.
type literal struct {
	field  int // in indexed
	text   string
	prefix bool
}

// part is a literal in a table. It is found by the hash of four of its bytes, those that share theirs with the fewest
// others.
type part struct {
	literal
	at    int    // of the four bytes
	next  uint16 // 1 + the next part with this hash, 0 at the end
	rules []uint16
}

const (
	gramBytes = 4

	// gramsPerPart bounds the work for a long text: one of its first so many
	// positions will do.
	gramsPerPart = 64
)

// newLiteralTable returns the table of all parts with their texts and rules.
func newLiteralTable(all []part) (t literalTable) {
	for _, p := range all {
		to := &t.parts
		if len(p.text) < gramBytes {
			to = &t.short
		}
		*to = append(*to, p)
	}
	parts := t.parts
	if len(parts) == 0 {
		return t
	}
	size := bits.Len(uint(16*len(parts) - 1)) // so few are taken that most bytes of a text meet none
	t.heads, t.shift = make([]uint16, 1<<size), uint8(32-size)
	load := make([]uint32, len(t.heads))
	for i := range parts {
		for at := range parts[i].grams() {
			load[t.hash(gram(parts[i].text, at))]++
		}
	}
	for i := range parts {
		p := &parts[i]
		for at := range p.grams() {
			if load[t.hash(gram(p.text, at))] < load[t.hash(gram(p.text, p.at))] {
				p.at = at
			}
		}
		head := &t.heads[t.hash(gram(p.text, p.at))]
		p.next, *head = *head, uint16(i+1)
	}
	return t
}

// grams returns how many places of the text its four bytes may have.
func (l *literal) grams() int { return min(len(l.text)-gramBytes+1, gramsPerPart) }

// gram returns the four bytes of s at i.
func gram(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// hash is Fibonacci hashing: the upper bits of a product with 2³² over the
// golden ratio.
func (t *literalTable) hash(g uint32) uint32 { return g * 0x9e3779b1 >> t.shift }

// find adds to found the rules filed under the texts that s holds. An empty s begins with none.
func (t *literalTable) find(s string, found []bool) {
	for i := range t.short {
		if p := &t.short[i]; (s != "" || !p.prefix) && (fit{start: p.prefix}).has(s, p.text) {
			p.mark(found)
		}
	}
	if len(t.parts) == 0 || len(s) < gramBytes {
		return
	}
	g := gram(s, 0) << 8
	for i := gramBytes - 1; i < len(s); i++ {
		g = g>>8 | uint32(s[i])<<24
		for n := t.heads[t.hash(g)]; n != 0; {
			p := &t.parts[n-1]
			if from := i - (gramBytes - 1) - p.at; from >= 0 && (from == 0 || !p.prefix) && strings.HasPrefix(s[from:], p.text) {
				p.mark(found)
			}
			n = p.next
		}
	}
}

// mark adds the rules of p to found.
func (p *part) mark(found []bool) {
	for _, rule := range p.rules {
		found[rule] = true
	}
}

// boundList is a function of the language with its list bound.
type boundList struct {
	holds func(string) bool
	steps int // of contains_any, for each byte of a text
}

// anyOf returns a function of the language with its list bound. The items of a long list for contains_any are looked
// for as an [index] looks for the texts of rules, in one pass. A list of words of faults is looked up in nearly every
// text that no other rule knows.
func anyOf(name string, items []string) boundList {
	each := boundList{bind(listFuncs[name], items), len(items)}
	if len(items) > maxLiterals || name != "contains_any" {
		return each
	}
	parts := make([]part, len(items))
	for i, item := range items {
		parts[i] = part{literal: literal{text: item}, rules: []uint16{0}}
	}
	t := newLiteralTable(parts)
	table := boundList{func(s string) bool {
		var found [1]bool
		t.find(s, found[:])
		return found[0]
	}, tableSteps + triedSteps*t.tried() + len(t.short)}
	if table.steps < each.steps {
		return table
	}
	return each
}

// tried returns how many parts are tried at one byte, at most.
func (t *literalTable) tried() int {
	chain := make([]int, 1+len(t.parts)) // by number: of a part and those after it
	for i := range t.parts {
		chain[i+1] = chain[t.parts[i].next] + 1
	}
	return slices.Max(chain)
}

// indexed are the variables whose texts an [index] looks into. Only those that
// a plan may read can be among them.
var indexed = [...]varSet{varTemplate, varFrames, varSource}

// need is a necessary condition: the entry has a text of at least one of these.
// The zero value is no need.
type need struct {
	any   []literals // belongs to the owner of the need
	score int        // how rare the least of the texts is, roughly; 0: nothing is known
}

// literals are texts; a variable must begin with one of them, or contain one.
type literals struct {
	field  int // in indexed
	prefix bool
	items  []string
}

// impossible is the need of a condition that never holds.
const impossible = math.MaxInt

// and returns a need of a condition that has both.
func (n need) and(m need) need {
	if m.score > n.score {
		return m
	}
	return n
}

// or returns the need of a condition that has one of the two.
func (n need) or(m need) need {
	if n.score == 0 || m.score == 0 {
		return need{}
	}
	if len(n.any) < len(m.any) {
		n, m = m, n // no form of a chain makes a copy for each link
	}
	return need{any: append(n.any, m.any...), score: min(n.score, m.score)}
}

// needFinder finds the needs of conditions. It looks at so many texts as are
// left, so that a long list in many conditions does not cost their product.
type needFinder struct{ left int }

// need returns a necessary condition for n to be want. A condition that fails is
// neither true nor false, so that the need holds for failures as well.
func (f *needFinder) need(n ast.Node, want bool) need {
	switch n := n.(type) {
	case *ast.BoolNode:
		if n.Value != want {
			return need{score: impossible}
		}
	case *ast.UnaryNode:
		if n.Operator == "!" {
			return f.need(n.Node, !want)
		}
	case *ast.ConditionalNode:
		// The needs of the second branch leave out the condition: a second look at it
		// would double the work at each level of nesting.
		a := f.need(n.Cond, true).and(f.need(n.Exp1, want))
		return a.or(f.need(n.Exp2, want))
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "||":
			a, b := f.need(n.Left, want), f.need(n.Right, want)
			if (n.Operator == "&&") == want {
				return a.and(b)
			}
			return a.or(b)
		}
	}
	op, args := relation(n)
	how, ok := fits[op]
	differs := op == "!=" && want || op == "==" && !want
	if !ok || len(args) != 2 || !want && op != "==" && op != "!=" || op == "indexOf" || op == "lastIndexOf" {
		return need{}
	}
	found := f.texts(args[0], how.start, args[1], differs)
	if how == whole {
		found = found.and(f.texts(args[1], how.start, args[0], differs))
	}
	return found
}

// texts returns the need of a relation to a constant, a text or any of a list. A beginning counts as
// rarer than a part: there is one place for it. Of a difference, only the one from "" is a need: any text at all.
func (f *needFinder) texts(variable ast.Node, prefix bool, constant ast.Node, differs bool) need {
	items := constants(constant)
	if s, ok := constant.(*ast.StringNode); ok {
		items = []string{s.Value}
	}
	id, ok := variable.(*ast.IdentifierNode)
	if !ok || len(items) == 0 {
		return need{}
	}
	field := slices.Index(indexed[:], varOf(id.Value))
	if f.left -= len(items); field < 0 || f.left < 0 {
		return need{}
	}
	n := need{any: []literals{{field, prefix, items}}, score: impossible}
	for _, text := range items {
		if (text == "") != differs {
			return need{}
		}
		n.score = min(n.score, len(text))
	}
	if prefix {
		n.score += gramBytes
	}
	return n
}
