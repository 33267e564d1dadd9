package text

import (
	"regexp"
	"sync"
)

// Lazy returns a regular expression that its first call compiles, so that a program that never calls it starts without
// it.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
