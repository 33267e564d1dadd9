package signature

import (
	"regexp"
	"slices"
	"strings"

	stackframe "github.com/heedlog/heed/internal/frame"
)

// The reference of stacks and of the names of frames, as docs/signatures.md specifies them.

func (r *reference) template(message, stack string) string {
	lines := strings.Split(message, "\n")
	raw := slices.Clone(lines)
	for i, l := range lines {
		lines[i] = strings.Trim(l, refSpaces)
	}
	first := 0
	for first < len(lines)-1 && lines[first] == "" {
		first++
	}
	head, rest := lines[first], lines[first+1:]
	if first > 0 && r.frame(head, false) != "" {
		head, rest = "", lines[first:]
	} else if len(rest) > 0 && head != "" && reException.MatchString(widen(rest[0])) {
		head, rest = head+" "+rest[0], rest[1:]
	}
	out := []string{r.head(head)}
	rest = raw[len(raw)-len(rest):]
	for i, l := range append(rest, strings.Split(stack, "\n")...) {
		f := r.frame(l, i >= len(rest))
		if f == "" || len(out) > r.frames || slices.ContainsFunc(r.loggers,
			func(p string) bool { return strings.HasPrefix(f, p) }) {
			continue
		}
		out = append(out, "at "+f)
	}
	return strings.Join(out, "\n")
}

