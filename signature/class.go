package signature

// class is the set of roles that a byte can play in the text of a head line.
// One table lookup per byte is all that most bytes cost.
type class uint32

const (
	// letter is a byte of a narrow token that is no digit: an ASCII letter, '_',
	// '$', the lead of a two-byte UTF-8 sequence, or a continuation byte.
	letter class = 1 << iota
	digit
	// glue joins two narrow bytes into one token; at the end of a token, or
	// doubled, it is punctuation.
	glue
	// slash is the glue that makes paths.
	slash
	// tick is the glue between a generic name and its arity, as in List`1.
	tick
	// space is white space: the ASCII space and every ASCII control character.
	space
	// fold is a byte between two variables that become one.
	fold
	// wide is the lead of a UTF-8 sequence of three or more bytes. Scripts that
	// need those often write no spaces, so a run of them is a token of its own
	// and does not drag its ASCII neighbors along.
	wide
	// cont is a UTF-8 continuation byte.
	cont
	// act marks a byte that may begin a form: its meaning depends on its neighbors.
	act
	// open may precede the first slash of a path.
	open
	// hexa is a letter that is also a hexadecimal digit.
	hexa
	// initial is the first letter of a word that may begin a form: the name of a
	// month or of a day of the week, "NaN", or "user".
	initial
	// file may occur in a file name.
	file
	// link may occur in a URL.
	link
	// precede may come between a keyword and its value.
	precede
	// ends may follow a base64 text, as white space may.
	ends
	// after ends a value of a template.
	after
	// joint makes one word of a template out of two.
	joint
	// partEnd ends a part of the name of a frame, as white space does.
	partEnd
	// event is a class of tokens, not of bytes: the token may be more than a word;
	// see window.
	event
)

// narrow bytes begin a narrow token and make up most of it.
const narrow = letter | digit

// wordlike bytes rule out an opening quotation mark right after them and a closing
// one right before them.
const wordlike = narrow | wide

var classes = makeClasses()

func makeClasses() (t [256]class) {
	for b := range t {
		switch {
		case b <= ' ' || b == 0x7f:
			t[b] = space | fold | open | precede
		case b >= 0xe0:
			t[b] = wide | act | file | link
		case b >= 0xc0:
			t[b] = letter | file | link
		case b >= 0x80:
			t[b] = letter | cont | file | link
		}
	}
	add := func(set string, c class) {
		for i := range len(set) {
			t[set[i]] |= c
		}
	}
	add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$", letter)
	add("0123456789", digit)
	add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$0123456789.-/\\~+@%#=&?!^*", file|link)
	add("[],;:|", link)
	add("abcdefABCDEF", hexa)
	add("ADFJMNOSTWu", initial)
	add(".-/\\~+`", glue)
	add("/\\", slash)
	add("`", tick)
	add(",;:-/|@#~+", fold)
	add("\"'<(=+-/\\.", act)
	add("\"'([{,;:=|.@#", open)
	add(":=([#\"'", precede)
	add(",;)]}", ends)
	add("\x00 ,;)]}\"|", after)
	add(".-/\\'`@+&~*", joint)
	add("./+:[<()]>{},;\"'", partEnd)
	return t
}

// at returns the class of s[i], and white space beyond either end of s.
func at(s string, i int) class {
	if uint(i) < uint(len(s)) {
		return classes[s[i]]
	}
	return space
}

// skip returns where the bytes of a class end that begin at i.
func skip(s string, i int, c class) int {
	for i < len(s) && classes[s[i]]&c != 0 {
		i++
	}
	return i
}

// skipBack returns where the bytes of a class begin, at floor at the least, that end before i.
func skipBack(s string, floor, i int, c class) int {
	for i > floor && classes[s[i-1]]&c != 0 {
		i--
	}
	return i
}

// narrowEnd returns the end of the narrow token that begins at i, and the classes of its bytes, among them
// digit, glue, slash, tick and cont. Glue belongs to it between narrow bytes only.
func narrowEnd(s string, i int) (int, class) {
	var all class
	for ; i < len(s); i++ {
		c := classes[s[i]]
		if c&narrow == 0 && (c&glue == 0 || at(s, i+1)&narrow == 0) {
			break
		}
		all |= c
	}
	return i, all
}
