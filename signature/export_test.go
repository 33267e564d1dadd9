package signature

import "math"

// learn is Learn with the name of the group.
func learn(g *Grouper, s Signature, template []byte) Signature {
	return g.GroupAt(g.Learn(s, template), s)
}

// wholeSnapshot appends a whole snapshot of g to dst.
func wholeSnapshot(g *Grouper, dst []byte) []byte {
	dst = g.BeginSnapshot(dst)
	for more := true; more; {
		dst, more = g.ContinueSnapshot(dst, math.MaxInt)
	}
	return dst
}