var (
	reException = re(`(?:[A-Za-z_$\x{80}-\x{df}][«N».+]*)?(?:Exception|Error)(?:$|:|` + "`" + `|\[|[«S»]+\()`)
	reJIT       = re(`(?:0x.*?|.{8}) \(Mono JIT Code\) [«S»]*(?:\[.*?\] )?`)
	reLayer     = re(`[^/:( ]+/[^/@( ]+@[^/( ]+/`)
	reWord      = regexp.MustCompile(`^(\p{L}+):? [\x00- \x7f]*`)
	rePlaced    = regexp.MustCompile(`(?s)\) \(at .*:.*\)$`)
	reClosed    = regexp.MustCompile(`(?s)^ ?\(.*\)(?: \[0x[^)]*)?$`)
	reGDB       = re(`#[0-9]+[«S»]+0x.*? in [«S»]*`)
	reAt        = re(`at (?:[«S»]*(?:async|new) )*[«S»]*`)
	reWrapper   = re(`\(wrapper (.*?)\) [«S»]*`)
	rePython    = re(`File "(.*?)", line .*?, in [«S»]*`)
	rePlainFile = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_\x{80}-\x{ff}-]*$`)
	rePlace     = regexp.MustCompile(`(?s)^(?:.*[/\\])?([^/\\:]+)\.[^./\\:]+:[0-9]+$`)
	reLua       = regexp.MustCompile(`(?s)^(.*?): in (.*[k?>']|)$`)
	reLuaCount  = regexp.MustCompile(`(?s)^[0-9].*?\. (.*?) - (.*[0-9])$`)
	reSpider    = regexp.MustCompile(`(?s)^([^0-9].*?|)@(.*?):?[0-9]+$`)
	reGenerated = re(`DMD<(?:>\?-?[0-9]*\.?)?`)
	reReceiver  = re(`\(\*([«N»]+)\)\.`)
	reColons    = re(`:+`)
	reMethod    = re(`:[A-Za-z_$\x{80}-\x{ff}<.]|::`)
	rePatch     = regexp.MustCompile(`(?s)^(.+)(?:_Patch|\$)[0-9]+$`)
	rePatchOnly = regexp.MustCompile(`(?s)^(.+)_Patch[0-9]+$`)
	reBareArgs  = regexp.MustCompile(`^ ?\((?s:.*)\)(:[0-9]+)?$`)
)

// frame returns the canonical name of the frame that line shows, or "".
func (r *reference) frame(raw string, within bool) string {
	line := strings.Trim(raw, refSpaces)
	if len(line) < 4 {
		return ""
	}
	s, bare, module := widen(line), true, ""
	if file, name, ok := refScript(s); ok {
		if !rePlainFile.MatchString(file) {
			return ""
		}
		s, bare, module = name, false, refTrim(file)+"."
	} else if m := reAt.FindString(s); m != "" {
		s, bare = s[len(m):], false
	} else if m := reWord.FindString(line); m != "" && strings.IndexByte(line, ' ') < 20 &&
		strings.TrimLeft(raw, refSpaces) != raw && dotted(line[len(m):]) {
		if !within {
			return ""
		}
		s, bare = widen(line[len(m):]), false
	} else if m := reJIT.FindString(s); m != "" {
		s, bare = s[len(m):], false
	} else if m := reGDB.FindString(s); m != "" {
		s, bare = s[len(m):], false
	} else if m := rePython.FindStringSubmatch(s); m != nil {
		module = strings.TrimSuffix(strings.TrimSuffix(m[1][strings.LastIndexAny(m[1], `/\`)+1:], ".py"), ".rpy")
		if !rePlainFile.MatchString(module) {
			return ""
		}
		s, bare, module = s[len(m[0]):], false, refTrim(module)+"."
	} else if s[0] == '0' || s[0] == '#' || strings.HasPrefix(s, `File "`) {
		return ""
	}
	if m := reWrapper.FindStringSubmatch(s); m != nil && module == "" {
		s, bare = s[len(m[0]):], false
		if m[1] == "dynamic-method" {
			s = narrowed(s)
			s = strings.TrimPrefix(s, "MonoMod.Utils.DynamicMethodDefinition.")
			for k := range min(len(s)/2, 512) {
				if strings.ContainsRune(".:", rune(s[k])) && strings.HasPrefix(s[k+1:], s[:k]+".") {
					s = s[k+1:]
					break
				}
			}
			s = widen(s)
		}
	} else if strings.HasPrefix(s, "(wrapper ") {
		return ""
	}
	for module == "" && strings.HasPrefix(s, "MonoMod.Utils.DynamicMethodDefinition:") && !strings.HasPrefix(s, "MonoMod.Utils.DynamicMethodDefinition::") {
		s, bare = strings.TrimPrefix(s, "MonoMod.Utils.DynamicMethodDefinition:"), false
	}
	if !bare && module == "" {
		s = s[len(reLayer.FindString(s)):]
	}
	n := refName{s: []rune(s)}
	name := n.parse()
	if n.first == "" || !re(`[«W»<]`).MatchString(n.first) {
		return ""
	}
	rest := string(n.s[n.i:])
	if !bare {
		if rest == "" || n.made && rest[0] == '>' || re(`\(|:[0-9]| \(| \[0x| in | <0x`).MatchString(rest) {
			return narrowed(module + name)
		}
		return ""
	}
	if n.dots > 0 && n.s[n.i-1] != '.' &&
		(rePlaced.MatchString(rest) || within && (reBareArgs.MatchString(rest) || reClosed.MatchString(rest))) {
		return narrowed(name)
	}
	m := reBareArgs.FindStringSubmatch(rest)
	switch {
	case m == nil:
		return ""
	case n.methods == 1:
	case rest[0] == '(' && n.generic:
	case rest[0] == '(' && n.dots > 0 && m[1] == "" && (rest == "()" || re(`\((?:\.\.\.|0x|\{0x)`).MatchString(rest)):
	default:
		return ""
	}
	return narrowed(name)
}

// refScript returns the file and the function of a frame of Lua, Ruby or JavaScript.
func refScript(line string) (file, name string, ok bool) {
	place := ""
	before, after, ruby := strings.Cut(strings.TrimPrefix(line, "from "), ":in ")
	if ruby && strings.HasSuffix(line, "'") {
		after = strings.TrimSuffix(after, "'")
		place, name = before, after[strings.LastIndexAny(after, " '`")+1:]
	} else if m := reLua.FindStringSubmatch(line); m != nil {
		place = m[1]
		_, name, _ = strings.Cut(strings.TrimSuffix(m[2], "'"), " '")
	} else if m := reLuaCount.FindStringSubmatch(line); m != nil {
		name, place = m[1], m[2]
	} else if m := reSpider.FindStringSubmatch(line); m != nil {
		name, place = m[1], m[2]
	}
	m := rePlace.FindStringSubmatch(place)
	if m == nil || strings.Contains(name, " ") {
		return "", "", false
	}
	if name == "" {
		name = m[1]
	}
	return m[1], name, true
}

// dotted reports whether line is a dotted name with arguments, as package frame reads names.
func dotted(line string) bool {
	path, _, ok := strings.Cut(line, "(")
	_, parts, whole := stackframe.Scan(strings.TrimSuffix(path, " "))
	return ok && whole && parts > 0
}

// refName reads the name of a frame.
type refName struct {
	s             []rune
	i             int
	first         string
	methods, dots int
	generic, made bool
}

func (n *refName) left() string { return string(n.s[n.i:]) }

func (n *refName) parse() string {
	var out strings.Builder
	for part := 0; ; part++ {
		text, more := n.part()
		if part == 0 {
			n.first = strings.TrimRight(text, "./:>")
			if strings.HasPrefix(text, "<") {
				n.first = text
			}
		}
		out.WriteString(text)
		if !more {
			return out.String()
		}
	}
}

// part reads up to the next separator of namespaces, types and methods, and
// returns the text with the separator in its canonical form.
func (n *refName) part() (text string, more bool) {
	for {
		m := reGenerated.FindString(n.left())
		if m == "" {
			break
		}
		n.i += len([]rune(m))
		n.made = true
	}
	if m := reReceiver.FindStringSubmatch(n.left()); m != nil {
		n.i += len([]rune(m[0]))
		n.dots++
		return refTrim(m[1]) + ".", true
	}
	generated := n.i < len(n.s) && n.s[n.i] == '<'
	if generated {
		depth := 0
		var piece strings.Builder
		pieces := 0
		for ; ; n.i++ {
			if n.i == len(n.s) || isSpaceRune(n.s[n.i]) || n.s[n.i] == '(' || n.s[n.i] == ')' {
				return text + refTrimPiece(piece.String(), pieces), false
			}
			if n.s[n.i] == '<' {
				depth++
			}
			if n.s[n.i] == '>' {
				depth--
				text += refTrimPiece(piece.String(), pieces) + ">"
				piece.Reset()
				pieces++
				if depth == 0 {
					n.i++
					break
				}
				continue
			}
			piece.WriteRune(n.s[n.i])
		}
	}
	from := n.i
	for n.i < len(n.s) && !strings.ContainsRune("./+:[<()]>{},;\"'", n.s[n.i]) && !isSpaceRune(n.s[n.i]) {
		n.i++
	}
	own, end := string(n.s[from:n.i]), n.i
	if generated {
		text += refTrimGenerated(own)
	} else {
		text = refTrim(own)
	}
	for n.i < len(n.s) && (n.s[n.i] == '[' || n.s[n.i] == '<') {
		close := map[rune]rune{'[': ']', '<': '>'}[n.s[n.i]]
		depth, k := 0, n.i
		for ; k < len(n.s); k++ {
			if n.s[k] == n.s[n.i] {
				depth++
			} else if n.s[k] == close {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if k == len(n.s) || k+1 < len(n.s) && !isSpaceRune(n.s[k+1]) && !strings.ContainsRune("./+:[<(", n.s[k+1]) {
			n.i = end
			return text, false
		}
		if n.s[n.i] == '[' {
			_, arity, _ := strings.Cut(string(n.s[from:n.i]), "`")
			n.generic = n.generic || re(`[0-9]`).MatchString(arity)
		}
		n.i = k + 1
	}
	if n.i == len(n.s) {
		return text, false
	}
	switch n.s[n.i] {
	case '.':
		n.dots++
		n.i++
		return text + ".", true
	case '/', '+':
		n.dots++
		n.i++
		return text + "/", true
	case ':':
		if !reMethod.MatchString(n.left()) {
			return text, false
		}
		colons := reColons.FindString(n.left())
		n.i += len(colons)
		if len(colons) > 1 {
			return text + colons, true
		}
		n.methods++
		return text + ".", true
	}
	return text, false
}

func refTrim(t string) string {
	for rePatch.MatchString(t) {
		t = rePatch.FindStringSubmatch(t)[1]
	}
	switch {
	case regexp.MustCompile(`^[0-9]*$`).MatchString(t):
		return ""
	case regexp.MustCompile(`^func[0-9]+$`).MatchString(t):
		return "func"
	}
	return t
}

// refTrimPiece trims what stands between two angle brackets of a generated
// name: the first piece is a name, all others are what the compiler made.
func refTrimPiece(t string, i int) string {
	if i == 0 {
		return refTrim(t)
	}
	return refTrimGenerated(t)
}

func refTrimGenerated(t string) string {
	for {
		u := t
		if m := rePatchOnly.FindStringSubmatch(u); m != nil {
			u = m[1]
		}
		u = strings.TrimRight(u, "0123456789_|`")
		if u == t {
			return t
		}
		t = u
	}
}
