package scrub_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/text/scrub"
)

func TestStrict(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"NullReferenceException: Object reference not set to an instance of an object":            "NullReferenceException: Object reference not set to an instance of an object",
		"  at Verse.Pawn.Tick (System.Int32 x) [0x00012] in <24d25868955f4df08b02c73b55f389fe>:0": "  at Verse.Pawn.Tick (System.Int32 x) [0x00012] in <24d25868955f4df08b02c73b55f389fe>:0",
		`at A.B () in C:\Users\<user>\src\Secret Project\x.cs:12`:                                 "at A.B ()",
		"  at Verse.Pawn.Tick": "  at Verse.Pawn.Tick",
		"at (wrapper dynamic-method) Verse.Pawn.Tick_Patch2(Verse.Pawn)": "at (wrapper dynamic-method) Verse.Pawn.Tick_Patch2(Verse.Pawn)",
		"at the.mill":                          "at …",
		"Unity 2019.4.30f1":                    "Unity 2019.4.30f1",
		"loaded version 1.4.3704 of Quillonia": "loaded version 1.4.3704 of …",
		`could not open "my diary of june" in /srv/quill/saves`: "could not open … in …",
		"<user>: hello all, call me at 555 1234":                "<user>: …",
		"the server at <address> closed the connection 4815":    "the server at <address> closed the connection …",
		"quillon joined <*> times":                              "… joined <*> times",
	} {
		require.Equal(t, want, scrub.Strict(in), in)
		require.Equal(t, want, scrub.Strict(want), "twice")
	}
}
