package heedsource

import (
	"embed"
	"errors"
	"path"
	"sync"

	"github.com/heedlog/heed/agent/briefing"
)

// The built-in templates, and the classes that choose them.
const (
	TemplateAgent     = "agent"      // for an agent: decide what to do next
	TemplatePerson    = "person"     // for a person: what to do now
	TemplateModAuthor = "mod_author" // a report to the author of a mod
)

//go:embed templates/*.yaml
var templateFiles embed.FS

// Templates returns the built-in templates. They are shared: read only.
func Templates() []*briefing.Template { return builtIn() }

var builtIn = sync.OnceValue(func() []*briefing.Template {
	var out []*briefing.Template
	for _, id := range []string{TemplateAgent, TemplatePerson, TemplateModAuthor} {
		name := path.Join("templates", id+".yaml")
		data, unread := templateFiles.ReadFile(name)
		t, wrong := briefing.Parse(name, data)
		if err := errors.Join(unread, wrong); err != nil {
			panic("BUG: " + err.Error())
		}
		out = append(out, t)
	}
	return out
})
