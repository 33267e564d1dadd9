package main

import "strings"

// console15 is what the "copy to clipboard" of the game's own console gives:
// each message with the frames from which it was logged.
func console15() *capture {
	c := linux(unity2022_3)
	message := func(method, text string, frames ...string) {
		c.line(text)
		c.line("UnityEngine.StackTraceUtility:ExtractStackTrace ()")
		c.line("Verse.Log:" + method)
		c.line(strings.Join(frames, "\n"))
		c.line("")
	}
	info := func(text string, frames ...string) { message("Message (string)", text, frames...) }
	warning := func(text string, frames ...string) { message("Warning (string)", text, frames...) }
	failure := func(text string, frames ...string) { message("Error (string)", text, frames...) }

	staticCtor := []string{
		"Verse.StaticConstructorOnStartupUtility:CallAll ()",
		"Verse.PlayDataLoader/<>c:<DoPlayLoad>b__4_4 ()",
		"Verse.LongEventHandler:ExecuteToExecuteWhenFinished ()",
		"Verse.LongEventHandler:UpdateCurrentAsynchronousEvent ()",
		"Verse.LongEventHandler:LongEventsUpdate (bool&)",
		"Verse.Root:Update ()",
		"Verse.Root_Entry:Update ()",
	}
	tick := []string{
		"Verse.TickList:Tick ()",
		"(wrapper dynamic-method) Verse.TickManager:Verse.TickManager.DoSingleTick_Patch2 (Verse.TickManager)",
		"Verse.TickManager:TickManagerUpdate ()",
		"Verse.Game:UpdatePlay ()",
		"Verse.Root_Play:Update ()",
	}
	info("RimWorld 1.5.4104 rev435", "RimWorld.VersionControl:LogVersionNumber ()", "Verse.Root:CheckGlobalInit ()",
		"Verse.Root:Start ()", "Verse.Root_Entry:Start ()")
	info("[Beekeeping] 8 hives, 21 flowers", append([]string{
		"Beekeeping.Startup:.cctor ()",
		"System.Runtime.CompilerServices.RuntimeHelpers:RunClassConstructor (System.RuntimeTypeHandle)",
	}, staticCtor...)...)
	for _, flower := range []string{"Clover", "Heather", "Thyme"} {
		warning("Could not resolve cross-reference: No Verse.SoundDef named OA_Buzz"+flower+" found to give to Verse.Tool sting (using undefined sound instead)",
			"Verse.DirectXmlCrossRefLoader/WantedRef:TryResolve (Verse.FailMode)", "Verse.DirectXmlCrossRefLoader:ResolveAllWantedCrossReferences (Verse.FailMode)", "Verse.PlayDataLoader:DoPlayLoad ()")
	}
	failure("Config error in OA_HiveClay: has 0 commonality.", append([]string{
		"Verse.Def:ConfigErrors ()",
		"Verse.PlayDataLoader:ResetStaticDataPost ()",
	}, staticCtor[1:]...)...)
	c.line("Loading game from file Honigtal with mods:\n  - Ludeon.RimWorld\n  - oakapple.beekeeping\nUnityEngine.StackTraceUtility:ExtractStackTrace ()\nVerse.Log:Message (string)\nVerse.SavedGameLoaderNow:LoadGameFromSaveFileNow (string)\nVerse.Root_Play/<>c:<Start>b__1_0 ()\n")
	info("Beekeeping: 3 swarms restored", append([]string{
		"Beekeeping.MapComponent_Hives:FinalizeInit ()",
		"Verse.Map:FinalizeInit ()",
	}, tick[3:]...)...)
	for i := range 18 {
		warning(pick(colonists, i)+" started 10 jobs in one tick. newJob=OA_TendHive (Job_"+strings.Repeat("7",
			i%3+2)+pick([]string{"104", "223", "981"}, i)+") A = Thing_OA_HiveClay"+pick([]string{
			"90411", "90477", "90512",
			"90530",
		}, i)+
			" jobGiver=RimWorld.JobGiver_Work jobList=",
			append([]string{"Verse.AI.JobUtility:TryStartErrorRecoverJob (Verse.Pawn,string,System.Exception,Verse.AI.JobDriver)", "Verse.AI.Pawn_JobTracker:StartJob (Verse.AI.Job,Verse.AI.JobCondition)"}, tick...)...)
		if i%6 == 5 {
			failure("Exception ticking OA_Bee"+pick([]string{"61123", "61188", "61201"},
				i/6)+" (at ("+pick([]string{"91, 0, 48", "77, 0, 102", "15, 0, 9"}, i/6)+")): "+nullReference+"\n"+
				"  at Beekeeping.Bee.Tick () [0x00031] in <5b6a798897a6b5c4d3e2f10112233445>:0 \n"+
				"  at Verse.TickList.Tick () [0x0015c] in <6d5c4b3a29181706f5e4d3c2b1a09f8e>:0 \n"+
				"    - PREFIX oakapple.beekeeping: Boolean Beekeeping.TickListPatch:Prefix(TickList __instance)", tick...)
		}
	}
	for range 6 {
		failure("Root level exception in OnGUI(): System.ArgumentNullException: Value cannot be null.\nParameter name: key\n"+
			"  at Beekeeping.HiveTab.FillTab () [0x00018] in <5b6a798897a6b5c4d3e2f10112233445>:0 ",
			"Verse.Root:OnGUI ()")
	}
	return c
}

