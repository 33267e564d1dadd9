package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/safetext"
	"github.com/heedlog/heed/signature"
)

// maxLine bounds the part of a line that its signature is made of, so that
// memory does not grow with the input.
const maxLine = 16 << 20

func (p *program) signaturesCommand() *cobra.Command {
	var flags ruleFlags
	cmd := &cobra.Command{
		Use:   "signatures [FILE]",
		Short: "Print the signature and the template of each line of text",
		Long: `signatures reads text, from standard input unless a file is named, and prints for
each of its lines, in order, one line: the id of its signature, a tab, and its
template, in which <*> stands for what varies. Lines end at a line feed; they are
not joined to records. The id is the XXH64 of the template.

Words that the rules protect are not masked, so the flags that choose rules have
a say. Of a line beyond 16 MiB the rest is left out.`,
		Example: `  classify-replay signatures Player.log | sort | uniq -c | sort -rn | head
  tail -f server.log | classify-replay signatures`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(cmd, "name one file at most; to read several, pipe them in: cat A B | %s", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := flags.compile()
			if err != nil {
				return err
			}
			normalizer, err := signature.New(set.Masking())
			if err != nil {
				return err
			}
			name := standardInput
			if len(args) == 1 {
				name = args[0]
			}
			return p.signatures(cmd.Context(), normalizer, name)
		},
	}
	flags.register(cmd)
	return cmd
}

// signatures prints one line for each line of an input.
func (p *program) signatures(ctx context.Context, normalizer *signature.Normalizer, name string) error {
	in, err := p.openAny(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	br := in.Reader
	out := &output{w: p.stdout}
	var line, template []byte
	for {
		line, err = readLine(br, line[:0])
		if len(line) > 0 || err == nil {
			template = normalizer.AppendTemplate(template[:0], string(line), "")
			out.buf = append(out.buf, signature.TemplateID(template).String()...)
			out.buf = append(out.buf, '\t')
			out.buf = safetext.AppendText(out.buf, string(template), 0)
			out.buf = append(out.buf, '\n')
		}
		// What is buffered will not be more for a while when the input is a
		// live one, and its reader is waiting.
		if br.Buffered() == 0 {
			out.flush()
		}
		switch {
		case !out.full():
			return inputError(fmt.Errorf("cannot write the signatures: %w", out.err))
		case err == nil:
		case errors.Is(err, io.EOF):
			if !out.flush() {
				return inputError(fmt.Errorf("cannot write the signatures: %w", out.err))
			}
			return nil
		case ctx.Err() != nil:
			out.flush()
			p.raise(exitInterrupted)
			return nil
		default:
			out.flush()
			return inputError(fmt.Errorf("%s: %w", name, err))
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
