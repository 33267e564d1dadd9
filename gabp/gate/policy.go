package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// exemptTags are the tags of tools that are not held back: of what only looks, and of what starts and stops the game.
var exemptTags = []string{
	"diagnostic", "diagnostics", "health", "lifecycle", "observation", "read-only", "status", "telemetry",
	"attention-bypass",
}

// diagnosticTags are the tags of tools that only look: their calls are not
// journaled as operations. "lifecycle" and "attention-bypass" are not among them,
// since such calls change things.
var diagnosticTags = []string{"diagnostic", "diagnostics", "health", "observation", "read-only", "status", "telemetry"}

// Diagnostic reports whether the call only looks, by its flag or by a tag:
// diagnostic, diagnostics, health, observation, read-only, status, telemetry.
func (c *Call) Diagnostic() bool {
	return c.Diagnostics || slices.ContainsFunc(c.Tags, func(tag string) bool { return contains(diagnosticTags, tag) })
}

// readTags are the tags of tools that read the game's state, not its own reports such as its health.
var readTags = []string{"observation", "read-only"}

// ReadsState reports whether the call reads the game's state, by a tag: observation or
// read-only.
func (c *Call) ReadsState() bool {
	return !c.Diagnostics && slices.ContainsFunc(c.Tags, func(tag string) bool { return contains(readTags, tag) })
}

// contains reports whether tag is in tags, without regard to case.
func contains(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

// exemptions names the calls that are never held back, for refusals.
func exemptions(allow []string) string {
	exempt := "tools tagged " + strings.Join(exemptTags, ", ") + "; attention/current and attention/ack"
	if len(allow) > 0 {
		exempt = strings.Join(allow, ", ") + "; " + exempt
	}
	return "always allowed: " + exempt
}

// Exempt returns why a call is never held back, "" if it may be. The owner's list comes first.
func (g *Gate) Exempt(c *Call) string {
	for _, pattern := range g.cfg.Allow {
		if matches(pattern, c.Tool) {
			return "owner's list: " + pattern
		}
	}
	for _, tag := range c.Tags {
		if contains(exemptTags, tag) {
			return "tag: " + strings.ToLower(tag)
		}
	}
	return ""
}

// validPattern refuses patterns of parts of words.
func validPattern(p string) error {
	segments := strings.Split(p, "/")
	for i, s := range segments {
		switch {
		case s == "":
			return fmt.Errorf("%q has an empty segment: name a tool, such as \"saves/list\"", p)
		case s == "*", s == "**" && i == len(segments)-1:
		case strings.Contains(s, "*"):
			return fmt.Errorf("%q: a star means one whole segment, as in \"saves/*\"; two stars at the end mean "+
				"several, as in \"saves/**\"", p)
		case strings.TrimSpace(s) != s:
			return fmt.Errorf("%q has a space around a segment", p)
		}
	}
	if segments[0] == "**" {
		return errors.New("\"**\" would allow every tool; remove the gate instead")
	}
	return nil
}

// matches reports whether the pattern matches a name.
func matches(pattern, name string) bool {
	for {
		p, morePattern, more := strings.Cut(pattern, "/")
		n, moreName, moreN := strings.Cut(name, "/")
		switch {
		case p == "**":
			return n != ""
		case n == "", p != "*" && p != n, more != moreN:
			return false
		case !more:
			return true
		}
		pattern, name = morePattern, moreName
	}
}
