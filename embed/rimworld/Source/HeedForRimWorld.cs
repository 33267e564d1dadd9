// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using HeedLog;
using UnityEngine;
using Verse;

namespace HeedRimWorld
{
    /// <summary>
    /// Connects the game to heed: its log, its phases, its long events, its mods. It patches no code and stores nothing
    /// in saved games. A bridge mod reaches it by the static members.
    /// </summary>
    public sealed class HeedForRimWorld : Mod
    {
        /// <summary>Where everything is reported to; null before this mod was made.</summary>
        public static Heed Heed { get; private set; }

        /// <summary>
        /// The adapter of the bridge, which is polled in each frame in the place of <see cref="Heed"/>. Set it on the
        /// game's thread.
        /// </summary>
        public static HeedAttentionAdapter Adapter { get; set; }

        /// <summary>
        /// Returns the operation that the calling thread works on, or null. Set it where the bridge knows that, as by
        /// an AsyncLocal; <see cref="HeedLog.Heed.Enter"/> does without.
        /// </summary>
        public static Func<string> OperationOfThread { get; set; }

        /// <summary>
        /// How many messages the game may log in a minute. Beyond them its own limit of 1,000 holds until the minute
        /// is over: it stops logging, which heed reports.
        /// </summary>
        public static int MessagesPerMinute = 10000;

        private const int MessagesPerReset = 500; // of the game's counter; it stops at twice that

        private static readonly Queue<string> Reports = new Queue<string>(); // to be logged by the game's thread
        private static int messages; // in this minute
        private static int minute; // Environment.TickCount at its begin
        private static string phase = "boot";
        private static bool started; // the game reached its menu
        private static bool busy = true; // in a long event, as last reported
        private static bool away; // the game stands still while its window has no focus
        private static bool quits;
        private static bool hookFailed;

        [ThreadStatic] private static bool inLog;

        /// <summary>The game makes one of each mod while it starts, on a thread of its own.</summary>
        public HeedForRimWorld(ModContentPack content) : base(content)
        {
            if (Heed != null)
                return;
            minute = Environment.TickCount;
            Heed = Heed.Start(new HeedOptions
            {
                // Not in Assemblies, from where the game would load it.
                SidecarPath = Path.Combine(content.RootDir, "Native"),
                Rules = "unity",
                Phase = phase,
                Consumer = "bridge",
                Report = Queue,
            });
            Heed.LongEventBegins("the game starts");
            Heed.Mods(Mods());
            Hook();
            LongEventHandler.ExecuteWhenFinished(HeedLoop.Create);
        }

        private static List<HeedMod> Mods()
        {
            var mods = new List<HeedMod>();
            foreach (var mod in LoadedModManager.RunningMods)
                mods.Add(new HeedMod
                {
                    Name = mod.Name,
                    PackageId = mod.PackageId,
                    // A folder that Steam made is called by its number.
                    WorkshopId = mod.FolderName.All(c => c >= '0' && c <= '9') ? mod.FolderName : "",
                    Assemblies = mod.assemblies.loadedAssemblies.Select(a => a.GetName().Name).ToList(),
                });
            return mods;
        }

        /// <summary>
        /// Subscribes to the log once. Unity lets only the game's thread turn its log callback on, and throws on
        /// others, after it has added the handler; the game has turned the callback on by then.
        /// </summary>
        internal static void Hook()
        {
            try
            {
                Application.logMessageReceivedThreaded -= OnLog;
                Application.logMessageReceivedThreaded += OnLog;
            }
            catch (UnityException)
            {
            }
        }

