package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// folder has the table and the license of its source.
var folder = filepath.Join("..", "..", "internal", "text", "scrub", "gitleaks")

// TestTableIsGenerated: the table in the tree is the output of this command. It downloads one module.
func TestTableIsGenerated(t *testing.T) {
	var table bytes.Buffer
	require.NoError(t, run(&table))
	got, err := os.ReadFile(filepath.Join(folder, "rules.tsv"))
	require.NoError(t, err)
	require.Equal(t, table.String(), string(got), "run go generate ./internal/text/scrub")
	license, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
	require.NoError(t, err)
	require.Contains(t, string(license), "MIT License")
}

func TestRowOf(t *testing.T) {
	tail := "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"
	for _, c := range []struct{ expr, keyword, want string }{
		{`\b(lin_api_(?i)[a-z0-9]{40})` + tail, "lin_api_", "own\tlin_api_\t24\tlin_api_[0-9A-Za-z]{16,}"},
		{
			`(?i)[\w.-]{0,50}?(?:fastly)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}([a-z0-9=_\-]{32})` + tail,
			"fastly", "",
		},
		{`SK[0-9a-fA-F]{32}`, "sk", "own\tsk\t34\tSK[0-9A-Fa-f]{32}"},
	} {
		row, err := rowOf(ends.Replace(c.expr), []string{c.keyword})
		require.NoError(t, err)
		require.Equal(t, c.want, row)
	}
	_, err := tableOf("")
	require.Error(t, err)
}
