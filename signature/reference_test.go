package signature

import (
	"regexp"
	"slices"
	"strings"
)

// The reference: the canonical form of heads as docs/signatures.md specifies it, written
// for reading, one byte at a time and with regular expressions, with no regard
// to cost. The fast code is held to it by the fuzz tests.
//
// It works on text in which every byte is a rune of the same number, so that
// regular expressions see bytes.

type reference struct{ protect []string }

func newReference(c Config) *reference {
	r := &reference{}
	for _, w := range slices.Concat(wellKnown, c.Protect) {
		r.protect = append(r.protect, widen(w))
	}
	return r
}

func widen(s string) string {
	r := make([]rune, len(s))
	for i := range len(s) {
		r[i] = rune(s[i])
	}
	return string(r)
}

func narrowed(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

const (
	refSpace  = `\x00-\x20\x7f`
	refNarrow = `A-Za-z0-9_$\x{80}-\x{df}`
	refWord   = refNarrow + `\x{e0}-\x{ff}`
	refFile   = refWord + `.\-/\\~+@%#=&?!^*`
)

// re compiles a pattern that must match at the beginning of a text. In it, S
// stands for white space, N for a narrow byte, W for a word byte, F for a byte
// of a file name.
func re(pattern string) *regexp.Regexp {
	r := strings.NewReplacer("«S»", refSpace, "«N»", refNarrow, "«W»", refWord, "«F»", refFile)
	return regexp.MustCompile(`^(?:` + r.Replace(pattern) + `)`)
}

var (
	reBlanks     = regexp.MustCompile(`[` + refSpace + `]+`)
	reBlanksHere = re(`[«S»]+`)
	reNarrow     = re("[«N»]+(?:[.\\-/\\\\~+`][«N»]+)*")
	reWide       = re(`[\x{e0}-\x{ff}][\x{80}-\x{bf}\x{e0}-\x{ff}]*`)
	reMaskOr     = re(`<\*>`)
	reWordNext   = re(`[«W»]|<\*>`)
	reURL        = re(`[A-Za-z0-9_$\x{c0}-\x{df}.\-~+]+://`)
	reURLRest    = re(`[«F»\[\],;:|]*`)
	reDrive      = re(`[A-Za-z]:[/\\]`)
	reUNC        = re(`\\\\[«W»]`)
	reFiles      = re(`[«F»]*`)
	rePath       = re(`(/(?:\.{1,2}[/\\]){0,16}|(?:\.{1,2}[/\\]){1,16})\.?[«W»]`)
	reDotted     = re(`/(?:\.{1,2}[/\\]){1,16}[«W»]`)
	reSpaced     = re(`(?:\\ [«W»]|[«F»])*`)
	reGroups     = re(`[0-9a-fA-F]{1,4}(?:::?[0-9a-fA-F]{1,4}){1,19}`)
	reZone       = re(`%[«N»]+(?:[.\-/\\~+` + "`" + `][«N»]+)*`)
	reExt        = regexp.MustCompile(`[^/\\]\.[A-Za-z][A-Za-z0-9]{0,4}$`)
	rePortHost   = regexp.MustCompile(`^(?:localhost|[a-z-]+(?:\.[a-z-]+)+\.[a-z]{2})$`)
	reHostPort   = re(`:[0-9]`)
	reHost       = regexp.MustCompile(`^[a-z.\-]*\.(?:com|net|org|edu|gov|mil|info|biz|local|localdomain|internal|arpa)$`)
	reDomain     = regexp.MustCompile("^[^0-9/\\\\`][^/\\\\`]*$")
	rePadding    = re(`==?(?:$|[«S»,;)\]}])`)
	reBothDots   = regexp.MustCompile(`^[^/\\]*\.[^/\\]*[/\\].*\.`)
	reNumber     = regexp.MustCompile(`^[^` + refNarrow + `]?(?:[0-9](?:.*[0-9])?|[0-9][xX].*)$`)
	reMessage    = regexp.MustCompile(`^(?:[A-Z]{2,6}-|[A-Z]{1,6})[0-9]{3,6}$`)
	rePast       = regexp.MustCompile(`[a-z]{2}ed(?: with)?$`)
	reNegative   = regexp.MustCompile(`^-[0-9]{1,10}$`)
	reSays       = regexp.MustCompile(`(?:^|[` + refWord + `]):[` + refSpace + `]+$`)
	reSaid       = re(`([A-Z]?[a-z]*)[«S»]+([a-z]+)(?:$|[^«N»@:/.\\~+` + "`" + `-]|[.\\~+` + "`" + `-](?:$|[^«N»]))`)
	rePadded     = regexp.MustCompile(`^[A-Z]*-0`)
	reColonEnd   = re(`:(?:$|[«S»])`)
	reRatio      = regexp.MustCompile(`^([0-9]+)/([0-9]+)$`)
	reCounted    = re(`[«S»]+([a-z]{2,}([a-z]))(?:$|[«S»,;)\]}])`)
	reAfterWord  = regexp.MustCompile(`[` + refWord + `][` + refSpace + `]*$`)
	reLetter     = regexp.MustCompile(`[^0-9]`)
	reCode       = regexp.MustCompile(`^(?:[0-9][0-9A-Za-z_$\x{80}-\x{df}]*(?:/[A-Z][0-9A-Za-z_$\x{80}-\x{df}]*)*|[A-Za-z_$\x{80}-\x{df}][0-9A-Za-z_$\x{80}-\x{df}-]*)$`)
	reRequest    = regexp.MustCompile(`^[1-5][0-9][0-9]$`)
	reHTTP       = regexp.MustCompile(`^(?i:http|response)$`)
	reProtocol   = regexp.MustCompile(`HTTP/(?:1\.[01]|2|2\.0|3)$`)
	reListed     = re(`[«S»,;:\-/|@#~+]*[0-9]`)
	reAsks       = regexp.MustCompile(`(?:^|[^` + refWord + `])[A-Z]{3,7} $`)
	reBar        = re(`[«S»]+\|`)
	reLess       = re(`<[0-9][«N»]*(?:[.\-/\\~+` + "`" + `][«N»]+)*`)
	reHidden     = re(`/\.[«W»]`)
	rePairs      = regexp.MustCompile(`^([0-9a-fA-F]{2}(?:::?[0-9a-fA-F]{2}){5,})(?:$|:)`)
	reCapitals   = regexp.MustCompile(`^[A-Z_]{2,}$`)
	reNotHex     = regexp.MustCompile(`[^A-F]`)
	reFields     = re(`[«S»]+(?:\[|(?:<\*>|[«N»]+(?:[.\-/\\~+` + "`" + `][«N»]+)*)=[^=«S»,;)\]}])`)
	reFirst      = regexp.MustCompile(`\][` + refSpace + `]+$`)
	reHexWord    = regexp.MustCompile(`^[a-fA-F]{8,}$`)
	reArity      = regexp.MustCompile("`[0-9]*")
	reDigit      = regexp.MustCompile(`[0-9]`)
	reCodes      = regexp.MustCompile(`^(?i:code|status|errno|signal|sig|signo|exit|rc|error|err|ret|hresult|ntstatus|sqlstate|sqlcode|retcode|returncode|resultcode|errcode|errorcode|exitcode|statuscode)$`)
	reField      = regexp.MustCompile(`^(?i:result|outcome|state|action|op|operation|level|reason|retval|hr|res)$`)
	reAtM        = regexp.MustCompile(`@[mM]$`)
	reText       = regexp.MustCompile(`^(?i:msg|message|event|text|log|payload|body|desc|description|cause|details?|exception|warning|errmsg|stderr|mt)$`)
	reMonth      = regexp.MustCompile(`^(?:NaN|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|January|February|April|June|July|August|September|October|November|December|Mon|Tues?|Wed|Thu|Thur|Thurs|Fri|Sat|Sun|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)$`)
	reMayFirst   = re(`[«S»]*[0-9]`)
	reSentence   = re(`[A-Z]{3,7}[«S»]`)
	reAccount    = regexp.MustCompile(`(?:^|[` + refSpace + `])(?:for|[Ii]nvalid|[Uu]nknown|[Ii]llegal)[` + refSpace + `]+user[` + refSpace + `]+$`)
	reOneToken   = regexp.MustCompile(reNarrow.String() + `|` + reWide.String() + `|` + reMaskOr.String())
	reEmpty      = re(`\(\)`)
	reUnit       = regexp.MustCompile(`(?s)^(?:.*/)?(?:ns|us|\x{c2}\x{b5}s|\x{ce}\x{bc}s|ms|s|nsec|usec|msecs?|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|nanoseconds?|microseconds?|milliseconds?|ticks?|B|b|bytes?|bits?|kB|KB|MB|GB|TB|kb|mb|gb|KiB|MiB|GiB|TiB|K|M|G|Hz|kHz|MHz|GHz|px|fps|bps|kbps|Mbps|Gbps|percent|AM|PM|am|pm|UTC|GMT|EST|EDT|CST|CDT|MST|MDT|PST|PDT|CET|CEST|BST|IST|JST|KST|MSK)$`)
	reConstant   = regexp.MustCompile(`^(?:true|false|yes|no|on|off|null|nil|none|ok|open|closed|started|stopped|paused|resumed|running|enabled|disabled|active|inactive|up|down|connected|disconnected|online|offline|success|failure|succeeded|failed|trace|debug|info|notice|warn|warning|error|fatal|critical)$`)
	reFault      = regexp.MustCompile("^[^/\\\\]*(?:Exception|Error)(?:`[0-9]+)?$")
)

const (
	refFolds  = ",;:-/|@#~+"
	refOpens  = "\"'([{,;:=|.@#"
	refSpaces = "\x00\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f \x7f"
)

func isSpaceRune(r rune) bool { return r <= ' ' || r == 0x7f }

// refHead masks one head.
type refHead struct {
	ref     *reference
	s       []rune
	masked  int  // end of the last variable, or -1
	text    int  // end of the last quotation that is text, or -1
	opened  int  // its opening mark, or -1
	account int  // where the name of an account begins, or -1
	request bool // the last variable is what a request asks for
}

func (r *reference) head(text string) string {
	h := &refHead{ref: r, s: []rune(strings.Trim(widen(text), refSpaces)), masked: -1, text: -1, opened: -1, account: -1}
	var out strings.Builder
	i, written := 0, 0
	for i < len(h.s) {
		start, end, variable := h.token(i)
		if !variable {
			i = end
			continue
		}
		out.WriteString(string(h.s[written:start]))
		out.WriteString(Mask)
		before := h.before(start)
		if h.masked >= 0 {
			before = "a" + before
		}
		h.request = reAsks.MatchString(before)
		number := h.number(start, end)
		end = h.padded(start, end)
		h.masked = end
		i = h.fold(end, number)
		written = i
	}
	out.WriteString(string(h.s[written:]))
	return narrowed(reBlanks.ReplaceAllString(out.String(), " "))
}

// padded returns the end of the padding of base64 after the variable s[i:j], or j.
func (h *refHead) padded(i, j int) int {
	if n := h.match(rePadding, j); n > 0 && j-i >= 8 && h.match(reNarrow, j-1) > 0 {
		for j < len(h.s) && h.s[j] == '=' {
			j++
		}
	}
	return j
}

// number reports whether the variable s[i:j] is a number that a unit may follow.
func (h *refHead) number(i, j int) bool { return reNumber.MatchString(string(h.s[i:j])) }

// fold returns the end of the run of variables of which one, maybe a number, ends at end.
func (h *refHead) fold(end int, number bool) int {
	for k := end; k < len(h.s); {
		start, stop, variable := h.token(k)
		blank := strings.TrimFunc(string(h.s[end:k]), isSpaceRune) == ""
		switch {
		case h.s[k] == '%' && blank && (k == end || h.match(reWordNext, k+1) == 0):
			number, h.masked = false, k+1
			end, k = k+1, k+1
		case variable && start == k, k == end+1 && h.s[end] == '@' && h.domain(k) == stop:
			number = h.number(k, stop)
			stop = h.padded(k, stop)
			h.masked = stop
			end, k = stop, stop
		case isSpaceRune(h.s[k]) || strings.ContainsRune(refFolds, h.s[k]):
			k++
		case blank && number && h.unit(string(h.s[k:stop])):
			number, h.masked = false, stop
			end, k = stop, stop
		default:
			return end
		}
	}
	return end
}

// domain returns the end of the token at i if it makes an address after '@', or -1.
func (h *refHead) domain(i int) int {
	n := h.match(reNarrow, i)
	if t := string(h.s[i : i+n]); n > 0 && reDomain.MatchString(t) && strings.Contains(t, ".") {
		return i + n
	}
	return -1
}

func (h *refHead) unit(t string) bool {
	return !h.protected(t) && reUnit.MatchString(t)
}

func (h *refHead) protected(t string) bool { return slices.Contains(h.ref.protect, t) }

func (h *refHead) from(i int) string { return string(h.s[i:]) }

// match returns the length of the match of p at i, or 0.
func (h *refHead) match(p *regexp.Regexp, i int) int {
	if i >= len(h.s) {
		return 0
	}
	return len([]rune(p.FindString(h.from(i))))
}

// before returns the literal text before i, back to the last variable.
func (h *refHead) before(i int) string { return string(h.s[max(h.masked, 0):i]) }

func (h *refHead) afterWord(i int) bool {
	return i == h.masked || i > 0 && h.match(reWordNext, i-1) > 0 && h.s[i-1] != '<'
}

func (h *refHead) opens(i int) bool {
	return i == 0 || i == h.masked || isSpaceRune(h.s[i-1]) || strings.ContainsRune(refOpens, h.s[i-1])
}

// token returns the token at i. It is a variable from start to end, or literal
// text from i to end.
func (h *refHead) token(i int) (start, end int, variable bool) {
	if n := h.match(reNarrow, i); n > 0 {
		end, variable = h.narrow(i, i+n)
		if t := string(h.s[i:end]); !variable && i == h.account {
			// A token with a digit that was kept stays kept.
			variable = !h.protected(t) && !reDigit.MatchString(reArity.ReplaceAllString(t, ""))
		}
		if string(h.s[i:i+n]) == "user" && i != h.account {
			k := i + n
			for k < len(h.s) && isSpaceRune(h.s[k]) {
				k++
			}
			if reAccount.MatchString(string(h.s[max(h.masked, 0):k])) && k < len(h.s) {
				h.account = k
			} else {
				h.account = -1
			}
		}
		return i, end, variable
	}
	if n := h.match(reWide, i); n > 0 {
		return i, i + n, false
	}
	if n := h.match(reMaskOr, i); n > 0 {
		return i, i + n, true
	}
	if n := h.match(reLess, i); n > 0 && !h.afterWord(i) && (i+n == len(h.s) || h.s[i+n] != '>') &&
		!h.protected(string(h.s[i+1:i+n])) {
		return i, i + n, true
	}
	switch c := h.s[i]; {
	case c == '"' || c == '\'':
		if end := h.quotation(i); end > 0 {
			return i, end, true
		}
	case (c == '-' || c == '+') && i+1 < len(h.s) && '0' <= h.s[i+1] && h.s[i+1] <= '9' && !h.afterWord(i):
		end := i + 1 + h.match(reNarrow, i+1)
		return i, end, !h.code(i, end) && !h.protected(string(h.s[i:end]))
	case c == '\\':
		if h.match(reUNC, i) > 0 && h.opens(i) {
			return i, h.drivePath(i + 2), true
		}
	case (c == '/' || c == '.') && h.match(rePath, i) > 0 && h.opens(i):
		return i, h.path(i + len([]rune(rePath.FindStringSubmatch(h.from(i))[1]))), true
	case c == '=' && h.afterWord(i) && i+1 < len(h.s):
		if n := max(h.match(reNarrow, i+1), h.match(reWide, i+1)); n > 0 {
			end, variable := i+1+n, false
			if h.match(reNarrow, i+1) > 0 {
				end, variable = h.narrow(i+1, end)
			}
			t := string(h.s[i+1 : end])
			if !variable {
				capitals := reCapitals.MatchString(t) && (len(t) < 8 || reNotHex.MatchString(t))
				kept := reDigit.MatchString(t) && len(t) == 1
				variable = !h.protected(t) && !h.keyword(i+1).announces() && !refTelling(t) && !capitals && !kept
			}
			return i + 1, end, variable
		}
	case h.match(reEmpty, i) > 0 && h.masked >= 0 && i > h.masked && strings.TrimFunc(h.before(i), isSpaceRune) == "":
		return i + 1, i + 1, true
	}
	return i, i + 1, false
}

// narrow returns where the narrow token that begins at i, or what it is the
// beginning of, ends, and whether it is a variable.
func (h *refHead) narrow(i, j int) (end int, variable bool) {
	t := string(h.s[i:j])
	digits := reDigit.MatchString(reArity.ReplaceAllString(t, ""))
	if h.match(reDrive, i) > 0 {
		return h.drivePath(i + 3), true
	}
	if n := h.match(reURL, i); n > 0 && i+n == j+3 {
		k := i + n + h.match(reURLRest, i+n)
		return h.cut(i+n, k), true
	}
	if rePortHost.MatchString(t) && h.match(reHostPort, j) > 0 {
		return j, true
	}
	if n := h.address(i, j); n > 0 {
		return n, true
	}
	if !reDigit.MatchString(t) && j < len(h.s) && h.s[j] == '@' && h.domain(j+1) > 0 {
		return h.domain(j + 1), true
	}
	if j < len(h.s) && h.s[j] == '/' {
		if n := h.match(reDotted, j); n > 0 {
			return h.path(j + n - 1), true
		}
		if h.match(reHidden, j) > 0 && strings.Contains(t, ".") {
			return h.path(j + 1), true
		}
	}
	slashes := len(t) - len(strings.NewReplacer("/", "", `\`, "").Replace(t))
	switch {
	case digits:
		message := reMessage.MatchString(t) && (rePadded.MatchString(t) || h.match(reColonEnd, j) > 0)
		return j, !h.keeps(t) && !h.code(i, j) && !message && !h.extreme(i, j)
	case h.protected(t):
		return j, false
	case strings.ContainsAny(t, ".-/\\~+`") && j-i >= 8 && h.match(re(`==`), j) > 0 && h.match(rePadding, j) > 0:
		return j, true
	case slashes > 0:
		return j, slashes > 1 || reExt.MatchString(t) || reBothDots.MatchString(t)
	case reHost.MatchString(t), reMonth.MatchString(t), (t == "May" || t == "March") && h.match(reMayFirst, j) > 0:
		return j, true
	case reHexWord.MatchString(t):
		return j, !h.code(i, j)
	}
	return j, false
}

func (h *refHead) keeps(t string) bool {
	if h.protected(t) {
		return true
	}
	if reDigit.MatchString(t[:1]) || !strings.Contains(t, ".") {
		return false
	}
	for part := range strings.SplitSeq(t, ".") {
		if reDigit.MatchString(part) && !h.protected(part) {
			return false
		}
	}
	return true
}

// address returns the end of the address that the token s[i:j] begins, or 0.
func (h *refHead) address(i, j int) int {
	if j-i > 4 || j >= len(h.s) || h.s[j] != ':' {
		return 0
	}
	m := []rune(reGroups.FindString(h.from(i)))
	// What matched must end where a token does, or else one group earlier.
	for len(m) > 0 {
		end := i + len(m)
		last := strings.LastIndexByte(string(m), ':')
		token := end - (len(m) - last - 1)
		if token+h.match(reNarrow, token) == end {
			break
		}
		m = []rune(strings.TrimRight(string(m[:max(last, 0)]), ":"))
	}
	groups := regexp.MustCompile(`::?`).Split(string(m), -1)
	pairs := !slices.ContainsFunc(groups, func(g string) bool { return len(g) != 2 })
	open := len(groups) <= 8 && reDigit.MatchString(string(m)) && strings.HasPrefix(h.from(i+len(m)), "::") &&
		h.match(reWordNext, i+len(m)+2) == 0
	compressed := open || len(groups) == 8 || strings.Contains(string(m), "::")
	if (!pairs || len(groups) < 6) &&
		(len(groups) < 2 || len(groups) > 8 || !reDigit.MatchString(string(m)) || !compressed) {
		hardware := rePairs.FindStringSubmatch(string(m))
		if hardware == nil {
			return 0
		}
		m = []rune(hardware[1])
	}
	end := i + len(m)
	if open {
		end += len("::")
	}
	return end + h.match(reZone, end)
}

// keyword returns what the word before i says of what begins there.
func (h *refHead) keyword(i int) keyword {
	b := h.before(i)
	rest := strings.TrimRight(b, refSpaces+":=([#\"'")
	between := strings.Trim(b[len(rest):], refSpaces)
	marks := 0
	for _, c := range between {
		if !isSpaceRune(c) {
			marks++
		}
	}
	word := refLastWord(rest)
	switch {
	case h.request && rest != b && marks <= 4 && (rest == "" || rest == " ->"):
		return requestKeyword
	case rest == b || marks > 4:
		return noKeyword
	case strings.HasSuffix(rest, ")") && strings.ContainsAny(between, ":="):
		return flagKeyword
	case strings.HasSuffix(rest, "|"):
		return barKeyword
	case reProtocol.MatchString(rest), reHTTP.MatchString(word):
		return requestKeyword
	case reCodes.MatchString(word), reField.MatchString(word) && strings.ContainsAny(between, ":="):
		if reField.MatchString(word) {
			return fieldKeyword
		}
		return codeKeyword
	case reField.MatchString(word), reText.MatchString(word), reAtM.MatchString(rest):
		return textKeyword
	case between == "" && rePast.MatchString(rest):
		return resultKeyword
	case strings.ContainsAny(between, ":=") && rePast.MatchString(rest):
		return flagKeyword
	case word == "was", word == "is":
		rest = rest[:len(rest)-len(word)]
		blank := strings.TrimRight(rest, refSpaces)
		if blank != rest && reCodes.MatchString(refLastWord(blank)) {
			return codeKeyword
		}
	}
	return noKeyword
}

// refLastWord returns the word at the end of s: its last letters, of a compound the last
// part.
func refLastWord(s string) string {
	i := len(s)
	for i > 0 && isLetter(s[i-1]) &&
		(i == len(s) || !isUpper(s[i]) || !isLower(s[i-1]) && (i+1 == len(s) || !isLower(s[i+1]))) {
		i--
	}
	return s[i:]
}

// code reports whether the token s[i:j] decides something by the word before it.
func (h *refHead) code(i, j int) bool {
	t := strings.TrimLeft(string(h.s[i:j]), "+-")
	if !reCode.MatchString(t) || h.match(reHostPort, j) > 0 || h.measured(j) {
		return false
	}
	letters := reLetter.MatchString(string(h.s[i:j]))
	n := len([]rune(t))
	switch h.keyword(i) {
	case flagKeyword:
		nothing := t == "0" && !letters || reNegative.MatchString(string(h.s[i:j]))
		return nothing && h.match(reListed, j) == 0 || reMessage.MatchString(string(h.s[i:j]))
	case resultKeyword:
		result := t == "0" && !letters || !letters && reRequest.MatchString(t) || reNegative.MatchString(string(h.s[i:j]))
		return result && h.endsClause(j)
	case requestKeyword:
		return !letters && reRequest.MatchString(t)
	case barKeyword:
		return !letters && reRequest.MatchString(t) && h.match(reBar, j) > 0
	case codeKeyword:
		return n <= 10
	case fieldKeyword:
		return n <= 10 && !strings.ContainsAny(t, "-/") && (letters || n <= 6)
	}
	return false
}

// extreme reports whether the number s[i:j] says that nothing is there, or all.
func (h *refHead) extreme(i, j int) bool {
	t, before := string(h.s[i:j]), h.before(i)
	if h.masked >= 0 && strings.Trim(before, refSpaces+refFolds) == "" || h.match(reListed, j) > 0 {
		return false
	}
	if m := reRatio.FindStringSubmatch(t); m != nil {
		return m[1] == "0" || m[1] == m[2]
	}
	if t != "0" || j < len(h.s) && h.s[j] == '%' {
		return t == "0"
	}
	if h.measured(j) {
		return false
	}
	m := reCounted.FindStringSubmatch(h.from(j))
	return m != nil && !reHexWord.MatchString(m[1]) && (m[2] == "s" || !reAfterWord.MatchString(before))
}

// measured reports whether what follows at j joins the number before it.
func (h *refHead) measured(j int) bool {
	n := j + h.match(reBlanksHere, j)
	return n < len(h.s) && h.s[n] == '%' && (n == j || h.match(reWordNext, n+1) == 0) ||
		n > j && h.match(reNarrow, n) > 0 && h.unit(string(h.s[n:n+h.match(reNarrow, n)]))
}

// endsClause reports whether the number that ends at j counts nothing.
func (h *refHead) endsClause(j int) bool {
	n := j + h.match(reBlanksHere, j)
	return h.match(reWordNext, n) == 0 || h.s[n] == '<' || 'A' <= h.s[n] && h.s[n] <= 'Z' ||
		reConnective.MatchString(" "+string(h.s[n:n+h.match(reNarrow, n)])+" ")
}
