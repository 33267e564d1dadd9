package signature

import (
	"regexp"
	"strings"
)

// Span is a part of a head that its template masks.
type Span struct {
	// Mask names the form of the part, as "<num>", "<hex>", "<id>" or
	// "<path>"; it is [Mask] where that is several kinds or none.
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
// The text between the spans is in the template, where each run of white space is one
// space. AppendSpans shows masked parts to people: ids, rules and comparisons use the
// canonical template.
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

// kind is the form of a variable.
type kind uint8

const (
	literal   kind = iota // no variable
	kindMask              // it may be several kinds, too
	kindToken             // what shown makes of it, when asked
	kindNumber
	kindHex
	kindUUID
	kindID
	kindTime
	kindHost
	kindPath
	kindURL
	kindQuoted
	kindValue
	kindVector
	kindUnit // of a run of variables alone
)

// kindNames are the names of the kinds, in their order.
var kindNames = [...]string{
	"", Mask, Mask, "<num>", "<hex>", "<uuid>", "<id>", "<time>", "<host>", "<path>", "<url>", "<quoted>", "<value>", "<vec>",
}

// shown returns k, or the form of the text t if k is kindToken.
func shown(t string, k kind) kind {
	if k != kindToken {
		return k
	}
	for _, f := range forms {
		if f.pattern.MatchString(t) {
			return f.kind
		}
	}
	return kindID
}

// forms are the forms of tokens that hold a digit, with a sign or not. People look at few of them, so that a pattern
// is fast enough.
var forms = []struct {
	pattern *regexp.Regexp
	kind    kind
}{
	{regexp.MustCompile(`^[-+]?0[xX][0-9a-fA-F]+$`), kindHex},
	{regexp.MustCompile(`^.*[^-+0-9./\\~` + "`" + `].*[/\\]|[/\\].*[^-+0-9./\\~` + "`" + `]`), kindPath},
	{regexp.MustCompile(`^[-+]?[0-9]+(?:\.[0-9]+){3}$`), kindHost},
	{regexp.MustCompile(`^[-+]?[0-9]+-[0-9]+-[0-9]+$`), kindTime},
	{regexp.MustCompile(`^[-+0-9./\\~` + "`" + `]+$`), kindNumber},
	{regexp.MustCompile(`^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`), kindUUID},
	{regexp.MustCompile(`^[-+]?[0-9a-fA-F]{8,}$`), kindHex},
}

// join returns the kind of two variables that became one across gap.
func (k kind) join(next kind, gap string) kind {
	comma, colon := strings.Contains(gap, ","), strings.Contains(gap, ":")
	switch {
	case next == kindUnit:
		return k
	case k == kindTime || next == kindTime:
		return kindTime
	case (k == kindNumber || k == kindVector) && next == kindNumber && comma:
		return kindVector
	case k == kindHost && next == kindNumber && colon:
		return kindHost
	case k == kindNumber && next == kindNumber && colon:
		return kindTime
	case k == next:
		return k
	}
	return kindMask
}
