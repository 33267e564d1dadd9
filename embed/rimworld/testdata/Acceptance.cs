// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using HeedLog;
using HeedRimWorld;
using Lib.GAB.Attention;
using UnityEngine;
using Verse;

/// <summary>
/// Plays a bridge mod in a game: an agent makes tool calls, which run on the game's thread, with faults planted during,
/// after and between them, and a flood. What heed reports is compared with what was planted.
/// </summary>
internal static class Acceptance
{
    private const double Linger = 2; // seconds after its end in which a call still gathers what no operation claims
    private const double Unsure = 0.3; // around that, where the clocks of the two processes decide

    private static readonly Stopwatch Clock = Stopwatch.StartNew();
    private static readonly List<Call> Calls = new List<Call>();
    private static readonly List<Fault> Planted = new List<Fault>();
    private static readonly Dictionary<string, HeedItem> Items = new Dictionary<string, HeedItem>();
    private static readonly IAttentionManager Attention =
        new Lib.GAB.Server.GabpServer(new Lib.GAB.Server.GabpServerConfig { EnableAttentionSupport = true }).Attention;
    private static Game game;
    private static Heed heed;
    private static HeedAttentionAdapter adapter;
    private static int faults, wrong, acks;

    private sealed class Call
    {
        public string Id, Tool, Parent;
        public HeedStatus Status = HeedStatus.Completed;
        public double Began, Ended;
        public HeedVerdict Verdict; // final
    }

    private sealed class Fault
    {
        public string When; // during, after, between, flood, advice
        public string Operation; // that its lines state, or null
        public string Text; // of its first line, in part
        public double At, Until;
        public double Drained; // a call has begun since its last line, whose verdict counts repeats before it
        public bool Advises;
    }

    private static double Now { get { return Clock.Elapsed.TotalSeconds; } }

    private static int Main(string[] arguments)
    {
        var wanted = int.Parse(arguments[1]);
        var flood = int.Parse(arguments[2]);
        HeedForRimWorld.MessagesPerMinute = int.MaxValue; // the flood shall reach heed
        game = new Game(arguments[0]);
        game.Start();
        heed = HeedForRimWorld.Heed;
        adapter = new HeedAttentionAdapter(heed, new HeedSlot(Attention), text => Check(false, text));
        game.Do(() =>
        {
            HeedForRimWorld.Adapter = adapter;
            heed.Opened += Remember;
            heed.Updated += Remember;
        });
        game.Load("Colony17", () => Log.Message("[QuarryPlus] 3 platforms restored"));

        Quiet(wanted / 5);
        Apart(() => During(6));
        Quiet(wanted / 5);
        Apart(() => After(6));
        Quiet(wanted / 5);
        Apart(() => Between(4));
        Quiet(wanted / 10);
        Apart(Ends);
        Apart(() => Flood(flood));
        Quiet(wanted - Calls.Count);
        Pause();

        Check(heed.Flush(30000), "not flushed");
        Verdicts();
        PlantedItems();
        Lines();
        game.Quit();
        Console.WriteLine(wrong == 0 ? "all as planted" : wrong + " differ");
        return wrong == 0 ? 0 : 1;
    }

    // ---- what the agent does

    private static void Quiet(int n)
    {
        for (var i = 0; i < n; i++)
            Run(i % 3 == 0 ? "rimworld/select_pawn" : i % 3 == 1 ? "rimworld/list_messages" : "rimworld/set_draft", null);
    }

    /// <summary>Keeps a scene out of the windows of the calls before it and after it.</summary>
    private static void Apart(Action scene)
    {
        Pause();
        scene();
        Pause();
        Look();
    }

    /// <summary>Waits until the windows of all calls are over, and takes their verdicts, which a client keeps for a while.</summary>
    private static void Pause()
    {
        var latest = Math.Max(Calls.Max(c => c.Ended), Planted.Count == 0 ? 0 : Planted.Max(f => f.Until));
        Thread.Sleep(TimeSpan.FromSeconds(Math.Max(0, latest + Linger + Unsure - Now)));
        foreach (var call in Calls)
            if (call.Verdict == null)
                call.Verdict = heed.WaitVerdict(call.Id, 5000, true);
    }

