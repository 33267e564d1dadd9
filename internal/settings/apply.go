package settings

import (
	"fmt"

	"github.com/spf13/pflag"
)

// Apply gives the flags of a command line, once it is parsed, what is configured
// for those that were not given; they do not count as changed. Of those that were
// given, the settings take the value. Settings that there is no flag for are left
// as they are.
func (s *Settings) Apply(flags *pflag.FlagSet) error {
	for i := range s.Values {
		v := &s.Values[i]
		flag := flags.Lookup(v.Key.Name)
		switch {
		case flag == nil:
		case flag.Changed:
			v.Origin, v.Where, v.Items = Flag, "", []string{flag.Value.String()}
			if list, ok := flag.Value.(pflag.SliceValue); ok {
				v.Items = list.GetSlice()
			}
		case v.Origin > Default:
			if err := v.give(flag); err != nil {
				return fmt.Errorf("%s: %w", v.Where, err)
			}
		}
	}
	return nil
}

func (v *Value) give(flag *pflag.Flag) error {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return list.Replace(v.Items)
	}
	return flag.Value.Set(v.String())
}
