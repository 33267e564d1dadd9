package signature

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestID(t *testing.T) {
	require.Equal(t, "ef46db3751d8e999", Of(nil).ID.String(), "XXH64 of nothing")
	require.Equal(t, "0000000000000000", ID(0).String())
	require.Equal(t, "ffffffffffffffff", ID(math.MaxUint64).String())
	for _, id := range []ID{0, 1, 0x0123456789abcdef, math.MaxUint64} {
		got, err := ParseID(id.String())
		require.NoError(t, err)
		require.Equal(t, id, got)

		text, err := json.Marshal(id)
		require.NoError(t, err)
		require.Equal(t, `"`+id.String()+`"`, string(text))
		got = 0
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, id, got)
	}
	id, err := ParseID("0123456789ABCDEF")
	require.NoError(t, err)
	require.Equal(t, ID(0x0123456789abcdef), id)
	for _, s := range []string{"", "0", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeg", "+123456789abcdef", " 123456789abcdef"} {
		_, err := ParseID(s)
		require.Error(t, err, "%q", s)
		require.ErrorContains(t, err, "signature: id")
		require.Error(t, new(ID).UnmarshalText([]byte(s)))
	}
}

func TestCheckIsIndependent(t *testing.T) {
	require.Equal(t, Signature{ID: 0xef46db3751d8e999, Check: 0x811c9dc5}, Of(nil))
	require.Equal(t, uint32(0xbf9cf968), Of([]byte("foobar")).Check, "the published FNV-1a vector")
}
