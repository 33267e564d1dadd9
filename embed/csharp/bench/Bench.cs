// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

// What logging costs a game: one way of logging for each run, its figures on standard output, "name value" a line.
//
//     mono Bench.exe WAY SIDECAR|FILE PUSHES SECONDS STORM
//
// WAY is nothing, queue, file, file-flush or sidecar. A run for people is
// `go test ./embed/csharp -run xxx -bench Embedding`.

using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Security;
using System.Text;
using System.Threading;
using HeedLog;

static class Bench
{
    const int Frame = 1000000000 / 60;

    static int Main(string[] arguments)
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture;
        Thread.CurrentThread.CurrentCulture = CultureInfo.InvariantCulture;
        string way = arguments[0], path = arguments[1];
        int pushes = int.Parse(arguments[2]), seconds = int.Parse(arguments[3]), storm = int.Parse(arguments[4]);

        Clock.Calibrate();
        Print("timer ns", Clock.Empty);
        switch (way)
        {
            case "nothing": Costs(new NothingSink(), pushes, seconds); break;
            case "queue": Costs(new QueueSink(), pushes, seconds); break;
            case "file": Costs(new FileSink(path, false), pushes, seconds); break;
            case "file-flush": Costs(new FileSink(path, true), pushes, seconds); break;
            case "sidecar":
                HeedSink.Path = path;
                Start();
                Costs(new HeedSink(), pushes, seconds);
                Opened(200);
                Idle(seconds);
                Storm(storm);
                break;
            default: throw new ArgumentException(way);
        }
        return 0;
    }

    // What a push costs the thread that logs.
    static void Costs(Sink sink, int pushes, int seconds)
    {
        for (int i = 0; i < 20000; i++) Push(sink, i); // compiled, and grown to its size
        sink.Frame();
        Thread.Sleep(100);

        long bytes = Clock.Allocated();
        for (int i = 0; i < pushes; i++) Push(sink, i);
        Print("allocated bytes", Clock.Allocated() - bytes);

        long began = Clock.Now();
        for (int i = 0; i < pushes; i++) Push(sink, i);
        Print("mean ns", (Clock.Now() - began) / (double)pushes);

        var times = new long[pushes];
        for (int i = 0; i < pushes; i++)
        {
            long t = Clock.Now();
            Push(sink, i);
            times[i] = Clock.Now() - t;
        }
        Percentiles("full speed", times, Clock.Empty);
        sink.Quiet();

        times = new long[seconds * 60 * 5];
        Pace(seconds * 60, frame =>
        {
            for (int i = frame * 5; i < frame * 5 + 5; i++)
            {
                long t = Clock.Now();
                Push(sink, i);
                times[i] = Clock.Now() - t;
            }
            sink.Frame();
        });
        Percentiles("paced", times, Clock.Empty);

        times = new long[seconds * 60];
        Pace(times.Length, frame =>
        {
            long t = Clock.Now();
            for (int i = 0; i < 100; i++) Push(sink, frame * 100 + i);
            sink.Frame();
            times[frame] = Clock.Now() - t;
        });
        Percentiles("100 lines and a poll", times, Clock.Empty);
        sink.Dispose();
    }

    static void Push(Sink sink, int i)
    {
        // A fifth of the lines has a stack, one in a hundred is an error.
        string stack = i % 5 == 0 ? Lines.Stacks[i / 5 % Lines.Stacks.Length] : null;
        HeedLevel level = i % 100 == 0 ? HeedLevel.Error : i % 5 == 0 ? HeedLevel.Warning : HeedLevel.Log;
        sink.Log(level, Lines.Messages[i % Lines.Messages.Length], stack);
    }

    // Calls frame at the rate of a game, the first time for nothing.
    static void Pace(int frames, Action<int> frame)
    {
        frame(0); // compiled
        long next = Clock.Now();
        for (int i = 0; i < frames; i++)
        {
            next += Frame;
            long left;
            while ((left = next - Clock.Now()) > 0) Thread.Sleep((int)(left / 1000000) + 1);
            frame(i);
        }
    }

    static void Start()
    {
        var answers = new long[11];
        for (int i = 0; i < answers.Length; i++)
        {
            long t = Clock.Now();
            using (Heed heed = HeedSink.Open())
            {
                if (heed.EngineStats(10000) == null) throw new Exception("no answer: " + heed.Stats().State);
                answers[i] = Clock.Now() - t;
            }
        }
        Print("first answer, cold, ms", answers[0] / 1e6);
        Percentiles("first answer", answers, 0);
    }

    // From Log until the handler of Opened runs, where the game polls each millisecond. Each fault is in a call of its own,
    // and is acknowledged: an agent that takes one step after another.
    static void Opened(int faults)
    {
        using (Heed heed = HeedSink.Open())
        {
            heed.EngineStats(10000);
            HeedItem opened = null;
            heed.Opened += item => opened = item;
            var times = new long[faults];
            int missed = 0;
            for (int i = 0; i < faults; i++)
            {
                opened = null;
                string call = "call-" + i;
                heed.OperationStarted(call, "pawns/list");
                heed.Flush(10000);
                HeedScope scope = heed.Enter(call);
                long t = Clock.Now();
                heed.Log(HeedLevel.Error, Lines.Word(i) + "Exception: the gate of " + Lines.Word(i * 31 + 7) + " is gone",
                    "  at " + Lines.Word(i) + ".Comp" + Lines.Word(i * 17 + 3) + ".Tick ()\n" + Lines.Stacks[0]);
                while (opened == null && Clock.Now() - t < 2000000000)
                {
                    Thread.Sleep(1);
                    heed.Poll();
                }
                times[i] = Clock.Now() - t;
                scope.Dispose();
                heed.OperationEnded(call, HeedStatus.Completed);
                if (opened == null) missed++; else heed.Ack(opened.Id, opened.Latest);
                heed.Flush(10000);
                heed.Poll();
            }
            Percentiles("line to opened", times, 0);
            Print("faults that opened nothing", missed);
        }
    }

    // What the processor does for a game that logs nothing, polls and is alive.
    static void Idle(int seconds)
    {
        Action<int> alone = frame => { };
        Pace(60, alone);
        long host = Processor.Nanoseconds("self");
        Pace(seconds * 60, alone);
        double without = (Processor.Nanoseconds("self") - host) / 1e7 / seconds;

        using (Heed heed = HeedSink.Open())
        {
            heed.EngineStats(10000);
            Action<int> with = frame => { heed.Alive(); heed.Poll(); };
            Pace(60, with);
            string child = Processor.Child();
            host = Processor.Nanoseconds("self");
            long sidecar = Processor.Nanoseconds(child);
            Pace(seconds * 60, with);
            Print("idle game without heed, % of a core", without);
            Print("idle game with heed, % of a core", (Processor.Nanoseconds("self") - host) / 1e7 / seconds);
            Print("idle sidecar, % of a core", (Processor.Nanoseconds(child) - sidecar) / 1e7 / seconds);
        }
    }

    // A storm as fast as it is read, half of it of known lines with numbers that change, half of lines never seen before.
    static void Storm(int lines)
    {
        using (Heed heed = HeedSink.Open())
        {
            heed.EngineStats(10000);
            string child = Processor.Child();
            long began = Clock.Now();
            for (int i = 0; i < lines; i++)
            {
                string message = i % 2 == 0
                    ? Lines.Messages[i / 2 % 64].Substring(0, 100) + " at tick " + i
                    : Lines.Word(i) + " of " + Lines.Word(i * 7919) + " has no " + Lines.Word(i ^ 0x5555);
                heed.Log(i % 4 == 1 ? HeedLevel.Error : HeedLevel.Log, message,
                    i % 5 == 0 ? Lines.Stacks[i / 5 % Lines.Stacks.Length] : null);
                if (i % 1000 != 0) continue;
                heed.Poll();
                while (heed.Stats().Queued > 4000 && Clock.Now() - began < 600000000000) Thread.Sleep(1);
            }
            heed.Flush(60000);
            Print("storm, lines a second", lines / ((Clock.Now() - began) / 1e9));
            Print("sidecar peak MB", Processor.Peak(child) / 1e6);
            // As fast as can be, until lines are dropped.
            for (int i = 0; i < lines; i++) heed.Log(HeedLevel.Log, Lines.Messages[i % 64], null);
            heed.Flush(60000);
            HeedStats stats = heed.Stats();
            Print("sidecar peak MB, with drops", Processor.Peak(child) / 1e6);
            HeedSink.Account("storm", stats);
        }
    }

    internal static void Print(string name, double value)
    {
        Console.WriteLine(name + "\t" + value.ToString("R", CultureInfo.InvariantCulture));
    }

    static void Percentiles(string name, long[] times, long empty)
    {
        Array.Sort(times);
        Print(name + " p50 ns", Math.Max(0, times[times.Length / 2] - empty));
        Print(name + " p99 ns", Math.Max(0, times[(int)(times.Length * 0.99)] - empty));
        Print(name + " p99.9 ns", Math.Max(0, times[(int)(times.Length * 0.999)] - empty));
        Print(name + " max ns", Math.Max(0, times[times.Length - 1] - empty));
    }
}

