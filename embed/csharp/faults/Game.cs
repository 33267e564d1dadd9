// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

// A game for tests of faults: mono Game.exe SCENARIO SIDECAR. What tests look at is written to standard output, "name
// value" a line. It fails where the client throws, and where it waits on the thread of the game.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using HeedLog;

static class Game
{
    static string sidecar;
    static readonly List<string> reports = new List<string>();
    static readonly List<HeedItem> opened = new List<HeedItem>();

    static int Main(string[] arguments)
    {
        Thread.CurrentThread.CurrentCulture = CultureInfo.InvariantCulture;
        sidecar = arguments[1];
        switch (arguments[0])
        {
            case "frames": Frames(); break;
            case "killed": Killed(); break;
            case "stopped": Stopped(); break;
            case "arguments": Arguments(); break;
            case "collected": Collected(); break;
            case "lives": Lives(); break;
            case "exit": Ending(); Environment.Exit(7); break;
            case "return": Ending(); return 7;
            case "unhandled": Ending(); throw new InvalidOperationException("the game's own");
            default: throw new ArgumentException(arguments[0]);
        }
        return 0;
    }

    // The default rules take longer to compile than the rest of a run.
    static Heed Open(int capacity = 0, string rules = "none")
    {
        var options = new HeedOptions
        {
            SidecarPath = sidecar,
            Rules = rules,
            Phase = "play",
            Consumer = "game",
            Report = text => { lock (reports) reports.Add(text); },
        };
        if (capacity > 0) options.Capacity = capacity;
        Heed heed = Heed.Start(options);
        heed.Opened += item => opened.Add(item);
        return heed;
    }

    // What any sidecar may do, a game must not notice: 40 frames of 20 lines, and each call there is.
    static void Frames()
    {
        Heed heed = Open();
        var slowest = 0L;
        for (int frame = 0; frame < 40; frame++)
        {
            long t = Stopwatch.GetTimestamp();
            for (int i = 0; i < 20; i++) heed.Log(i == 7 ? HeedLevel.Error : HeedLevel.Log, "Line " + i + " of frame " + frame, i == 7 ? "at Some.Place ()" : null);
            heed.OperationStarted("call-" + frame, "pawns/list");
            using (heed.Enter("call-" + frame)) heed.Log(HeedLevel.Warning, "inside", null);
            heed.OperationEnded("call-" + frame, HeedStatus.Completed);
            heed.Verdict("call-" + frame);
            heed.Alive();
            HeedItem item = heed.Current();
            if (item != null) heed.Ack(item.Id, item.Latest);
            heed.Ack("no such item", 1);
            heed.Poll();
            slowest = Math.Max(slowest, Stopwatch.GetTimestamp() - t);
            Thread.Sleep(10);
        }
        int wait = int.Parse(Environment.GetEnvironmentVariable("WAIT"));
        bool answered = heed.EngineStats(wait) != null;
        heed.Flush(wait);
        Say("slowest frame ms", slowest * 1000 / Stopwatch.Frequency);
        Say("answered", answered ? 1 : 0);
        bool reported = Environment.GetEnvironmentVariable("REPORTED") == null;
        Until(heed, "a report", () => { lock (reports) return reported || reports.Count > 0; });
        heed.Poll();
        Account(heed);
        Say("opened", opened.Count);
        Say("sidecar", Child());
        long ending = Stopwatch.GetTimestamp();
        heed.Dispose();
        Say("dispose ms", (Stopwatch.GetTimestamp() - ending) * 1000 / Stopwatch.Frequency);
        heed.Log(HeedLevel.Error, "after the end", null);
        heed.Poll();
    }