        /// <summary>Runs on the thread that logs, several at once. It logs nothing itself.</summary>
        private static void OnLog(string condition, string stackTrace, LogType type)
        {
            string operation = null;
            if (!inLog)
            {
                inLog = true;
                try
                {
                    ReportPhase();
                    KeepLogging();
                    var of = OperationOfThread;
                    operation = of == null ? null : of();
                }
                catch (Exception e)
                {
                    if (!hookFailed) // once: the report is a line as well
                        Queue("heed: OperationOfThread failed: " + e.Message);
                    hookFailed = true;
                }
                finally
                {
                    inLog = false;
                }
            }
            Heed.Log(Level(type), condition, stackTrace, operation == "" ? null : operation);
        }

        private static HeedLevel Level(LogType type)
        {
            switch (type)
            {
                case LogType.Log:
                    return HeedLevel.Log;
                case LogType.Warning:
                    return HeedLevel.Warning;
                default: // Error, Assert, Exception
                    return HeedLevel.Error;
            }
        }

        /// <summary>Resets the game's counter of messages before it reaches the limit.</summary>
        private static void KeepLogging()
        {
            var n = Interlocked.Increment(ref messages);
            if (n % MessagesPerReset == 0 && n < MessagesPerMinute)
                Log.ResetMessageCount();
        }

        /// <summary>Runs in each frame, on the game's thread.</summary>
        internal static void Frame()
        {
            ReportPhase();
            var now = LongEventHandler.AnyEventNowOrWaiting || away;
            if (now != busy)
            {
                busy = now;
                if (busy)
                    Heed.LongEventBegins(away ? "the game waits for its window" : "a long event of the game");
                else
                    Heed.LongEventEnds();
            }
            Heed.Alive();
            if (Adapter != null)
                Adapter.Poll();
            else
                Heed.Poll();

            if (unchecked(Environment.TickCount - minute) >= 60000)
            {
                minute = Environment.TickCount;
                Interlocked.Exchange(ref messages, 0);
                Log.ResetMessageCount();
            }
            for (var text = Next(); text != null; text = Next())
                Log.Message(text);
        }

        /// <summary>
        /// Reports a phase that the game has entered since the last time. Only the state of the game is read, which
        /// any thread may do; a line of a save or a load comes after its phase.
        /// </summary>
        private static void ReportPhase()
        {
            var now = PhaseOf();
            var before = phase;
            if (now != before && Interlocked.CompareExchange(ref phase, now, before) == before)
                Heed.Phase(now);
        }

        private static string PhaseOf()
        {
            if (quits)
                return "quit";
            switch (Current.ProgramState)
            {
                case ProgramState.MapInitializing:
                    return "load";
                case ProgramState.Playing:
                    return Scribe.mode == LoadSaveMode.Saving ? "save" : "play";
                default:
                    return started ? "menu" : "boot";
            }
        }

        /// <summary>The first long event is over: the menu is there.</summary>
        internal static void Started() { started = true; }

        /// <summary>A game that does not run in the background stands still while its window has no focus.</summary>
        internal static void Pause(bool paused)
        {
            away = paused;
            Frame();
        }

        internal static void Quit()
        {
            quits = true;
            ReportPhase();
            Application.logMessageReceivedThreaded -= OnLog;
            Heed.Dispose();
        }

        private static void Queue(string report)
        {
            lock (Reports)
                if (Reports.Count < 16)
                    Reports.Enqueue(report);
        }

        private static string Next()
        {
            lock (Reports)
                return Reports.Count == 0 ? null : Reports.Dequeue();
        }
    }

    /// <summary>The mod's part in the game's loop. It stays through changes of scenes.</summary>
    internal sealed class HeedLoop : MonoBehaviour
    {
        internal static void Create()
        {
            var holder = new GameObject("heed");
            UnityEngine.Object.DontDestroyOnLoad(holder);
            holder.AddComponent<HeedLoop>();
        }

        private void Awake()
        {
            HeedForRimWorld.Hook();
            HeedForRimWorld.Started();
            Application.quitting += HeedForRimWorld.Quit;
        }

        private void Update() { HeedForRimWorld.Frame(); }

        private void OnApplicationPause(bool paused) { HeedForRimWorld.Pause(paused); }
    }
}
