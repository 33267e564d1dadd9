package signature

// piece is the kind of text after the literal text that [scanner.next] found.
type piece uint8

const (
	pieceEnd   piece = iota // nothing: the text is at its end
	pieceSpace              // one space, in place of white space that is not exactly that
	pieceMask               // a variable
)

// pieceTexts holds the text of each piece in a template.
var pieceTexts = [...]string{pieceEnd: "", pieceSpace: " ", pieceMask: Mask}

// A scanner cuts one text, a head, into literal stretches, variables and white
// space. It makes a single pass: no byte of any text is looked at more than a fixed
// number of times.
//
// That a template is its own template rests on three rules that every
// predicate of the scanner keeps:
//
//   - A decision about a token depends on its own bytes, on literal bytes
//     before it, and on bytes after it only by their class.
//   - To the left, whatever became a mask is the same as a mask that was
//     there: a predicate that looks left asks first whether its token begins
//     at masked, and never looks past that.
//   - To the right, a byte that begins a narrow or wide token weighs as much
//     as a mask, because it may become one.
type scanner struct {
	n      *Normalizer
	s      string
	window window

	from, to int  // the literal stretch that next found: s[from:to]
	kind     kind // of the variable that follows it, if show is set
	show     bool

	i      int // where scanning continues
	lit    int // where the next literal stretch begins
	masked int // end of the last variable, -1 if there was none

	// quotes holds the first closing mark of each kind that the last search
	// found, or len(s) for none: one search serves all openings before it.
	quotes [quoteKinds]int
	// text is where the last quotation that is text ends: its closing mark, or
	// len(s) if it has none.
	text   int
	opened int // its opening mark
	// account is where the name of an account begins, if the words before it
	// say that one does.
	account int
	begin   int // where the last variable begins
	before  int // end of the variable before that, -1 if there was none
}

// start begins on the head of message, without the white space at its ends, and
// returns the lines after it. sc must be zero.
func (sc *scanner) start(n *Normalizer, message string) (rest string) {
	sc.n, sc.masked, sc.text, sc.opened, sc.account = n, -1, -1, -1, -1
	head, rest := splitHead(message)
	sc.s = trim(head)
	return rest
}

// next finds the next literal stretch and returns the kind of text after it.
func (sc *scanner) next() piece {
	s, i := sc.s, sc.i
	for i < len(s) {
		from := i
		var j int // where the token ends, if it is a narrow one
		var all class
		i, j, all = sc.window.skip(s, from)
		if from <= sc.account && sc.account < i {
			i, j = sc.account, 0
			if classes[s[i]]&narrow != 0 {
				j, all = sc.window.token(s, i)
			}
		}
		if i == len(s) {
			break
		}
		start, end, k := i, i+1, literal
		switch c := classes[s[i]]; {
		case j > 0:
			if j-i == len("user") && s[i] == 'u' {
				sc.account = sc.accountAfter(i)
			}
			if end, k = j, kindToken; !isID(s, i, j, all) || j-i == 1 && s[i] == '0' || sc.n.words.has(s[i:j]) ||
				mayFollowKeyword(s, i) || j-i == 3 && sc.asked() {
				end, k = sc.narrow(i, j, all)
			}
		case c&space != 0:
			if s[i] != ' ' || classes[s[i+1]]&space != 0 { // the text is trimmed, so something follows
				sc.from, sc.to = sc.lit, i
				sc.i = skip(s, end, space)
				sc.lit = sc.i
				return pieceSpace
			}
		case c&act != 0:
			start, end, k = sc.special(i)
		}
		if k != literal {
			return sc.variable(start, end, k)
		}
		i = end
	}
	sc.from, sc.to = sc.lit, len(s)
	sc.lit, sc.i = len(s), len(s)
	return pieceEnd
}

// variable ends the literal stretch at start, and takes into the variable that
// ends at end all variables, separators between them and units that follow.
//
// Separators may themselves begin a variable, as the sign of a number does.
func (sc *scanner) variable(start, end int, k kind) piece {
	s := sc.s
	sc.from, sc.to = sc.lit, start
	sc.begin, sc.before = start, sc.masked
	if assigns(s, end) {
		end = paddingEnd(s, start, end)
	}
	sc.masked = end
	if sc.show {
		sc.kind = shown(s[start:end], k)
	}
	blank := true // nothing but white space between end and i
	for i := end; i < len(s); {
		c := classes[s[i]]
		if c&(fold|act) == fold {
			blank = blank && c&space != 0
			i++
			continue
		} else if c&(narrow|act) == 0 && s[i] != '%' {
			break
		}
		stop, k := sc.following(i, start, end, blank)
		switch {
		case k != literal:
			if sc.show {
				sc.kind = sc.kind.join(shown(s[i:stop], k), s[end:i])
			}
			start, blank, end = i, true, stop
			if k != kindUnit && assigns(s, end) {
				end = paddingEnd(s, i, stop)
			}
			sc.masked, i = end, end
			continue
		case c&fold != 0:
			blank = false
			i++
			continue
		case c&narrow != 0 && i == end+1 && s[end] == ' ' && s[i] != 'u':
			// It need not be looked at again, unless it may make the token after it the name of an account.
			end = stop
		}
		break
	}
	sc.lit, sc.i = sc.masked, end
	return pieceMask
}

