// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// Host.exe LIBRARY MODE [N]: a host in Mono.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static unsafe class Host
{
    [DllImport("libdl.so.2")] static extern IntPtr dlopen(string path, int flags);
    // By its name, since the library is loaded by then.
    const string Library = "libheed.so";
    [DllImport(Library)] static extern ulong heed_open(void* options, long size);
    [DllImport(Library)] static extern int heed_push8(ulong handle, int level, ulong thread, long time,
        byte* message, long messageLength, byte* stack, long stackLength, byte* operation, long operationLength);
    [DllImport(Library)] static extern int heed_push16(ulong handle, int level, ulong thread, long time,
        char* message, long messageLength, char* stack, long stackLength, char* operation, long operationLength);
    [DllImport(Library)] static extern long heed_poll(ulong handle, byte* buffer, long capacity);
    [DllImport(Library)] static extern int heed_state(ulong handle);
    [DllImport(Library)] static extern int heed_stats(ulong handle, Counts* counts, long size);
    [DllImport(Library)] static extern int heed_close(ulong handle);

    struct Counts
    {
        public ulong Pushed, Queued;
        public fixed ulong Dropped[6];
        public ulong DroppedBytes, Cut, Control, Wakes, RingUsed, OutputUsed;
    }

    [StructLayout(LayoutKind.Sequential)] struct Timespec { public long S, Ns; }
    [DllImport("libc.so.6")] static extern int clock_gettime(int clock, Timespec* t);

    static ulong handle;
    static volatile bool stop;

    static int Push(int level, string message)
    {
        fixed (char* m = message) return heed_push16(handle, level, 1, 0, m, message.Length, null, 0, null, 0);
    }

    static void Check(bool condition, string what)
    {
        if (condition) return;
        Console.Error.WriteLine("not so: " + what);
        Environment.Exit(1);
    }

    static Counts Stats()
    {
        Counts c;
        Check(heed_stats(handle, &c, sizeof(Counts)) == 0, "stats");
        return c;
    }

    static bool Poll()
    {
        byte* buffer = stackalloc byte[1 << 16];
        long n = heed_poll(handle, buffer, 1 << 16);
        Check(n >= 0 || heed_state(handle) == 3, "poll: " + n);
        return n > 0;
    }

    sealed class Node { public Node Left, Right; public int Value; public string Text; }

    static Node Tree(int depth, int value)
    {
        if (depth == 0) return null;
        return new Node { Value = value, Text = value.ToString(), Left = Tree(depth - 1, 2 * value), Right = Tree(depth - 1, 2 * value + 1) };
    }

    static void Verify(Node n, int depth, int value)
    {
        if (depth == 0) return;
        Check(n.Value == value && n.Text == value.ToString(), "a tree is damaged");
        Verify(n.Left, depth - 1, 2 * value);
        Verify(n.Right, depth - 1, 2 * value + 1);
    }

    static Thread[] Start(int n, Action work)
    {
        var threads = new Thread[n];
        for (int i = 0; i < n; i++)
        {
            threads[i] = new Thread(() => work()) { IsBackground = true };
            threads[i].Start();
        }
        return threads;
    }

    // Null references are faults that Mono catches with the signal handler that Go's runtime replaced.
    static void NullReferences(int n)
    {
        var pushers = Start(2, () => { while (!stop) { Push(4, "NullReferenceException: Object reference not set"); Poll(); } });
        int caught = 0;
        var catchers = Start(2, () =>
        {
            Node nothing = null;
            for (int i = 0; i < n / 2; i++)
            {
                try { nothing.Value = i; }
                catch (NullReferenceException) { Interlocked.Increment(ref caught); }
            }
        });
        foreach (var t in catchers) t.Join();
        stop = true;
        foreach (var t in pushers) t.Join();
        Check(caught == n / 2 * 2, caught + " of " + n + " were caught");
        Console.WriteLine(caught + " null references caught, " + Stats().Pushed + " lines pushed");
    }

    // The library faults on a thread of its own: that is its failure, and null references stay exceptions here.
    static void Fault()
    {
        Push(4, "NullReferenceException: fault in the writer");
        for (int i = 0; heed_state(handle) != 3; i++)
        {
            Check(i < 10000, "heed has failed");
            Thread.Sleep(1);
        }
        NullReferences(1000);
    }

    static void Collections(int n)
    {
        int pushed = 0;
        var threads = Start(4, () =>
        {
            var kept = Tree(8, 1);
            for (int i = 0; i < n / 4; i++)
            {
                Push(2, string.Concat("line ", i.ToString(), " of a thread that allocates"));
                Interlocked.Increment(ref pushed);
                if (i % 16 != 0) continue;
                Poll();
                var t = Tree(5, i);
                if (i % 4096 == 0) GC.Collect();
                Verify(t, 5, i);
                Verify(kept, 8, 1);
            }
        });
        foreach (var t in threads) t.Join();
        Counts c = Stats();
        ulong dropped = 0;
        for (int i = 0; i < 6; i++) dropped += c.Dropped[i];
        Check(c.Pushed == (ulong)pushed && c.Pushed == c.Queued + dropped, "all lines are counted");
        Console.WriteLine(pushed + " lines, " + GC.CollectionCount(0) + " minor and " + GC.CollectionCount(1) + " major collections, "
            + dropped + " dropped");
    }

    static double[] times = new double[200000];

    static double Now()
    {
        Timespec t;
        clock_gettime(1, &t);
        return t.S * 1e9 + t.Ns;
    }

    static void Figures(string name, int n)
    {
        Array.Sort(times, 0, n);
        Console.WriteLine("{0,-22} p50 {1,5:0} ns, p99 {2,5:0} ns, p99.9 {3,6:0} ns", name, times[n / 2], times[n / 100 * 99], times[n / 1000 * 999]);
    }

    static void Bench()
    {
        string text = "A line of the game with some words, a name like Pawn_4711 and a number 42, as long as lines of games are, on average..";
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        byte[] buffer = new byte[1 << 16];
        string[] names = { "clock", "push8", "push16", "poll, nothing there" };
        while (!Poll()) Thread.Sleep(1);
        for (int round = 0; round < 2; round++) // the first is for the compiler
        {
            for (int kind = 0; kind < names.Length; kind++)
            {
                int n = round == 0 ? 1000 : times.Length;
                int collections = GC.CollectionCount(0);
                long memory = GC.GetTotalMemory(false);
                fixed (byte* m = utf8, b = buffer)
                {
                    for (int i = 0; i < n; i++)
                    {
                        double t = Now();
                        if (kind == 1) heed_push8(handle, 2, 1, 0, m, utf8.Length, null, 0, null, 0);
                        if (kind == 2) fixed (char* c = text) heed_push16(handle, 2, 1, 0, c, text.Length, null, 0, null, 0);
                        if (kind == 3) heed_poll(handle, b, buffer.Length);
                        times[i] = Now() - t;
                        if (kind > 0 && i % 1000 == 0) Thread.Sleep(1);
                    }
                }
                memory = GC.GetTotalMemory(false) - memory;
                collections = GC.CollectionCount(0) - collections;
                if (round == 0) continue;
                Figures(names[kind], n);
                if (kind > 0) Console.WriteLine("{0,-22} {1} bytes allocated, {2} collections, in {3} calls", "", memory, collections, n);
            }
        }
    }

    static void PushForever()
    {
        for (;;)
        {
            Push(2, "a line of the host");
            Push(4, "NullReferenceException: Object reference not set");
            Poll();
        }
    }

    static int Main(string[] args)
    {
        Check(dlopen(args[0], 2) != IntPtr.Zero, "the library is loaded");
        return Run(args[1], args.Length > 2 ? int.Parse(args[2]) : 0);
    }

    // A method of its own: Mono looks for the functions that a method calls when it compiles it.
    static int Run(string mode, int n)
    {
        handle = heed_open(null, 0);
        Check(handle != 0, "a handle");
        switch (mode)
        {
            case "null": NullReferences(n); break;
            case "collect": Collections(n); break;
            case "fault": Fault(); return 0;
            case "bench": Bench(); break;
            case "exit": Start(4, PushForever); Thread.Sleep(n); Environment.Exit(3); break;
            case "return": Start(4, PushForever); Thread.Sleep(n); return 3;
            default: return 2;
        }
        Check(heed_state(handle) == 1 && heed_close(handle) == 0, "heed runs until it is closed");
        return 0;
    }
}
