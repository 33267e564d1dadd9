package settings

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func TestApply(t *testing.T) {
	env := map[string]string{"HEED_TOP": "3", "HEED_WIDTH": "30", "HEED_FAIL_ON": "blind,blocking", "HEED_QUIET": "true"}
	s := testkit.Must(Load(Sources{Getenv: func(n string) string { return env[n] }}))
	flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
	top, width := flags.Int("top", 10, ""), flags.Int("width", 0, "")
	failOn, rules := flags.StringSlice("fail-on", []string{"advisory"}, ""), flags.StringArray("rules", nil, "")
	flags.Int("other", 1, "")
	require.NoError(t, flags.Parse([]string{"--top", "5", "--rules", "a,b"}))
	require.NoError(t, s.Apply(flags))
	require.Equal(t, 5, *top)
	require.Equal(t, 30, *width)
	require.Equal(t, []string{"blind", "blocking"}, *failOn)
	require.Equal(t, []string{"a,b"}, *rules)
	require.False(t, flags.Changed("width"))
	require.Equal(t, Flag, s.Value("top").Origin)
	require.Equal(t, []string{"a,b"}, s.Value("rules").Items)
	require.Equal(t, Environment, s.Value("quiet").Origin, "there is no such flag here")

	wrong := pflag.NewFlagSet("x", pflag.ContinueOnError)
	wrong.Bool("top", false, "") // a flag of the same name that means something else
	require.ErrorContains(t, s2(t).Apply(wrong), "HEED_TOP: ")
}

func s2(t *testing.T) *Settings {
	t.Helper()
	s := testkit.Must(Load(Sources{Getenv: func(n string) string { return map[string]string{"HEED_TOP": "3"}[n] }}))
	return s
}
