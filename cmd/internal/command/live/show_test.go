package live

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
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
		p.form(g, "status", status)
		return string(g.Out)
	}
	for _, text := range []string{"a\nb\x1b[31m", "a\n\tb\x1b[31m", "a\x00\x1b[31m\x00b"} {
		out := pages(text)
		testkit.Inert(t, out, "\n")
		require.Equal(t, strings.Count(pages("a"), "\n"), strings.Count(out, "\n"), out)
		require.Greater(t, strings.Count(out, `\x1b[31m`), 20)
	}
}

// TestTailReportsLoss: what is no longer kept is reported, also where it was lost before or between the entries that are
// shown, or while tail waited.
func TestTailReportsLoss(t *testing.T) {
	page := func(lost uint64, next string, more bool, messages ...string) bridge.Page {
		p := bridge.Page{Lost: lost, Next: next, More: more}
		for i, m := range messages {
			var e bridge.Entry
			e.Seq, e.Kind, e.Message = uint64(i+1), event.KindLog, m
			p.Entries = append(p.Entries, e)
		}
		return p
	}
	for _, test := range []struct {
		args  string
		pages []bridge.Page
		shown []string
		notes []string
	}{
		{"--after 0", []bridge.Page{page(5, "7", false, "one")}, []string{"one"}, []string{"5 entries are no longer kept"}},
		{"--after 0", []bridge.Page{page(0, "7", false, "one")}, []string{"one"}, nil},
		{
			"--least blocking -n 2",
			[]bridge.Page{page(2, "7", true, "one"), page(3, "9", false, "two", "three")},
			[]string{"two", "three"},
			[]string{"5 entries are no longer kept"},
		},
		{
			"--after 0 --follow",
			[]bridge.Page{page(0, "7", false, "one"), page(1, "9", false)},
			[]string{"one"},
			[]string{"1 entry is no longer kept"},
		},
	} {
		t.Run(test.args, func(t *testing.T) {
			pages := make(chan bridge.Page, len(test.pages))
			for _, p := range test.pages {
				pages <- p
			}
			args := append([]string{"tail"}, serve(t, func(context.Context, *gabp.Request) (any, error) {
				select {
				case p := <-pages:
					return p, nil
				default:
					return nil, gabp.Errorf(gabp.CodeTimeout, "there are no more pages")
				}
			})...)
			var out, errs strings.Builder
			run(t.Context(), append(args, strings.Fields(test.args)...), strings.NewReader(""), &out, &errs)
			require.Empty(t, pages)
			var shown, notes []string
			for line := range strings.Lines(out.String()) {
				fields := strings.Fields(line)
				shown = append(shown, fields[len(fields)-1])
			}
			for line := range strings.Lines(errs.String()) {
				if _, note, ok := strings.Cut(strings.TrimSpace(line), "heed: "); ok && strings.HasSuffix(note, "kept") {
					notes = append(notes, note)
				}
			}
			require.Equal(t, test.shown, shown)
			require.Equal(t, test.notes, notes, errs.String())
		})
	}
}
