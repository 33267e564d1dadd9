package rules

import (
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"

	texts "github.com/heedlog/heed/internal/text"
)

// varSet is a set of the variables that an expression reads.
type varSet uint16

const (
	varTemplate varSet = 1 << iota
	varFrames
	varLevel
	varSource
	varKind
	varStatus
	varPhase
	varMethod
	varMessage
	varStack
	varOperation

	// constant are the variables whose texts outlive an entry.
	constant = varLevel | varKind | varStatus

	// perEntry are the variables that differ between entries with one
	// signature, level, source, kind, status and phase.
	perEntry = varMessage | varStack | varOperation
)

// variables holds the names of the variables, the name of bit i at index i.
var variables = []string{
	"template", "frames", "level", "source", "kind", "status", "phase", "method",
	"message", "stack", "operation",
}

// values are the texts of the variables of an entry, in the order of variables.
var values = []func(in *Input) string{
	func(in *Input) string { return in.Template }, func(in *Input) string { return in.Frames },
	func(in *Input) string { return in.Level.String() }, func(in *Input) string { return in.Source },
	func(in *Input) string { return in.Kind.String() }, func(in *Input) string { return in.Status.String() },
	func(in *Input) string { return in.Phase }, func(in *Input) string { return in.method() },
	func(in *Input) string { return in.Message }, func(in *Input) string { return in.Stack },
	func(in *Input) string { return in.Operation },
}

// value returns the function of the text of v, which is one variable, nil for none.
func (v varSet) value() func(in *Input) string {
	if v == 0 {
		return nil
	}
	return values[bits.TrailingZeros16(uint16(v))]
}

// list returns the names in v.
func (v varSet) list() []string {
	var out []string
	for i, n := range variables {
		if v&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// varOf returns the set with the variable called name, or 0.
func varOf(name string) varSet {
	if i := slices.Index(variables, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// enums are the variables with a fixed set of values. Comparing one with
// anything else is a slip of the pen and reported as such.
var enums = map[string][]string{"level": levels, "kind": kinds, "status": statuses}

// listFuncs are the functions that the rule language adds to expr: each
// reports whether its first argument, a text, relates so to any item of its
// second, a list that is known at compile time.
var listFuncs = map[string]func(s, item string) bool{
	"contains_any":    strings.Contains,
	"starts_with_any": strings.HasPrefix,
	"ends_with_any":   strings.HasSuffix,
}

// builtins are the functions of expr that rules may call. Left out are those
// that read a clock, that build values (their memory could grow with each
// nesting), and that take time out of proportion to their input.
var builtins = map[string]bool{
	"all": true, "any": true, "none": true, "one": true, "count": true,
	"len": true, "lower": true, "upper": true, "trim": true, "trimPrefix": true, "trimSuffix": true,
	"hasPrefix": true, "hasSuffix": true, "indexOf": true, "lastIndexOf": true,
	"split": true, "first": true, "last": true,
}

// closures are the builtins that run an expression for each item.
var closures = map[string]bool{"all": true, "any": true, "none": true, "one": true, "count": true}

// clocks are functions of expr that are refused with a reason of their own.
var clocks = map[string]bool{"now": true, "date": true, "duration": true, "timezone": true}

// binaries are the operators that rules may use.
var binaries = map[string]bool{
	"&&": true, "||": true,
	"==": true, "!=": true, "<": true, ">": true, "<=": true, ">=": true,
	"in": true, "matches": true, "contains": true, "startsWith": true, "endsWith": true,
	"+": true, "-": true, "*": true, "/": true, "%": true,
}

// spelled maps the spellings of an operator to one, so that equal expressions
// are seen to be equal.
var spelled = map[string]string{"and": "&&", "or": "||", "not": "!"}

var keywords = []string{
	"and", "or", "not", "in", "matches", "contains", "startsWith", "endsWith", "let", "if", "else", "true", "false", "nil",
}

// functionNames returns the names of all functions that rules may call.
func functionNames() []string {
	out := slices.AppendSeq(slices.Collect(maps.Keys(listFuncs)), maps.Keys(builtins))
	slices.Sort(out)
	return out
}

// reserved returns the present meaning of a name that a list or macro cannot have; "" if it is free.
func reserved(name string) string {
	_, isBuiltin := builtin.Index[name]
	switch {
	case varOf(name) != 0:
		return "a variable"
	case slices.Contains(keywords, name):
		return "a word of the language"
	case isBuiltin, listFuncs[name] != nil:
		return "a function"
	}
	return ""
}

// identifier reports whether s can be used as a name in expressions.
func identifier(s string) bool { return len(s) <= maxName && identifierForm.MatchString(s) }

var identifierForm = regexp.MustCompile(`^[A-Za-z_]\w*$`)

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
