package command

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/rules"
)

const english = "en"

// registerLanguage adds the flag for the language of players' texts.
func (p *program) registerLanguage(cmd *cobra.Command) {
	known := append([]string{english}, rules.Languages()...)
	cmd.Flags().StringVar(&p.lang, "lang", "", "write what a player reads in `LANGUAGE` "+strings.Join(known, ", ")+
		"; without it, in the system's")
	cli.Choice(cmd, "lang", append(known, "")...)
}

// document returns a document in the language of the reader if people read the format, in English otherwise.
func (p *program) document(rep *report.Replay, format string, top int) *report.Document {
	switch format {
	case formatText, formatMarkdown, formatPage:
		if p.texts == nil {
			language := cmp.Or(p.lang, p.Getenv("LC_ALL"), p.Getenv("LC_MESSAGES"), p.Getenv("LANG"), cli.Language())
			language, _, _ = strings.Cut(strings.ReplaceAll(language, "-", "_"), "_")
			p.texts = rules.Texts(strings.ToLower(language))
		}
		return rep.Document(top, p.texts)
	}
	return rep.Document(top)
}
