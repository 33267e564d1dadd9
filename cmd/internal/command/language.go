package command

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

const english = "en"

// registerLanguage adds the flag for the language of players' texts.
func (p *program) registerLanguage(cmd *cobra.Command) {
	known := append([]string{english}, rules.Languages()...)
	cmd.Flags().StringVar(&p.lang, "lang", "", "write what a player reads in `LANGUAGE` "+strings.Join(known, ", ")+
		"; without it, in the system's")
	cli.Completes(cmd, "lang", known...)
	cli.Checked(cmd, func(cmd *cobra.Command) error {
		p.lang = strings.ToLower(p.lang)
		return cli.OneOf(cmd, "lang", cmp.Or(p.lang, english), known...)
	})
}

// document returns a document in the language of the reader if people read the format, in English otherwise.
func (p *program) document(rep *report.Replay, format string, top int) *report.Document {
	switch format {
	case formatText, formatMarkdown, formatPage:
		return rep.Document(top, p.language())
	}
	return rep.Document(top)
}

// language returns the texts of the language of the reader, nil for English.
func (p *program) language() map[string]string {
	if p.texts == nil {
		language := cmp.Or(p.lang, p.Getenv("LC_ALL"), p.Getenv("LC_MESSAGES"), p.Getenv("LANG"), cli.Language())
		language, _, _ = strings.Cut(strings.ReplaceAll(language, "-", "_"), "_")
		p.texts = rules.Texts(strings.ToLower(language))
	}
	return p.texts
}

// translated is an error in the language of the reader.
type translated struct {
	error
	says string
}

func (t *translated) Error() string { return t.says }
func (t *translated) Unwrap() error { return t.error }

// inWords returns an error about a file in the language of the reader.
func (p *program) inWords(err error) error {
	said, ok := errors.AsType[*text.Saying](err)
	if !ok {
		return err
	}
	own := fmt.Sprintf(cmp.Or(p.language()[said.Format], said.Format), said.Args...)
	return &translated{err, strings.Replace(err.Error(), said.Error(), own, 1)}
}