    /// <summary>Faults on the game's thread while the call runs, among calls that do well.</summary>
    private static void During(int n)
    {
        for (var i = 0; i < n; i++)
        {
            Quiet(3);
            Run("rimworld/order_haul", call => Plant("during", call.Id));
            Thread.Sleep(50);
        }
        // A call that is part of another one, as of a script.
        Run("rimbridge/run_script", call =>
        {
            var part = new Call { Id = call.Id + "-1", Tool = "rimworld/order_dig", Parent = call.Id, Began = Now };
            Calls.Add(part);
            using (adapter.BeginToolCall(part.Id, part.Tool, part.Parent))
                Plant("during", part.Id);
            adapter.EndToolCall(part.Id, true);
            part.Ended = Now;
        });
        Run("rimworld/set_zone", call =>
        {
            lock (Planted)
                Planted.Add(new Fault { When = "advice", Operation = call.Id, Text = "amber", At = Now, Until = Now, Advises = true });
            Log.Warning("[TradeWinds] Could not find a price for 'amber', defaulting to 3");
        });
    }

    /// <summary>The call has answered; what it queued fails some frames later, once after its window is over.</summary>
    private static void After(int n)
    {
        for (var i = 0; i < n; i++)
        {
            var late = new List<ManualResetEventSlim>();
            var frames = 3 << i;
            Run("rimworld/queue_job", call => late.Add(game.Later(frames, () => Within(call))));
            late[0].Wait();
            game.Frames(2);
        }
        Call last = null;
        Run("rimworld/build_wall", call => last = call);
        Pause();
        game.Do(() => Within(last));
        last.Verdict = null; // it changes
    }

    private static void Within(Call call)
    {
        using (heed.Enter(call.Id))
            Plant("after", call.Id);
    }

    /// <summary>Faults of the game's own, each long after a call and before the next one.</summary>
    private static void Between(int n)
    {
        for (var i = 0; i < n; i++)
        {
            Quiet(4);
            Pause();
            game.Do(() => Plant("between", null));
            Thread.Sleep(300);
            Quiet(4);
        }
    }

    /// <summary>Calls that end in another way than well, without a line.</summary>
    private static void Ends()
    {
        Run("rimworld/select_pawn", call => call.Status = HeedStatus.Failed);
        Pause();
        Run("rimworld/wait_for_job", call => call.Status = HeedStatus.TimedOut);
    }

    /// <summary>Another mod logs without end on a thread of its own, while calls go on.</summary>
    private static void Flood(int lines)
    {
        var fault = new Fault { When = "flood", Text = "lost its hive", At = Now };
        lock (Planted)
            Planted.Add(fault);
        var flood = new Thread(() =>
        {
            for (var i = 0; i < lines; i++)
            {
                Faults.Swarm(i);
                if (i < lines / 2 && i % 50 == 0)
                    Thread.Sleep(1);
            }
            fault.Until = Now;
        });
        fault.Until = double.MaxValue;
        flood.Start();
        Thread.Sleep(100);
        while (flood.IsAlive)
        {
            Quiet(1);
            Thread.Sleep(30); // an agent thinks
        }
        flood.Join();
        Quiet(1); // its verdict counts the repeats that came while no call ran
        fault.Drained = Now;
    }

    /// <summary>Logs the next fault on this thread.</summary>
    private static void Plant(string when, string operation)
    {
        lock (Planted)
            Planted.Add(new Fault { When = when, Operation = operation, Text = Faults.Texts[faults], At = Now, Until = Now });
        Faults.Blocking[faults++]();
    }

    /// <summary>Makes a call as an agent does, which first looks at what blocks.</summary>
    private static void Run(string tool, Action<Call> work)
    {
        Look();
        var call = new Call { Id = "op-" + Calls.Count, Tool = tool };
        Calls.Add(call);
        game.Do(() =>
        {
            call.Began = Now;
            using (adapter.BeginToolCall(call.Id, tool))
            {
                if (Calls.Count % 4 == 0)
                    Log.Message("[RimBridge] " + tool + " at tick " + 2500 * Calls.Count);
                if (work != null)
                    work(call);
            }
            if (call.Status == HeedStatus.TimedOut)
                heed.OperationEnded(call.Id, call.Status, "no answer within 30 s");
            else
                adapter.EndToolCall(call.Id, call.Status == HeedStatus.Completed, call.Status == HeedStatus.Completed ? null : "no such pawn");
            call.Ended = Now;
        });
        adapter.Settle(call.Id); // then the agent has the answer
    }

    /// <summary>
    /// Acknowledges what is in the slot, until nothing is open. It reads the state of the game before. The slot has one
    /// place: the next item comes when the answer to the acknowledgement of the one before it is written.
    /// </summary>
    private static void Look()
    {
        for (; heed.Current() != null || Attention.GetCurrent() != null; game.Frames(1))
        {
            var item = Attention.GetCurrent();
            if (item == null)
                continue;
            heed.StateRead();
            if (Attention.AcknowledgeAsync(item.AttentionId).Result.Acknowledged)
                acks++;
        }
    }

