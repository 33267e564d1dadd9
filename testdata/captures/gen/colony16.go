package main

import "fmt"

// traces that the game prints in full now and then, and as a reference else.
const (
	lordInitTrace = `
  at RimWorld.LordJob_Ritual+<>c__DisplayClass82_0.<CreateGraph>b__0 () [0x001c8] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at RimWorld.LordToil_Ritual.Init () [0x00010] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at Verse.AI.Group.Lord.GotoToil (Verse.AI.Group.LordToil newLordToil) [0x00097] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
    - POSTFIX lowmarsh.lanternfestival: Void LanternFestival.Patches.Lord_GotoToil:Postfix(Lord __instance, LordToil newLordToil)`

	lordDutiesTrace = `
  at RimWorld.LordToil_Ritual.UpdateAllDuties () [0x000bd] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at Verse.AI.Group.Lord.GotoToil (Verse.AI.Group.LordToil newLordToil) [0x0012a] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 `

	lordTickTrace = `
  at Verse.ReachabilityUtility.CanReach (Verse.Pawn pawn, Verse.LocalTargetInfo dest, Verse.AI.PathEndMode peMode, Verse.Danger maxDanger, System.Boolean canBashDoors, System.Boolean canBashFences, Verse.TraverseMode mode) [0x00000] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at RimWorld.StageFailTrigger_TargetPawnUnreachable.Failed (RimWorld.LordJob_Ritual ritual, Verse.TargetInfo spot, Verse.TargetInfo focus) [0x0001f] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at RimWorld.LordJob_Ritual+<>c__DisplayClass82_2.<CreateGraph>b__13 () [0x00055] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at Verse.AI.Group.Trigger_TickCondition.ActivateOn (Verse.AI.Group.Lord lord, Verse.AI.Group.TriggerSignal signal) [0x0001c] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at Verse.AI.Group.Lord.LordTick () [0x0008e] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at Verse.AI.Group.LordManager.LordManagerTick () [0x00011] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 `

	haulTrace = `
  at Verse.AI.HaulAIUtility.PlaceSpotQualityAt (Verse.Thing t, Verse.IntVec3 c, Verse.Map map) [0x00041] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
  at (wrapper dynamic-method) Verse.AI.Toils_Haul.PlaceHauledThingInCell_Patch2(Verse.AI.TargetIndex,Verse.AI.Toil)
  at Verse.AI.Toils_Haul+<>c__DisplayClass9_0.<PlaceHauledThingInCell>b__0 () [0x0011d] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 
    - TRANSPILER pikestaff.quarryplus: IEnumerable` + "`" + `1 QuarryPlus.HaulPatch:Transpiler(IEnumerable` + "`" + `1 instructions)
  at Verse.AI.JobDriver.TryActuallyStartNextToil () [0x001b0] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 `
)

const (
	nullReference = "System.NullReferenceException: Object reference not set to an instance of an object"
	lordTickHead  = "Exception while ticking lord with job RimWorld.LordJob_Ritual: \n" + nullReference
)

// ref is a reference to a trace: in full, or as a duplicate.
func ref(id, trace string, full bool) string {
	if full {
		return "\n[Ref " + id + "]" + trace
	}
	return "\n[Ref " + id + "] Duplicate stacktrace, see ref for original"
}

// noDuty writes the lines of pawns that belong to a group which gives them
// nothing to do.
func noDuty(c *capture, n int) {
	for i := range n {
		node := "Duty"
		if i%3 == 0 {
			node = "DutyConstant"
		}
		c.linef("%s doing ThinkNode_%s with no duty.", pick(colonists, i/3), node)
	}
}

// haulFailed is a job that fails wherever it is tried: the ids and coordinates
// change every time.
func haulFailed(i int) string {
	return fmt.Sprintf("JobDriver threw exception in toil PlaceHauledThingInCell's initAction for pawn %s driver=JobDriver_HaulToCell (toilIndex=%d) "+
		"driver.job=(HaulToCell (Job_%d) A = Thing_%s%d B = (%d, 0, %d))\n%s",
		pick(colonists, i), i%4+3, 1840277+i*i*7+i*131,
		pick([]string{"ChunkGranite", "Steel", "WoodLog", "QP_BasaltBlock"},
			i), 482133+i*977, 40+i*37%180, 25+i*53%190, nullReference)
}

