//go:build !linux

package follow

import "os"

// mark shows whether a file was emptied since the mark was set: on this system that is not known.
type mark struct{}

func (*mark) set(*os.File)               {}
func (*mark) isLost() (lost, known bool) { return false, false }
func (*mark) remove()                    {}

// created returns "": when a file was created is not known, or its number is used once.
func created(*os.File) string { return "" }