// upload14 is a log as a logging mod publishes it: mods and patches first, paths
// and hardware hidden.
func upload14() *capture {
	c := linux(unity2019_4)
	c.lines(`
Log uploaded on Tuesday, March 14, 2023, 7:05:12 PM
Loaded mods:
Core(Ludeon.RimWorld): (no assemblies)
Ideology(Ludeon.RimWorld.Ideology): (no assemblies)
Lantern Festival(lowmarsh.lanternfestival)[mv:3.0.2]: 0Harmony(av:2.2.2,fv:2.2.1), LanternFestival(3.0.2)
Quarry Plus(pikestaff.quarryplus)[mv:2.3.0]: QuarryPlus(av:2.3.0,fv:2.3.0)
Brick Kilns (Continued)(pikestaff.brickkilns): BrickKilns(1.1.0)
Riverboats(oakapple.riverboats)[ov:0.9.4]: 0Harmony(av:2.2.2,fv:2.1.1), Riverboats(0.9.4)
Каменные сады(staraya.stonegardens): (no assemblies)

Active Harmony patches:
`)
	for _, m := range []string{
		"Building_Door.DoorOpen", "Dialog_Trade.PostOpen", "GenSpawn.Spawn", "HaulAIUtility.HaulToCellStorageJob",
		"JobDriver_HaulToCell.MakeNewToils",
		"Lord.GotoToil", "LordJob_Ritual.ApplyOutcome", "Map.FinalizeInit", "MapInterface.MapInterfaceOnGUI_AfterMainTabs",
		"Pawn.GetGizmos",
		"Pawn_JobTracker.StartJob", "PlantUtility.CanSowOnGrower", "StatWorker.GetValueUnfinalized",
		"StockGenerator_Tag.GenerateThings", "Thing.TakeDamage",
		"TickList.Tick", "TickManager.DoSingleTick", "UIRoot_Play.UIRootOnGUI", "Verb_Shoot.TryCastShot",
		"WealthWatcher.ForceRecount",
	} {
		c.line(m + ": PRE: Riverboats.Patches." + strings.ReplaceAll(m, ".", "_") + ".Prefix post: LanternFestival.Patches." +
			strings.ReplaceAll(m, ".", "_") + ".Postfix")
	}
	c.line("ThinkNode_JobGiver.TryIssueJobPackage: TRANS: QuarryPlus.HaulPatch.Transpiler")
	c.lines(`
Harmony versions present: 2.2.2.0: lowmarsh.lanternfestival, oakapple.riverboats, pikestaff.quarryplus

Platform information: (hidden, use publishing options to include)

Log file contents:
Mono path[0] = '[Rimworld_dir]/RimWorldWin64_Data/Managed'
Mono config path = '[Rimworld_dir]/MonoBleedingEdge/etc'
Initialize engine version: 2019.4.30f1 (e8c891080a1f)
[Subsystems] Discovering subsystems at path [Rimworld_dir]/RimWorldWin64_Data/UnitySubsystems
GfxDevice: [Renderer information redacted]
Begin MonoManager ReloadAssembly
- Completed reload, in  1.388 seconds
<RI> Initializing input.
<RI> Input initialized.
RimWorld 1.4.3641 rev655
`)
	modsReady(c)
	c.warn("Error in static constructor of BrickKilns.Startup: System.TypeInitializationException: The type initializer for 'BrickKilns.Startup' threw an exception. ---> System.MissingFieldException: Field 'RimWorld.ThingDefOf.BrickOven' not found.\n" +
		"  at BrickKilns.Kiln.Register () [0x00004] in <99887766554433221100ffeeddccbbaa>:0 \n" +
		"  at BrickKilns.Startup..cctor () [0x00000] in <99887766554433221100ffeeddccbbaa>:0 \n" +
		"   --- End of inner exception stack trace ---\n" +
		"  at (wrapper managed-to-native) System.Runtime.CompilerServices.RuntimeHelpers.RunClassConstructor(intptr)\n" +
		"  at Verse.StaticConstructorOnStartupUtility.CallAll () [0x00031] in <4b3c2d1e0f9a48b7a6c5d4e3f2011223>:0 ")
	c.warn("ReflectionTypeLoadException getting types in assembly BrickKilns: System.Reflection.ReflectionTypeLoadException: Exception of type 'System.Reflection.ReflectionTypeLoadException' was thrown.\n" +
		"  at (wrapper managed-to-native) System.Reflection.Assembly.GetTypes(System.Reflection.Assembly,bool)\n\n" +
		"Loader exceptions:\n   => System.TypeLoadException: Could not resolve type with token 01000024\n")
	c.loading("[redacted]", mods[:4]...)
	for i := range 45 {
		c.warnf("Could not resolve reference to object with loadID Thing_BK_Brick%d of type Verse.Thing. Was it compressed away, destroyed, had no ID number, or not saved/loaded right? curParent=%s curPathRelToParent=/inventory/%d",
			30117+i*i*3, pick(colonists, i), i%5)
		if i%9 == 8 {
			c.warnf("Could not load reference to Verse.ThingDef named BK_Brick%s", pick([]string{"Red", "Glazed", "Sand"}, i/9))
		}
	}
	c.unload(2, 133, 40418)
	for i := range 30 {
		c.linef("Riverboats :: ferry %d landed at (%d, 0, %d)", i%3+1, 20+i, 40+i*2)
	}
	return c
}
