package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

// TestFamily: the rules of a live log are those of its family, from its first line or from its banner on.
func TestFamily(t *testing.T) {
	set, err := rules.Compile(rules.Defaults()...)
	require.NoError(t, err)
	for _, c := range []struct {
		family, text string
		want         event.Disposition
	}{
		{"plain", "2031-02-03 12:00:01 INFO widgets 2.1 listens", event.Blocking},
		{"rimworld", "RimWorld 1.5.4104 rev435", event.Advisory},
	} {
		s, log := followed(t, session.Config{Engine: heed.Config{Rules: set}})
		_, err := log.WriteString(c.text + "\n2031-02-03 12:00:02 FATAL Could not resolve cross-reference to the license\n")
		require.NoError(t, err)
		require.NoError(t, s.Sync(t.Context()))
		page := s.Engine().Open(nil)
		require.Len(t, page, 1, c.family)
		require.Equal(t, c.want == event.Blocking, page[0].Blocking, c.family)
	}
}
