// Package text makes untrusted text fit to be shown: in a
// terminal, in a table, in a summary that an agent reads, in JSON.
//
// Log lines come from mods, players and servers. A line may carry terminal escapes, overprint the text of heed with a
// carriage return, open a second line with any of Unicode's line separators, turn the reading direction around, or hide
// words in characters that have no shape. [AppendSafe] replaces each such character by a visible escape:
//
//	\n \r \t         line feed, carriage return, tab
//	\x1b             other ASCII controls
//	\x23 \x3a        the first sign of a command to a CI server, as in "##vso[…]", "::error::"
//	\x85             a byte that is not valid UTF-8 (always \x80 or more)
//	\u0085 \u202e    other controls, line separators, bidi marks, invisible characters
//	\U000e0041       the same beyond the basic plane
//
// Zero width joiner and non-joiner stay, since several scripts and most emoji
// need them, and so do variation selectors of the basic plane.
//
// A backslash is not escaped, so that a path reads as it was written. The result is therefore for reading and not an
// encoding: text that held the four characters \x1b looks like an escape. In exchange escaping is idempotent, so that
// several layers may escape.
//
// All functions are pure and safe for concurrent use. Their cost grows with
// the shorter of text and limit; they allocate only where dst must grow.
package text