    private static void Remember(HeedItem item) { Items[item.Id] = item; }

    // ---- what was planted, and what heed has of it

    private static void Check(bool ok, string text)
    {
        if (ok)
            return;
        wrong++;
        Console.WriteLine("WRONG: " + text);
    }

    /// <summary>The outcome that a call must have, or null where its window ends just where a fault is, or where it is the
    /// next one after repeats of a fault.</summary>
    private static string Expected(Call call)
    {
        var outcome = call.Status == HeedStatus.TimedOut ? "unknown" : "clean";
        foreach (var fault in Planted)
        {
            var parent = Calls.Where(c => c.Id == fault.Operation).Select(c => c.Parent).FirstOrDefault();
            if (fault.Operation == call.Id || parent == call.Id)
                return fault.Advises ? "advisory" : "blocking";
            if (fault.Until < call.Began && call.Began < fault.Drained)
                return null;
            if (fault.Advises || call.Parent != null || fault.Until < call.Began || fault.At > call.Ended + Linger + Unsure)
                continue;
            if (fault.At > call.Ended + Linger - Unsure)
                return null;
            outcome = "unknown"; // the fault of another one
        }
        return outcome;
    }

    private static void Verdicts()
    {
        var table = new SortedDictionary<string, int>();
        var unsure = 0;
        foreach (var call in Calls)
        {
            var verdict = call.Verdict;
            var want = Expected(call);
            var got = verdict == null ? "no verdict" : verdict.Outcome;
            if (want == null)
            {
                unsure++;
                continue;
            }
            int n;
            var key = string.Format("{0,-10} {1,-10} {2}", want, got, verdict == null ? "" : verdict.Reason);
            table.TryGetValue(key, out n);
            table[key] = n + 1;
            Check(want == got, string.Format("{0} {1}: want {2}, got {3} ({4})", call.Id, call.Tool, want, got,
                verdict == null ? "" : verdict.Reason + ", " + verdict.Text));
            Check(verdict == null || verdict.Final, call.Id + ": its verdict is not final");
        }
        Console.WriteLine("calls {0}, of which {1} meet an edge of a fault and are not compared", Calls.Count, unsure);
        Console.WriteLine("expected   got        reason             calls");
        foreach (var row in table)
            Console.WriteLine("{0,-40} {1,5}", row.Key, row.Value);
        Check(unsure * 50 <= Calls.Count, "too many calls are not compared");
    }

    private static void PlantedItems()
    {
        Console.WriteLine("planted    items  of the right operation, as stated");
        foreach (var kind in Planted.GroupBy(f => f.When))
        {
            var right = 0;
            foreach (var fault in kind)
            {
                var item = Items.Values.FirstOrDefault(i => !Seen.Contains(i.Id) && i.Samples.Any(s => s.Message.Contains(fault.Text)) &&
                    (i.CausalOperation == fault.Operation || fault.Operation == null && i.CausalOperation == "" && i.AfterOperation == ""));
                if (item != null)
                {
                    right++;
                    Seen.Add(item.Id);
                }
                Check(item != null, fault.When + " " + fault.Operation + " has no item");
            }
            Console.WriteLine("{0,-10} {1,5}  {2}", kind.Key, kind.Count(), right);
        }
        // What else is an item: the call that timed out, and that lines of the flood were dropped.
        var others = Items.Values.Where(i => !Seen.Contains(i.Id)).ToList();
        foreach (var item in others)
            Check(item.CausalMethod == "rimworld/wait_for_job" || item.CausalOperation == "" && heed.Stats().Dropped > 0,
                "an item that nothing was planted for: " + item.Summary);
        Console.WriteLine("other      {0,5}  a call that timed out, and missing lines", others.Count);
        Console.WriteLine("items {0}, acknowledged {1}", Items.Count, acks);
    }

    private static readonly HashSet<string> Seen = new HashSet<string>();

    private static void Lines()
    {
        var s = heed.Stats();
        Console.WriteLine("lines {0} = received {1} + dropped {2} + lost {3}; restarts {4}", s.Pushed, s.Received, s.Dropped,
            s.Lost, s.Restarts);
        Check(s.Pushed == s.Received + s.Dropped + s.Lost && s.Queued == 0 && s.InFlight == 0, "lines are missing");
        Check(s.Restarts == 0 && s.Lost == 0, "the sidecar did not last");
    }
}
