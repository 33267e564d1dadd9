//go:build !race

package scrub

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// texts are what a scrubber is given most: nothing in them is private, and much looks as if it might be.
var texts = map[string]string{
	"prose": "Could not resolve cross-reference to Verse.ThingDef named Apparel_Hat (wanter=thingDefs); the reference " +
		"stays empty, and what needs it is skipped.",
	"frame": "at RimWorld.Pawn_WorkSettings.SetPriority (Verse.WorkTypeDef w, System.Int32 priority) [0x00069] in " +
		"<24d25868955f4df08b02c73b55f389fe>:0",
	"file": "(Filename: C:\\buildslave\\unity\\build\\Runtime/Export/Debug/Debug.bindings.h Line: 39) and " +
		"Textures/Home/Chair.png in Mods/Furniture",
	"assem": "Patching Multiplayer for DubsMintMinimap, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null... at " +
		"12:34:56.789 std::vector::at()",
	"stack": "at A.B:C (D)\n  at System.Collections.Generic.Dictionary`2[TKey,TValue].TryInsert (TKey key, TValue value, System.Collections.Generic.InsertionBehavior behavior) [0x0015a] in <51fded79cd284d4d911c5949aff4cb21>:0 \n  at Verse.LoadedObjectDirectory.RegisterLoaded (Verse.ILoadReferenceable reffable) [0x000da] in <24d25868955f4df08b02c73b55f389fe>:0",
}

func TestTextWithoutCost(t *testing.T) {
	for name, s := range texts {
		require.Equal(t, s, Text(s), name)
		require.Zero(t, testing.AllocsPerRun(20, func() { Text(s) }), name)
	}
}
