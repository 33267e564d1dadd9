package gabp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
)

func TestToolFilter(t *testing.T) {
	tool := gabp.Tool{Name: "colony/build", Tags: []string{"a", "b"}}
	for _, tc := range []struct {
		filter *gabp.ToolFilter
		fits   bool
	}{
		{nil, true},
		{&gabp.ToolFilter{}, true},
		{&gabp.ToolFilter{Tags: []string{"c", "b"}}, true},
		{&gabp.ToolFilter{Tags: []string{"c"}}, false},
		{&gabp.ToolFilter{NamePattern: "colony/*"}, true},
		{&gabp.ToolFilter{NamePattern: "*"}, false},
		{&gabp.ToolFilter{NamePattern: "colony/["}, false},
		{&gabp.ToolFilter{Tags: []string{"a"}, NamePattern: "saves/*"}, false},
	} {
		require.Equal(t, tc.fits, tc.filter.Fits(&tool), "%+v", tc.filter)
	}
}
