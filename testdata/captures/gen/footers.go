package main

// classic12 is a log of an old version: hundreds of times the same exception,
// until the game stops logging; the player turns logging on again, and more
// comes.
func classic12() *capture {
	c := windows(unity2019_2)
	boot12(c)
	c.line("[Lantern Festival] 1.0.2 ready: 9 lanterns, 1 ritual")
	c.line("Quarry Plus 1.8.0")
	c.warn("Key binding conflict: QP_Dig and MainTab_Wildlife are both bound to F10.")
	c.warn("Translation data for language German / Deutsch has 4 errors. Generate translation report for more info.")
	c.footered("Plugins: Failed to load 'lf_sparks' because one or more of its dependencies could not be loaded.",
		`(Filename: C:\buildslave\unity\build\Runtime/Misc/Plugins.cpp Line: 292)`)
	c.unload(8, 64, 19004)
	c.loading("Хутор 3", mods[:2]...)
	c.warn("Could not load reference to Verse.ThingDef named LF_TallLantern")
	c.warn("Could not load reference to Verse.ThingDef named LF_StoneLantern")
	c.warn("Could not resolve reference to object with loadID Thing_LF_StoneLantern40127 of type Verse.Thing. Was it compressed away, destroyed, had no ID number, or not saved/loaded right? " +
		"curParent=Остап curPathRelToParent=/jobs/curJob/targetA")
	c.unload(2, 91, 31877)

	const broken = "Root level exception in OnGUI(): " + nullReference + "\n" +
		"  at LanternFestival.LanternOverlay.Draw (UnityEngine.Rect rect) [0x0001e] in <c0ffee11223344556677889900aabbcc>:0 \n" +
		"  at RimWorld.UIRoot_Play.UIRootOnGUI () [0x000a7] in <3f2e1d0c4b5a69788796a5b4c3d2e1f0>:0 "
	for i := range 220 {
		c.warn(broken)
		if i%40 == 20 {
			c.linef("Quarry Plus: quarry at (%d, 0, %d) yields 2 chunks", 51+i, 77)
		}
	}
	c.warn("Reached max messages limit. Stopping logging to avoid spam.")
	c.unload(1, 12, 32118)
	c.line("Message logging is now once again on.")
	for range 12 {
		c.warn(broken)
	}
	c.crcrlf("[Lantern Festival] overlay switched off:\r\nit failed 5 times in a row")
	c.unload(1, 8, 32120)
	return c
}

// advisory14 has mistakes in what mods define, and nothing that stops a player.
func advisory14() *capture {
	c := windows(unity2019_4)
	boot14(c)
	modsReady(c)
	for i := range 24 {
		c.warnf("Could not resolve cross-reference to Verse.ThingDef named RB_%s%s (wanter=recipeUsers)",
			pick([]string{"Oar", "Mast", "Rudder", "Sail"}, i), pick([]string{"Small", "Large", "Royal"}, i/4))
	}
	for i := range 16 {
		c.warnf("Could not resolve cross-reference: No Verse.SoundDef named RB_Splash%c found to give to Verse.Tool keel (using undefined sound instead)", 'A'+i)
	}
	for i := range 12 {
		c.warnf("Parsed %d.%d as int.", i, i*7%10)
	}
	for i := range 18 {
		c.warnf("Config error in OA_Hive%s: %s", pick([]string{"Straw", "Clay", "Wood"}, i),
			pick([]string{
				"has 0 commonality.", "cannot be minified but has a minifiedDef",
				"label contains illegal character(s): \"[]{}\". This can cause issues during grammar resolution.",
			}, i/3))
	}
	c.warn("XML error: Could not register node named \"RB_FerryBase\" because this name is already used. Context: <ThingDef Abstract=\"True\" Name=\"RB_FerryBase\" ParentName=\"BuildingBase\">\n" +
		"  <thingClass>Riverboats.Ferry</thingClass>\n\n  <altitudeLayer>Building</altitudeLayer>\n</ThingDef>")
	c.warn("Mod Riverboats has multiple Verse.RecipeDefs named RB_CaulkHull. Skipping.")
	c.warn("[Riverboats] Patch operation Verse.PatchOperationReplace(Defs/ThingDef[defName=\"Gun_Harpoon\"]/cost) failed\nfile: E:\\Spiele\\RimWorld\\Mods\\Riverboats\\Patches\\Harpoons of the North.xml")
	c.warn("Some ScenParts had null defs.")
	c.unload(5, 70, 25012)
	c.loading("강변", mods[3:]...)
	c.warn(`Pawn 서진 has relation "Cousin" with null pawn after loading. This means that we forgot to serialize pawns somewhere (e.g. pawns from passing trade ships).`)
	c.unload(2, 140, 41190)
	for i := range 50 {
		c.linef("Riverboats :: ferry %d landed at (%d, 0, %d)", i%3+1, 20+i, 40+i*2)
		if i%5 == 2 {
			c.warnf("Not enough squares to get to radius %d. Max is 24.9", 25+i%4)
		}
	}
	c.unload(1, 21, 41201)
	return c
}

