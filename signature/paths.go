package signature

import "strings"

// pathEnd returns the end of the path whose first slash ends at i.
func pathEnd(s string, i int) int {
	j := i
	for j < len(s) && (classes[s[j]]&file != 0 ||
		s[j] == ' ' && s[j-1] == '\\' && s[i-1] == '/' && at(s, j+1)&wordlike != 0) {
		j++
	}
	return cutPunctuation(s, i, j)
}

// dotsMax is how often ./ or ../ may come in a row in a path, but for its first
// names.
const dotsMax = 16

// dotsEnd returns the end of all ./ and ../ at i.
func dotsEnd(s string, i int) int {
	for range dotsMax {
		j := i
		for j < len(s) && j-i < 2 && s[j] == '.' {
			j++
		}
		if j == i || at(s, j)&slash == 0 {
			break
		}
		i = j + 1
	}
	return i
}

// beginsName reports whether a name begins at i, maybe with a point.
func beginsName(s string, i int) bool {
	return at(s, i)&wordlike != 0 || at(s, i+1)&wordlike != 0 && s[i] == '.'
}

// cutPunctuation takes what more likely belongs to the sentence off the end of
// s[i:j], and returns the new end. So it does with a backslash that escapes a mark
// after it, which is then escaped in the template, too.
func cutPunctuation(s string, i, j int) int {
	for j > i && classes[s[j-1]]&(wordlike|slash) == 0 {
		j--
	}
	if j < len(s) && s[j] == '"' && s[j-1] == '\\' && isEscaped(s, j) {
		j--
	}
	return j
}

// drivePath returns the end of the Windows path whose first slash, after the
// drive, is at i. Names in such paths often hold spaces and brackets, as in
// C:/Games/My Game 1.4/Data and C:\Program Files (x86)\Tool.
func drivePath(s string, i int) int {
	i++
	for j := i; ; {
		end := skip(s, j, file)
		if j = nameEnd(s, i, end); j < 0 {
			return cutPunctuation(s, i, end)
		}
	}
}

// nameMax bounds how far ahead of a space the next slash of a path may be.
const nameMax = 64

// nameEnd looks whether a name of the path s[i:...] continues over the byte at j,
// which is a space, a bracket or other punctuation. It does if the name is
// followed by another slash, and nothing before that rules it out. It
// returns the position of that slash, or -1.
func nameEnd(s string, i, j int) int {
	if j == len(s) || hasExtension(s[i:j]) {
		return -1
	}
	open := 0
	limit := min(len(s), j+nameMax)
	for k := j; k < limit; k++ {
		b := s[k]
		switch {
		case b == '/' || b == '\\':
			if open != 0 || s[k-1] == ' ' || k == j || at(s, k+1)&(wordlike|space) == space {
				return -1
			}
			return k
		case b == '(' || b == '[':
			open++
		case b == ')' || b == ']':
			open--
			if open < 0 {
				return -1
			}
		case b == ' ':
			word, _, _ := strings.Cut(s[k+1:limit], " ")
			if k+1 == len(s) || isConnective(word) {
				return -1
			}
		case b != ',' && b != '\'' && classes[b]&file == 0:
			return -1
		}
	}
	return -1
}

// hasExtension reports whether the last name in path ends in a dot and two to
// five letters or digits, the first of them a letter, as file names do.
func hasExtension(path string) bool {
	n := len(path)
	i := n
	for i > 0 && n-i < 6 && (isLetter(path[i-1]) || classes[path[i-1]]&digit != 0) {
		i--
	}
	return i > 1 && i < n && n-i <= 5 && path[i-1] == '.' && isLetter(path[i]) && classes[path[i-2]]&slash == 0
}

// isConnective reports whether word joins a path or a number to the rest of a sentence
// rather than being part of a name, or counted.
func isConnective(word string) bool {
	switch word {
	case "and", "as", "at", "because", "but", "by", "for", "from", "in", "into", "is", "on", "or", "to", "was", "with":
		return true
	}
	return false
}

// isRelativePath reports whether the token t, which holds a slash, is a path:
// it has two slashes, or points on both sides of a slash, or ends
// in a file name with an extension. TCP/IP and read/write are words.
func isRelativePath(t string) bool {
	i := max(strings.IndexByte(t, '/'), strings.IndexByte(t, '\\'))
	return strings.Count(t, "/")+strings.Count(t, `\`) > 1 || hasDot(t[:i]) && hasDot(t[i:]) || hasExtension(t)
}
