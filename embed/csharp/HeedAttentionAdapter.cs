// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace HeedLog
{
    /// <summary>
    /// The one current item that a mod shows to its bridge, as GABP mods have it. An acknowledgement empties the slot.
    /// Publish and Clear are called on a thread of the adapter, one at a time; the task that they return ends
    /// when all is written.
    /// </summary>
    public interface IAttentionSlot
    {
        /// <summary>False if the bridge carries no attention: then nothing is published.</summary>
        bool IsEnabled { get; }

        /// <summary>The id of the item in the slot; null or empty if there is none. Any thread may ask.</summary>
        string CurrentId { get; }

        /// <summary>Puts an item into the slot, or its latest state if its id is there.</summary>
        Task Publish(HeedItem item);

        /// <summary>Empties the slot: the item in it is over.</summary>
        Task Clear();
    }

    /// <summary>
    /// Keeps the slot of a bridge mod equal to heed's current item, passes acknowledgements on to heed, and reports
    /// tool calls. It writes nothing while the bridge writes an answer: libraries of mods write both on one connection,
    /// some without a lock. <see cref="Poll"/> belongs to one thread, the game's; all else may be called on any.
    /// </summary>
    public sealed class HeedAttentionAdapter
    {
        /// <summary>Id of the adapter's own item, which blocks while no sidecar runs.</summary>
        public const string OffId = "heed-off";

        private const int OffMilliseconds = 2000; // without a sidecar, after which OffId opens
        private const int AnswerMilliseconds = 100; // after its call has ended, an answer is written
        private const int StopMilliseconds = 1000; // after a stop, an agent asks for the item and acknowledges it
        private const int JudgeMilliseconds = 1000; // an answer waits for a verdict
        private const int RetryMilliseconds = 1000; // after the slot failed
        private const int WriteMilliseconds = 5000; // an answer waits for an event that is being written
        private const int UpdateMilliseconds = 250; // between two updates of the item in the slot, outside of calls
        private const int IdleMilliseconds = 10000; // after which the thread of the queue ends
        private const int MaxCalls = 1024, MaxEvents = 4096;

        private readonly Heed heed;
        private readonly IAttentionSlot slot;
        private readonly Action<string> report;
        private readonly bool enabled;
        private readonly HashSet<string> reported = new HashSet<string>();
        private int poller; // id of the thread that polls

        // All below is guarded by gate.
        private readonly object gate = new object();
        private readonly HashSet<string> calls = new HashSet<string>(); // that run, and are no part of others
        private readonly Queue<Event> events = new Queue<Event>();
        private bool running, writing; // the queue's thread; an event of it
        private bool queued; // the slot is looked at by an event in the queue
        private string answering; // the call or item whose answer may be being written, until answered; or null
        private int answered, publishedAt, failedAt;
        private int settling; // calls that have ended and wait for their events
        private bool publishing; // the slot may not hold shown yet
        private bool failed;
        private string trouble; // to be reported outside of gate
        private HeedItem shown; // in the slot, as last seen
        private HeedItem off; // of this time without a sidecar
        private bool offAcknowledged;
        private string acknowledged; // in the slot; what is new since then comes as another item

        private sealed class Event
        {
            public Func<Task> Write;
            public TaskCompletionSource<bool> Done; // null for one of the adapter's own
        }

        /// <summary>Report receives each kind of failure once, on any thread; by default the client's does. A slot
        /// that is not enabled is reported and left alone.</summary>
        public HeedAttentionAdapter(Heed heed, IAttentionSlot slot, Action<string> report = null)
        {
            if (heed == null)
                throw new ArgumentNullException("heed");
            if (slot == null)
                throw new ArgumentNullException("slot");
            this.heed = heed;
            this.slot = slot;
            this.report = report;
            answered = unchecked(Environment.TickCount - StopMilliseconds);
            try
            {
                enabled = slot.IsEnabled;
                if (!enabled)
                    Report("off", "heed: the bridge's attention is not enabled, so no fault will stop an agent: " +
                        "build the server with EnableAttentionSupport");
            }
            catch (Exception e)
            {
                Fail(e);
                Tell();
            }
        }

        /// <summary>
        /// A tool call begins. Until the scope is disposed of, what this thread logs belongs to the call; other
        /// threads, and work that runs later, enter by <see cref="Heed.Enter"/> with the same id.
        /// </summary>
        public HeedScope BeginToolCall(string id, string tool, string parent = null)
        {
            Started(id, tool, parent);
            return heed.Enter(id);
        }

        /// <summary>A tool call has ended, with an answer or with an error that its caller receives.</summary>
        public HeedVerdict EndToolCall(string id, bool ok, string error = null)
        {
            return Ended(id, ok ? HeedStatus.Completed : HeedStatus.Failed, error);
        }

        /// <summary>An operation begins. Without a parent, it is a call that will be answered.</summary>
        public void Started(string id, string tool, string parent = null)
        {
            lock (gate)
            {
                Look(UpdateMilliseconds); // its caller may have acknowledged the item since the last time
                heed.OperationStarted(id, tool, parent);
                if (!string.IsNullOrEmpty(parent) || id == null)
                    return;
                if (calls.Count == 0)
                    answering = null; // a caller has read the answers before
                if (calls.Count < MaxCalls)
                    calls.Add(id);
                Monitor.PulseAll(gate);
            }
        }

        /// <summary>
        /// An operation has ended, and will be answered now unless it is a part of another. On a thread other than the
        /// one that polls, it does the work of <see cref="Settle"/> and returns its result.
        /// </summary>
        public HeedVerdict Ended(string id, HeedStatus status, string error = null)
        {
            heed.OperationEnded(id, status, error);
            lock (gate)
            {
                if (id == null || !calls.Remove(id))
                    return null;
                if (Thread.CurrentThread.ManagedThreadId == poller)
                {
                    Answers(id);
                    return null;
                }
            }
            return Settle(id);
        }

        /// <summary>
        /// Call it on the thread that answers a call, right before the answer. It waits, for at most a second,
        /// until heed has judged the call and the bridge has its item; nothing is written after it until the
        /// answer is out. It returns the verdict, null if there is none. It never waits on the thread that polls.
        /// </summary>
        public HeedVerdict Settle(string id)
        {
            if (Thread.CurrentThread.ManagedThreadId == poller)
                return heed.Verdict(id);
            int start = Environment.TickCount;
            HeedVerdict verdict = heed.Away(0) == null ? heed.WaitVerdict(id, JudgeMilliseconds) : heed.Verdict(id);
            lock (gate)
            {
                if (answering == id)
                    answering = null; // it has not begun
                settling++;
                Look(0);
                Monitor.PulseAll(gate);
                while (writing || events.Count > 0)
                {
                    int left = (writing ? WriteMilliseconds : JudgeMilliseconds) - Since(start);
                    if (left <= 0)
                        break;
                    Monitor.Wait(gate, left);
                }
                settling--;
                Answers(id);
            }
            Tell();
            return verdict;
        }

        /// <summary>
        /// Writes an event of the bridge's own, in the order of the calls: not while another is written, and not while
        /// an answer is. A bridge sends all that it writes, except answers, through here. The task ends with the
        /// event's.
        /// </summary>
        public Task Send(Func<Task> write)
        {
            var e = new Event { Write = write, Done = new TaskCompletionSource<bool>() };
            lock (gate)
            {
                if (events.Count < MaxEvents)
                    Add(e);
                else
                    e.Done.SetException(new InvalidOperationException("the bridge does not read its events"));
            }
            return e.Done.Task;
        }

        /// <summary>
        /// Call it in each frame, in the place of <see cref="Heed.Poll"/>, whose result it returns. An exception of the
        /// slot does not leave it; a second later it tries again.
        /// </summary>
        public int Poll()
        {
            var updates = heed.Poll();
            poller = Thread.CurrentThread.ManagedThreadId;
            lock (gate)
                Look(UpdateMilliseconds);
            Tell();
            return updates;
        }

        // Look passes an acknowledgement on, and queues a change of the slot if one is due. gate is held, as in IsDue,
        // Wanted, Add, Answers and Fail.
        private void Look(int updateMilliseconds)
        {
            try
            {
                if (!enabled || failed && Since(failedAt) < RetryMilliseconds)
                    return;
                var held = slot.CurrentId;
                if (shown != null && !publishing && string.IsNullOrEmpty(held))
                    Acknowledge();
                if (queued || !IsDue(held, updateMilliseconds))
                    return;
                queued = true;
                Add(new Event { Write = Synchronize });
            }
            catch (Exception e)
            {
                Fail(e);
            }
        }

        private bool IsDue(string held, int updateMilliseconds)
        {
            var item = Wanted();
            if (shown == null || item == null || held != shown.Id)
                return shown != null || item != null;
            return item.Id != shown.Id || item.Blocks != shown.Blocks || item.Severity != shown.Severity ||
                item.Latest != shown.Latest && Since(publishedAt) >= updateMilliseconds;
        }

        // Wanted returns the item that belongs into the slot, or null.
        private HeedItem Wanted()
        {
            var item = heed.Current();
            if (item != null && item.Id == acknowledged)
                item = null;
            var why = heed.Away(OffMilliseconds);
            if (why == null)
            {
                off = null;
                offAcknowledged = false;
                return item;
            }
            if (offAcknowledged || item != null && item.Blocks)
                return item;
            return off ?? (off = Off("heed does not see the game's log: " + why));
        }

        private static HeedItem Off(string summary)
        {
            var f = new Frame().Plain("{").Member("attentionId", OffId).Member("state", "open");
            f.Member("blocking", true).Member("disposition", "blocking").Member("severity", "error");
            f.Member("summary", summary).Plain("}");
            return HeedItem.Of(new Fields(f.Buffer, 0, f.Count));
        }

        // Synchronize brings the slot up to date, and returns null where there is nothing to write.
        private Task Synchronize()
        {
            HeedItem item;
            lock (gate)
            {
                queued = false;
                var held = slot.CurrentId;
                if (shown != null && string.IsNullOrEmpty(held))
                {
                    Acknowledge();
                    return null;
                }
                if (shown != null && held != shown.Id)
                    shown = null;
                item = Wanted();
                if (item == null && shown == null)
                    return null;
                shown = item;
                publishing = true;
                publishedAt = Environment.TickCount;
            }
            return item == null ? slot.Clear() : slot.Publish(item);
        }

        private void Acknowledge()
        {
            if (shown.Id == OffId)
                offAcknowledged = true;
            else
            {
                heed.Ack(shown.Id, shown.Latest); // up to what was in the slot
                acknowledged = shown.Id;
            }
            Answers(shown.Id); // the bridge answers it now
            shown = null;
        }

        private void Add(Event e)
        {
            events.Enqueue(e);
            Monitor.PulseAll(gate);
            if (running)
                return;
            running = true;
            new Thread(Run) { IsBackground = true, Name = "heed bridge" }.Start();
        }

        private void Answers(string id)
        {
            answering = id ?? "";
            answered = unchecked(Environment.TickCount + AnswerMilliseconds);
        }

        // Held returns for how long the bridge may be writing an answer, at most: to a call, or to an agent that asks
        // for the item that stopped it.
        private int Held()
        {
            int left = answering != null ? unchecked(answered - Environment.TickCount) : 0;
            bool stopped = shown != null && shown.Blocks && calls.Count == 0 && settling == 0;
            int since = Math.Min(Since(publishedAt), Since(unchecked(answered - AnswerMilliseconds)));
            return stopped ? Math.Max(left, StopMilliseconds - since) : left;
        }

        // Run writes the events, one after the other.
        private void Run()
        {
            for (;;)
            {
                Event e;
                lock (gate)
                {
                    for (;;)
                    {
                        int left = Held();
                        if (left <= 0 && events.Count > 0)
                            break;
                        if (left <= 0 && !Monitor.Wait(gate, IdleMilliseconds) && events.Count == 0)
                        {
                            running = false;
                            return;
                        }
                        if (left > 0)
                            Monitor.Wait(gate, left);
                    }
                    answering = null;
                    e = events.Dequeue();
                    writing = true;
                }
                Exception failure = null;
                try
                {
                    var task = e.Write();
                    while (task != null && !task.Wait(WriteMilliseconds))
                        Report("slow", "heed: the bridge does not read its events");
                }
                catch (Exception thrown)
                {
                    var several = thrown as AggregateException;
                    failure = several == null ? thrown : several.GetBaseException();
                }
                lock (gate)
                {
                    writing = false;
                    publishing &= e.Done != null;
                    Monitor.PulseAll(gate);
                    if (e.Done == null && failure != null)
                    {
                        queued = false;
                        shown = null; // nothing was acknowledged
                        Fail(failure);
                    }
                    else if (e.Done == null)
                        failed = false;
                }
                Tell();
                if (e.Done != null && failure != null)
                    e.Done.SetException(failure);
                else if (e.Done != null)
                    e.Done.SetResult(true);
            }
        }

        private void Fail(Exception e)
        {
            failed = true;
            failedAt = Environment.TickCount;
            trouble = "heed: the bridge's attention failed: " + e.Message;
        }

        // Tell reports a failure. gate is not held: the report may wait for the thread that polls.
        private void Tell()
        {
            string text;
            lock (gate)
            {
                text = trouble;
                trouble = null;
            }
            if (text != null)
                Report("slot", text);
        }

        private void Report(string kind, string text)
        {
            lock (reported)
                if (!reported.Add(kind))
                    return;
            try
            {
                if (report != null)
                    report(text);
                else
                    heed.Report(kind, text);
            }
            catch (Exception)
            {
            }
        }

        private static int Since(int start) { return unchecked(Environment.TickCount - start); }
    }
}
