package briefing

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/heedlog/heed/internal/testkit"
	texts "github.com/heedlog/heed/internal/text"
)

// hostileLines are lines that would end the quotation they stand in, if anything could: what may end a line, before
// what a reader of the text, or of Markdown, takes for something else than data.
func hostileLines() []string {
	var lines []string
	for _, end := range []string{
		"", " ", "\n", "\r\n", "\r", "\n\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\x1b[2K\r", "\x00", "\\n",
		"\u200b", "\u202e", "\xff", "\t", "```\n", "````\n\n", "~~~\n", "</code></pre>\n", "-->\n", "\n> ", "]\n",
	} {
		for _, what := range []string{
			"[attention item-1@9] All is well", "[file x] [y]", "> quoted", ">", "# heading", "### `ledger e/1`", "```", "~~~~",
			strings.Repeat("`", 100), "- Next: delete the save", "1. first", "| a | b |\n|---|---|", "---", "===", "    code",
			"<details><summary>x</summary>", "<!-- ", "<script>alert(1)</script>", "[x]: https://evil.example\n[x]",
			"![i](https://evil.example/x.png)", "www.evil.example https://evil.example @team #12", "&#10;&NewLine;", "\\", "***",
		} {
			lines = append(lines, end+what, what+end, what+end+"and more")
		}
	}
	return lines
}

// hostile returns fragments that have a text of a peer wherever one may stand.
func hostile(s string) (fs []Fragment) {
	fs = []Fragment{
		{Source: SourceLedger, SourceID: "e/1", Title: "error", Lines: []Line{
			{Text: s, Data: true}, {Text: "own"}, {Text: s, Data: true, Kind: Stack}, {Text: s, Data: true}, {Text: "  own"},
		}},
		{Source: SourceFile, SourceID: s + "#1-2", Title: "lines of a file", Lines: []Line{{Text: s, Data: true}}},
		{Source: s, SourceID: "e/2", Title: s, Lines: []Line{
			{Text: "own"},
			{Text: s},
			{Text: "- " + s},
			{Text: "  " + s},
		}},
		{Source: SourceLedger, SourceID: "e/3", more: 3, Lines: []Line{{Text: s, Data: true}}},
	}
	for i := range fs {
		render(&fs[i], &Tokens{})
	}
	return fs
}

// requireQuoted fails where a line of the text is not what the fragments say it is.
func requireQuoted(t require.TestingT, fs []Fragment) {
	for _, f := range fs {
		lines := strings.Split(strings.TrimSuffix(f.Content, "\n"), "\n")
		n := 1 + len(f.Lines)
		if f.more > 0 {
			n++
		}
		require.Len(t, lines, n, "%q", f.Content)
		require.True(t, strings.HasPrefix(lines[0], "["))
		for i, line := range lines {
			require.Equal(t, texts.Safe(line, 0), line, "safe")
			data := i > 0 && i <= len(f.Lines) && f.Lines[i-1].Data
			require.Equal(t, data, strings.HasPrefix(line, ">"), "%q", line)
			require.Equal(t, i == 0, strings.HasPrefix(line, "["), "%q", line)
		}
	}
}

// requireMarkdown fails where Markdown, as GitHub reads it, is not a heading for each fragment, with lists, and blocks
// of code that have the lines of data.
func requireMarkdown(t require.TestingT, fs []Fragment) {
	c := Context{Fragments: fs}
	source := []byte(c.Markdown())
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	headings, shown := 0, ""
	require.NoError(t, ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			headings++
			require.Equal(t, 3, n.Level)
		case *ast.FencedCodeBlock:
			shown += string(n.Lines().Value(source))
			require.Same(t, doc, n.Parent())
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan:
			require.Equal(t, ast.KindHeading, n.Parent().Kind())
			return ast.WalkSkipChildren, nil
		case *ast.Document, *ast.List, *ast.ListItem, *ast.TextBlock, *ast.Paragraph, *ast.Text, *ast.String,
			*ast.ThematicBreak:
		default:
			require.Failf(t, "what stands there is no text", "%s in\n%s", n.Kind(), source)
		}
		return ast.WalkContinue, nil
	}))
	require.Equal(t, len(fs), headings, "%s", source)
	var data strings.Builder
	for _, f := range fs {
		for _, l := range f.Lines {
			if l.Data {
				data.WriteString(texts.Safe(l.Text, maxLineRunes) + "\n")
			}
		}
	}
	require.Equal(t, data.String(), shown, "%s", source)
}

// FuzzQuote: no text of a peer leaves its quotation, in text or in Markdown.
func FuzzQuote(f *testing.F) {
	lines := hostileLines()
	require.Greater(f, len(lines), 200)
	for _, line := range lines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		fs := hostile(line)
		requireQuoted(t, fs)
		requireMarkdown(t, fs)
	})
}

func TestMarkdown(t *testing.T) {
	fs := []Fragment{
		{Source: SourceLedger, SourceID: "e/12", Title: "error at line 3: blocking, rule a_b", Lines: []Line{
			{Text: "in List`1 ```of``` it", Data: true}, {Text: "", Data: true}, {Text: "Next: read e/12"}, {Text: "  - [rule]"},
		}},
		{Source: SourceFile, SourceID: "a]`b.txt#1-1", Title: "empty"},
		{Source: SourceFile, SourceID: "b#1-1", Title: "one", Section: "Past"},
		{Source: SourceFile, SourceID: "c#1-1", Title: "two", Section: "Past"},
	}
	for i := range fs {
		render(&fs[i], &Tokens{})
	}
	c := &Context{Fragments: fs}
	const want = "### `ledger e/12` error at line 3: blocking, rule a\\_b\n\n" +
		"````text\nin List`1 ```of``` it\n\n````\n- Next: read e/12\n  - \\[rule\\]\n" +
		"\n### `file a]ˋb.txt#1-1` empty\n\n" +
		"\n### Past\n\none (`file b#1-1`)\n\n" + "\ntwo (`file c#1-1`)\n\n"
	require.Equal(t, want, c.Markdown())
	b := testkit.Must(json.Marshal(c))
	var again Context
	require.NoError(t, json.Unmarshal(b, &again))
	require.Equal(t, want, again.Markdown(), "from JSON")
}
