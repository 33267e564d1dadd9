package report

import (
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// safe returns text of a log, or of a file of rules, made fit to be shown in one line.
func safe(s string) string { return text.Safe(s, 0) }

// safeAll returns texts made fit to be shown, nil for none.
func safeAll(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, safe(text))
	}
	return out
}

// safeLines makes each line of a template fit to be shown. The line feeds
// between them stay: JSON writes them as \n, and the result still hashes to
// the signature wherever the template held nothing that had to be escaped.
func safeLines(template string) string {
	if !strings.Contains(template, "\n") {
		return safe(template)
	}
	lines := strings.Split(template, "\n")
	for i, line := range lines {
		lines[i] = safe(line)
	}
	return strings.Join(lines, "\n")
}
