package rules

import (
	"regexp"
	"strings"

	texts "github.com/heedlog/heed/internal/text"
)

// synonyms are names that variables have elsewhere.
var synonyms = map[string]string{
	"text": "template", "msg": "message", "line": "template", "severity": "level", "lvl": "level",
	"logger": "source", "channel": "source", "trace": "stack", "stacktrace": "stack",
}

// wordOperators are the operators that are words. foreign maps operators of other
// languages to operators of the rule language.
var (
	wordOperators = []string{"contains", "startsWith", "endsWith", "matches", "in", "and", "or", "not"}
	foreign       = map[string]string{
		"&": "and", "|": "or", "is": "==", "equals": "==", "eq": "==",
		"like": "contains", "has": "contains", "includes": "contains",
	}
)

var (
	unexpected = regexp.MustCompile(`unexpected token (?:Identifier|Operator)\("([^"]+)"\)`)
	mismatched = regexp.MustCompile(`invalid operation: (\S+) \(mismatched types? (\S+)(?: and (\S+))?\)`)
)

// exprHint returns the usual cause of a message of the expr library.
func exprHint(msg string) string {
	if m := unexpected.FindStringSubmatch(msg); m != nil {
		return operatorHint(m[1])
	}
	if m := mismatched.FindStringSubmatch(msg); m != nil {
		return typeHint(m[1], m[2], m[3])
	}
	switch {
	case strings.Contains(msg, "literal not terminated"):
		return "end the text with the same quote that it begins with"
	case strings.Contains(msg, "invalid char escape"):
		return "write a backslash as \\\\, or put the text between backticks"
	case strings.Contains(msg, "unexpected token EOF"), strings.Contains(msg, "unexpected end"):
		return "something is missing at the end"
	case strings.Contains(msg, "parsing regexp"):
		return "a regular expression of Go's package regexp, without look-around"
	}
	return ""
}

// operatorHint returns the probable meaning of a word in the place of an operator,
// or of an operator in the place of a value.
func operatorHint(word string) string {
	switch word {
	case "=":
		return `"is equal" is written ==`
	case "contains", "startsWith", "endsWith", "matches":
		return "write it between two texts: template " + word + ` "text"`
	case "in":
		return `write it between a text and a list: level in ["error", "fatal"]`
	}
	if own := foreign[strings.ToLower(word)]; own != "" {
		return "did you mean " + own + "?"
	}
	if near := texts.Nearest(word, wordOperators); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// typeHint returns the probable meaning of an operator between values that it does not
// accept; b is "" for an operator with a single value.
func typeHint(op, a, b string) string {
	const text, texts = "string", "[]string"
	switch {
	case op == "!" && a == text:
		return `here not applies only to the first text: write template not contains "text", or not (…)`
	case (op == "||" || op == "&&") && (a == text || b == text):
		return `and, or join conditions: repeat the comparison, or write contains_any(template, ["a", "b"])`
	case op == "in" && b == text:
		return `in looks for an item in a list: template in ["a", "b"]; a part of a text is found by contains`
	case b == texts:
		return "any of a list: template in list, contains_any(template, list), starts_with_any or ends_with_any"
	}
	return "compare texts with texts, numbers with numbers"
}

// methodHint answers a call of a method of a text.
const methodHint = `write template contains "text", startsWith or endsWith`
