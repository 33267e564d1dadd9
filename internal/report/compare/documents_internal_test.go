package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRounded(t *testing.T) {
	for in, want := range map[float64]float64{
		0: 0, math.NaN(): 0, math.Inf(1): 1e12, 2e12: 1e12, 123456: 123500, -123456: -123500, 1234: 1234, 1.23456: 1.235,
		0.000123456: 0.0001235,
	} {
		require.Equal(t, want, rounded(in), in) //nolint:testifylint // what is rounded is exact
	}
}