    // Kills the sidecar with lines on their way, and looks at what is known afterwards.
    static void Killed()
    {
        Heed heed = Open(rules: "unity");
        Need(heed.EngineStats(Patience) != null, "an answer");
        HeedItem acknowledged = Fault(heed, "Alpha engine lost its coolant");
        Need(heed.Ack(acknowledged.Id, acknowledged.Latest), "acknowledged");
        HeedItem open = Fault(heed, "Beta reactor refused the fuel");
        ulong snapshots = heed.Stats().Snapshots;
        Until(heed, "a snapshot", () => heed.Stats().Snapshots > snapshots);
        HeedItem after = Fault(heed, "Gamma door stays shut for good");
        Need(heed.Stats().Lost == 0, "nothing lost before");

        int child = Child();
        Signal(child, Stop);
        for (int i = 0; i < 2000; i++) heed.Log(HeedLevel.Log, "On the way " + i, null);
        Until(heed, "lines in the pipe", () => heed.Stats().InFlight > 0);
        Signal(child, Kill);
        Until(heed, "a restart", () => heed.Stats().Restarts == 1);
        Need(heed.EngineStats(Patience) != null, "an answer of the second one");
        Need(heed.Flush(Patience), "all is ingested");
        heed.Poll();

        Say("acknowledged", acknowledged.Id);
        Say("open", open.Id);
        Say("after", after.Id);
        Say("current", heed.Current() == null ? "" : heed.Current().Id);
        Say("acknowledged is open", heed.Ack(acknowledged.Id, acknowledged.Latest) ? 1 : 0);
        Say("open acked", heed.Ack(open.Id, open.Latest) ? 1 : 0);
        Say("after acked", heed.Ack(after.Id, after.Latest) ? 1 : 0);
        Need(heed.Flush(Patience), "all is ingested");
        HeedItem last = Fault(heed, "Delta pump drank the river");
        Say("last", last.Id);
        Need(heed.Flush(Patience), "all is ingested");
        Account(heed);
        Say("gap", Gap(heed) ? 1 : 0);
        heed.Dispose();
    }

    // A sidecar that reads nothing for a while.
    static void Stopped()
    {
        Heed heed = Open();
        Need(heed.EngineStats(Patience) != null, "an answer");
        int child = Child();
        Signal(child, Stop);
        long slowest = 0;
        ulong dropped = 0;
        for (int i = 0; dropped < 1000; i++)
        {
            long t = Stopwatch.GetTimestamp();
            heed.Log(i % 10 == 0 ? HeedLevel.Error : HeedLevel.Log, "Nobody reads this line, number " + i + " of many", null);
            slowest = Math.Max(slowest, Stopwatch.GetTimestamp() - t);
            if (i % 1000 == 0) { heed.Poll(); dropped = heed.Stats().Dropped; }
        }
        Say("slowest line ms", slowest * 1000 / Stopwatch.Frequency);
        Signal(child, Continue);
        Need(heed.Flush(Patience), "all is ingested");
        Account(heed);
        Say("gap", Gap(heed) ? 1 : 0);
        heed.Dispose();
    }

    // Arguments that are no good, but those of Log.
    static void Arguments()
    {
        Heed heed = Open();
        var huge = new string('x', 32 << 20); // 64 MB
        heed.OperationStarted(null, null);
        heed.OperationStarted("", "");
        heed.OperationStarted("id \0 \ud800", huge, huge);
        heed.OperationEnded(null, HeedStatus.Failed);
        heed.OperationEnded("id \0 \ud800", HeedStatus.Failed, huge);
        using (heed.Enter(huge)) heed.Log(HeedLevel.Error, "in an operation with a long id", null);
        using (heed.Enter(null)) { }
        heed.Phase(null);
        heed.Phase(huge);
        heed.LongEventBegins(huge);
        heed.LongEventEnds();
        heed.LongEventEnds();
        heed.Mods(null);
        heed.Mods(new HeedMod[] { null, new HeedMod(), new HeedMod { Name = huge, Assemblies = new[] { null, huge } } });
        heed.Raise(null);
        heed.Raise(new HeedReport());
        heed.Raise(new HeedReport { Key = huge, Summary = huge, Message = huge });
        heed.Clear(null);
        heed.Clear(huge);
        heed.Ack(null, 0);
        heed.Ack(huge, ulong.MaxValue);
        heed.Verdict(null);
        heed.WaitVerdict(null, 0);
        heed.Explain(null, 10000);
        heed.Read(null, 0, int.MaxValue, HeedDisposition.Blocking, huge, 10000);
        heed.Read("", 0, -1, HeedDisposition.Ignore, null, 10000);
        heed.Flush(-5);
        Need(heed.Flush(Patience), "all is ingested");
        string bad;
        IDictionary<string, string> stats = heed.EngineStats(Patience);
        Need(stats != null && stats.TryGetValue("badFrames", out bad) && bad == "0", "frames that are good");
        Account(heed);
        heed.Dispose();
    }

    // A collector that always runs, and texts that live no longer than the call.
    static void Collected()
    {
        int lines = int.Parse(Environment.GetEnvironmentVariable("LINES"));
        Heed heed = Open();
        bool ended = false;
        var collector = new Thread(() =>
        {
            var held = new byte[64][];
            for (int i = 0; !Volatile.Read(ref ended); i++)
            {
                held[i % held.Length] = new byte[i * 97 % 9000];
                if (i % 100 == 0) GC.Collect(i % 1000 == 0 ? 2 : 0);
            }
        });
        collector.Start();
        for (int i = 0; i < lines; i++)
        {
            heed.Log(HeedLevel.Log, Sum("Collected line " + i), i % 5 == 0 ? Sum("  at Some.Frame" + i) : null);
            if (i % 500 == 0) { heed.Poll(); Thread.Sleep(0); }
        }
        Volatile.Write(ref ended, true);
        collector.Join();
        Need(heed.Flush(Patience), "all is ingested");
        Account(heed);
        heed.Dispose();
    }

