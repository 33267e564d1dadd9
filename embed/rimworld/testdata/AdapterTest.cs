// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using HeedLog;

/// <summary>Tries the adapter without a sidecar: FOLDER has none. With a second argument, which is a sidecar, tries it with
/// that.</summary>
internal static class AdapterTest
{
    private static readonly List<string> Reports = new List<string>();

    private sealed class Slot : IAttentionSlot
    {
        public int Calls;
        public bool Fails;
        public bool IsEnabled { get; set; }
        public string CurrentId { get; set; }

        public Task Publish(HeedItem item)
        {
            Calls++;
            var done = new TaskCompletionSource<bool>();
            if (Fails)
                done.SetException(new InvalidOperationException("no wire"));
            else
            {
                CurrentId = item.Id;
                done.SetResult(item.Blocks);
            }
            return done.Task;
        }

        public Task Clear()
        {
            CurrentId = null;
            return null;
        }
    }

    private static int Main(string[] arguments)
    {
        if (arguments.Length > 1)
        {
            Acknowledged(arguments[1]);
            return 0;
        }
        using (var heed = Heed.Start(new HeedOptions { SidecarPath = arguments[0] }))
        {
            var disabled = new Slot();
            var alone = new HeedAttentionAdapter(heed, disabled, Report);
            Reported("is not enabled");

            var slot = new Slot { IsEnabled = true, Fails = true };
            var adapter = new HeedAttentionAdapter(heed, slot, Report);
            adapter.Poll();
            string why;
            True(heed.Verdict("op-1", out why) == null, "a verdict");
            True(why.StartsWith("heed does not see the game's log: "), "reason: " + why);

            // A publication that fails is reported, is no acknowledgement, and is tried again.
            Until(() => slot.Calls > 1, adapter, alone);
            Reported("no wire");
            slot.Fails = false;
            Until(() => slot.CurrentId == HeedAttentionAdapter.OffId, adapter, alone);
            True(disabled.Calls == 0, "published without a manager that is enabled");

            // A call is answered without a wait for a verdict that cannot come, and what is sent afterwards is written.
            adapter.Started("op-1", "a/tool");
            var verdict = new Task<HeedVerdict>(() => adapter.Ended("op-1", HeedStatus.Completed));
            verdict.Start();
            True(verdict.Result == null, "a verdict");
            var thread = Thread.CurrentThread.ManagedThreadId;
            var sent = adapter.Send(() =>
            {
                thread = Thread.CurrentThread.ManagedThreadId;
                return null;
            });
            True(sent.Wait(10000), "an event waits");
            True(thread != Thread.CurrentThread.ManagedThreadId, "an event is written by who sends it");
            Exception failure = null;
            try { adapter.Send(() => { throw new InvalidOperationException("a relay"); }).Wait(10000); }
            catch (AggregateException e) { failure = e.InnerException; }
            True(failure != null && failure.Message == "a relay", "the task of an event that failed: " + failure);

            // Who acknowledges that heed is off may go on.
            slot.CurrentId = null;
            int before = slot.Calls;
            for (int i = 0; i < 5; i++)
            {
                adapter.Poll();
                adapter.Send(() => null).Wait(10000);
            }
            True(slot.Calls == before, "opened again");
            lock (Reports) True(Reports.Count == 2, string.Join("; ", Reports.ToArray()));
        }
        return 0;
    }

    /// <summary>Who acknowledges and calls at once meets no fault that blocks, whatever waits to be written.</summary>
    private static void Acknowledged(string sidecar)
    {
        using (var heed = Heed.Start(new HeedOptions { SidecarPath = sidecar }))
        {
            var slot = new Slot { IsEnabled = true };
            var adapter = new HeedAttentionAdapter(heed, slot, Report);
            heed.Log(HeedLevel.Error, "FormatException: it was not there", "at Quarry.Run ()\nat Verse.Tick ()");
            Until(() => !string.IsNullOrEmpty(slot.CurrentId), adapter);
            adapter.Send(() => null).Wait(10000); // written after the item
            slot.CurrentId = null;
            adapter.Started("op-1", "a/tool");
            heed.OperationEnded("op-1", HeedStatus.Completed);
            var verdict = heed.WaitVerdict("op-1", 10000);
            True(verdict != null && verdict.Outcome == "clean", verdict == null ? "no verdict" : verdict.Text);
        }
    }

    private static void Report(string text) { lock (Reports) Reports.Add(text); }

    private static void Reported(string text)
    {
        lock (Reports) True(Reports.Exists(r => r.Contains(text)), "nothing reported of: " + text);
    }

    private static void Until(Func<bool> done, params HeedAttentionAdapter[] adapters)
    {
        for (var watch = Stopwatch.StartNew(); !done(); Thread.Sleep(5))
        {
            True(watch.ElapsedMilliseconds < 20000, "it does not come");
            foreach (var adapter in adapters)
                adapter.Poll();
        }
    }

    private static void True(bool ok, string text)
    {
        if (ok)
            return;
        Console.WriteLine("WRONG: " + text);
        Environment.Exit(1);
    }
}
