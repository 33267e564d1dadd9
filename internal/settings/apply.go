package settings

import (
	"fmt"
	"strconv"
	"time"

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

// define adds the flag of a key to the flags of a command.
func (k *Key) define(flags *pflag.FlagSet) {
	switch k.Kind {
	case Bool:
		flags.Bool(k.Name, k.Default == "true", k.Help)
	case Number:
		n, err := strconv.Atoi(k.Default)
		if err != nil {
			panic("BUG: the default of " + k.Name + " is no number")
		}
		flags.Int(k.Name, n, k.Help)
	case Duration:
		d, err := time.ParseDuration(k.Default)
		if err != nil {
			panic("BUG: the default of " + k.Name + " is no duration")
		}
		flags.Duration(k.Name, d, k.Help)
	case Words:
		flags.StringSlice(k.Name, nil, k.Help)
	case Texts, Paths:
		flags.StringArray(k.Name, nil, k.Help)
	default:
		flags.String(k.Name, k.Default, k.Help)
	}
}
