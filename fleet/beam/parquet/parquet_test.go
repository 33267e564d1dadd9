package parquet

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/report/summary"
)

// TestColumns holds that each field of a session that is in its JSON form changes a row.
func TestColumns(t *testing.T) {
	none := map[string]bool{".Facts.Arguments": true} // in no summary
	tested := 0
	for n := 0; ; n++ {
		var s summary.Session
		fields := leaves("", reflect.ValueOf(&s).Elem())
		if n == len(fields) {
			break
		}
		if none[fields[n].name] {
			continue
		}
		tested++
		without := row(&s)
		switch v := fields[n].value; {
		case v.Kind() == reflect.String:
			v.SetString("x")
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.CanInt():
			v.SetInt(v.Int() + 1)
		case v.CanUint():
			v.SetUint(v.Uint() + 1)
		default:
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		}
		require.NotEqual(t, without, row(&s), "%s has no column", fields[n].name)
	}
	require.Greater(t, tested, 50)
}

type leaf struct {
	name  string
	value reflect.Value
}

// leaves returns the fields of a value that are in its JSON form, and gives its lists one element each.
func leaves(name string, v reflect.Value) (all []leaf) {
	switch {
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return leaves(name, v.Index(0))
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Tag.Get("json") != "-" {
				all = append(all, leaves(name+"."+f.Name, v.Field(i))...)
			}
		}
		return all
	}
	return []leaf{{name, v}}
}
