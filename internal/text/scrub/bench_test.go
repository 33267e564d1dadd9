package scrub

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// texts are what a scrubber is given most: nothing in them is private, and much
// looks as if it might be.
var texts = map[string]string{
	"prose": "Could not resolve cross-reference to Verse.ThingDef named Apparel_Hat (wanter=thingDefs); the reference " +
		"stays empty, and what needs it is skipped.",
	"frame": "at RimWorld.Pawn_WorkSettings.SetPriority (Verse.WorkTypeDef w, System.Int32 priority) [0x00069] in " +
		"<24d25868955f4df08b02c73b55f389fe>:0",
	"key": "KeyNotFoundException: The given key was not present in the dictionary; session of user interface: " +
		"Window_Token, author unknown to us",
	"file": "(Filename: C:\\buildslave\\unity\\build\\Runtime/Export/Debug/Debug.bindings.h Line: 39) and " +
		"Textures/Home/Chair.png in Mods/Furniture",
	"assem": "Patching Multiplayer for DubsMintMinimap, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null... at " +
		"12:34:56.789 std::vector::at()",
	"path":  `Exception reading C:\Users\Maria\AppData\LocalLow\Ludeon Studios\RimWorld\Config\Prefs.xml`,
	"stack": "at A.B:C (D)\n  at System.Collections.Generic.Dictionary`2[TKey,TValue].TryInsert (TKey key, TValue value, System.Collections.Generic.InsertionBehavior behavior) [0x0015a] in <51fded79cd284d4d911c5949aff4cb21>:0 \n  at Verse.LoadedObjectDirectory.RegisterLoaded (Verse.ILoadReferenceable reffable) [0x000da] in <24d25868955f4df08b02c73b55f389fe>:0",
}

func BenchmarkText(b *testing.B) {
	for name, s := range texts {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Text(s)
			}
		})
	}
}

// BenchmarkLearn is what a text costs from which nothing new is learned.
func BenchmarkLearn(b *testing.B) {
	for name, s := range texts {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(s)))
			var n Names
			for b.Loop() {
				n.Learn(s)
			}
		})
	}
}

// BenchmarkLog is the speed on the lines of real logs.
func BenchmarkLog(b *testing.B) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("HEED_DATA"), "*", "*.log"))
	if len(files) == 0 {
		b.Skip("HEED_DATA has no logs")
	}
	var lines []string
	size := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		data = data[:min(len(data), 256<<10)]
		size += len(data)
		lines = append(lines, strings.Split(string(data), "\n")...)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			Text(line)
		}
	}
}