// colony16 is the capture that the README shows: a game with mods loads, plays,
// and breaks when a ritual begins; all else follows from that.
func colony16() *capture {
	c := windows(unity2022_3)
	boot16(c)
	modsReady(c)
	c.lines(`
Translation data for language Ukrainian / Українська has 7 errors. Generate translation report for more info.
Could not resolve cross-reference to Verse.ThingDef named LF_PaperLanternRed (wanter=thingDefs)
Could not resolve cross-reference to Verse.ThingDef named LF_PaperLanternBlue (wanter=thingDefs)
Could not resolve cross-reference: No Verse.SoundDef named QP_PickaxeRing found to give to Verse.Tool handle (using undefined sound instead)
Config error in QP_BasaltBlock: smeltable item does not give anything when smelted
Config error in RB_FerryLanding: has CompProperties with null compClass.
Key binding conflict: RB_CallFerry and MainTab_History are both bound to F9.
Mod Beekeeping dependency (oakapple.flowers) needs to have <downloadUrl> and/or <steamWorkshopUrl> specified.
Failed to find RimWorld.ConceptDef named LF_LightTheLanterns. There are 41 defs of this type loaded.
`)
	c.unload(5, 103, 28914)
	c.line("OnLevelWasLoaded was found on LanternKeeper\nThis message has been deprecated and will be removed in a later version of Unity.\n" +
		"Add a delegate to SceneManager.sceneLoaded instead to get notifications after scene loading has completed")
	c.line("Quarry Plus: 18 stone types, 4 quarries allowed on each map")
	c.unload(3, 2, 29120)
	c.loading("Riverbend 14", mods...)
	c.lines(`
Replaced verb RimWorld.Verb_MeleeAttackDamage/Human88213_1; may have been changed through a version update or a mod change
Replaced verb RimWorld.Verb_MeleeAttackDamage/Human88307_2; may have been changed through a version update or a mod change
[Lantern Festival] restored 2 lit lanterns
Riverboats :: harbor at (141, 0, 12)
`)
	c.unload(2, 214, 51877)
	for i := range 12 {
		c.linef("Quarry Plus: quarry at (%d, 0, %d) yields %d chunks", 60+i*11, 90+i*7, i%4+1)
		if i%4 == 1 {
			c.linef("[Beekeeping] swarm left hive OA_Hive%d", 90411+i*13)
		}
	}
	c.linef("%s started 10 jobs in one tick. newJob=HaulToCell (Job_1838804) A = Thing_ChunkGranite481907 jobGiver=RimWorld.JobGiver_Work jobList=(Wait (Job_1838795)), (HaulToCell (Job_1838799))", colonists[0])
	c.line("[Lantern Festival] the evening ritual begins at (118, 0, 96)")

	// What broke first.
	c.line("Error in LordToil.Init(): " + nullReference + ref("5D20B7C4", lordInitTrace, true))
	c.line("Error in LordToil.UpdateAllDuties(): " + nullReference + "." + ref("1E77A90", lordDutiesTrace, true))
	noDuty(c, 186)
	c.unload(1, 237, 60233)
	for i := range 99 {
		c.line(lordTickHead + ref("9A41F3D6", lordTickTrace, i == 0 || i == 2))
		if i == 41 {
			c.line("[Beekeeping] swarm left hive OA_Hive90463")
		}
	}
	c.line("Error in LordJob.PostCleanup(): " + nullReference + ref("3C09D1A8", "", false))
	for i := range 150 {
		c.line(haulFailed(i) + ref("E27B605F", haulTrace, i == 0 || i == 77))
		if i%25 == 24 {
			c.linef("Quarry Plus: quarry at (%d, 0, %d) yields %d chunks", 60+i, 90+i*3%80, i%3+1)
		}
	}
	c.line("Reached max messages limit. Stopping logging to avoid spam.")
	c.unload(1, 64, 60907)
	c.unload(1, 31, 60912)
	return c
}