abstract class Sink : IDisposable
{
    public abstract void Log(HeedLevel level, string message, string stack);
    public virtual void Frame() { }
    public virtual void Quiet() { Thread.Sleep(200); }
    public virtual void Dispose() { }
}

// What the measuring itself costs: after each pause between two frames, caches are cold.
sealed class NothingSink : Sink
{
    public override void Log(HeedLevel level, string message, string stack) { }
}

// The least that another thread can be told: a queue, and a thread that discards.
sealed class QueueSink : Sink
{
    struct Line { public HeedLevel Level; public string Message, Stack; }

    readonly ConcurrentQueue<Line> queue = new ConcurrentQueue<Line>();
    volatile bool ended;

    public QueueSink()
    {
        new Thread(() =>
        {
            Line line;
            while (!ended)
            {
                while (queue.TryDequeue(out line)) { }
                Thread.Sleep(1);
            }
        }) { IsBackground = true }.Start();
    }

    public override void Log(HeedLevel level, string message, string stack)
    {
        queue.Enqueue(new Line { Level = level, Message = message, Stack = stack });
    }

    public override void Dispose() { ended = true; }
}

// What mods do today.
sealed class FileSink : Sink
{
    readonly StreamWriter writer;

    public FileSink(string path, bool flush) { writer = new StreamWriter(path, false) { AutoFlush = flush }; }

