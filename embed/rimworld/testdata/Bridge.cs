// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using HeedLog;
using HeedRimWorld;
using Lib.GAB.Server;
using UnityEngine;
using Verse;

/// <summary>
/// Plays a bridge mod with its library in a game, and an agent at the other end of the wire: FOLDER CALLS THINK
/// OUTAGES. A fault is planted at every tenth call: in it, in a part of it, or after it. THINK is how many milliseconds
/// the agent thinks between two calls; OUTAGES is how often the sidecar is killed and does not come back for a while. GC
/// as a fifth argument has another thread collect garbage all the time.
/// </summary>
internal static class Bridge
{
    // After a fault outside of calls, in which a call may still begin: an answer holds its event up for half of it.
    private const int SoonMilliseconds = 200;

    private static readonly List<Fault> Planted = new List<Fault>();
    private static Game game;
    private static Heed heed;
    private static HeedAttentionAdapter adapter;
    private static GabpServer server;
    private static int number, wrong, unanswered;
    private static volatile bool collect, inOutage;

    private sealed class Fault
    {
        public string Name, Operation;
        public bool Within;
        public Stopwatch Since = Stopwatch.StartNew();
        public string Item; // by which the agent knows it
    }

    private static int Main(string[] arguments)
    {
        int calls = int.Parse(arguments[1]), think = int.Parse(arguments[2]), outages = int.Parse(arguments[3]);
        collect = arguments.Length > 4;
        game = new Game(arguments[0]);
        game.Start();
        heed = HeedForRimWorld.Heed;
        server = new GabpServer(new GabpServerConfig { Token = "t", EnableAttentionSupport = true });
        server.Events.RegisterChannel("rimbridge.operation");
        adapter = new HeedAttentionAdapter(heed, new HeedSlot(server.Attention), text => Check(false, text));
        game.Do(() => HeedForRimWorld.Adapter = adapter);
        server.Tools.RegisterTool("rimworld/work", Work);
        server.StartAsync().Wait();
        new Thread(Collect) { IsBackground = true }.Start();
        game.Load("Colony17", () => Log.Message("[QuarryPlus] 3 platforms restored"));
        Check(heed.Flush(10000), "not flushed");

        using (var agent = new Agent(server.Port))
        {
            agent.Ask("session/hello",
                "\"token\":\"t\",\"bridgeVersion\":\"1\",\"platform\":\"linux\",\"launchId\":\"l\"");
            agent.Ask("events/subscribe", "\"channels\":[\"attention/opened\",\"attention/updated\"," +
                "\"attention/cleared\",\"rimbridge.operation\"]");
            for (var i = 1; i <= calls && agent.Lost == null; i++)
            {
                var outage = outages > 0 && i % (calls / (outages + 1)) == 0 && i < calls;
                if (outage)
                    Outage(arguments[0], agent);
                agent.Stop();
                agent.Call();
                if (i % 10 == 5 && i / 10 % 3 == 2) // after the call, by work that it left
                    LeftBy("op-" + number);
                if (think > 0)
                    Thread.Sleep(think);
            }
            for (var watch = Stopwatch.StartNew(); watch.ElapsedMilliseconds < 20000; Thread.Sleep(20))
                lock (Planted)
                    if (agent.Lost != null || agent.Relays == 2 * number && Planted.All(f => f.Item != null))
                        break;
            agent.Stop();
            collect = false;
            Check(agent.Lost == null, "the connection is lost: " + agent.Lost);
            foreach (var fault in Planted)
                Check(fault.Item != null, fault.Operation + ": its fault stopped nobody");
            Console.WriteLine("calls {0}, faults {1}, stops {2}, false {3}, stale {4}, in an outage {5}, outages stated {6}",
                number, Planted.Count, Planted.Count(f => f.Item != null), agent.False, agent.Stale, agent.StaleInOutage,
                agent.Offs);
            Console.WriteLine("wrong operation {0}, no verdict {1}, relays {2}, connections lost {3}", agent.WrongOperation,
                unanswered, agent.Relays, agent.Lost == null ? 0 : 1);
            Check(agent.False == 0 && agent.Stale == 0 && agent.WrongOperation == 0, "an agent was misled");
            Check(agent.Offs == outages, "an outage was not stated");
            Check(agent.Relays == 2 * number, "relays are missing");
            Check(unanswered == 0 || outages > 0, "a call was answered without a verdict");
        }
        game.Quit();
        server.Dispose();
        Console.WriteLine(wrong == 0 ? "all as planted" : wrong + " differ");
        return wrong == 0 ? 0 : 1;
    }

    private static void Collect()
    {
        for (; collect; Thread.Sleep(5))
            GC.Collect();
    }

