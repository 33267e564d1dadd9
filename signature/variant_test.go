package signature

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendVariant(t *testing.T) {
	for template, want := range map[string]string{
		"Tobin has <*>":                    "has",
		"pump <*> stopped, code 12":        "stopped 12",
		"pump <*> stopped, code 7":         "stopped 7",
		"ticking\nat Acme.Works.Press.Run": "ticking",
	} {
		require.Equal(t, want, string(AppendVariant(nil, []byte(template))), template)
	}
}