    // Goes on until it is killed; says who the sidecar is.
    static void Lives()
    {
        Heed heed = Open(rules: "unity");
        Need(heed.EngineStats(Patience) != null, "an answer");
        HeedItem item = Fault(heed, "A fault of its own");
        Say("item", item.Id);
        Say("sidecar", Child());
        Say("ready", 1);
        string line;
        while ((line = Console.ReadLine()) != null) // one fault for each line that is written to it
            Say("item", Fault(heed, line).Id);
        Need(heed.Flush(Patience), "all is ingested");
        Account(heed);
        heed.Dispose();
    }

    // Threads that log without end; the caller ends the program.
    static void Ending()
    {
        Heed heed = Open();
        Need(heed.EngineStats(Patience) != null, "an answer");
        Say("sidecar", Child());
        for (int i = 0; i < 3; i++)
            new Thread(() =>
            {
                for (int line = 0; ; line++)
                {
                    heed.Log(HeedLevel.Warning, "Line " + line, "  at Some.Place ()");
                    if (line % 100 == 99) Thread.Sleep(1);
                }
            }) { IsBackground = true }.Start();
        Until(heed, "lines", () => heed.Stats().Received > 1000);
        Say("ready", 1);
        Console.Out.Flush();
    }

    static HeedItem Fault(Heed heed, string message)
    {
        int before = opened.Count;
        string call = "call " + message, name = message.Replace(" ", "");
        heed.OperationStarted(call, "pawns/list");
        using (heed.Enter(call)) heed.Log(HeedLevel.Error, name + "Exception: " + message, "  at " + name + ".Tick ()");
        heed.OperationEnded(call, HeedStatus.Completed);
        Until(heed, "an item for " + message, () => opened.Count > before);
        return opened[opened.Count - 1];
    }

    static void Until(Heed heed, string what, Func<bool> condition)
    {
        var watch = Stopwatch.StartNew();
        while (!condition())
        {
            Need(watch.ElapsedMilliseconds < Patience, what);
            heed.Poll();
            Thread.Sleep(1);
        }
    }

    // Whether the engine knows that lines are missing.
    static bool Gap(Heed heed)
    {
        for (ulong after = 0; ; )
        {
            HeedPage page = heed.Read("", after, 1000, HeedDisposition.Ignore, "", Patience);
            Need(page != null, "a page");
            foreach (HeedRecord record in page.Records)
                if (record.Kind == "notice" && record.Message.Contains("did not reach")) return true;
            if (!page.More) return false;
            after = page.Next;
        }
    }

    static void Account(Heed heed)
    {
        HeedStats stats = heed.Stats();
        Say("pushed", stats.Pushed);
        Say("received", stats.Received);
        Say("dropped", stats.Dropped);
        Say("lost", stats.Lost);
        Say("waiting", stats.Queued + stats.InFlight);
        Say("restarts", stats.Restarts);
        Say("state", stats.State);
        lock (reports) foreach (string text in reports) Say("report", text);
    }

    static string Sum(string text)
    {
        uint sum = 0;
        foreach (char c in text) sum = sum * 31 + c;
        return text + " #" + sum;
    }

    static void Say(string name, object value) { Console.WriteLine(name + "\t" + value); }

    static void Need(bool condition, string what)
    {
        if (condition) return;
        lock (reports) foreach (string text in reports) Console.Error.WriteLine("report: " + text);
        throw new Exception("not in time: " + what);
    }

    const int Patience = 60000; // milliseconds
    const int Kill = 9, Continue = 18, Stop = 19; // of Linux

    [DllImport("libc")]
    static extern int kill(int process, int signal);

    static void Signal(int process, int signal) { Need(process > 0 && kill(process, signal) == 0, "a signal"); }

    // The process of the sidecar, 0 for none.
    static int Child()
    {
        string self = Process.GetCurrentProcess().Id.ToString();
        foreach (string directory in Directory.GetDirectories("/proc"))
        {
            string process = Path.GetFileName(directory);
            if (!char.IsDigit(process[0])) continue;
            try
            {
                string fields = File.ReadAllText(directory + "/stat");
                if (fields.Substring(fields.LastIndexOf(')') + 2).Split(' ')[1] == self) return int.Parse(process);
            }
            catch (IOException) { }
        }
        return 0;
    }
}
