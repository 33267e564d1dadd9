// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using HeedLog;
using HeedRimWorld;
using UnityEngine;
using Verse;

/// <summary>Plays a game from its start to its end, and prints what heed has of it.</summary>
internal static class ModTest
{
    private sealed class Broken : IAttentionSlot
    {
        public string CurrentId { get { throw new InvalidOperationException("no slot"); } }
        public bool IsEnabled { get { return true; } }
        public Task Publish(HeedItem item) { return null; }
        public Task Clear() { return null; }
    }

    private static bool Logged(List<string> lines, string beginning)
    {
        lock (lines)
            return lines.Any(l => l.StartsWith(beginning));
    }

    private static int Main(string[] arguments)
    {
        var lines = new List<string>();
        Application.LogCallback note = (text, stack, type) =>
        {
            lock (lines)
                lines.Add(text);
        };
        var game = new Game(arguments[0], note);
        game.Start();
        var heed = HeedForRimWorld.Heed;

        game.Load("Colony17", () => Log.Warning("[Lantern Festival] The saved festival is of an older version"));
        game.Save(() => Log.Message("[Lantern Festival] 14 lanterns written"));

        // Past the game's own limit, within a minute.
        game.Do(() =>
        {
            for (var i = 0; i < 3000; i++)
                Log.Message("[QuarryPlus] platform 7 is at work");
        });

        // Lines of other threads, and of a bridge that knows its operations.
        HeedForRimWorld.OperationOfThread = () =>
        {
            Log.Message("a hook that logs");
            return Thread.CurrentThread.Name == "tool" ? "op-tool" : null;
        };
        var tool = new Thread(() => Log.Message("by a tool")) { Name = "tool" };
        tool.Start();
        tool.Join();
        HeedForRimWorld.OperationOfThread = () => { throw new InvalidOperationException("no operation"); };
        game.Do(() => Log.Message("the hook failed"));
        game.Frames(5);
        HeedForRimWorld.OperationOfThread = null;

        // The window loses its focus for a while.
        game.Do(() => EngineStub.Pause(true));
        game.Do(() => EngineStub.Pause(false));
        game.Frames(3);

        // A bridge whose slot fails is reported once, and stops nothing.
        var reports = 0;
        game.Do(() => HeedForRimWorld.Adapter = new HeedAttentionAdapter(heed, new Broken(), text => reports++));
        game.Frames(5);
        Console.WriteLine("reports of the slot: " + reports);

        if (!heed.Flush(10000))
            Console.WriteLine("not flushed: " + heed.Stats().State);
        var seen = new Dictionary<string, int>();
        for (var after = 0ul; ;)
        {
            var page = heed.Read("", after, 500, HeedDisposition.Ignore, "", 5000);
            if (page == null)
                break;
            foreach (var r in page.Records)
            {
                var line = r.Kind == "state" ? "state " + r.Status + " " + r.Message
                    : r.Kind == "log" ? "log " + r.Level + " " + r.Message.Split('\n')[0] + (r.Operation == "" ? "" : " of " + r.Operation)
                    : "kind " + r.Kind + " " + r.Message;
                int n;
                seen.TryGetValue(line, out n);
                if (n == 0 || r.Kind == "state")
                    Console.WriteLine(line);
                seen[line] = n + 1;
            }
            after = page.Next;
            if (!page.More)
                break;
        }
        var platform = seen.Where(s => s.Key.Contains("platform")).Sum(s => s.Value);
        var stats = heed.Stats();
        Console.WriteLine("lines {0}, of the quarry kept {1}, received {2}, dropped {3}, lost {4}", stats.Pushed, platform,
            stats.Received, stats.Dropped, stats.Lost);
        // The state says it first, the game's log some frames later.
        while (stats.State.StartsWith("off") && !Logged(lines, "heed is off"))
            game.Frames(1);
        game.Quit();
        foreach (var line in lines.Where(l => l.StartsWith("heed")))
            Console.WriteLine("in the game's log: " + line);
        Console.WriteLine("after quit: " + heed.Stats().State);
        return 0;
    }
}
