package signature

// kind tells variables apart for display.
type kind uint8

const (
	literal kind = iota // no variable
	kindMask
	kindToken // told apart by shown, when asked
	kindNumber
	kindHex
	kindUUID
	kindID
	kindTime
	kindHost
	kindPath
	kindURL
	kindTag
	kindQuoted
	kindValue
	kindVector
	kindMixed
)

var kindNames = [...]string{
	literal:    "",
	kindMask:   "<*>",
	kindToken:  "<*>",
	kindNumber: "<num>",
	kindHex:    "<hex>",
	kindUUID:   "<uuid>",
	kindID:     "<id>",
	kindTime:   "<time>",
	kindHost:   "<host>",
	kindPath:   "<path>",
	kindURL:    "<url>",
	kindTag:    "<tag>",
	kindQuoted: "<quoted>",
	kindValue:  "<value>",
	kindVector: "<vec>",
	kindMixed:  "<*>",
}

// shown returns k, or what the text t of a kindToken looks like.
func shown(t string, k kind) kind {
	if k != kindToken {
		return k
	}
	if t[0] == '-' || t[0] == '+' {
		t = t[1:]
	}
	var letters, digits, hexas, dots, dashes, slashes int
	for i := range len(t) {
		c := classes[t[i]]
		switch {
		case c&digit != 0:
			digits++
		case c&letter != 0:
			letters++
			if c&hexa != 0 {
				hexas++
			}
		case t[i] == '.':
			dots++
		case t[i] == '-':
			dashes++
		case c&slash != 0:
			slashes++
		}
	}
	rest := len(t) - letters - digits
	switch {
	case len(t) > 2 && t[0] == '0' && t[1]|0x20 == 'x' && letters-1 == hexas && rest == 0:
		return kindHex
	case letters > 0 && slashes > 0:
		return kindPath
	case letters == 0 && dots == 3 && rest == 3:
		return kindHost
	case letters == 0 && dots <= 1 && rest == dots:
		return kindNumber
	case letters == 0 && dashes == 2 && rest == 2:
		return kindTime
	case letters == 0:
		return kindNumber
	case len(t) == 36 && dashes == 4 && rest == 4 && letters == hexas:
		return kindUUID
	case rest == 0 && letters == hexas && len(t) >= hexMin:
		return kindHex
	}
	return kindID
}

// join returns the kind of two variables that became one across gap.
func (k kind) join(next kind, gap string) kind {
	comma, colon := false, false
	for i := range len(gap) {
		comma = comma || gap[i] == ','
		colon = colon || gap[i] == ':'
	}
	switch {
	case k == kindTime || next == kindTime:
		return kindTime
	case k == kindTag:
		return next
	case next == kindTag:
		return k
	case (k == kindNumber || k == kindVector) && next == kindNumber && comma:
		return kindVector
	case k == kindHost && next == kindNumber && colon:
		return kindHost
	case k == kindNumber && next == kindNumber && colon:
		return kindTime
	case k == next:
		return k
	}
	return kindMixed
}
