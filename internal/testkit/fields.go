package testkit

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// Fields changes each field of each structure in the package of root, one at a time, that can be reached from root, a
// pointer. It fails for a field without a visible change in the result of snapshot. derived names fields that are not
// part of the snapshot, as "Type.field"; a derived field with a visible change fails, too. A name with a "-" in front
// is left alone: snapshot needs its value. root should be rich, so that each field has a meaning in some instance: up
// to a hundred instances of each type are tried.
func Fields(t *testing.T, root any, snapshot func() []byte, derived ...string) {
	t.Helper()
	w := walker{
		home: reflect.TypeOf(root).Elem().PkgPath(), snapshot: snapshot, base: slices.Clone(snapshot()),
		derived: derived, shows: map[string]bool{}, tried: map[reflect.Type]int{}, seen: map[unsafe.Pointer]bool{},
	}
	w.structure(reflect.ValueOf(root).Elem())
	if !bytes.Equal(w.base, snapshot()) {
		t.Fatal("BUG: the changes were not undone")
	}
	for field, shows := range w.shows {
		switch listed := slices.Contains(derived, field); {
		case !shows && !listed:
			t.Errorf("%s is not part of the snapshot: keep it in state.go, or say in this test why it is not", field)
		case shows && listed:
			t.Errorf("%s is part of the snapshot, and this test says it is not", field)
		}
	}
	for _, field := range derived {
		if _, met := w.shows[field]; !met && field[0] != '-' {
			t.Errorf("%s: there is no such field, or none was met", field)
		}
	}
}

// instances is how many values of one type are tried.
const instances = 100

type walker struct {
	home     string
	snapshot func() []byte
	base     []byte
	derived  []string
	shows    map[string]bool // by field: a change of it was seen
	tried    map[reflect.Type]int
	seen     map[unsafe.Pointer]bool
}

// structure tries the fields of v, which can be addressed.
func (w *walker) structure(v reflect.Value) {
	t := v.Type()
	if t.PkgPath() != w.home && t.PkgPath() != "" || w.tried[t] == instances {
		return
	}
	w.tried[t]++
	for i := range t.NumField() {
		f := v.Field(i)
		f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem() // unexported fields too
		field := strings.TrimPrefix(t.Name()+"."+t.Field(i).Name, ".")
		if slices.Contains(w.derived, "-"+field) {
			continue
		}
		listed := slices.Contains(w.derived, field)
		if listed || f.Kind() != reflect.Struct || f.Type().PkgPath() != w.home { // else its fields are tried
			w.shows[field] = w.shows[field] || w.change(f)
		}
		if !listed {
			w.inside(f)
		}
	}
}

// change reports whether it shows that f is zero, or a number or a text is another one, and undoes both.
func (w *walker) change(f reflect.Value) bool {
	old := reflect.New(f.Type()).Elem()
	old.Set(f)
	defer f.Set(old)
	f.SetZero()
	shows := w.differs()
	switch f.Kind() {
	case reflect.Array, reflect.Map, reflect.Pointer, reflect.Slice, reflect.Struct:
		return shows
	}
	fill(f)
	return shows || w.differs()
}

// differs reports whether the snapshot is another one now, or cannot be taken.
func (w *walker) differs() (differs bool) {
	defer func() { differs = differs || recover() != nil }()
	return !bytes.Equal(w.base, w.snapshot())
}

// inside tries the values within f.
func (w *walker) inside(f reflect.Value) {
	switch f.Kind() {
	case reflect.Struct:
		w.structure(f)
	case reflect.Slice, reflect.Array:
		for i := range min(f.Len(), instances) {
			w.inside(f.Index(i))
		}
	case reflect.Pointer:
		if !f.IsNil() && !w.seen[f.UnsafePointer()] {
			w.seen[f.UnsafePointer()] = true
			w.inside(f.Elem())
		}
	}
}

// Fill sets each exported field of the struct that v points to, and of structs, pointers and elements in it, to a value
// that is not zero: texts are letters, numbers small.
func Fill(v any) { fill(reflect.ValueOf(v).Elem()) }

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	default:
		panic("BUG: testkit: no value of a " + v.Kind().String())
	}
}