// following decides about the token at i in the run of variables whose last one is s[start:end], with nothing but white
// space between if blank.
func (sc *scanner) following(i, start, end int, blank bool) (int, kind) {
	s := sc.s
	switch c := classes[s[i]]; {
	case c&act != 0:
		if from, stop, k := sc.special(i); from == i {
			return stop, k
		}
		return i + 1, literal
	case s[i] == '%' && blank && isPercent(s, end, i):
		return i + 1, kindUnit
	case c&narrow == 0:
		return i + 1, literal
	}
	stop, all := sc.window.token(s, i)
	k := literal
	switch {
	case isID(s, i, stop, all) && !sc.n.words.has(s[i:stop]) && !mayFollowKeyword(s, i) && (stop-i != 3 || !sc.asked()):
		return stop, kindToken
	case all&event != 0 || i == sc.account:
		stop, k = sc.narrow(i, stop, all)
	}
	switch t := s[i:stop]; {
	case k != literal:
	case blank && isUnit(t, all) && isNumber(s, start, end) && !sc.n.words.has(t):
		k = kindUnit
	case i == end+1 && s[end] == '@' && isDomain(t):
		k = kindHost
	}
	return stop, k
}

// isNumber reports whether the variable s[i:j] is a number, which a unit may follow: it begins with a digit, maybe
// after a sign, and ends with one, but for padding, or is hexadecimal.
func isNumber(s string, i, j int) bool {
	for s[j-1] == '=' {
		j--
	}
	if classes[s[i]]&narrow == 0 {
		i++
	}
	return i < j && classes[s[i]]&digit != 0 && (classes[s[j-1]]&digit != 0 || i+1 < j && s[i+1]|0x20 == 'x')
}

// isID reports whether the token s[i:j], which holds the classes all, is a variable unless it is protected or follows a
// keyword, as most are: a number, digits and more, or a word with digits whose second letter is small. It is inlined.
func isID(s string, i, j int, all class) bool {
	return (all == digit|event || all&(digit|slash|tick) == digit && classes[s[i]]&digit != 0 ||
		all&(digit|glue) == digit && isLower(s[i+1])) && (j == len(s) || s[j] != ':' && s[j] != '/')
}

// narrow decides about the narrow token s[i:j] that holds the classes all.
func (sc *scanner) narrow(i, j int, all class) (int, kind) {
	s := sc.s
	if j+1 < len(s) && (s[j] == ':' || s[j] == '@' || s[j] == '/') {
		if end, k := sc.beginning(i, j, all); k != literal {
			return end, k
		}
	}
	k := sc.word(i, j, all)
	if k == literal && i == sc.account && !digitOutsideArity(s[i:j]) && !sc.n.words.has(s[i:j]) {
		k = kindValue
	}
	return j, k
}

// beginning decides about the token s[i:j], which holds the classes all, if it may be the beginning of more: a colon,
// '@' or a slash is after it.
func (sc *scanner) beginning(i, j int, all class) (int, kind) {
	s, next := sc.s, classes[sc.s[j+1]]
	switch {
	case s[j] == '@':
		if end, _ := sc.window.token(s, j+1); all&digit == 0 && next&letter != 0 && isDomain(s[j+1:end]) {
			return end, kindHost
		}
	case s[j] == '/':
		k := dotsEnd(s, j+1)
		if k > j+1 && at(s, k)&wordlike != 0 ||
			k == j+1 && s[k] == '.' && at(s, k+1)&wordlike != 0 && all&glue != 0 && hasDot(s[i:j]) {
			return pathEnd(s, k), kindPath
		}
	case next&slash != 0:
		if j-i == 1 && isLetter(s[i]) {
			return drivePath(s, j+1), kindPath
		}
		if at(s, j+2)&slash != 0 && s[j+1:j+3] == "//" && isScheme(s, i, all) {
			return cutPunctuation(s, j+3, skip(s, j+3, link)), kindURL // a query is part of it
		}
	case next&digit != 0 && isPortHost(s[i:j]):
		return j, kindHost
	case j-i <= groupMax && (s[j+1] == ':' || next&(hexa|digit) != 0):
		if end := addressEnd(s, i); end > 0 {
			return end, kindHost
		}
	}
	return j, literal
}

// word decides about the narrow token s[i:j] alone, which holds the classes all.
func (sc *scanner) word(i, j int, all class) kind {
	s := sc.s
	t := s[i:j]
	switch {
	case all&digit != 0 && (all&tick == 0 || digitOutsideArity(t)):
		return sc.number(i, j, all)
	case sc.n.words.has(t):
		// It is protected.
	case all&glue != 0 && j+1 < len(s) && assigns(s, j) && s[j+1] == '=' && paddingEnd(s, i, j) > j:
		return kindToken
	case all&slash != 0:
		if isRelativePath(t) {
			return kindPath
		}
	case isCalendar(s, i, j):
		return kindTime
	case all&glue != 0 && isHostName(t):
		return kindHost
	case len(t) >= hexMin && isHexWord(t) && (!mayFollowKeyword(s, i) || !sc.isCode(i, j)):
		return kindHex
	}
	return literal
}

