package brief

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/internal/text"
)

// lastLines is how many lines an agent without heed reads.
const lastLines = 50

// longest bounds a line of a baseline, in characters: more than any budget takes.
const longest = 32 << 10

// estimated estimates the tokens of lines of logs as prose, whose tokens have the most characters.
var estimated = func() *briefing.Tokens {
	for _, t := range heedsource.Templates() {
		if t.AppliesTo.AgentClass == heedsource.TemplateAgent {
			return &t.Tokens
		}
	}
	panic("BUG: no template for agents")
}()

// tail returns the last of lines that fit into a number of tokens, at most limit of them.
func tail(lines []string, limit, tokens int) string {
	var kept []string
	for i := len(lines) - 1; i >= 0 && len(kept) < limit; i-- {
		line := text.Safe(lines[i], longest)
		if tokens -= estimated.Estimate(briefing.Line{Text: line}); tokens < 0 {
			break
		}
		kept = append(kept, line)
	}
	var b strings.Builder
	for _, line := range slices.Backward(kept) {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// exceptions returns the lines that "grep Exception" prints.
func exceptions(lines []string) []string {
	var out []string
	for _, line := range lines {
		if strings.Contains(line, "Exception") {
			out = append(out, line)
		}
	}
	return out
}
