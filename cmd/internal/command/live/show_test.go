package live

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/report/summary"
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
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), text)
			}
		}
	}
}

// TestPagesAreHarmless: no text that a heed sends, which may be another program, acts on a terminal or makes a line.
func TestPagesAreHarmless(t *testing.T) {
	p := newProgram(nil, io.Discard, io.Discard)
	pages := func(text string) string {
		var status struct {
			Run     runFile
			Status  bridge.Status
			Items   bridge.Items
			Info    itemInfo
			Group   history.Group
			Session history.Session
			Summary summary.Session
		}
		fill(reflect.ValueOf(&status).Elem(), text)
		g := p.page(0)
		p.showItem(g, &status.Info.Item.Item, &status.Info, 0)
		p.showStatus(g, &status.Run, &status.Status, &status.Items, []itemInfo{status.Info}, nil)
		p.form(g, "groups", []history.Group{status.Group})
		p.form(g, "session", shownSession{&status.Session, &status.Summary})
		return string(g.buf)
	}
	for _, text := range []string{"a\nb\x1b[31m", "a\n\tb\x1b[31m", "a\x00\x1b[31m\x00b"} {
		out := pages(text)
		testkit.Inert(t, out, "\n")
		require.Equal(t, strings.Count(pages("a"), "\n"), strings.Count(out, "\n"), out)
		require.Greater(t, strings.Count(out, `\x1b[31m`), 20)
	}
}
