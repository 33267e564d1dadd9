package signature

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newDefault(tb testing.TB) *Normalizer {
	n, err := New(Config{})
	require.NoError(tb, err)
	return n
}

func TestHeads(t *testing.T) {
	n := newDefault(t)
	for _, c := range headCases {
		assert.Equal(t, c.want, string(n.AppendTemplate(nil, c.text, "")), "template of %q", c.text)
	}
}

func TestFrames(t *testing.T) {
	n := newDefault(t)
	for _, c := range frameCases {
		want := "head"
		if c.want != "" {
			want += "\nat " + c.want
		}
		assert.Equal(t, want, string(n.AppendTemplate(nil, "head", c.line)), "frame of %q", c.line)
		assert.Equal(t, want, string(n.AppendTemplate(nil, "head\n"+c.line+"\r\n", "")), "frame of %q in a message", c.line)
	}
}

func TestEntries(t *testing.T) {
	n := newDefault(t)
	for _, c := range entryCases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(n.AppendTemplate(nil, c.message, c.stack)))
		})
	}
}