// burst14 is a window that fails to draw: three kinds of records alternate for
// as long as it is open.
func burst14() *capture {
	c := windows(unity2019_4)
	boot14(c)
	modsReady(c)
	c.unload(5, 70, 25012)
	c.line("Initializing new game with mods:\n  - Ludeon.RimWorld\n  - oakapple.riverboats")
	c.unload(2, 95, 36655)
	for i := range 110 {
		c.warn("Exception filling window for Riverboats.Dialog_Harbor: System.MissingMethodException: void RimWorld.TradeUI.DrawTradeableRow(UnityEngine.Rect,RimWorld.Tradeable,int)\n" +
			"  at Riverboats.Dialog_Harbor.DrawCargo (UnityEngine.Rect rect, System.Collections.Generic.List`1[T] cargo, System.Single& height) [0x001b4] in <8c7b6a59483726150493827160594837>:0 \n" +
			"  at Riverboats.Dialog_Harbor.DoWindowContents (UnityEngine.Rect inRect) [0x0004c] in <8c7b6a59483726150493827160594837>:0 \n" +
			"  at (wrapper dynamic-method) Verse.Window.Verse.Window.InnerWindowOnGUI_Patch0(Verse.Window,int)")
		c.native("GUI Error: You are pushing more GUIClips than you are popping. Make sure they are balanced.", 580)
		if i%2 == 1 {
			c.warn("Mouse position stack is not empty. There were more calls to BeginScrollView than EndScrollView. Fixing.")
		}
	}
	for i := range 10 {
		c.linef("Riverboats :: ferry %d landed at (%d, 0, %d)", i%3+1, 20+i, 40+i*2)
	}
	c.unload(1, 21, 36702)
	return c
}

// hole14 is a file with a part that was never written: zeros stand in its place,
// and the log goes on behind them.
func hole14() *capture {
	c := windows(unity2019_4)
	boot14(c)
	modsReady(c)
	for i := range 10 {
		c.warnf("Config error in QP_Crusher%c: has 0 commonality.", 'A'+i)
	}
	c.unload(5, 70, 25012)
	c.loading("Старая каменоломня", mods[1:3]...)
	for i := range 6 {
		c.warnf("Could not load reference to Verse.ThingDef named QP_Old%s", pick([]string{"Crusher", "Conveyor", "Crane"}, i))
	}
	c.line("Quarry Plus: reading 16 quarries")
	c.Write(make([]byte, 40<<10))
	c.line("")
	c.unload(2, 133, 40418)
	for i := range 40 {
		c.linef("Quarry Plus: quarry at (%d, 0, %d) yields %d chunks", 33+i, 61+i*2, i%3+1)
	}
	c.unload(1, 17, 40440)
	return c
}
