package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCause(t *testing.T) {
	require.Equal(t, "disk full", cause(errors.New("job failed:\n1: DataSource\n\tcaused by:\ndisk full\n")))
}
