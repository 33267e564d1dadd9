package mcp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestTranscripts plays the transcripts of testdata. A step is a line: C> and S> are sent by the client and the server, C<
// and S< are what they get, where ... stands for any text, C>S and S>C pass byte for byte, and log is a line of the game.
// _V stands for the version of a request of 2026-07-28. After the last step, neither gets anything.
func TestTranscripts(t *testing.T) {
	files := testkit.Must(filepath.Glob("testdata/transcripts/*.txt"))
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text := testkit.Must(os.ReadFile(file))
			b := begin(t)
			for line := range strings.Lines(string(text)) {
				kind, line, _ := strings.Cut(strings.TrimSpace(line), " ")
				line = strings.ReplaceAll(line, "_V", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`)
				switch kind {
				case "", "#":
				case "log":
					b.log(line)
				case "C>S":
					b.ask(line)
					require.Equal(t, line, b.take(b.server))
				case "S>C":
					b.serve(line)
					require.Equal(t, line, b.take(b.client))
				case "C>":
					b.ask(line)
				case "S>":
					b.serve(line)
				case "C<":
					requireLike(t, line, b.take(b.client))
				case "S<":
					requireLike(t, line, b.take(b.server))
				default:
					require.Fail(t, "no step", kind)
				}
			}
			ping := `{"jsonrpc":"2.0","id":"last","method":"ping"}`
			require.Equal(t, `{"jsonrpc":"2.0","id":"last","result":{}}`, b.asks(ping, `"result":{}`))
		})
	}
}

// requireLike holds a line to a form in which ... stands for any text.
func requireLike(t *testing.T, form, got string) {
	t.Helper()
	re := "^" + strings.ReplaceAll(regexp.QuoteMeta(form), regexp.QuoteMeta("..."), ".*") + "$"
	require.Regexp(t, re, got)
}
