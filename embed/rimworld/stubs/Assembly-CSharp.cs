// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

// The few types of RimWorld that the mod touches, so that it compiles and runs without the game. Written for heed: names
// and signatures are the game's, nothing else is. GameStub drives them, and is not part of the game.

using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;
using UnityEngine;

namespace Verse
{
    public abstract class Mod
    {
        public Mod(ModContentPack content) { Content = content; }
        public ModContentPack Content { get; private set; }
    }

    public class ModAssemblyHandler
    {
        public List<Assembly> loadedAssemblies = new List<Assembly>();
    }

    public class ModContentPack
    {
        public ModAssemblyHandler assemblies = new ModAssemblyHandler();
        public string Name { get; set; }
        public string PackageId { get; set; }
        public string FolderName { get; set; }
        public string RootDir { get; set; }
    }

    public static class LoadedModManager
    {
        public static IEnumerable<ModContentPack> RunningMods { get { return GameStub.Mods; } }
    }

    public enum ProgramState { Entry, MapInitializing, Playing }

    public static class Current
    {
        public static ProgramState ProgramState { get; set; }
    }

    public enum LoadSaveMode { Inactive, Saving, LoadingVars, ResolvingCrossRefs, PostLoadInit }

    public static class Scribe
    {
        public static LoadSaveMode mode;
    }

    public static class LongEventHandler
    {
        public static bool AnyEventNowOrWaiting { get { return GameStub.LongEvents > 0; } }

        public static void ExecuteWhenFinished(Action action) { GameStub.WhenFinished.Add(action); }
    }

    public static class Log
    {
        private const int Limit = 1000;
        private static int count;
        private static bool reached;

        public static void Message(string text) { Debug.Log(text); }
        public static void Warning(string text) { Debug.LogWarning(text); }
        public static void Error(string text) { Debug.LogError(text); }

        public static void ResetMessageCount()
        {
            count = 0;
            if (!reached)
                return;
            reached = false;
            EngineStub.LogEnabled = true;
            Message("Message logging is now once again on.");
        }

        public static void Notify_MessageReceivedThreadedInternal(string msg, string stackTrace, LogType type)
        {
            if (Interlocked.Increment(ref count) != Limit)
                return;
            Warning("Reached max messages limit. Stopping logging to avoid spam.");
            reached = true;
            EngineStub.LogEnabled = false;
        }
    }

    /// <summary>Plays the game around its mods.</summary>
    public static class GameStub
    {
        public static readonly List<ModContentPack> Mods = new List<ModContentPack>();
        internal static readonly List<Action> WhenFinished = new List<Action>();
        internal static int LongEvents;

        public static void LongEventBegins() { LongEvents++; }

        public static void LongEventEnds()
        {
            var actions = WhenFinished.ToArray();
            WhenFinished.Clear();
            foreach (var action in actions)
                action();
            LongEvents--;
        }
    }
}
