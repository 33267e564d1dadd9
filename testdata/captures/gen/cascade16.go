package main

import "fmt"

// cascade16 is a Linux log in which nothing but advisory lines comes before a
// cascade, whose records begin with two lines.
func cascade16() *capture {
	c := linux(unity2022_3)
	boot16Linux(c)
	modsReady(c)
	for i := range 14 {
		c.linef("Could not resolve cross-reference to Verse.ThingDef named OA_Flower%s (wanter=products)",
			pick([]string{"Clover", "Heather", "Thyme", "Borage", "Sage"}, i))
	}
	c.line("Translation data for language Korean / 한국어 has 12 errors. Generate translation report for more info.")
	c.unload(4, 88, 27761)
	c.loading("겨울 마을", mods[2:]...)
	c.line(`Pawn Дарина has relation "Sibling" with null pawn after loading. This means that we forgot to serialize pawns somewhere (e.g. pawns from passing trade ships).`)
	c.unload(2, 190, 48810)

	for i := range 40 {
		c.linef("Not enough squares to get to radius %d. Max is 24.9", 26+i%9)
	}
	// The game stops writing a record that repeats after 99 of them: the count
	// is a lower bound.
	for range 99 {
		c.line("OA_Bee_Loyal found no data at degree 2, returning first defined.")
	}
	noDuty(c, 60)

	for i := range 80 {
		c.line(lordTickHead + ref("B16D02E", lordTickTrace, i == 0 || i == 50))
		if i%8 == 3 {
			noDuty(c, 3)
		}
	}
	c.line("Exception ticking OA_Hive90877 (at (91, 0, 148)). Suppressing further errors. Exception: " + nullReference + ref("77AC10F2", `
  at Beekeeping.CompHive.CompTickRare () [0x0002c] in <5b6a798897a6b5c4d3e2f10112233445>:0 
  at Verse.ThingWithComps.TickRare () [0x00017] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at Verse.Thing.DoTick () [0x0007b] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at Verse.TickList.Tick () [0x00139] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 `, true))
	for i := range 30 {
		c.linef("Could not do PostLoadInit on RimWorld.Pawn_WorkSettings: System.ArgumentOutOfRangeException: Index was out of range. "+
			"Must be non-negative and less than the size of the collection.\nParameter name: index%s",
			ref("40D93EA1", `
 [0x0000c] in <0f9e8d7c6b5a49388271605f4e3d2c1b>:0 
  at System.Collections.Generic.List`+"`"+`1[T].set_Item (System.Int32 index, T value) [0x00009] in <0f9e8d7c6b5a49388271605f4e3d2c1b>:0 
System.Collections.Generic.List`+"`"+`1[[Verse.Thing, Assembly-CSharp, Version=1.6.9402.20115, Culture=neutral, PublicKeyToken=null]]..ctor(IEnumerable`+"`"+`1 collection)
  at RimWorld.Pawn_WorkSettings.ExposeData () [0x00025] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at Verse.PostLoadIniter.DoAllPostLoadInits () [0x00032] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 `, i == 0))
	}
	// An exception that nobody caught: no namespace, and an empty line after it.
	c.line(`NullReferenceException: Object reference not set to an instance of an object
  at Riverboats.FerryRenderer.OnGUI () [0x00008] in <8c7b6a59483726150493827160594837>:0 
`)
	c.unload(1, 12, 49003)
	return c
}

// healthy16 is a long evening without anything to say about it: it loads, plays,
// saves, and exits in order.
func healthy16() *capture {
	c := linux(unity2022_3)
	boot16Linux(c)
	modsReady(c)
	c.unload(5, 97, 28102)
	for game := range 2 {
		c.loading(fmt.Sprintf("Kestrel Rock %d", game+1), mods...)
		c.unload(2, 180+game, 50114)
		for i := range 30 {
			switch i % 5 {
			case 0:
				c.linef("Riverboats :: ferry %d landed at (%d, 0, %d)", i/5+1, 30+i, 12+i)
			case 3:
				c.linef("[Lantern Festival] %s lit a lantern", pick(colonists, i/5))
			default:
				c.linef("Quarry Plus: quarry at (%d, 0, %d) yields %d chunks", 40+i*3, 81+i, i%3+1)
			}
		}
		c.unload(1, 44, 50391)
	}
	memoryStatistics(c)
	return c
}

// memoryStatistics writes what the engine prints when it exits in order.
func memoryStatistics(c *capture) {
	c.lines(`
Memory Statistics:
[ALLOC_TEMP_TLS] TLS Allocator
  StackAllocators : 
    [ALLOC_TEMP_MAIN]
      Peak usage frame count: [0-1.0 KB]: 9120 frames, [1.0 KB-2.0 KB]: 71 frames, [2.0 KB-4.0 KB]: 83110 frames
      Initial Block Size 4.0 MB
      Current Block Size 8.0 MB
      Peak Allocated Bytes 6.1 MB
      Overflow Count 12
`)
	for i := range 12 {
		c.linef("    [ALLOC_TEMP_Job.Worker %d]\n      Initial Block Size 256.0 KB\n      Current Block Size 256.0 KB\n      Peak Allocated Bytes %d B\n      Overflow Count 0",
			i, 96+i*16)
	}
	c.line("[ALLOC_DEFAULT] Dual Thread Allocator\n  Peak main deferred allocation count 57\n    [ALLOC_BUCKET]\n      Large Block size 4.0 MB\n      Used Block count 1\n      Peak Allocated bytes 3.6 MB\n      Failed Allocations. Bucket layout:")
	for i := range 8 {
		c.linef("        %dB: %d Subsections = %d buckets. Failed count: %d", 16*(i+1), 30-i*3, 17408>>i, 400*i)
	}
	c.line("    [ALLOC_DEFAULT_MAIN]\n      Peak usage frame count: [8.0 MB-16.0 MB]: 4410 frames\n      Requested Block Size 16.0 MB\n      Peak Block count 2\n      Peak Allocated memory 14.9 MB\n      Peak Large allocation bytes 0 B")
}
