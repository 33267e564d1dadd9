package bridge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
)

func TestToolFilter(t *testing.T) {
	tool := gabp.Tool{Name: "colony/build", Tags: []string{"a", "b"}}
	for _, tc := range []struct {
		filter *toolFilter
		fits   bool
	}{
		{nil, true},
		{&toolFilter{}, true},
		{&toolFilter{Tags: []string{"c", "b"}}, true},
		{&toolFilter{Tags: []string{"c"}}, false},
		{&toolFilter{NamePattern: "colony/*"}, true},
		{&toolFilter{NamePattern: "*"}, false},
		{&toolFilter{NamePattern: "colony/["}, false},
		{&toolFilter{Tags: []string{"a"}, NamePattern: "saves/*"}, false},
	} {
		require.Equal(t, tc.fits, tc.filter.fits(&tool), "%+v", tc.filter)
	}
}
