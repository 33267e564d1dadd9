package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/statefile"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/template"
	"github.com/heedlog/heed/report/compare"
	"github.com/heedlog/heed/signature"
)

func (p *program) baselineMigrateCommand() *cobra.Command {
	f := &compareFlags{} // this command has its flags of rules only
	var out string
	cmd := &cobra.Command{
		Use:   "migrate FILE",
		Short: "Rebuild a baseline of an earlier version of signatures",
		Long: `migrate masks the templates that a baseline holds again, as this program masks, so that
its groups are recognized. Day, note and rate of each stay; groups that are one now are
joined. Give it the rules that the baseline is used with. The old file is kept beside
the new one, as FILE.v1; comments are lost.

A baseline holds no lines of logs. Where an earlier version masked what decides now,
such as the text after "msg=", what stood there is not known: these groups are named,
and are written again from a log with "baseline write", which keeps the rest.`,
		Example: `  heed baseline migrate heed-baseline.yaml
  heed baseline migrate -o - noise.yaml | less`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usage(cmd, "%d arguments: name the file of a baseline", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if err := checkOutput(cmd, out, nil); cmd.Flags().Changed("output") && err != nil {
				return err
			}
			b, err := parseBaseline(name)
			if err != nil {
				return err
			}
			if b.Signatures == signature.Version {
				p.Note("%s is of version %d of signatures already", name, b.Signatures)
				return nil
			}
			if b.Signatures > signature.Version {
				return p.versionOf(b, name, &f.rules)
			}
			c, err := newComparing(f)
			if err != nil {
				return err
			}
			m := c.collector.Migrate(b)
			data := m.Baseline.Append(nil)
			if out == standardInput {
				if err := p.print("the baseline", data); err != nil {
					return err
				}
				p.noteMigrated(b, m, name, "")
				return nil
			}
			kept := ""
			if out == "" {
				out = name
				if target, err := filepath.EvalSymlinks(name); err == nil {
					out = target // the link stays
				}
			}
			if sameFile(out, name) {
				if kept, err = statefile.SetAside(out, fmt.Sprintf(".v%d", b.Signatures)); err != nil {
					return ioError(err)
				}
			}
			if err := replaceFile(out, data); err != nil {
				return ioError(err)
			}
			p.noteMigrated(b, m, out, kept)
			return nil
		},
	}
	f.rules.register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the baseline to `FILE`, - for standard output (default: in place of the old one)")
	return cmd
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// maxUnsure bounds the groups that are named.
const maxUnsure = 10

// noteMigrated prints what became of a baseline, and what to do about groups that may not be recognized.
func (p *program) noteMigrated(b *compare.Baseline, m *compare.Migrated, file, kept string) {
	note := fmt.Sprintf("%s: %s of version %d", file, plural(len(b.Entries), "group"), b.Signatures)
	if m.Joined > 0 {
		note += fmt.Sprintf(", %d joined with another", m.Joined)
	}
	if m.Dropped > 0 {
		note += fmt.Sprintf(", %d without a template left out", m.Dropped)
	}
	if kept != "" {
		note += "; the old file is " + kept
	}
	p.Note("%s", note)
	if len(m.Unsure) == 0 {
		return
	}
	p.Note("%s may not be recognized: what decides in them was masked by version %d; write them again from a log with "+
		"\"%s baseline write\":", plural(len(m.Unsure), "group"), b.Signatures, p.Name)
	for i := range m.Unsure {
		if i == maxUnsure {
			p.Note("  and %d more", len(m.Unsure)-i)
			return
		}
		k := &m.Unsure[i]
		p.Note("  %s %s", k.Signature.ID, text.Safe(template.Line(k.Templates[0]), 120))
	}
}
