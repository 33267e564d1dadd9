package clitest

import (
	"fmt"
	"sync"

	"github.com/heedlog/heed/rules"
)

// compiledSets are sets of rules by the names and texts of their files.
var compiledSets sync.Map

// CompiledOnce is [rules.Compile], which keeps the sets: most runs of a command have the rules of another one.
func CompiledOnce(files ...rules.File) (*rules.Set, error) {
	key := fmt.Sprintf("%s", files)
	if set, ok := compiledSets.Load(key); ok {
		return set.(*rules.Set), nil
	}
	set, err := rules.Compile(files...)
	if err == nil {
		compiledSets.Store(key, set)
	}
	return set, err
}