    /// <summary>A tool of the bridge: it works on the game's thread, and its end is relayed as an event.</summary>
    private static Task<object> Work(object arguments)
    {
        var id = "op-" + ++number;
        int n = number;
        adapter.Started(id, "rimworld/work");
        game.Do(() =>
        {
            using (heed.Enter(id))
            {
                if (n % 4 == 0)
                    Log.Message("[RimBridge] at tick " + 2500 * n);
                if (inOutage || n % 10 == 5 && n / 10 % 3 == 0)
                    Plant(id, true);
                if (n % 10 != 5 || n / 10 % 3 != 1)
                    return;
                using (adapter.BeginToolCall(id + "-part", "rimworld/part", id))
                    Plant(id + "-part", true);
                adapter.EndToolCall(id + "-part", true);
            }
        });
        var payload = new { type = "operation.completed", operationId = id };
        adapter.Send(() => server.Events.EmitEventAsync("rimbridge.operation", payload));
        var verdict = adapter.Ended(id, HeedStatus.Completed);
        if (verdict == null)
            unanswered++;
        else if (heed.Away(0) == null)
        {
            bool fault;
            lock (Planted)
                fault = Planted.Any(f => f.Within && (f.Operation == id || f.Operation == id + "-part"));
            Check((verdict.Outcome == "blocking") == fault || verdict.Outcome == "unknown",
                id + ": its verdict is " + verdict.Outcome + " (" + verdict.Reason + ")");
        }
        // The game's thread has an event to send just when the answer is written.
        game.Later(0, () => adapter.Send(() => server.Events.EmitEventAsync("rimbridge.operation", payload)));
        return Task.FromResult<object>(new { success = true, outcome = verdict == null ? null : verdict.Outcome });
    }

    private static void LeftBy(string id)
    {
        game.Later(2, () =>
        {
            using (heed.Enter(id))
                Plant(id, false);
        });
    }

    private static readonly string[] Kinds =
    {
        "NullReferenceException: Object reference not set to an instance of an object",
        "KeyNotFoundException: The given key was not present",
        "InvalidCastException: Specified cast is not valid.", "DivideByZeroException: Attempted to divide by zero.",
        "ArgumentOutOfRangeException: Index was out of range.",
        "FormatException: Input string was not in a correct format.",
    };

    private static readonly string[] Mods =
    {
        "LanternFestival", "QuarryPlus", "Beekeeping", "TradeWinds", "Aquaculture",
    };

    private static void Plant(string operation, bool within)
    {
        int n;
        lock (Planted)
            n = Planted.Count;
        var name = Mods[n % 5] + ".Part" + (char)('A' + n % 26) + ".Run" + Kinds[n % 6].Substring(0, 4);
        lock (Planted)
            Planted.Add(new Fault { Name = Kinds[n % 6], Operation = operation, Within = within });
        EngineStub.Emit(Kinds[n % 6], name + " () (at <8f1c04d29f5a4cf0b1a3e07d53a3b9c4>:0)\nVerse.Thing" + n % 7 +
            ".DoTick () (at <c9b1c5f0e7a24d2c8f2d4a3b6e8f1a20>:0)\n", LogType.Exception);
    }

    /// <summary>The sidecar is killed, and its program is away until the agent was stopped by that.</summary>
    private static void Outage(string folder, Agent agent)
    {
        agent.Stop();
        agent.Outage = true;
        var native = Path.Combine(folder, "Native");
        var program = Directory.GetFiles(native)[0];
        File.Move(program, native + ".away");
        foreach (var dir in Directory.GetDirectories("/proc"))
            try
            {
                int id;
                if (!int.TryParse(Path.GetFileName(dir), out id))
                    continue;
                var stat = File.ReadAllText(dir + "/stat");
                if (stat.Substring(stat.LastIndexOf(')')).Split(' ')[2] == Process.GetCurrentProcess().Id.ToString())
                    Process.GetProcessById(id).Kill();
            }
            catch (IOException)
            {
            }
        var watch = Stopwatch.StartNew();
        var before = agent.Offs;
        while (agent.Offs == before && watch.ElapsedMilliseconds < 10000)
            Thread.Sleep(20);
        Check(watch.ElapsedMilliseconds > 1900, "heed-off came after " + watch.ElapsedMilliseconds + " ms");
        string why;
        Check(heed.Verdict("op-none", out why) == null && why.StartsWith("heed does not see the game's log: "),
            "no reason: " + why);
        agent.Stop(); // an agent may go on, knowing that
        inOutage = true;
        agent.Call(); // breaks something
        inOutage = false;
        agent.Call(); // cannot know that
        File.Move(native + ".away", program);
        while (heed.Away(0) != null && watch.ElapsedMilliseconds < 30000)
            Thread.Sleep(20);
        Check(heed.Flush(10000), "heed did not come back");
        game.Frames(20);
        var left = server.Attention.GetCurrent();
        Check(left == null || left.AttentionId != HeedAttentionAdapter.OffId, "heed-off stays");
        agent.Outage = false;
    }

    private static void Check(bool ok, string text)
    {
        if (ok)
            return;
        Interlocked.Increment(ref wrong);
        Console.WriteLine("WRONG: " + text);
    }

    /// <summary>Calls one tool after the other. It stops at each item that blocks, and reads frames as strictly as
    /// bridges do.</summary>
    private sealed class Agent : IDisposable
    {
        private const string Type = "\r\nContent-Type: application/json\r\n\r\n";

