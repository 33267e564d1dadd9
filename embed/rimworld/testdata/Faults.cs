// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;
using UnityEngine;
using Verse;

/// <summary>
/// Faults in the forms in which the game logs them; mods, methods and names are invented. Each differs from all others in
/// its text, so that none is a repeat of another.
/// </summary>
internal static class Faults
{
    /// <summary>Each logs one blocking fault on the calling thread.</summary>
    public static readonly Action[] Blocking =
    {
        // Exceptions that left a script: Unity logs them.
        () => Thrown("NullReferenceException: Object reference not set to an instance of an object",
            "LanternFestival.FestivalRunner.Step", "Verse.TickManager.DoSingleTick"),
        () => Thrown("KeyNotFoundException: The given key 'Brazier' was not present in the dictionary.",
            "LanternFestival.Lamps.Lookup", "RimWorld.Planet.World.WorldTick"),
        () => Thrown("InvalidCastException: Specified cast is not valid.",
            "QuarryPlus.Building_Quarry.Dig", "Verse.Thing.DoTick"),
        () => Thrown("ArgumentOutOfRangeException: Index was out of range. Must be non-negative and less than the size of the collection.",
            "Beekeeping.HiveGrid.CellAt", "Verse.Map.MapPostTick"),
        () => Thrown("InvalidOperationException: Collection was modified; enumeration operation may not execute.",
            "Beekeeping.Swarm.Spread", "RimWorld.GameConditionManager.GameConditionManagerTick"),
        () => Thrown("DivideByZeroException: Attempted to divide by zero.",
            "TradeWinds.Prices.Ratio", "RimWorld.TradeSession.SetupWith"),

        // Exceptions that the game caught: they stand in the text of an error.
        () => Caught("Exception ticking Brazier{0} (at (12, 0, 96))", "NullReferenceException",
            "LanternFestival.CompGlow.CompTick", "Verse.ThingWithComps.Tick"),
        () => Caught("Exception in RootUpdate", "ArgumentNullException",
            "QuarryPlus.Overlay.Draw", "Verse.Root.Update"),
        () => Caught("JobDriver threw exception in toil GotoThing's initAction for pawn Tobin driver=JobDriver_Haul (toilIndex=1)",
            "InvalidOperationException", "QuarryPlus.JobDriver_Dig.<MakeNewToils>b__1", "Verse.AI.JobDriver.TryActuallyStartNextToil"),
        () => Caught("Exception in Verse.AI.ThinkNode_Priority TryIssueJobPackage", "IndexOutOfRangeException",
            "Beekeeping.WorkGiver_Smoke.PotentialWorkThingsGlobal", "Verse.AI.ThinkNode_Priority.TryIssueJobPackage"),
        () => Caught("Exception filling window for RimWorld.MainTabWindow_Architect", "NullReferenceException",
            "TradeWinds.Tab.DoWindowContents", "Verse.Window.InnerWindowOnGUI"),
        () => Caught("Error in LordToil.Init()", "NullReferenceException",
            "LanternFestival.LordToil_Dance.Init", "Verse.AI.Group.Lord.GotoToil"),
        () => Caught("Could not generate a pawn after 120 tries", "Exception",
            "TradeWinds.Caravans.MakeTrader", "Verse.PawnGenerator.GeneratePawn"),
        () => Caught("Exception in MapComponentTick", "FormatException",
            "Beekeeping.Weather.MapComponentTick", "Verse.MapComponentUtility.MapComponentTick"),
        () => Caught("Exception spawning loaded thing Quarry{0}", "NullReferenceException",
            "QuarryPlus.Building_Quarry.SpawnSetup", "Verse.GenSpawn.Spawn"),
        () => Caught("Exception in GameComponentUpdate", "ArgumentException",
            "LanternFestival.Calendar.GameComponentUpdate", "Verse.GameComponentUtility.GameComponentUpdate"),
        () => Caught("Exception drawing PawnTable row", "OverflowException",
            "TradeWinds.Column_Debt.DoCell", "RimWorld.PawnTable.PawnTableOnGUI"),
        () => Caught("Exception applying damage to Muffalo{0}", "NullReferenceException",
            "Beekeeping.StingWorker.Apply", "Verse.Thing.TakeDamage"),
        () => Caught("Exception while discarding a letter", "InvalidOperationException",
            "LanternFestival.Letter_Invitation.Removed", "Verse.LetterStack.RemoveLetter"),
        () => Caught("Exception in IncidentWorker_Festival.TryExecute", "NullReferenceException",
            "LanternFestival.IncidentWorker_Festival.TryExecuteWorker", "RimWorld.Storyteller.TryFire"),
    };

    /// <summary>What each has in its first line.</summary>
    public static readonly string[] Texts =
    {
        "NullReferenceException: Object", "KeyNotFoundException", "InvalidCastException", "ArgumentOutOfRangeException",
        "Collection was modified", "DivideByZeroException", "Exception ticking Brazier", "RootUpdate", "GotoThing", "ThinkNode_Priority",
        "MainTabWindow_Architect", "LordToil", "generate a pawn", "MapComponentTick", "spawning loaded thing", "GameComponentUpdate",
        "PawnTable", "Muffalo", "discarding a letter", "IncidentWorker_Festival",
    };

    /// <summary>A line of a flood.</summary>
    public static void Swarm(int i)
    {
        Log.Error("Swarm " + i + " lost its hive: System.TimeoutException: none at (" + i % 250 + ", 0, " + i % 190 + ")\n  at " +
            "Beekeeping.Swarm.Land (Verse.Map map) [0x0001f] in <8f1c04d29f5a4cf0b1a3e07d53a3b9c4>:0 ");
    }

    private static int number = 100;

    private static void Thrown(string condition, string mods, string games)
    {
        EngineStub.Emit(condition, mods + " () (at <8f1c04d29f5a4cf0b1a3e07d53a3b9c4>:0)\n" + games +
            " () (at <c9b1c5f0e7a24d2c8f2d4a3b6e8f1a20>:0)\n", LogType.Exception);
    }

    private static void Caught(string what, string exception, string mods, string games)
    {
        Log.Error(string.Format(what, ++number) + ": System." + exception + ": it was not there\n  at " + mods +
            " () [0x0001f] in <8f1c04d29f5a4cf0b1a3e07d53a3b9c4>:0 \n  at " + games +
            " () [0x00042] in <c9b1c5f0e7a24d2c8f2d4a3b6e8f1a20>:0 ");
    }
}
