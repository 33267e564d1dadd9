package signature

import (
	"bytes"
	"math/bits"
	"os"
	"slices"
	"strings"
)

// outlineWords bounds the words of an outline. A statement with more is not aligned.
const outlineWords = 32

// outlines is how many outlines are kept.
const outlines = 1024

// outline is a statement without its names and values.
type outline struct {
	Node    uint32 // plus one, the first with it
	N       uint8
	Frames  uint64
	Varying uint32 // a bit for each word that varies between its neighbors
	Bloom   uint64 // a bit for each word
	Words   [outlineWords]uint32
	Forms   [outlineWords]wordForm
	Left    [outlineWords + 1]uint8 // how many names and values were left out before each word, and at the end
	At      [outlineWords]uint8     // the words' places in the statement, not kept
}

// wordForm is what an outline keeps of a word beside its hash.
type wordForm uint8

const (
	fieldKey  wordForm = 1 << iota
	firstName          // the first word, if it may be a name
	qualified          // of these, in parts
	capitals
)

// outlineOf sets o to the outline of t.
func (o *outline) of(t *tokens) bool {
	*o = outline{Frames: t.frames}
	form := wordForm(0)
	for i := 0; i <= t.n; i++ {
		w := &term{marks: t.marks, gap: t.gap}
		if i < t.n {
			w = &t.words[i]
		}
		if i < t.n && t.isVariable(i) {
			o.Left[o.N]++
			continue
		}
		if w.key {
			form |= fieldKey
		}
		switch {
		case i == 0 && w.kind == titleWord:
			form |= firstName
		case i == 0 && w.kind == nameWord:
			form |= firstName | qualified
		case w.kind == capitalWord:
			form |= capitals
		}
		if i == t.n {
			return true
		}
		if o.N == outlineWords {
			return false
		}
		o.Forms[o.N] = form
		form = 0
		o.Words[o.N], o.At[o.N] = uint32(w.hash>>32), uint8(i)
		o.Bloom |= 1 << (w.hash >> 58)
		o.N++
	}
	return true
}

// isVariable reports whether an outline leaves out word i: a name, a value, or a word alone in brackets.
func (t *tokens) isVariable(i int) bool {
	w := &t.words[i]
	if w.kind == titleWord && i > 0 && w.gap == gapOpen && !w.opens && !t.words[i-1].key && off("T") && len(bytes.Fields(w.text)) == 1 {
		return false
	}
	if f := &t.words[0]; off("U") && i > 0 && w.kind == nameWord && f.kind == nameWord && t.words[1].marks == 0 && !bytes.Contains(w.text, []byte(Mask)) {
		return false
	}
	return w.kind == value || off("I") && w.opens && w.closed && i > 0 || w.kind.isName() && (i > 0 || bytes.Contains(w.text, []byte(Mask)))
}

// align notes the outline of node n, and joins the groups of all that are of the same statement.
func (g *Grouper) align(n uint32, t *tokens) {
	o := &g.outline
	if !o.of(t) || o.N < fewOthers {
		return
	}
	o.Node = n + 1
	opened := g.learnContexts(o)
	if !g.joinAll(o) {
		g.outlines[g.nextOutline%outlines] = *o
		g.nextOutline++
	}
	for _, key := range opened {
		for i := range g.outlines {
			p := &g.outlines[i]
			if p.Node == 0 {
				break
			}
			before := p.Varying
			for j := range int(p.N) {
				left, right := p.contexts(j)
				if left == key || right == key {
					p.Varying |= 1 << j
				}
			}
			if p.Varying != before {
				g.joinAll(p)
			}
		}
	}
}

// learnContexts notes each word of o between its neighbors. It returns the contexts that it opened.
func (g *Grouper) learnContexts(o *outline) []uint64 {
	g.openings = g.openings[:0]
	for i := range int(o.N) {
		left, right := o.contexts(i)
		if o.Forms[i]&(fieldKey|qualified) != 0 || o.N <= fewOthers {
			continue
		}
		for _, key := range [...]uint64{left, right} {
			if key == 0 {
				continue
			}
			c := g.column(key)
			if !c.Open && c.N < 9 && !slices.Contains(c.Words[:c.N], o.Words[i]) {
				c.Words[c.N], c.Nodes[c.N] = o.Words[i], o.Node
				c.N++
				if off("C") && c.N == contextWords {
					c.Open = true
					g.openings = append(g.openings, key)
				}
			}
			if c.Open {
				o.Varying |= 1 << i
			}
		}
	}
	return g.openings
}

const contextWords = 5

