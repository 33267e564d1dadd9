package command

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/rules"
)

// BriefForm is the JSON form of a brief.
var BriefForm = schema.Object("brief", "brief", BriefDocument{})

// forms are the JSON forms of the commands of this package, in addition to the forms of package report.
var forms = []schema.Form{
	schema.Object("explain", "explain", explanation{}),
	schema.Object("rules-diff", "rules diff", diffReport{}),
	settings.Form,
}

// templateSchema is the name of the schema of a briefing's template: of input.
const templateSchema = "template"

// allForms returns the JSON forms of all commands.
func (p *program) allForms() []schema.Form { return slices.Concat(report.Forms, forms, p.host.Forms) }

func (p *program) schemaCommand() *cobra.Command {
	var names []string
	for _, f := range p.allForms() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	names = append(names, templateSchema)
	return &cobra.Command{
		Use:       "schema [NAME]",
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usage(cmd, "name one schema, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "replay"
			if len(args) > 0 {
				name = args[0]
			}
			if name == templateSchema {
				return p.print("the schema", briefing.Schema())
			}
			f := schema.Find(p.allForms(), name)
			if f == nil {
				return cli.Usage(cmd, "there is no schema %q%s", name, cli.Meant(name, names))
			}
			return p.print("the schema", f.JSON())
		},
	}
}

func (p *program) rulesSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "schema",
		Args: cli.NoArgs("rules schema"),
		RunE: func(*cobra.Command, []string) error {
			return p.print("the schema", rules.Schema())
		},
	}
}
