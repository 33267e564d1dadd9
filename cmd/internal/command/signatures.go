package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// maxLine bounds the part of a line that its signature is made of, so that
// memory does not grow with the input.
const maxLine = 16 << 20

func (p *program) signaturesCommand() *cobra.Command {
	var group bool
	cmd := &cobra.Command{
		Use:  "signatures [FILE]",
		Args: cli.Args(0, 1, "name one file at most; to read several, pipe them in: cat A B | "+p.Name+" signatures"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, normalizer, err := p.masking()
			if err != nil {
				return err
			}
			name := standardInput
			if len(args) == 1 {
				name = args[0]
			}
			scrubber := p.newScrubber()
			if group {
				err = p.groups(cmd.Context(), normalizer, name, scrubber)
			} else {
				p.learnNames(cmd.Context(), scrubber, name)
				err = p.signatures(cmd.Context(), normalizer, name, scrubber)
			}
			p.removed(scrubber)
			return err
		},
	}
	p.registerRules(cmd)
	p.registerScrub(cmd)
	cmd.Flags().BoolVar(&group, "group", false,
		"read all input, then print the final group of each line instead of its signature")
	return cmd
}

// signatures prints one line for each line of an input, as it is read.
func (p *program) signatures(ctx context.Context, normalizer *signature.Normalizer, name string,
	scrubber *report.Scrubber,
) error {
	out := p.buffered()
	err := p.templates(ctx, normalizer, name, out, scrubber, func(template []byte) error {
		return writeSignature(out, signature.Of(template).ID, scrubber.Text(string(template)))
	})
	return cmp.Or(cli.CannotWrite(exitIO, "the signatures", out.Flush()), err)
}

// The bounds of what --group learns from one input: a column watched takes 120
// bytes of memory.
const (
	maxGroupSignatures = 1 << 22
	minColumns         = 1 << 14
	maxGroupColumns    = 1 << 20
)

// groups prints one line for each line of an input, once all of it is read.
func (p *program) groups(ctx context.Context, normalizer *signature.Normalizer, name string,
	scrubber *report.Scrubber,
) error {
	type known struct {
		template string
		place    signature.Place
	}
	var lines, order []signature.Signature
	texts := map[signature.Signature]*known{}
	out := p.buffered()
	err := p.templates(ctx, normalizer, name, out, scrubber, func(template []byte) error {
		s := signature.Of(template)
		if texts[s] == nil {
			texts[s] = &known{template: string(template)}
			order = append(order, s)
		}
		lines = append(lines, s)
		return nil
	})
	if len(order) == 0 {
		return err
	}
	grouper, bad := signature.NewGrouper(signature.GrouperConfig{
		Signatures: min(len(order), maxGroupSignatures),
		Columns:    min(max(16*len(order), minColumns), maxGroupColumns),
	})
	if bad != nil {
		panic("BUG: " + bad.Error())
	}
	for _, s := range order {
		texts[s].place = grouper.Learn(s, []byte(texts[s].template))
		grouper.Merges(nil)
	}
	for _, s := range lines {
		t := texts[s]
		if writeSignature(out, grouper.GroupAt(t.place, s).ID, scrubber.Text(t.template)) != nil {
			break
		}
	}
	if err := cli.CannotWrite(exitIO, "the groups", out.Flush()); err != nil {
		return err
	}
	if s := grouper.Stats(); s.Unlearned+s.ColumnsEvicted > 0 {
		p.Message("%s: %d signatures are too many to compare all: some that differ only in a name may be in separate "+
			"groups", name, len(order))
	}
	return err
}

func writeSignature(out io.Writer, id signature.ID, template string) error {
	_, err := fmt.Fprintf(out, "%s\t%s\n", id, safe(template, 0))
	return err
}

// templates calls f with the template of each line of an input. It flushes out when no more input is buffered.
func (p *program) templates(ctx context.Context, normalizer *signature.Normalizer, name string, out *bufio.Writer,
	scrubber *report.Scrubber, f func(template []byte) error,
) error {
	in, err := p.openAny(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	br := in.Reader
	var line, template []byte
	for {
		line, err = readLine(br, line[:0])
		if len(line) > 0 || err == nil {
			text := string(line)
			scrubber.Learn(text)
			template = normalizer.AppendTemplate(template[:0], logline.Text(text, event.LevelUnknown), "")
			if f(template) != nil {
				return nil // which the end of the output returns again
			}
		}
		// A live input may have no more for a while, and its reader is waiting.
		if br.Buffered() == 0 && out.Flush() != nil {
			return nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
		default:
			return ioError(fmt.Errorf("%s: %w", name, err))
		}
	}
}

// readLine appends the next line without its line feed to dst, at most maxLine
// bytes of it. It returns io.EOF, with the line, if no line feed ended it.
func readLine(br *bufio.Reader, dst []byte) ([]byte, error) {
	for {
		part, err := br.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		dst = append(dst, part[:min(len(part), maxLine-len(dst))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return dst, err
		}
	}
}

func (p *program) recordsCommand() *cobra.Command {
	cmd := p.logCommand("records FILE...", func(cmd *cobra.Command, names []string) error {
		set, err := p.compile()
		if err != nil {
			return err
		}
		out := p.buffered()
		scrubber := p.newScrubber()
		p.learnNames(cmd.Context(), scrubber, names...)
		p.eachLog(cmd.Context(), names, func(name string) error {
			if out.Flush() != nil {
				return nil
			}
			return p.records(cmd.Context(), set, name, out, scrubber)
		})
		p.removed(scrubber)
		return cli.CannotWrite(exitIO, "the records", out.Flush())
	})
	p.registerRules(cmd)
	p.registerMods(cmd)
	cmd.Flags().String("format", formatText, "write the `FORMAT` text or jsonl (a JSON object per line)")
	cli.Choice(cmd, "format", formatText, formatJSONL)
	p.registerScrub(cmd)
	return cmd
}

// records prints the records of one capture.
func (p *program) records(ctx context.Context, set *rules.Set, name string, out *bufio.Writer,
	scrubber *report.Scrubber,
) error {
	format := p.formats[0]
	shownName := scrubber.Text(name)
	return p.observe(ctx, set, name, func(src *source, outcome *heed.Outcome) bool {
		rec := src.Record
		if rec.StartLine == 0 { // a notice of capture itself
			return true
		}
		scrubber.Learn(rec.Message, rec.Stack)
		template, _ := src.Engine.Template(outcome.Signature)
		r := report.Record{
			File: shownName, StartLine: rec.StartLine, EndLine: rec.EndLine, Kind: rec.KindName(),
			Layout: rec.Layout.String(), Split: rec.Split.String(), Level: rec.Level, LevelBy: rec.LevelBy.String(),
			Cut:       rec.Cut,
			Signature: outcome.Signature.ID, Template: scrubber.Text(template),
			Disposition: outcome.Decision.Disposition, Severity: outcome.Decision.Severity,
			Rule: outcome.Decision.Rule, Escalated: outcome.Escalated, Phase: outcome.Phase, RefState: rec.RefState,
		}
		if format != formatText && r.Disposition.Urgent() {
			r.Blame = scrubber.Suspects(src.Blame())
		}
		write := report.AppendRecord
		if format == formatText {
			write = report.AppendRecordText
		}
		_, err := out.Write(write(out.AvailableBuffer(), &r))
		return err == nil
	})
}
