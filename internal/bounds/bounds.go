// Package bounds completes the numbers of a configuration: a zero becomes its default, and a number out of its bounds
// is an error that names the field. It keeps no state.
package bounds

import (
	"cmp"
	"fmt"
	"time"
)

// Field is a number of a configuration with its default, its least value, and its largest where that is not 0.
type Field[T int | time.Duration] struct {
	Name             string
	Value            *T
	def, least, most T
}

// Of returns the field called name.
func Of[T int | time.Duration](name string, value *T, def, least, most T) Field[T] {
	return Field[T]{name, value, def, least, most}
}

// Complete sets the fields that are 0 to their defaults. The error names the first field that is out of its bounds;
// config is the name of the struct.
func Complete[T int | time.Duration](config string, fields ...Field[T]) error {
	for _, f := range fields {
		*f.Value = cmp.Or(*f.Value, f.def)
		switch v := *f.Value; {
		case v < f.least:
			return fmt.Errorf("%s.%s is %v, want at least %v (0 means %v)", config, f.Name, v, f.least, f.def)
		case f.most > 0 && v > f.most:
			return fmt.Errorf("%s.%s is %v, want at most %v (0 means %v)", config, f.Name, v, f.most, f.def)
		}
	}
	return nil
}
