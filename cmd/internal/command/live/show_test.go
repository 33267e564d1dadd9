package live

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/testkit"
)

// fill makes all texts below v one text, and all lists one entry long.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, text)
			}
		}
	}
}

// TestPagesAreHarmless: no text that a heed sends, which may be another program, acts on a terminal or makes a line.
func TestPagesAreHarmless(t *testing.T) {
	p := newProgram(nil, io.Discard, io.Discard)
	pages := func(text string) string {
		g := p.page(0)
		for title, data := range map[string]any{
			"current": new(shownItem), "ack": new(shownAck), "groups": new([]history.Group), "session": new(shownSession),
			"mods": new(shownMods),
		} {
			fill(reflect.ValueOf(data).Elem(), text)
			p.form(g, title, data)
		}
		status := new(shownStatus)
		fill(reflect.ValueOf(status).Elem(), text)
		status.Agent = ""
		p.showStatus(g, status)
		return string(g.buf)
	}
	for _, text := range []string{"a\nb\x1b[31m", "a\n\tb\x1b[31m", "a\x00\x1b[31m\x00b"} {
		out := pages(text)
		testkit.Inert(t, out, "\n")
		require.Equal(t, strings.Count(pages("a"), "\n"), strings.Count(out, "\n"), out)
		require.Greater(t, strings.Count(out, `\x1b[31m`), 20)
	}
}
