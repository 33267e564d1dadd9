package signature

// learnParts notes the statement of node n with and without each part that it may have. Statements that differ in
// parts are one if one has none of them.
func (g *Grouper) learnParts(n uint32, t *tokens) {
	if t.held[t.n] < leastOthers {
		return
	}
	g.note(n, g.without(t, 0, 0), 0, false, true, 0)
	for i := 1; i < t.n; i++ {
		first, weight := &t.words[i], 0
		for j := i + 1; j <= min(t.n, i+partWords) && !t.words[i-1].key && t.others(i, j) >= leastOthers; j++ {
			switch k := t.words[j-1].kind; {
			case k == value && first.marks != 0:
				weight = enough
			case k == value || k.isName():
				weight = max(weight, weighName)
			}
			evidence := weight
			switch {
			case t.isPart(i, j):
				evidence = enough
			case t.others(i, j) < fewOthers:
				evidence = 0
			}
			if evidence > 0 {
				g.note(n, g.without(t, i, j), t.content(i, j), false, false, evidence)
			}
		}
	}
}

// without returns the column of the statements that have all words but those from i to j, and maybe others there.
func (g *Grouper) without(t *tokens, i, j int) *column {
	c := g.column(place(t.frames+t.bag[t.n]-t.bag[j]+t.bag[i], withoutPart+t.nameless) | 1)
	c.Part = true
	return c
}

// isPart reports whether a statement may lack the words from i to j by their place: a few in brackets, or after a comma
// at the end, a value at the end, or a word in capitals between fields.
func (t *tokens) isPart(i, j int) bool {
	first, last := &t.words[i], &t.words[j-1]
	switch {
	case first.opens && last.closed:
		return j <= i+fewWords
	case j == t.n:
		return first.gap == gapComma && j <= i+fewWords || j == i+1 && first.kind == value
	}
	return j == i+1 && first.kind == capitalWord && t.words[j].key && t.words[i-1].kind == value
}