    public override void Log(HeedLevel level, string message, string stack)
    {
        writer.WriteLine(message);
        if (stack != null) writer.WriteLine(stack);
    }

    public override void Dispose() { writer.Dispose(); }
}

sealed class HeedSink : Sink
{
    public static string Path;

    readonly Heed heed = Open();

    public HeedSink() { heed.EngineStats(10000); }

    public static Heed Open()
    {
        return Heed.Start(new HeedOptions
        {
            SidecarPath = Path,
            Phase = "play",
            Consumer = "bench",
            Report = text => Console.Error.WriteLine(text),
        });
    }

    public static void Account(string name, HeedStats stats)
    {
        Bench.Print(name + " pushed", stats.Pushed);
        Bench.Print(name + " received", stats.Received);
        Bench.Print(name + " dropped", stats.Dropped);
        Bench.Print(name + " lost", stats.Lost);
    }

    public override void Log(HeedLevel level, string message, string stack) { heed.Log(level, message, stack); }
    public override void Frame() { heed.Poll(); }
    public override void Quiet() { heed.Flush(30000); }

    public override void Dispose()
    {
        heed.Flush(30000);
        Account("full speed", heed.Stats());
        heed.Dispose();
    }
}

static class Lines
{
    public static readonly string[] Messages = new string[1024];
    public static readonly string[] Stacks = new string[16];