        public volatile string Lost;
        public volatile bool Outage;
        public int False, Stale, StaleInOutage, Offs, WrongOperation, Relays;

        private readonly TcpClient client = new TcpClient();
        private readonly Stream stream;
        private readonly object gate = new object();
        private readonly Queue<string> blocking = new Queue<string>();
        private readonly HashSet<string> answers = new HashSet<string>();
        private int requests;

        public Agent(int port)
        {
            client.Connect(IPAddress.Loopback, port);
            client.NoDelay = true;
            stream = client.GetStream();
            new Thread(Read) { IsBackground = true, Name = "agent" }.Start();
        }

        public void Dispose() { client.Close(); }

        public void Call()
        {
            lock (Planted)
                foreach (var fault in Planted)
                    if (fault.Item == null && (fault.Within || fault.Since.ElapsedMilliseconds > SoonMilliseconds))
                    {
                        if (Outage)
                            StaleInOutage++;
                        else
                        {
                            Stale++;
                            Console.WriteLine("stale: a call {0} ms after the fault of {1}",
                                fault.Since.ElapsedMilliseconds, fault.Operation);
                        }
                    }
            Ask("tools/call", "\"name\":\"rimworld/work\",\"arguments\":{}");
        }

        /// <summary>Acknowledges what blocks. It reads the state of the game before.</summary>
        public void Stop()
        {
            for (;;)
            {
                string id;
                lock (gate)
                {
                    if (blocking.Count == 0)
                        return;
                    id = blocking.Dequeue();
                }
                heed.StateRead();
                Ask("attention/current", "");
                Ask("attention/ack", "\"attentionId\":\"" + id + "\"");
            }
        }

        public void Ask(string method, string parameters)
        {
            var id = "00000000-0000-4000-8000-" + (++requests).ToString("x12");
            var body = "{\"v\":\"gabp/1\",\"id\":\"" + id + "\",\"type\":\"request\",\"method\":\"" + method +
                "\",\"params\":{" + parameters + "}}";
            var bytes = Encoding.UTF8.GetBytes("Content-Length: " + body.Length + Type + body);
            stream.Write(bytes, 0, bytes.Length);
            var watch = Stopwatch.StartNew();
            lock (gate)
            {
                while (!answers.Remove(id) && Lost == null)
                    if (!Monitor.Wait(gate, 1000) && watch.ElapsedMilliseconds > 10000)
                        Lost = method + " was not answered";
            }
        }

        private void Read()
        {
            try
            {
                for (;;)
                {
                    var header = new StringBuilder();
                    while (!header.ToString().EndsWith("\r\n\r\n"))
                    {
                        var b = stream.ReadByte();
                        if (b < 0)
                            return;
                        header.Append((char)b);
                        if (header.Length > 200)
                            throw new IOException("no header: " + header);
                    }
                    var match = Regex.Match(header.ToString(), "^Content-Length: (\\d+)" + Type + "$");
                    if (!match.Success)
                        throw new IOException("no header: " + header);
                    var body = new byte[int.Parse(match.Groups[1].Value)];
                    for (int have = 0, n; have < body.Length; have += n)
                        if ((n = stream.Read(body, have, body.Length - have)) <= 0)
                            return;
                    var json = Encoding.UTF8.GetString(body);
                    if (!json.StartsWith("{\"") || !json.EndsWith("}") || json.Contains("Content-Length"))
                        throw new IOException("no body: " + json);
                    lock (gate)
                    {
                        Receive(json);
                        Monitor.PulseAll(gate);
                    }
                }
            }
            catch (Exception e)
            {
                Lost = Lost ?? e.Message;
                lock (gate)
                    Monitor.PulseAll(gate);
            }
        }

        private void Receive(string json)
        {
            if (Member(json, "type", 0) != "event" && !json.Contains("\"channel\":"))
            {
                answers.Add(Member(json, "id", 0));
                return;
            }
            if (json.Contains("\"channel\":\"rimbridge.operation\""))
                Relays++;
            if (!json.Contains("\"channel\":\"attention/opened\"") || !json.Contains("\"blocking\":true"))
                return;
            var id = Member(json, "attentionId", 0);
            blocking.Enqueue(id);
            if (id == HeedAttentionAdapter.OffId)
            {
                Offs++;
                return;
            }
            lock (Planted)
            {
                var operation = Member(json, "causalOperationId", 0);
                var fault = Planted.FirstOrDefault(f => f.Item == null && json.Contains(f.Name.Substring(0, 12)));
                if (fault == null)
                {
                    False++;
                    Console.WriteLine("false: " + json);
                }
                else
                {
                    fault.Item = id;
                    if (operation != fault.Operation)
                    {
                        WrongOperation++;
                        Console.WriteLine("of " + fault.Operation + ": " + json);
                    }
                }
            }
        }

        private static string Member(string json, string name, int at)
        {
            return new Regex("\"" + name + "\":\"([^\"]*)\"").Match(json, at).Groups[1].Value;
        }
    }
}
