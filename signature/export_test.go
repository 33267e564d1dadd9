package signature

// learn is Learn with the name of the group.
func learn(g *Grouper, s Signature, template []byte) Signature {
	return g.GroupAt(g.Learn(s, template), s)
}
