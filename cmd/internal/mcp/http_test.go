package mcp

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/framing"
	"github.com/heedlog/heed/internal/testkit"
)

// TestBodyIsBounded reads a body of the greatest length, and one that is longer by a byte.
func TestBodyIsBounded(t *testing.T) {
	body := make([]byte, framing.MaxMessage+1)
	require.Len(t, testkit.Must(readBody(bytes.NewReader(body[1:]))), framing.MaxMessage)
	_, err := readBody(bytes.NewReader(body))
	require.Equal(t, &framing.LongError{Size: len(body), Limit: framing.MaxMessage}, err)
}