// isScheme reports whether the token at i, which holds the classes all, may be the
// scheme of a URL: it is ASCII without slash and tick.
func isScheme(s string, i int, all class) bool {
	if all&(slash|tick) != 0 {
		return false
	}
	_, all = narrowEnd(s, i)
	return all&cont == 0
}

// number decides about the narrow token s[i:j] with a digit, which holds the classes all.
func (sc *scanner) number(i, j int, all class) kind {
	s := sc.s
	if sc.n.words.has(s[i:j]) || all&glue != 0 && sc.n.words.keeps(s[i:j]) ||
		(mayFollowKeyword(s, i) || j-i == 3 && sc.asked()) && sc.isCode(i, j) ||
		isUpper(s[i]) && isMessageNumber(s, i, j) || (all&slash != 0 || j == i+1) && sc.isExtreme(i, j) {
		return literal
	}
	return kindToken
}

// special decides about the token at i that begins with a byte of class act; '=' is no part of any.
// The variable, if it is one, begins at start.
func (sc *scanner) special(i int) (start, end int, k kind) {
	s := sc.s
	c := classes[s[i]]
	if c&wide != 0 {
		return i, wideEnd(s, i), literal
	}
	switch s[i] {
	case '<', '-', '+':
		if isMask(s, i) {
			return i, i + len(Mask), kindMask
		}
		if at(s, i+1)&digit != 0 && !sc.afterWord(i) {
			return sc.signed(i)
		}
	case '"', '\'':
		if e := sc.quoteEnd(i); e > 0 {
			return i, e, kindQuoted
		}
	case '.', '/', '\\':
		if e := sc.rooted(i); e > 0 {
			return i, e, kindPath
		}
	case '(':
		if i+1 < len(s) && s[i+1] == ')' && i > sc.masked && sc.masked > 0 && blank(s[sc.masked:i]) {
			return i + 1, i + 1, kindValue
		}
	case '=':
		if at(s, i+1)&wordlike != 0 && sc.afterWord(i) {
			return sc.value(i + 1)
		}
	}
	return i, i + 1, literal
}

// signed decides about the number after the sign, or '<', at i.
func (sc *scanner) signed(i int) (start, end int, k kind) {
	s := sc.s
	j, _ := sc.window.token(s, i+1)
	switch {
	case s[i] == '<':
		if j < len(s) && s[j] == '>' || sc.n.words.has(s[i+1:j]) {
			return i, i + 1, literal
		}
	case mayFollowKeyword(s, i) && sc.isCode(i, j) || sc.n.words.has(s[i:j]):
		return i, j, literal
	}
	return i, j, kindToken
}

// rooted returns the end of the path that begins with the dot or slash at i, or 0.
func (sc *scanner) rooted(i int) int {
	s, j := sc.s, i
	switch {
	case !sc.opens(i):
		return 0
	case s[i] == '\\':
		if at(s, i+2)&wordlike != 0 && s[i+1] == '\\' {
			return drivePath(s, i+1)
		}
		return 0
	case s[i] == '/':
		j++
	}
	if j = dotsEnd(s, j); j > i && beginsName(s, j) {
		return pathEnd(s, j)
	}
	return 0
}

// value decides about the token at i that follows "key=".
func (sc *scanner) value(i int) (start, end int, k kind) {
	s := sc.s
	if classes[s[i]]&wide != 0 {
		end = wideEnd(s, i)
		if sc.n.words.has(s[i:end]) || mayFollowKeyword(s, i) && sc.keyword(i).announces() {
			return i, end, literal
		}
		return i, end, kindValue
	}
	end, all := sc.window.token(s, i)
	if all&event != 0 || i == sc.account {
		if end, k = sc.narrow(i, end, all); k != literal {
			return i, end, k
		}
	}
	if t := s[i:end]; isTelling(t) || inCapitals(t) || sc.n.words.has(t) || end-i == 1 && classes[s[i]]&digit != 0 ||
		mayFollowKeyword(s, i) && sc.keyword(i).announces() {
		return i, end, literal
	}
	return i, end, kindValue
}

// afterWord reports whether a word or a variable ends right before i.
func (sc *scanner) afterWord(i int) bool {
	return i == sc.masked || i > 0 && classes[sc.s[i-1]]&wordlike != 0
}

// opens reports whether a path may begin at i.
func (sc *scanner) opens(i int) bool {
	return i == 0 || i == sc.masked || classes[sc.s[i-1]]&open != 0
}

func wideEnd(s string, i int) int { return skip(s, i+1, wide|cont) }

// blank reports whether s holds nothing but white space.
func blank(s string) bool {
	return skip(s, 0, space) == len(s)
}

// trim cuts white space, as the class table sees it, off both ends.
func trim(s string) string {
	i := skip(s, 0, space)
	return s[i:skipBack(s, i, len(s), space)]
}
