package signature

// A byte has four bits. The first is set in narrow tokens, where the others mean
// hexadecimal letter, initial and digit; elsewhere they are a number.
// A plane is one of the four, of up to 64 bytes.
const (
	roleNarrow  = 1
	roleHexa    = 1 << 16
	roleInitial = 1 << 32
	roleDigit   = 1 << 48

	roleSpace = roleHexa                           // one space
	roleGlue  = roleInitial                        // class glue
	roleColon = roleDigit                          // a colon, or '@'
	roleQuote = roleHexa | roleInitial             // a quotation mark
	roleParen = roleHexa | roleDigit               // a parenthesis
	roleEqual = roleInitial | roleDigit            // '='
	roleOther = roleHexa | roleInitial | roleDigit // '<', class wide, and space that is not one space
)

// roles has the four bits of each byte at distances of 16 bits: so 16 bytes can be joined
// by shifting them into their places, which is faster than comparing eight at a time
// in a register.
var roles = func() (t [256]uint64) {
	for b := range t {
		c := classes[b]
		switch {
		case c&narrow != 0:
			t[b] = roleNarrow
			if c&digit != 0 {
				t[b] |= roleDigit
			}
			if c&hexa != 0 {
				t[b] |= roleHexa
			}
			if c&initial != 0 {
				t[b] |= roleInitial
			}
		case b == ' ':
			t[b] = roleSpace
		case c&glue != 0:
			t[b] = roleGlue
		case b == ':' || b == '@':
			t[b] = roleColon
		case b == '"' || b == '\'':
			t[b] = roleQuote
		case b == '(' || b == ')':
			t[b] = roleParen
		case b == '=':
			t[b] = roleEqual
		case c&(act|space) != 0:
			t[b] = roleOther
		}
	}
	return t
}()

// planesOf returns the planes of the at most 64 bytes of s.
func planesOf(s string) (n, x, y, z uint64) {
	if len(s) < 16 {
		var v uint64
		for k := range len(s) {
			v |= roles[s[k]] << (k & 15)
		}
		return v & 0xffff, v >> 16 & 0xffff, v >> 32 & 0xffff, v >> 48
	}
	for i := 0; ; i += 16 {
		i = min(i, len(s)-16) // bytes may be read twice, with the same bits
		b := s[i : i+16]
		v := four(b[0:4]) + four(b[4:8])<<4 + four(b[8:12])<<8 + four(b[12:16])<<12
		n, x, y, z = n|v&0xffff<<(i&63), x|v>>16&0xffff<<(i&63), y|v>>32&0xffff<<(i&63), z|v>>48<<(i&63)
		if i+16 == len(s) {
			return n, x, y, z
		}
	}
}

// four joins four bytes. No bit is in two of them, so that additions do, which take a shift along.
func four(b string) uint64 {
	return roles[b[0]] + roles[b[1]]<<1 + (roles[b[2]]+roles[b[3]]<<1)<<2
}
