package signature

import (
	"regexp"
	"strings"
)

// The reference of what spans several tokens: paths, quotations and text.

// path returns the end of the path whose names begin at i.
func (h *refHead) path(i int) int {
	if h.s[i-1] == '/' {
		return h.cut(i, i+h.match(reSpaced, i))
	}
	return h.cut(i, i+h.match(reFiles, i))
}

// escaped reports whether an odd number of backslashes is before i.
func (h *refHead) escaped(i int) bool {
	b := string(h.s[:i])
	return (len(b)-len(strings.TrimRight(b, "\\")))%2 != 0
}

// cut takes trailing punctuation off s[i:j].
func (h *refHead) cut(i, j int) int {
	for j > i && h.match(reWordNext, j-1) == 0 && h.s[j-1] != '/' && h.s[j-1] != '\\' {
		j--
	}
	if j < len(h.s) && h.s[j] == '"' && h.escaped(j) {
		j--
	}
	return j
}

// drivePath returns the end of the path whose names begin at i.
func (h *refHead) drivePath(i int) int {
	j := i
	for {
		j += h.match(reFiles, j)
		k := h.nextSlash(i, j)
		if k < 0 {
			return h.cut(i, j)
		}
		j = k
	}
}

var (
	reGoesOn     = re(`[^/\\]{1,63}[/\\][^«S»]`)
	reNameBytes  = re(`[«F» ,'()\[\]]*$`)
	reConnective = regexp.MustCompile(` (?:and|as|at|because|but|by|for|from|in|into|is|on|or|to|was|with) `)
)

func (h *refHead) nextSlash(i, j int) int {
	if reExt.MatchString(string(h.s[i:j])) {
		return -1
	}
	m := h.match(reGoesOn, j)
	if m == 0 {
		return -1
	}
	slash := j + m - 2
	name := string(h.s[j:slash])
	if !reNameBytes.MatchString(name) || strings.HasSuffix(name, " ") || reConnective.MatchString(name) {
		return -1
	}
	open := 0
	for _, r := range name {
		switch r {
		case '(', '[':
			open++
		case ')', ']':
			if open--; open < 0 {
				return -1
			}
		}
	}
	if open != 0 {
		return -1
	}
	return slash
}

// refTelling reports whether the token t is a constant or the name of a fault.
func refTelling(t string) bool {
	return reConstant.MatchString(t) || reConstant.MatchString(strings.ToLower(t[:1])+t[1:]) ||
		strings.ToUpper(t) == t && reConstant.MatchString(strings.ToLower(t)) ||
		reFault.MatchString(t) && !reDigit.MatchString(reArity.ReplaceAllString(t, ""))
}

// message returns where the quotation at i ends, if it is the whole message or its
// beginning and only fields follow, or -1.
func (h *refHead) message(i int) int {
	left := h.before(i)
	bracket := strings.HasSuffix(left, "[")
	left = strings.TrimSuffix(left, "[")
	if first := h.masked < 0 && left == ""; !first && !reFirst.MatchString(left) {
		return -1
	}
	end := h.closes(i)
	j := end + 1
	if end == len(h.s) || bracket && (j == len(h.s) || h.s[j] != ']') {
		return -1
	}
	if bracket {
		j++
	}
	if j == len(h.s) || h.match(reFields, j) > 0 {
		return end
	}
	return -1
}

// closes returns where the first mark after the one at i is that no backslash is
// before, or the end.
func (h *refHead) closes(i int) int {
	for j := i + 1; j < len(h.s); j++ {
		if h.s[j] == '"' && !h.escaped(j) {
			return j
		}
	}
	return len(h.s)
}

// says reports whether the mark at i, after a colon, quotes several words.
func (h *refHead) says(i int) bool {
	b, m := h.before(i), reSaid.FindStringSubmatch(h.from(i+1))
	if m == nil || !reSays.MatchString(b) || h.masked < 0 && strings.HasPrefix(b, ":") {
		return false
	}
	return m[1] != "" && !reHexWord.MatchString(m[1]) && !reMonth.MatchString(m[1]) && !reHexWord.MatchString(m[2])
}

// quotation returns the end of the quotation that opens at i, or 0.
func (h *refHead) quotation(i int) int {
	if i == h.text || i == h.opened || h.afterWord(i) || i+1 == len(h.s) || isSpaceRune(h.s[i+1]) {
		return 0
	}
	inside := i < h.text
	escaped := h.s[i] == '"' && h.escaped(i)
	announced := h.keyword(i).announces() || h.says(i)
	if h.s[i] == '\'' && announced {
		return 0
	}
	if h.s[i] == '"' && !inside && !escaped {
		end := h.message(i)
		if announced {
			end = h.closes(i)
		}
		if end >= 0 {
			h.text, h.opened = end, i
			return 0
		}
	}
	if h.match(reSentence, i+1) > 0 {
		return 0
	}
	before := strings.TrimRight(h.before(i), refSpaces)
	member := strings.HasSuffix(before, ",") || strings.HasSuffix(before, "{")
	name := strings.TrimPrefix(h.from(i+1), "@")
	t := reOneToken.FindString(name)
	after := strings.TrimPrefix(name, t)
	mark := string(h.s[i])
	telling := t != "" && name == h.from(i+1) && (h.protected(t) || refTelling(t))
	if t != "" && strings.HasPrefix(after, mark) && (telling || member && strings.HasPrefix(after, mark+":")) {
		return 0
	}
	for j := i + 1; j < len(h.s); j++ {
		if h.s[j] == h.s[i] && !isSpaceRune(h.s[j-1]) && h.match(reWordNext, j+1) == 0 &&
			(h.s[j] == '\'' || h.escaped(j) == escaped) {
			if inside && j > h.text {
				return 0
			}
			return j + 1
		}
	}
	return 0
}