    static readonly string[] syllables =
        { "ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "pa", "de", "gi", "ho", "fu", "ya" };

    static Lines()
    {
        for (int i = 0; i < Messages.Length; i++)
            Messages[i] = ("Pawn " + Word(i % 64) + " could not reserve thing " + i + " for job " + Word(i % 32 + 64) +
                ", target " + (i * 7919 % 250) + ", 0, " + (i * 104729 % 250) + " " + new string('.', 120)).Substring(0, 120);
        for (int i = 0; i < Stacks.Length; i++)
        {
            var text = new StringBuilder();
            for (int frame = 0; frame < 8; frame++)
                text.Append("  at Verse.AI.").Append(Word(i * 8 + frame)).Append(".Try").Append(Word(i * 8 + frame + 500))
                    .Append(" (Verse.Pawn pawn, Verse.Thing target) [0x0004a] in <4b8d2c>:0 \n");
            Stacks[i] = text.ToString();
        }
    }

    // A word of letters, another one for each of the first 65,536 numbers.
    public static string Word(int i)
    {
        return string.Concat(syllables[i & 15], syllables[i >> 4 & 15], syllables[i >> 8 & 15], syllables[i >> 12 & 15]);
    }
}

// Nanoseconds, where Stopwatch of Mono counts in hundreds.
static class Clock
{
    [StructLayout(LayoutKind.Sequential)]
    struct Timespec { public long Seconds, Nanoseconds; }

    [DllImport("libc"), SuppressUnmanagedCodeSecurity]
    static extern int clock_gettime(int clock, out Timespec time);

    static readonly Func<long> allocated = (Func<long>)Delegate.CreateDelegate(typeof(Func<long>),
        typeof(GC).GetMethod("GetAllocatedBytesForCurrentThread", BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic));

    public static long Empty;

    public static long Now()
    {
        Timespec time;
        clock_gettime(1, out time);
        return time.Seconds * 1000000000 + time.Nanoseconds;
    }

    public static long Allocated() { return allocated(); }

    public static void Calibrate()
    {
        var times = new long[100000];
        for (int round = 0; round < 2; round++)
            for (int i = 0; i < times.Length; i++)
            {
                long t = Now();
                times[i] = Now() - t;
            }
        Array.Sort(times);
        Empty = times[times.Length / 2];
    }
}

// What the system knows of processes.
static class Processor
{
    // Time on a processor of all threads, those of the past included where only ticks are known.
    public static long Nanoseconds(string process)
    {
        string fields = File.ReadAllText("/proc/" + process + "/stat");
        string[] after = fields.Substring(fields.LastIndexOf(')') + 2).Split(' ');
        return (long.Parse(after[11]) + long.Parse(after[12])) * 10000000;
    }

    public static long Peak(string process)
    {
        foreach (string line in File.ReadAllLines("/proc/" + process + "/status"))
            if (line.StartsWith("VmHWM:")) return long.Parse(line.Substring(6).Replace("kB", "").Trim()) * 1024;
        return 0;
    }

    public static string Child()
    {
        string self = Process.GetCurrentProcess().Id.ToString();
        foreach (string directory in Directory.GetDirectories("/proc"))
        {
            string process = Path.GetFileName(directory);
            if (!char.IsDigit(process[0])) continue;
            try
            {
                string fields = File.ReadAllText(directory + "/stat");
                if (fields.Substring(fields.LastIndexOf(')') + 2).Split(' ')[1] == self) return process;
            }
            catch (IOException) { }
        }
        throw new Exception("the sidecar is not a child of this process");
    }
}
