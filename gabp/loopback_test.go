package gabp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/loopback"
)

func TestIsLoopback(t *testing.T) {
	for _, host := range []string{
		"localhost", "LOCALHOST:80", "127.0.0.1", "127.8.9.1:0", "::1", "[::1]", "[::1]:80", "::ffff:127.0.0.1",
	} {
		require.True(t, loopback.Is(host), host)
	}
	for _, host := range []string{
		"", ":80", "0.0.0.0", "0.0.0.0:80", "[::]:80", "10.0.0.1:80", "localhost.example", "127.0.0.1.example:80", "127.1",
	} {
		require.False(t, loopback.Is(host), host)
	}
}
