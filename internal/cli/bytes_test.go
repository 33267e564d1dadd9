package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 0.4: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 1 << 30: "1.0 GiB", 1 << 41: "2048.0 GiB",
	} {
		require.Equal(t, want, Bytes(n))
	}
}
