package signature

// Span is a part of a head that its template masks.
type Span struct {
	// Mask is what [Normalizer.AppendDisplay] writes in place of the part, such
	// as "<num>"; [Mask] where what is masked is of several kinds or of none.
	Mask string

	// From and To are the bounds of the part, in bytes from the beginning of
	// the head. They are equal where a template masks nothing at all, as
	// between the parentheses of an empty call.
	From, To int
}

// AppendSpans appends the parts of the head of message that its template masks
// to dst, in order and without overlaps, and returns it with the head: the
// first line of message that is not blank, or two where the second names an
// exception, without white space at its ends. The head is a part of message.
//
// Between the spans stands what the template keeps, but for white space, of
// which each run is one space there. It is for showing people what was masked,
// and costs what AppendDisplay costs.
func (n *Normalizer) AppendSpans(dst []Span, message string) (spans []Span, head string) {
	var sc scanner
	sc.start(n, message)
	sc.show = true
	for {
		switch sc.next() {
		case pieceMask:
			// next leaves lit at the end of the variable that begins at to.
			dst = append(dst, Span{Mask: kindNames[sc.kind], From: sc.to, To: sc.lit})
		case pieceEnd:
			return dst, sc.s
		}
	}
}
