package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestCapturesAreAsWritten(t *testing.T) {
	for _, c := range captures {
		t.Run(c.name, func(t *testing.T) {
			want := c.write().Bytes()
			got, err := os.ReadFile(filepath.Join("..", c.name))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), "run: go run ./testdata/captures/gen")
			require.True(t, bytes.Equal(want, c.write().Bytes()), "two runs differ")
			require.True(t, utf8.Valid(want))

			lines := bytes.Count(want, []byte("\n"))
			require.True(t, lines >= 100 && lines <= 2000, "%d lines", lines)
			require.Less(t, len(want), 300_000)
		})
	}
}