// contexts returns the keys of the columns of word i with two words before it and one after it, and with one and two.
func (o *outline) contexts(i int) (left, right uint64) {
	at := func(i int) uint64 {
		switch {
		case i < 0:
			return 1
		case i >= int(o.N):
			return 2
		}
		return uint64(o.Words[i])
	}
	if i > 0 {
		left = place(at(i-2)<<32|at(i-1), 0) + place(at(i+1), 1) | 1
	}
	if i+1 < int(o.N) {
		right = place(at(i+2)<<32|at(i+1), 2) + place(at(i-1), 3) | 1
	}
	return left, right
}

// joinAll joins the group of o with the groups of all outlines of the same statement. It reports whether one is equal.
func (g *Grouper) joinAll(o *outline) bool {
	for i := range g.outlines {
		p := &g.outlines[i]
		if p.Node == 0 {
			break
		}
		if p.Frames != o.Frames || bits.OnesCount64(p.Bloom&o.Bloom) < fewOthers {
			continue
		}
		d, ok := o.compare(p)
		if ok {
			g.union(p.Node-1, o.Node-1)
		}
		if ok && d == 0 && p.N == o.N && p.Words == o.Words && p != o {
			return true
		}
	}
	return false
}

// compare reports whether o and p are outlines of one statement, and in how many parts they differ.
func (o *outline) compare(p *outline) (parts int, ok bool) {
	if o.N < p.N || o.N == p.N && o.Bloom < p.Bloom {
		return p.compare(o)
	}
	o, p = o.reduced(), p.reduced()
	n, m := int(o.N), int(p.N)
	// longest[i][j] is how many words o from i and p from j share in order
	var longest [outlineWords + 1][outlineWords + 1]uint8
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if o.Words[i] == p.Words[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	shared := int(longest[0][0])
	if shared < fewOthers {
		return 0, false
	}
	other, sides := 0, 0
	for i, j := 0, 0; i < n || j < m; {
		if i < n && j < m && o.Words[i] == p.Words[j] {
			if o.Forms[i]&fieldKey != 0 && (o.Left[i+1] > 0) != (p.Left[j+1] > 0) {
				return 0, false
			}
			i, j = i+1, j+1
			continue
		}
		k, l := i, j
		for k < n || l < m {
			if k < n && l < m && o.Words[k] == p.Words[l] {
				break
			}
			if l == m || k < n && longest[k+1][l] >= longest[k][l+1] {
				k++
			} else {
				l++
			}
		}
		if !mayDiffer(o, i, k, p, j, l) {
			return 0, false
		}
		parts++
		if k > i && l == j {
			sides |= 1
		} else if l > j && k == i {
			sides |= 2
		}
		other += max(k-i, l-j)
		i, j = k, l
	}
	if !off("H") && parts > 0 && shared == fewOthers || !off("J") && parts>1 || !off("G") && shared < 2*other {
		return 0, false
	}
	return parts, other <= shared && (sides < 3 || !off("s"))
}

// reduced returns o without the words that vary.
func (o *outline) reduced() *outline {
	if o.Varying == 0 {
		return o
	}
	r := *o
	r.N, r.Left = 0, [outlineWords + 1]uint8{}
	for i := range int(o.N) + 1 {
		r.Left[r.N] += o.Left[i]
		switch {
		case i == int(o.N):
		case o.Varying>>i&1 != 0:
			r.Left[r.N]++
		default:
			r.Words[r.N], r.Forms[r.N] = o.Words[i], o.Forms[i]
			r.N++
		}
	}
	return &r
}

// mayDiffer reports whether one statement may have the words of o from i to k in one line, and these of p from j to l in
// another.
func mayDiffer(o *outline, i, k int, p *outline, j, l int) bool {
	if k == i {
		o, i, k, p, j, l = p, j, l, o, i, k
	}
	if i == 0 || j < l || o.has(i, k, fieldKey) {
		return false
	}
	own, there := 0, int(p.Left[j])
	for _, left := range o.Left[i : k+1] {
		own += int(left)
	}
	switch {
	case own+1 == there || off("X") && own == 0 && there > 0: // instead of a variable
		return k-i <= 3 && !o.has(i, k, capitals) && (off("e") || k < int(o.N)) && (off("f") || k -i <= 2)
	case (own == there || off("Y")) && o.Left[i] > 0: // more of a name
		return k-i <= 2 && (off("a") || k < int(o.N)) && (off("b") || k-i == 1 || k < int(o.N)) && (off("c") || k-i == 1) && (off("d") || !o.has(i, k, capitals))
	}
	return false
}

// has reports whether a word from i to k has a form.
func (o *outline) has(i, k int, f wordForm) bool {
	for _, form := range o.Forms[i:k] {
		if form&f != 0 {
			return true
		}
	}
	return false
}

var zz = os.Getenv("ZZ")

func off(s string) bool { return !strings.Contains(zz, s) }
