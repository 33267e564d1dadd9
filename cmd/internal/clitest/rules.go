package clitest

import (
	"fmt"
	"strings"
	"sync"

	"github.com/heedlog/heed/rules"
)

// compiledSets are sets of rules by the names and texts of their files.
var compiledSets sync.Map

// CompiledOnce is [rules.Compile], which keeps the sets: most runs of a command have the rules of another one.
func CompiledOnce(files ...rules.File) (*rules.Set, error) {
	var key strings.Builder
	for _, f := range files {
		fmt.Fprintf(&key, "%s %s %d\n%s", f.Name, f.Today, len(f.Data), f.Data)
	}
	if set, ok := compiledSets.Load(key.String()); ok {
		return set.(*rules.Set), nil
	}
	set, err := rules.Compile(files...)
	if err == nil {
		compiledSets.Store(key.String(), set)
	}
	return set, err
}
