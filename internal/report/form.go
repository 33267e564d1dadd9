package report

import (
	"bytes"
	"embed"
	"io"
	"sync"
	"text/template"
)

// forms are the templates of the forms that are text.
//
//go:embed forms
var forms embed.FS

// form returns the template of a form, which is parsed when it is first used.
func form(name string, funcs template.FuncMap) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New(name).Funcs(funcs).ParseFS(forms, "forms/"+name))
	})
}

// render returns the output of a template of this package.
func render(t interface {
	Execute(w io.Writer, data any) error
}, data any) []byte {
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		panic("BUG: report: " + err.Error())
	}
	return out.Bytes()
}
