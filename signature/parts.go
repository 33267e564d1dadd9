package signature

// learnParts notes the statement of node n with and without each part that it may have, which holds a name or a value.
// Statements that differ in parts are one if one has none of them, and those that differ in fields or values at once.
func (g *Grouper) learnParts(n uint32, t *tokens) {
	g.note(n, g.without(t, 0, 0), 0, false, true, 0)
	put := false // together: a key has nothing for a value
	for i := 1; i < t.n; i++ {
		put = put || t.words[i-1].key && t.words[i].key
	}
	for i := 1; i < t.n; i++ {
		varies, weight := false, enough
		for j := i + 1; !t.words[i-1].key && j <= min(t.n, i+partWords) && t.others(i, j) >= fewOthers; j++ {
			if w := &t.words[j-1]; put || w.holds && !w.key {
				weight = weighName
			}
			if varies = varies || t.words[j-1].kind >= titleWord; varies {
				g.note(n, g.without(t, i, j), t.content(i, j), false, false, weight)
			}
		}
	}
}

// without returns the column of the statements that have all words but those from i to j, and maybe others there.
func (g *Grouper) without(t *tokens, i, j int) *column {
	c := g.column(place(t.frames+t.bag[t.n]-t.bag[j]+t.bag[i], withoutPart) | 1)
	c.Part = true
	return c
}
