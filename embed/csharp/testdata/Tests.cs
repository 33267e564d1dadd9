// Tests of Heed.cs, each a method. The command line has their names, with commas. client_test.go runs them.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Text;
using System.Threading;
using HeedLog;

static class Tests
{
    static string sidecar, folder, golden;
    static readonly List<string> reported = new List<string>(); // where a test expects no reports

    static int Main(string[] args)
    {
        sidecar = args[1];
        folder = args[2];
        golden = args[3];
        try
        {
            foreach (string name in args[0].Split(','))
                typeof(Tests).GetMethod(name, BindingFlags.Public | BindingFlags.Static).Invoke(null, null);
            lock (reported) foreach (string r in reported) Console.WriteLine("reported: " + r);
            return reported.Count == 0 ? 0 : 1;
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException);
            return 1;
        }
    }

    static void Equal<T>(T want, T got, string what)
    {
        if (!EqualityComparer<T>.Default.Equals(want, got))
            throw new Exception(what + ": want " + want + ", got " + got);
    }

    static void True(bool ok, string what)
    {
        if (!ok) throw new Exception("not so: " + what);
    }

    static Heed Start(HeedOptions o)
    {
        if (o.SidecarPath == null) o.SidecarPath = sidecar;
        if (o.DisposeMilliseconds == new HeedOptions().DisposeMilliseconds) o.DisposeMilliseconds = 30000;
        if (o.Report == null) o.Report = r => { lock (reported) reported.Add(r); };
        return Heed.Start(o);
    }

    static void Accounted(HeedStats s)
    {
        Equal(s.Pushed, s.Received + s.Dropped + s.Lost + s.Queued + s.InFlight, "sum of the counters");
        Equal(s.Written, s.Received + s.Lost + s.InFlight, "written");
        ulong dropped = 0;
        foreach (ulong n in s.DroppedByLevel) dropped += n;
        Equal(s.Dropped, dropped, "dropped by level");
    }

    static void Wait(string what, Func<bool> done)
    {
        for (var w = Stopwatch.StartNew(); !done(); Thread.Sleep(1))
            if (w.ElapsedMilliseconds > 30000) throw new Exception("never so: " + what);
    }

    // ---- Frames

    static readonly long exampleTime = new DateTime(2026, 1, 31, 10, 20, 30, 456, DateTimeKind.Utc).Ticks;

    static Dictionary<string, string> Golden()
    {
        var d = new Dictionary<string, string>();
        foreach (string line in File.ReadAllLines(golden))
            if (line != "" && line[0] != '#') d[line.Substring(0, line.IndexOf(": "))] = line.Substring(line.IndexOf(": ") + 2);
        return d;
    }

    static void Same(Dictionary<string, string> golden, string name, byte type, Action<Frame> encode)
    {
        var f = new Frame();
        f.Begin(type);
        encode(f);
        f.End();
        Equal(golden[name], BitConverter.ToString(f.ToArray()).Replace("-", "").ToLowerInvariant(), name);
        golden.Remove(name);
    }

    public static void FramesOut()
    {
        var g = Golden();
        var files = new List<KeyValuePair<string, string>> { new KeyValuePair<string, string>("own.yaml", "version: 1\n") };
        Same(g, "hello", Frame.Hello, f =>
        {
            Encode.Hello(f, "example 1", 4711, "unity", "rimworld", files, "menu", 0, new byte[0][]);
        });
        Same(g, "hello after a restart", Frame.Hello, f =>
        {
            var seen = new[] { Encoding.UTF8.GetBytes("{\"a\":1}"), Encoding.UTF8.GetBytes("{\"b\":2}") };
            Encode.Hello(f, "example 1", 0, "generic", "rimworld", new KeyValuePair<string, string>[0], "", 200, seen);
            f.Raw(new byte[] { 1, 2, 3 }, 0, 3);
        });
        var line = new LineQueue.Slot
        {
            Line = 300, Thread = 4, Ticks = exampleTime, Level = (byte)HeedLevel.Error, Operation = "call-7",
            Message = "Exception: no room \u00e9", Stack = "  at Farm.Barn.Save ()",
        };
        Same(g, "log", Frame.Log, f => Encode.Line(f, ref line));
        line = new LineQueue.Slot
        {
            Line = 301, Thread = 4, Ticks = exampleTime, Level = (byte)HeedLevel.Log, Message = "h\u00e9",
            MessageCut = 35000, StackCut = 1,
        };
        Same(g, "log in UTF-16, cut", Frame.Log, f => Encode.Line(f, ref line));
        Same(g, "operation", Frame.Operation, f =>
            Encode.Operation(f, exampleTime, HeedStatus.Cancelled, "call-7", "turn-1", "farm/save", "stopped"));
        Same(g, "state", Frame.State, f => Encode.State(f, exampleTime, "alive", 10000, "frame 60"));
        Same(g, "dropped", Frame.Dropped, f =>
            Encode.Dropped(f, exampleTime, "full", new ulong[] { 0, 1, 200, 3, 0, 0 }, 5, 70000));
        var mods = new[]
        {
            new HeedMod
            {
                Name = "Brick Kilns", PackageId = "author.brickkilns", WorkshopId = "123", Assemblies = new[] { "BrickKilns" },
            },
        };
        Same(g, "mods", Frame.Mods, f => Encode.Mods(f, mods));
        var report = new HeedReport
        {
            Key = "autosave", Disposition = HeedDisposition.Blocking, Severity = HeedSeverity.Error, Invalidates = true,
            Summary = "the autosave failed", Message = "disk full",
        };
        Same(g, "raise", Frame.Raise, f => Encode.Raise(f, exampleTime, report, "call-7"));
        foreach (string name in g.Keys)
            True(name.StartsWith("query ") || Convert.ToInt32(g[name].Substring(10, 2), 16) > 64, name + " is not tried");
    }

    static byte[] Bytes(string hex)
    {
        var b = new byte[hex.Length / 2];
        for (int i = 0; i < b.Length; i++) b[i] = Convert.ToByte(hex.Substring(2 * i, 2), 16);
        return b;
    }

    static Fields Body(Dictionary<string, string> golden, string name)
    {
        byte[] b = Bytes(golden[name]);
        int length, type;
        True(Frame.ReadHead(b, out length, out type), name);
        Equal(b.Length - Frame.HeadBytes, length, "length of " + name);
        return new Fields(b, Frame.HeadBytes, Array.IndexOf(b, (byte)'\n', Frame.HeadBytes) - Frame.HeadBytes);
    }

    public static void FramesIn()
    {
        var g = Golden();
        Fields f = Body(g, "update");
        Equal("opened new run1-3", f.Text("update") + " " + f.Text("reason") + " " + f.Text("current"), "update");
        HeedItem i = HeedItem.Of(f.Object("attention"));
        Equal("run1-3 True Error Blocking True True saving failed call-7 farm/save  ", string.Join(" ", new object[]
        {
            i.Id, i.Open, i.Severity, i.Disposition, i.Blocks, i.StateInvalidated, i.Summary, i.CausalOperation, i.CausalMethod,
            i.AfterOperation, i.AfterMethod,
        }), "item");
        Equal("40 300 39 5 2 38 4 299 Brick Kilns run1-2 ", string.Join(" ", new object[]
        {
            i.OpenedAt, i.Latest, i.BeforeCause, i.Entries, i.Groups, i.Line, i.Thread, i.LatestLine, i.Mods[0], i.Predecessor,
            i.Cleared,
        }), "item, second half");
        Equal("True 3 came back 3 times, every 1m0s seen in 2 sessions 40 38 4 save.failed 00000000000000ff play", string.Join(
            " ", new object[]
            {
                i.GroupsExact, i.Prelude, i.Recurrence, i.History, i.Cause.Sequence, i.Cause.Line, i.Cause.Thread, i.Cause.Rule,
                i.Cause.Signature, i.Cause.Phase,
            }), "item, its cause");
        Equal("A save failed Free space. save.failed Barns shed False 4", string.Join(" ", new object[]
        {
            i.Title, i.Advice, i.Rule, i.Perhaps[0], i.Variants[0].Value, i.Variants[0].Others, i.Variants[0].Count,
        }), "item, its dominant entries");
        HeedSample s = i.Samples[0];
        Equal("Error Exception: no room \u00e9 4 300 save.failed 00000000000000ff 38 299 Brick Kilns barn False 3 True 1",
            string.Join(" ", new object[]
            {
                s.Severity, s.Message, s.Repeats, s.Latest, s.Rule, s.Signature, s.FirstLine, s.LatestLine, s.Mods[0],
                s.Variants[0].Value, s.Variants[0].Others, s.Variants[0].Count, s.Variants[1].Others, s.Variants[1].Count,
            }), "sample");
        HeedVerdict v = HeedVerdict.Of(Body(g, "verdict"));
        Equal("call-7 farm/save Completed blocking charged Something blocking came of it. 301 True False run1-3", string.Join(
            " ", new object[] { v.Operation, v.Method, v.Status, v.Outcome, v.Reason, v.Text, v.Through, v.Known, v.Final, v.ItemId }),
            "verdict");
        f = Body(g, "answer read");
        Equal("9 read ", f.Number("number") + " " + f.Text("kind") + " " + f.Text("error"), "answer");
        HeedPage page = Decode.Page(f.Object("result"));
        HeedRecord r = page.Records[0];
        Equal("run1 40 3 True 40 log Error none Farm Exception: no room \u00e9   at Farm.Barn.Save () call-7 save.failed Blocking Error 38 4 True",
            string.Join(" ", new object[]
            {
                page.Epoch, page.Next, page.Lost, page.More, r.Sequence, r.Kind, r.Level, r.Status, r.Source, r.Message, r.Stack,
                r.Operation, r.Rule, r.Disposition, r.Severity, r.Line, r.Thread, r.Cut,
            }), "page");
        Equal(exampleTime, r.Time.Ticks, "time");
        var stats = Decode.Texts(Body(g, "answer stats"));
        Equal("299 1 play", stats["lines"] + " " + stats["open"] + " " + stats["phase"], "stats");
        Equal(null, Decode.Texts(Body(g, "answer flush")), "no texts");
        foreach (var pair in g) Torn(pair.Key, Bytes(pair.Value));
    }

    public static void ReadJson()
    {
        Func<string, object> read = text => new Json(text).Whole();
        Equal("a\n\u00e9\ud834\udd1e\"\\/\t", (string)read(" \"a\\n\\u00e9\\ud834\\udd1e\\\"\\\\\\/\\t\" "), "text");
        Equal(18446744073709551615UL, (ulong)read("18446744073709551615"), "the largest number");
        Equal(-1.5, (double)read("-1.5"), "another number");
        var nested = (List<object>)read("[{\"a\":[]},null,true,false,{}]");
        Equal(5, nested.Count, "elements");
        foreach (string bad in new[]
        {
            "", "{", "[", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "\"a", "\"\\", "\"\\u12", "\"\\x\"", "tru", "1 2", "-", "nul", "\0",
            new string('[', 100000),
        })
        {
            try { read(bad); }
            catch (FormatException) { continue; }
            True(false, "read: " + bad.Substring(0, Math.Min(9, bad.Length)));
        }
        byte[] members = Encoding.UTF8.GetBytes("{\"a\":1,\"t\":\"2026-01-31T12:20:30.456789123+02:00\",\"n\":null}");
        var f = new Fields(members, 0, members.Length);
        Equal(exampleTime + 7891, f.Time("t").Ticks, "time with an offset");
        Equal(" 0 False", f.Text("n") + " " + f.Number("x") + " " + f.Flag("x"), "members that are not there");
        try { f.Text("a"); }
        catch (FormatException) { return; }
        True(false, "a number is no text");
    }

    // Torn holds that frames that are cut or corrupted are refused in an orderly way.
    static void Torn(string name, byte[] b)
    {
        var random = new Random(1);
        for (int n = 0; n < 200; n++)
        {
            var c = (byte[])b.Clone();
            if (c.Length > Frame.HeadBytes) c[random.Next(Frame.HeadBytes, c.Length)] = (byte)random.Next(256);
            int end = n % 2 == 0 ? c.Length : random.Next(Frame.HeadBytes, c.Length + 1);
            foreach (Action<Fields> read in new Action<Fields>[]
            {
                f => HeedItem.Of(f.Object("attention")), f => HeedVerdict.Of(f), f => Decode.Page(f.Object("result")),
                f => Decode.Texts(f), f => f.List("result", HeedItem.Of),
            })
            {
                try { read(new Fields(c, Frame.HeadBytes, end - Frame.HeadBytes)); }
                catch (FormatException) { }
            }
        }
    }

    // ---- The queue

    class Entry { public ulong Line; public int Level; public long Bytes; }

    // A queue as it is described: when there is no room, the oldest of the lowest class goes.
    class Model
    {
        public int Capacity;
        public long MaxBytes, Held;
        public ulong Lines;
        public List<Entry> Waiting = new List<Entry>();
        public ulong[] Dropped = new ulong[LineQueue.Levels];

        static int Class(int level) { return level >= 4 ? 2 : level == 3 ? 1 : 0; }

        public void Push(int level, long bytes)
        {
            Lines++;
            while (Waiting.Count == Capacity || Held + bytes > MaxBytes)
            {
                Entry lowest = null;
                foreach (Entry e in Waiting) if (lowest == null || Class(e.Level) < Class(lowest.Level)) lowest = e;
                if (lowest == null || Class(lowest.Level) > Class(level)) { Dropped[level]++; return; }
                Waiting.Remove(lowest);
                Held -= lowest.Bytes;
                Dropped[lowest.Level]++;
            }
            Waiting.Add(new Entry { Line = Lines, Level = level, Bytes = bytes });
            Held += bytes;
        }
    }

    public static void QueueAsModel()
    {
        for (int seed = 0; seed < 200; seed++)
        {
            var random = new Random(seed);
            var model = new Model { Capacity = random.Next(1, 40), MaxBytes = random.Next(10, 4000) };
            var queue = new LineQueue(model.Capacity, model.MaxBytes);
            var drops = new ulong[LineQueue.Levels];
            var reported = new ulong[LineQueue.Levels];
            for (int n = 0; n < 500; n++)
            {
                int level = random.Next(6), length = random.Next(100);
                queue.Log((byte)level, 1, new string('x', length), "", null, 0, 0);
                model.Push(level, 2 * length);
                if (random.Next(60) == 0)
                {
                    LineQueue.Batch b = queue.Take(drops);
                    for (int i = 0; b.Drops && i < drops.Length; i++) reported[i] += drops[i];
                    Drained(queue, b, model, seed);
                    for (int i = 0; i < reported.Length; i++) Equal(model.Dropped[i], reported[i], "reported as dropped, seed " + seed);
                }
                var s = new HeedStats();
                ulong taken, last;
                queue.Count(s, out taken, out last);
                Equal(s.Pushed, s.Dropped + s.Queued + taken, "sum, seed " + seed);
                Equal((ulong)model.Waiting.Count, s.Queued, "waiting, seed " + seed);
            }
        }
    }

    static void Drained(LineQueue queue, LineQueue.Batch b, Model model, int seed)
    {
        int n = 0;
        for (int i = b.Head; i >= 0; i = queue.Slots[i].Next, n++)
        {
            Equal(model.Waiting[n].Line, queue.Slots[i].Line, "line, seed " + seed);
            Equal(model.Waiting[n].Level, (int)queue.Slots[i].Level, "level, seed " + seed);
        }
        Equal(model.Waiting.Count, n, "lines taken, seed " + seed);
        model.Waiting.Clear();
        model.Held = 0;
        queue.Release(b);
        foreach (LineQueue.Slot s in queue.Slots) True(s.Message == null, "a slot lets go of its message");
    }

    // Control frames are dropped after all lines, the oldest first.
    public static void ControlLast()
    {
        var queue = new LineQueue(4, 1 << 20);
        for (int i = 0; i < 4; i++) queue.Log((byte)HeedLevel.Fatal, 1, "x", null, null, 0, 0);
        for (byte i = 0; i < 6; i++) queue.Control(Frame.State, new[] { i });
        queue.Log((byte)HeedLevel.Fatal, 1, "x", null, null, 0, 0);
        var stats = new HeedStats();
        ulong taken, last;
        queue.Count(stats, out taken, out last);
        Equal(5UL, stats.Dropped, "lines dropped");
        Equal(2UL, stats.ControlDropped, "frames dropped");
        LineQueue.Batch b = queue.Take(new ulong[LineQueue.Levels]);
        int want = 2;
        for (int i = b.Head; i >= 0; i = queue.Slots[i].Next) Equal(want++, (int)queue.Slots[i].Payload[0], "frame");
        Equal(6, want, "frames");
    }

    // A line has the time that the queue read last.
    public static void TimesOfLines()
    {
        var queue = new LineQueue(4, 1 << 20);
        long now = queue.Tick();
        Thread.Sleep(20);
        queue.Log((byte)HeedLevel.Log, 1, "x", null, null, 0, 0);
        LineQueue.Batch b = queue.Take(new ulong[LineQueue.Levels]);
        Equal(now, queue.Slots[b.Head].Ticks, "time of the first line");
        queue.Log((byte)HeedLevel.Log, 1, "y", null, null, 0, 0);
        b = queue.Take(new ulong[LineQueue.Levels]);
        True(queue.Slots[b.Head].Ticks > now, "Take reads the clock");
    }

    // ---- With a sidecar

    public static void Session()
    {
        var events = new List<string>();
        var h = Start(new HeedOptions { Phase = "menu", Consumer = "agent" });
        h.Opened += i => events.Add("opened " + i.CausalOperation);
        h.Updated += i => events.Add("updated");
        h.Cleared += i => events.Add("cleared " + i.Cleared);
        h.Mods(new[] { new HeedMod { Name = "Brick Kilns", PackageId = "author.brickkilns", Assemblies = new[] { "BrickKilns" } } });
        h.Phase("playing");
        h.OperationStarted("call-1", "farm/build");
        using (h.Enter("call-1"))
        {
            h.Log(HeedLevel.Log, "building", null);
            h.Log(HeedLevel.Error, "NullReferenceException: Object reference not set to an instance of an object",
                "  at BrickKilns.Kiln.Fire () [0x00000] in <0>:0");
        }
        h.OperationEnded("call-1", HeedStatus.Completed);
        foreach (string id in new[]
        {
            "call-2", "a\ud800b", "\ud83d\ude00", "", new string('o', 300), new string('\u00e9', 300),
            "x" + new string('\u4e00', 2000),
        })
        {
            h.OperationStarted(id, "farm/look");
            h.OperationEnded(id, HeedStatus.Completed);
            True(id == "" || h.WaitVerdict(id, 5000) != null, "a verdict of " + id);
        }
        h.OperationStarted(null, null, null);
        h.Mods(null);
        h.Mods(new HeedMod[] { null });
        h.Raise(null);
        h.Clear(null);
        h.Phase(null);
        h.LongEventBegins(null);
        h.LongEventEnds();
        h.Phase("playing");
        HeedVerdict v = h.WaitVerdict("call-1", 30000);
        Equal("blocking", v.Outcome, "outcome");
        Wait("opened", () => h.Poll() > 0);
        HeedItem item = h.Current();
        Equal(v.ItemId, item.Id, "item of the verdict");
        True(item.Blocks && item.Open, "it blocks");
        Equal("Brick Kilns", item.Mods[0], "blamed");
        True(ReferenceEquals(item, h.Current()), "Current returns its copy");
        True(h.Explain(item.Id, 30000)["rule"] != "", "explained");
        Equal(null, h.Explain("nothing", 30000), "an item that is not there");
        Equal(1, h.OpenItems(30000).Count, "open items");
        True(h.Ack(item.Id, item.Latest), "acknowledged");
        Equal(null, h.Current(), "after it was acknowledged");
        True(!h.Ack(item.Id, item.Latest), "acknowledged again");
        Wait("cleared", () => h.Poll() > 0);
        Equal("opened call-1, cleared acknowledged", string.Join(", ", events.ToArray()), "events");
        h.Raise(new HeedReport { Key = "disk", Disposition = HeedDisposition.Blocking, Summary = "the disk is full" });
        Wait("raised", () => { h.Poll(); return h.Current() != null; });
        h.Clear(h.Current().Id);
        Wait("over", () => { h.Poll(); return h.Current() == null; });
        Equal("playing", h.EngineStats(30000)["phase"], "phase");
        HeedPage page = h.Read("", 0, 100, HeedDisposition.Blocking, "call-1", 30000);
        Equal(2UL, page.Records[0].Line, "line of the record");
        Equal("", h.Attach(30000), "nothing was open");
        h.Dispose();
        Accounted(h.Stats());
        Equal(2UL, h.Stats().Received, "received");
    }

    // Each of very many operations gets a final verdict, though heed reports the changes of the latest only.
    public static void FinalVerdicts()
    {
        var h = Start(new HeedOptions());
        for (int i = 0; i < 400; i++)
        {
            h.OperationStarted("call-" + i, "farm/look");
            h.OperationEnded("call-" + i, HeedStatus.Completed);
        }
        foreach (int i in new[] { 0, 399 })
        {
            HeedVerdict v = h.WaitVerdict("call-" + i, 30000, true);
            True(v != null && v.Final && v.Outcome == "clean", "verdict of " + i);
        }
        Equal(null, h.WaitVerdict("never", 10), "an operation that was never seen");
        h.Dispose();
    }

    // What is odd in a text comes out as it is described, and nothing throws.
    public static void OddTexts()
    {
        var h = Start(new HeedOptions());
        string large = new string('m', 32 << 20);
        h.Log(HeedLevel.Error, "a\ud800b\udc00c", null);
        h.Log(HeedLevel.Error, "a\0b", "at \0");
        h.Log(HeedLevel.Error, large, large);
        h.Log(HeedLevel.Error, new string('x', Heed.MaxText - 1) + "\ud83d\ude00", null);
        h.Log(HeedLevel.Error, new string('\u4e00', Heed.MaxText), new string('\ud800', Heed.MaxText));
        h.Log((HeedLevel)77, null, null, null);
        h.Log((HeedLevel)(-1), "", "", new string('o', 100000));
        True(h.Flush(30000), "flushed");
        var records = h.Read("", 0, 100, HeedDisposition.Ignore, "", 30000).Records;
        Equal("a\ufffdb\ufffdc", records[0].Message, "lone surrogates");
        True(records[1].Message.StartsWith("a") && records[1].Message.EndsWith("b"), "NUL");
        True(records[2].Cut && records[2].Message.StartsWith("mmmm"), "a long text is cut");
        h.OperationEnded("op", (HeedStatus)99);
        h.Raise(new HeedReport { Disposition = (HeedDisposition)9, Severity = (HeedSeverity)(-1) });
        True(h.Read("", 0, 10, (HeedDisposition)9, "", 30000) != null, "no page");
        Equal("0", h.EngineStats(30000)["badFrames"], "frames that could not be read");
        Equal(2UL, h.Stats().Cut, "lines cut");
        h.Dispose();
        Accounted(h.Stats());
        Equal(7UL, h.Stats().Received, "received");
    }

    // Nothing of a large text is kept but its beginning.
    public static void LargeTextIsNotKept()
    {
        var h = Start(new HeedOptions { SidecarPath = Path.Combine(folder, "none"), Report = s => { } });
        var large = new WeakReference[4];
        var push = new Thread(() =>
        {
            for (int i = 0; i < large.Length; i++)
            {
                var text = new string((char)('a' + i), 32 << 20);
                large[i] = new WeakReference(text);
                h.Log(HeedLevel.Error, text, null);
            }
        });
        push.Start();
        push.Join();
        GC.Collect();
        int kept = 0;
        foreach (WeakReference w in large) if (w.IsAlive) kept++;
        True(kept <= 1, kept + " large texts are kept"); // one may be seen on a stack
        h.Dispose();
        Accounted(h.Stats());
    }

    public static void EightThreads()
    {
        const int threads = 8, each = 20000;
        var h = Start(new HeedOptions { Capacity = 512 });
        var all = new List<Thread>();
        for (int t = 0; t < threads; t++)
        {
            var thread = new Thread(() =>
            {
                for (int i = 0; i < each; i++)
                {
                    h.Log(i % 100 == 0 ? HeedLevel.Warning : HeedLevel.Log, "a line of a thread", null);
                    if (i % 1000 != 0) continue;
                    Accounted(h.Stats());
                    GC.Collect(0);
                }
            });
            thread.Start();
            all.Add(thread);
        }
        while (all.Exists(t => t.IsAlive)) { h.Poll(); Thread.Sleep(1); }
        True(h.Flush(30000), "flushed");
        HeedStats s = h.Stats();
        Accounted(s);
        Equal((ulong)threads * each, s.Pushed, "pushed");
        Equal(s.Pushed, s.Received + s.Dropped, "received and dropped");
        Equal(h.EngineStats(30000)["dropped"], s.Dropped.ToString(), "the engine knows what it missed");
        Equal(h.EngineStats(30000)["lines"], s.Received.ToString(), "lines of the engine");
        h.Dispose();
    }

    // A line leaves nothing for the collector, neither on this thread nor on the client's. The smallest object for each
    // of a million lines would fill the nursery, of 4 MB, four times. The frames that tell how far heed has come leave
    // half of it.
    public static void NoGarbage()
    {
        var h = Start(new HeedOptions());
        for (int i = 0; i < 100000; i++) Push(h, i);
        True(h.Flush(30000), "warm");
        GC.Collect(0); // the nursery is empty: what was there before is not counted
        int before = GC.CollectionCount(0);
        for (int i = 0; i < 1000000; i++) Push(h, i);
        int collections = GC.CollectionCount(0) - before;
        True(collections < 2, collections + " collections");
        h.Dispose();
        Accounted(h.Stats());
    }

    static void Push(Heed h, int i)
    {
        h.Log(HeedLevel.Log, "A message of some hundred letters, as they are in most logs of games, with nothing in it", null);
        if (i % 100 != 0) return;
        h.Alive();
        h.Poll();
        h.Current();
    }

    public static void HandlersThatThrow()
    {
        var reports = new List<string>();
        var h = Start(new HeedOptions { Report = s => { lock (reports) reports.Add(s); throw new Exception("of Report"); } });
        int raised = 0;
        h.Opened += i => { raised++; throw new InvalidOperationException("of the game"); };
        for (int n = 0; n < 3; n++)
        {
            h.Raise(new HeedReport { Key = "k" + n, Disposition = HeedDisposition.Blocking, Summary = "s" + n });
            Wait("raised", () => h.Poll() > 0);
        }
        h.Dispose();
        Equal(3, raised, "raised");
        Equal(1, reports.Count, "reports");
        True(reports[0].Contains("of the game"), reports[0]);
    }

    static string Refusal(HeedOptions o)
    {
        var reports = new List<string>();
        o.Report = s => { lock (reports) reports.Add(s); };
        var h = Start(o);
        Wait("reported", () => { lock (reports) return reports.Count > 0; });
        h.Log(HeedLevel.Error, "a line", null);
        Equal(null, h.Current(), "current");
        Equal(0, h.Poll(), "updates");
        Equal(null, h.EngineStats(h.Stats().State.StartsWith("off") ? 600000 : 1), "an answer");
        h.Dispose();
        Accounted(h.Stats());
        Equal(1UL, h.Stats().Dropped, "dropped");
        lock (reports) return string.Join("|", reports.ToArray());
    }

    // Where heed cannot be started, the client reports why once, and takes lines.
    public static void Degraded()
    {
        string none = Path.Combine(folder, "none"), text = Path.Combine(folder, "text"), script = Path.Combine(folder, "heed-bye.sh");
        True(Refusal(new HeedOptions { SidecarPath = none }).Contains("heed is off: no program heed-sidecar was found at"), "missing");
        File.WriteAllText(text, "this is no program");
        string why = Refusal(new HeedOptions { SidecarPath = text });
        True(why.StartsWith("heed did not start, and is tried again: ") && !why.Contains("|"), why);
        File.WriteAllText(script, "#!/bin/sh\necho refused by policy >&2\nexit 3\n");
        why = Refusal(new HeedOptions { SidecarPath = script });
        True(why.Contains("status 3: refused by policy"), why);
        File.WriteAllText(script, "#!/bin/sh\nexec yes this is no frame\n");
        why = Refusal(new HeedOptions { SidecarPath = script });
        True(why.Contains("its output is no frame of version 2"), why);
        why = Refusal(new HeedOptions { Sha256 = "00 11" });
        True(why.Contains("is not the program that this mod expects"), why);
        string rules = Path.Combine(folder, "bad.yaml");
        File.WriteAllText(rules, "version: 1\nrules: 7\n");
        why = Refusal(new HeedOptions { RuleFiles = new[] { rules } });
        True(why.Contains("bad.yaml"), why);
    }

    // The path has spaces and letters beyond ASCII, and the right to be run was lost in a download.
    public static void PathOfTheGame()
    {
        string to = Path.Combine(Path.Combine(folder, "Spiele \u0438 \u6e38\u620f"), "heed-sidecar");
        Directory.CreateDirectory(Path.GetDirectoryName(to));
        File.WriteAllBytes(to, File.ReadAllBytes(sidecar));
        string hash;
        using (var sha = System.Security.Cryptography.SHA256.Create())
            hash = BitConverter.ToString(sha.ComputeHash(File.ReadAllBytes(to))).Replace("-", "");
        foreach (string path in new[] { to, Path.GetDirectoryName(to) })
        {
            var h = Start(new HeedOptions { SidecarPath = path, Sha256 = "ab " + hash });
            True(h.Flush(30000), "it runs");
            h.Dispose();
        }
    }

    // Threads push until after the client was disposed, often.
    public static void DisposeWhilePushing()
    {
        for (int round = 0; round < 20; round++)
        {
            var h = Start(new HeedOptions { DisposeMilliseconds = 500 });
            bool stop = false;
            var threads = new List<Thread>();
            for (int t = 0; t < 4; t++)
            {
                var thread = new Thread(() => { while (!Volatile.Read(ref stop)) { h.Log(HeedLevel.Log, "a line", null); h.Poll(); } });
                thread.Start();
                threads.Add(thread);
            }
            if (round > 0) True(h.Flush(30000), "it runs");
            var w = Stopwatch.StartNew();
            h.Dispose();
            True(w.ElapsedMilliseconds < 10000, "Dispose took " + w.ElapsedMilliseconds + " ms");
            h.Dispose();
            stop = true;
            foreach (Thread t in threads) t.Join();
            HeedStats s = h.Stats();
            Accounted(s);
            Equal(0UL, s.Queued + s.InFlight, "nothing is left");
            Equal("closed", s.State, "state");
        }
    }

    // What was dropped of an operation that began and ended in the queue is missing from it, and from no other.
    public static void DropsOfAnOperation()
    {
        HeedStats s = null;
        for (int tries = 0; tries < 20 && (s == null || s.DroppedByLevel[(int)HeedLevel.Debug] == 0); tries++)
            using (Heed h = Start(new HeedOptions { Capacity = 16 }))
            {
                h.OperationStarted("a", "");
                h.Log(HeedLevel.Debug, "NullReferenceException: dropped", null, "a"); // while the program starts
                h.OperationEnded("a", HeedStatus.Completed);
                h.OperationStarted("b", "");
                for (int i = 0; i < 20; i++) h.Log(HeedLevel.Log, "a line", null);
                h.OperationEnded("b", HeedStatus.Completed);
                True(h.Flush(30000), "flush");
                s = h.Stats();
                if (s.DroppedByLevel[(int)HeedLevel.Debug] == 0) continue;
                foreach (string id in new[] { "a", "b" }) Equal("missing", h.WaitVerdict(id, 30000).Reason, id);
                h.OperationStarted("c", "");
                h.OperationEnded("c", HeedStatus.Completed);
                Equal("clean", h.WaitVerdict("c", 30000).Outcome, "c");
            }
        Equal(1UL, s.DroppedByLevel[(int)HeedLevel.Debug], "dropped of a");
    }

    // A sidecar that is killed is replaced: items stay, acknowledgements hold, verdicts do not get better, and all lines are
    // accounted for.
    public static void Killed()
    {
        var reports = new List<string>();
        var h = Start(new HeedOptions { Report = r => { lock (reports) reports.Add(r); } });
        h.Phase("menu");
        h.Raise(new HeedReport { Key = "one", Disposition = HeedDisposition.Blocking, Summary = "the first" });
        Wait("first", () => h.Poll() > 0);
        string first = h.Current().Id;
        h.Raise(new HeedReport { Key = "two", Disposition = HeedDisposition.Blocking, Summary = "the second" });
        Wait("second", () => h.Poll() > 0);
        True(h.Ack(first, 0), "acknowledged");
        h.OperationStarted("fault", "farm/build");
        h.Log(HeedLevel.Log, "building", null, "fault");
        ulong snapshots = h.Stats().Snapshots;
        h.Raise(new HeedReport { Key = "two", Disposition = HeedDisposition.Blocking, Summary = "the second, again" });
        Wait("snapshot", () => h.Stats().Snapshots > snapshots);
        h.Log(HeedLevel.Error, "NullReferenceException: nothing there", "  at A.B () [0x00000] in <0>:0", "fault");
        h.OperationEnded("fault", HeedStatus.Completed);
        Equal("blocking", h.WaitVerdict("fault", 30000).Outcome, "verdict before");
        h.OperationStarted("call-1", "farm/build");
        h.Phase("playing");
        h.OperationStarted("short", "farm/look");
        h.OperationEnded("short", HeedStatus.Completed);
        Equal("unknown", h.WaitVerdict("short", 30000).Outcome, "verdict so far, while an item blocks");
        True(h.Flush(30000), "flushed");
        ForSidecar(id => kill(id, 9));
        for (int i = 0; i < 20000; i++) h.Log(HeedLevel.Log, "while it is away", null);
        Wait("restarted", () => h.Stats().Restarts == 1);
        h.OperationEnded("call-1", HeedStatus.Completed);
        Equal("unknown", h.WaitVerdict("call-1", 30000).Outcome, "verdict of what ran meanwhile");
        Equal("blocking", h.Verdict("fault").Outcome, "verdict after");
        True(h.WaitVerdict("short", 30000, true).Final, "a verdict that was not final becomes final");
        Equal("playing", h.EngineStats(30000)["phase"], "phase");
        True(h.Flush(30000), "flushed");
        var summaries = new List<string>();
        foreach (var i in h.OpenItems(30000)) summaries.Add(i.Summary.Substring(0, i.Summary.IndexOf(" (")));
        string open = string.Join(", ", summaries.ToArray());
        True(open.Contains("the second") && open.Contains("part of the log is missing") && !open.Contains("the first"), open);
        HeedStats s = h.Stats();
        Accounted(s);
        Equal(0UL, s.InFlight + s.Queued, "nothing is left");
        h.Dispose();
        Equal(1, reports.Count, "reports");
    }

    // Lines that a sidecar had not ingested when it ended are counted as lost, and the next one knows of them. It gets the
    // ends of operations and the acknowledgements that the other did not.
    public static void InFlight()
    {
        var h = Start(new HeedOptions { Report = r => { } });
        h.OperationStarted("call-1", "farm/build");
        h.Log(HeedLevel.Log, "a line", null);
        h.Raise(new HeedReport { Key = "one", Disposition = HeedDisposition.Blocking, Summary = "the first" });
        Wait("raised", () => h.Poll() > 0);
        string first = h.Current().Id;
        True(h.Flush(30000), "flushed");
        Freeze();
        h.OperationEnded("call-1", HeedStatus.Completed);
        True(h.Ack(first, 0), "acknowledged");
        Equal(null, h.Current(), "after it was acknowledged");
        for (int i = 0; i < 200; i++) h.Log(HeedLevel.Log, "a line", null);
        h.Poll();
        Wait("written", () => h.Stats().Queued == 0);
        ForSidecar(id => kill(id, 9));
        Wait("restarted", () => h.Stats().Restarts == 1);
        for (int i = 0; i < 3; i++) h.Log(HeedLevel.Log, "a line", null);
        HeedVerdict v = h.WaitVerdict("call-1", 30000);
        Equal("Completed unknown", v.Status + " " + v.Outcome, "verdict");
        True(h.Flush(30000), "flushed");
        foreach (HeedItem item in h.OpenItems(30000)) True(item.Id != first, "it was acknowledged");
        HeedStats s = h.Stats();
        Accounted(s);
        Equal("4 received, 200 lost", s.Received + " received, " + s.Lost + " lost", "lines");
        Equal("200", h.EngineStats(30000)["dropped"], "lines that the engine knows to be missing");
        Equal("4", h.EngineStats(30000)["lines"], "lines of the engine");
        h.Dispose();
    }

    // A kill at which no line was lost: what the sidecar knew of an operation is.
    public static void KilledWithoutLoss()
    {
        var h = Start(new HeedOptions { Report = r => { } });
        h.Log(HeedLevel.Error, "NullReferenceException: before", null);
        Wait("snapshot", () => h.Stats().Snapshots > 0);
        h.OperationStarted("call", "farm/build");
        h.Log(HeedLevel.Error, "InvalidCastException: of no operation", null);
        True(h.Flush(30000), "flushed");
        ForSidecar(id => kill(id, 9));
        Wait("restarted", () => h.Stats().Restarts == 1);
        h.OperationEnded("call", HeedStatus.Completed);
        Equal("unknown", h.WaitVerdict("call", 30000).Outcome, "verdict");
        Equal(0UL, h.Stats().Lost, "lost");
        h.Dispose();
    }

    // A program that ends without Dispose, while threads log, ends.
    public static void ExitWhilePushing()
    {
        var h = Start(new HeedOptions());
        True(h.Flush(30000), "it runs");
        for (int t = 0; t < 4; t++)
            new Thread(() => { while (true) { h.Log(HeedLevel.Log, "a line", null); h.Poll(); } }) { IsBackground = true }.Start();
        Thread.Sleep(50);
    }

    // A sidecar that reads nothing holds up nobody: lines are dropped, the lowest first, and Dispose ends it.
    public static void Frozen()
    {
        var h = Start(new HeedOptions { Capacity = 64, DisposeMilliseconds = 300, Report = r => { } });
        True(h.Flush(30000), "it runs");
        Freeze();
        string text = new string('x', 10000);
        Wait("full", () =>
        {
            for (int i = 0; i < 100; i++) h.Log(HeedLevel.Log, text, null);
            return h.Stats().Dropped > 1000;
        });
        ulong errors = h.Stats().DroppedByLevel[(int)HeedLevel.Error];
        for (int i = 0; i < 20; i++) h.Log(HeedLevel.Error, "an error", null);
        Equal(errors, h.Stats().DroppedByLevel[(int)HeedLevel.Error], "errors dropped");
        Equal(null, h.EngineStats(10), "an answer");
        Wait("it is missed", () => h.Away(0) != null);
        Equal("it does not answer", h.Away(0), "why");
        var w = Stopwatch.StartNew();
        h.Dispose();
        True(w.ElapsedMilliseconds < 5000, "Dispose took " + w.ElapsedMilliseconds + " ms");
        HeedStats s = h.Stats();
        Accounted(s);
        Equal(0UL, s.Queued + s.InFlight, "nothing is left");
        ForSidecar(id => { throw new Exception("it still runs"); });
    }

    // A sidecar that hangs is replaced. While the program is missing, what is known outlives the attempts to start it.
    public static void HungAndMissing()
    {
        string program = Path.Combine(folder, "heed-sidecar"), away = Path.Combine(folder, "away");
        File.Copy(sidecar, program);
        var reports = new List<string>();
        var h = Start(new HeedOptions { SidecarPath = folder, Report = r => { lock (reports) reports.Add(r); } });
        h.Raise(new HeedReport { Key = "one", Disposition = HeedDisposition.Blocking, Summary = "the first" });
        Wait("snapshot", () => h.Stats().Snapshots > 0);
        Freeze();
        h.Log(HeedLevel.Log, "a line", null);
        Wait("restarted", () => h.Stats().Restarts == 1);
        File.Move(program, away);
        ForSidecar(id => kill(id, 9));
        Thread.Sleep(6000);
        File.Move(away, program);
        Wait("started again", () => h.Stats().Restarts == 2);
        string open = "";
        foreach (HeedItem i in h.OpenItems(30000)) open += i.Summary;
        True(open.Contains("the first"), open);
        h.Dispose();
        True(reports.Exists(r => r.EndsWith("it does not answer")), "the report");
    }

    [System.Runtime.InteropServices.DllImport("libc")]
    static extern int kill(int id, int signal);

    static void Freeze()
    {
        ForSidecar(id =>
        {
            kill(id, 19); // SIGSTOP
            Wait("frozen", () => File.ReadAllText("/proc/" + id + "/stat").Contains(") T "));
        });
    }

    static void ForSidecar(Action<int> act)
    {
        int me = Process.GetCurrentProcess().Id;
        foreach (string dir in Directory.GetDirectories("/proc"))
        {
            int id;
            if (!int.TryParse(Path.GetFileName(dir), out id)) continue;
            try
            {
                string stat = File.ReadAllText(dir + "/stat");
                if (stat.Substring(stat.LastIndexOf(')')).Split(' ')[2] == me.ToString()) act(id);
            }
            catch (IOException) { } // it has ended
        }
    }
}
