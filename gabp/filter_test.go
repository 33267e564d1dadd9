package gabp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestToolFilter(t *testing.T) {
	tool := Tool{Name: "colony/build", Tags: []string{"a", "b"}}
	for _, tc := range []struct {
		filter *ToolFilter
		fits   bool
	}{
		{nil, true},
		{&ToolFilter{}, true},
		{&ToolFilter{Tags: []string{"c", "b"}}, true},
		{&ToolFilter{Tags: []string{"c"}}, false},
		{&ToolFilter{NamePattern: "colony/*"}, true},
		{&ToolFilter{NamePattern: "*"}, false},
		{&ToolFilter{NamePattern: "colony/["}, false},
		{&ToolFilter{Tags: []string{"a"}, NamePattern: "saves/*"}, false},
	} {
		require.Equal(t, tc.fits, tc.filter.Fits(&tool), "%+v", tc.filter)
	}
}
