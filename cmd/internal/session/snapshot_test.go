package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

const nowText = "20260131T090000.123456789"

// smallConfig makes snapshots of a few hundred bytes.
func smallConfig(t testing.TB) heed.Config {
	set, err := rules.Compile(rules.File{
		Name: "f.yaml",
		Data: []byte("version: 1\nrules:\n  - {id: broken, when: 'template startsWith \"Broken\"', disposition: " +
			"blocking}\n"),
	})
	require.NoError(t, err)
	return heed.Config{Rules: set, Epoch: nowText, Groups: signature.GrouperConfig{Signatures: 16, Columns: 8}}
}
