// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// The client of heed for Unity games and other .NET programs: this one file, C# 7.2, net35 and later, no dependency.
// Heed.Start starts the program heed-sidecar, hands it log lines over a pipe, and keeps what it answers.

#pragma warning disable 1591 // members whose names need no explanation have none

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace HeedLog
{
    /// <summary>The level that the game gives a line. Unity's Assert and Exception are errors.</summary>
    public enum HeedLevel { Unknown, Debug, Log, Warning, Error, Fatal }

    /// <summary>What became of an operation.</summary>
    public enum HeedStatus { Started = 1, Completed, Failed, Cancelled, TimedOut }

    /// <summary>How bad heed finds an item or an entry.</summary>
    public enum HeedSeverity { Info, Warning, Error, Fatal }

    /// <summary>What an item or an entry results in.</summary>
    public enum HeedDisposition { Ignore, Advisory, Blocking }

    /// <summary>Settings of a client, read once by Heed.Start. All have defaults.</summary>
    public sealed partial class HeedOptions
    {
        /// <summary>The program heed-sidecar, or a folder with it, maybe as heed-sidecar-OS-ARCH for several systems
        /// (windows, linux, darwin; amd64, arm64). The default is this assembly's folder, and Sidecar and Native beside
        /// or above it. A program called heed is started as "heed sidecar".</summary>
        public string SidecarPath { get; set; }
        /// <summary>The default rules: "unity", "generic" or "none".</summary>
        public string Rules { get; set; } = "unity";
        /// <summary>The family of the game's log, as rule files name it: "rimworld", "unity" for another game on Unity,
        /// "bepinex", "ksp". Rule files for other families have no effect; with "" those of all decide.</summary>
        public string Family { get; set; } = "rimworld";
        /// <summary>The phase that the game is in, such as "startup".</summary>
        public string Phase { get; set; }
        /// <summary>After how many milliseconds without Alive the game counts as stalled; 0 never.</summary>
        public int StallAfterMilliseconds { get; set; } = 10000;
        /// <summary>Who reads items, such as the name of an agent.</summary>
        public string Consumer { get; set; } = "game";
        /// <summary>Receives why heed is off or was restarted, each reason once, on any thread.</summary>
        public Action<string> Report { get; set; }

        internal int capacity = 8192, maxBytes = 16 << 20, aliveEveryFrames = 60, disposeMilliseconds = 500;
    }

    /// <summary>A message that is part of an item.</summary>
    public sealed partial class HeedSample
    {
        public HeedSeverity Severity { get; internal set; }
        public string Message { get; internal set; }
        /// <summary>How many entries were like this one.</summary>
        public ulong Repeats { get; internal set; }
        /// <summary>Number of the latest such entry.</summary>
        public ulong Latest { get; internal set; }

        internal static HeedSample Of(Fields f)
        {
            var s = new HeedSample
            {
                Severity = (HeedSeverity)f.Named("level", Names.Severities), Message = f.Text("message"),
                Repeats = f.Number("repeatCount"), Latest = f.Number("latestSequence"),
            };
            s.More(f);
            return s;
        }

        partial void More(Fields f); // in HeedMore.cs
    }

    /// <summary>An attention item as it was read; it does not change. Its texts are log text: untrusted.</summary>
    public sealed partial class HeedItem
    {
        public string Id { get; internal set; }
        public bool Open { get; internal set; }
        public HeedSeverity Severity { get; internal set; }
        public HeedDisposition Disposition { get; internal set; }
        /// <summary>Whoever acts on the game should stop until it is acknowledged.</summary>
        public bool Blocks { get; internal set; }
        /// <summary>What was read of the game's state before may no longer hold.</summary>
        public bool StateInvalidated { get; internal set; }
        public string Summary { get; internal set; }
        /// <summary>The operation that caused it, as stated by its lines, or empty.</summary>
        public string CausalOperation { get; internal set; }
        public string CausalMethod { get; internal set; }
        /// <summary>Number of the entry at which it opened.</summary>
        public ulong OpenedAt { get; internal set; }
        /// <summary>Number of its latest entry: through which it is acknowledged by who has seen it.</summary>
        public ulong Latest { get; internal set; }
        /// <summary>Number of the entry before its cause: after which Read finds it.</summary>
        public ulong BeforeCause { get; internal set; }
        public ulong Entries { get; internal set; }
        /// <summary>Mods that the evidence points at.</summary>
        public IList<string> Mods { get; internal set; }
        /// <summary>Why it was cleared, or empty.</summary>
        public string Cleared { get; internal set; }
        public IList<HeedSample> Samples { get; internal set; }
        /// <summary>Why it was opened, updated or cleared last; empty where it came as an answer.</summary>
        public string Reason { get; internal set; } = "";

        internal static HeedItem Of(Fields f)
        {
            var i = new HeedItem
            {
                Id = f.Text("attentionId"), Open = f.Text("state") == "open", Blocks = f.Flag("blocking"),
                Severity = (HeedSeverity)f.Named("severity", Names.Severities),
                Disposition = (HeedDisposition)f.Named("disposition", Names.Dispositions),
                StateInvalidated = f.Flag("stateInvalidated"), Summary = f.Text("summary"), Mods = f.Strings("blame"),
                CausalOperation = f.Text("causalOperationId"), CausalMethod = f.Text("causalMethod"),
                OpenedAt = f.Number("openedAtSequence"), Latest = f.Number("latestSequence"),
                BeforeCause = f.Number("diagnosticsCursor"), Entries = f.Number("totalUrgentEntries"),
                Cleared = f.Text("clearedBy"), Samples = f.List("sample", HeedSample.Of).AsReadOnly(),
            };
            i.More(f);
            return i;
        }

        partial void More(Fields f); // in HeedMore.cs

        internal HeedItem Without(string why)
        {
            var i = (HeedItem)MemberwiseClone();
            i.Open = i.Blocks = false;
            i.Cleared = why;
            return i;
        }
    }

    /// <summary>What is known of an operation; it does not change.</summary>
    public sealed class HeedVerdict
    {
        public string Operation { get; internal set; }
        public string Method { get; internal set; }
        public HeedStatus Status { get; internal set; }
        /// <summary>"unknown", "clean", "advisory" or "blocking".</summary>
        public string Outcome { get; internal set; }
        public string Reason { get; internal set; }
        /// <summary>The same in one sentence, without log text.</summary>
        public string Text { get; internal set; }
        /// <summary>Number of the latest entry that it covers.</summary>
        public ulong Through { get; internal set; }
        /// <summary>Heed has seen the operation, and still keeps it.</summary>
        public bool Known { get; internal set; }
        /// <summary>It is over, and only an entry that names it can still change the verdict.</summary>
        public bool Final { get; internal set; }
        /// <summary>The item that holds the worst that came of it, or empty.</summary>
        public string ItemId { get; internal set; }

        internal int Session;

        internal static HeedVerdict Of(Fields f) => new HeedVerdict
        {
            Operation = f.Text("operation"), Method = f.Text("method"),
            Status = (HeedStatus)f.Named("status", Names.Statuses), Outcome = f.Text("outcome"),
            Reason = f.Text("reason"), Text = f.Text("text"), Through = f.Number("cleanThrough"),
            Known = f.Flag("known"), Final = f.Flag("final"), ItemId = f.Text("attentionId"),
        };
    }

    /// <summary>Lines of a thread belong to an operation until this is disposed, on the same thread.</summary>
    public struct HeedScope : IDisposable
    {
        private readonly string before;
        private readonly bool entered;
        internal HeedScope(string id) { before = Heed.current; entered = true; Heed.current = id; }
        public void Dispose() { if (entered) Heed.current = before; }
    }

    /// <summary>A client of heed: one for each process. All members may be called from any thread, and none throws.
    /// Those without a timeout never wait for heed, a pipe or a file; they are meant for the game's thread.</summary>
    public sealed partial class Heed : IDisposable
    {
        /// <summary>Of a message and of a stack, this many characters are kept.</summary>
        public const int MaxText = 64 * 1024;

        private const int MaxVerdicts = 1024, MaxUpdates = 1024, MaxItems = 4096, MaxKept = 512, MaxReports = 64;
        private const int SnapshotAfter = 256, SnapshotAfterBytes = 512 << 10; // of updates, one is asked for
        private const int WelcomeMilliseconds = 10000, WriteMilliseconds = 30000, SettledMilliseconds = 10000;
        private const int VerdictMilliseconds = 1000; // after which a verdict that did not come is queried
        private const int IdleMilliseconds = 50; // after which the writer looks at the queue, where no Poll wakes it
        private const int ActiveMilliseconds = 1, ActiveRounds = 40; // soon after something was sent: none wakes it
        private const int HangMilliseconds = 3000; // in which lines that were written are reported at the latest
        private const int HangTicks = 40; // of Watch after that: a game that was stopped itself kills no sidecar
        private const string Hangs = "it does not answer";
        private const int Attempts = 5; // to start a program that never sent a welcome

        [ThreadStatic] internal static string current; // operation of this thread
        [ThreadStatic] private static int thread;      // its number, which the runtime finds slowly

        private readonly HeedOptions options;
        private readonly LineQueue queue;
        private readonly AutoResetEvent wake = new AutoResetEvent(false);
        private int waiting; // 1 while the writer waits for wake, 2 while it looks soon anyway
        private Thread writer;
        private Timer watch;
        private volatile bool closing, off; // off: no sidecar will come any more

        // What follows is guarded by table, but for volatile fields. No I/O is done and no handler is called under it.
        private readonly object table = new object();
        private readonly Dictionary<string, ItemState> items = new Dictionary<string, ItemState>();
        private readonly Queue<ItemState> pending = new Queue<ItemState>(); // for Poll
        private volatile int pendingCount;
        private HeedItem delivered; // to the consumer, by this sidecar
        private readonly Dictionary<string, HeedVerdict> verdicts = new Dictionary<string, HeedVerdict>();
        private readonly Queue<string> verdictOrder = new Queue<string>();
        private readonly Dictionary<ulong, Question> questions = new Dictionary<ulong, Question>(); // without an answer
        private readonly HashSet<string> reported = new HashSet<string>();
        private HashSet<string> changed; // items that a sidecar that took over reported, until openQuery is answered
        private ulong lastQuery, openQuery, received, lost, progressLine, updatesDropped, snapshots;
        private string currentId = "", phase, state = "starting";
        private volatile byte[] mods = null, longEvent; // payloads
        private int sessions; // in which a welcome came
        private Link link;
        private bool welcomed, snapshotAsked;
        private readonly Stopwatch clock = Stopwatch.StartNew();
        private long Now => clock.ElapsedMilliseconds;
        private long awayAt, heardAt; // no sidecar ran since; it spoke last, or lines were written after a pause

        // For a sidecar that takes over: the last snapshot, and what came and went since.
        private ArraySegment<byte> snapshot; // empty: none
        private byte[] spare = new byte[0];
        private int updateBytes;
        private readonly List<byte[]> updates = new List<byte[]>();
        private readonly Queue<Kept> kept = new Queue<Kept>(); // operation frames, each with the line before it

        private long aliveTicks;
        private int aliveCalls, aliveSent;

        private sealed class ItemState
        {
            public HeedItem Item;
            public bool Raised, Pending; // Opened was raised; is in pending
            public ulong AckedThrough;   // by this client, which heed may not know yet
            public bool Counts => Item.Open && Item.Latest > AckedThrough;
        }

        private sealed class Question
        {
            public ulong Id;
            public byte[] Payload;
            public Fields Answer;
            public bool Done;
            public string Acked; // the item of an acknowledgement, which is sent again to a sidecar that takes over
        }

        private struct Kept { public ulong Before; public byte[] Payload; public bool Ended; public string Id; }

        /// <summary>Raised by Poll on its thread. An exception of a handler is caught, and reported once.</summary>
        public event Action<HeedItem> Opened, Updated, Cleared;

        private Heed(HeedOptions options)
        {
            this.options = options;
            phase = options.Phase ?? "";
            int capacity = Math.Max(16, Math.Min(options.capacity, 1 << 20));
            queue = new LineQueue(capacity, Math.Max(1 << 20, options.maxBytes));
        }

        /// <summary>Starts a client at once, and the program in the background. Where heed cannot run, the client takes
        /// lines and drops them, and Report has the reason.</summary>
        public static Heed Start(HeedOptions options)
        {
            var h = new Heed(options ?? new HeedOptions());
            try
            {
                h.writer = new Thread(h.Run) { IsBackground = true, Name = "heed writer" };
                h.watch = new Timer(h.Watch, null, IdleMilliseconds, IdleMilliseconds);
                AppDomain.CurrentDomain.ProcessExit += h.OnExit;
                AppDomain.CurrentDomain.DomainUnload += h.OnExit;
                h.writer.Start();
            }
            catch (Exception e) { h.Off("heed could not start: " + e.Message); }
            return h;
        }

        // ---- From the game

        /// <summary>Hands over a line. It costs a short lock and no allocation, unless a text is longer than MaxText,
        /// which is cut. The strings are kept until they are sent. Lines are counted from 1, in the order of the calls.
        /// The time of a line is up to 50 ms old. By default a line belongs to the operation of this thread.</summary>
        public void Log(HeedLevel level, string message, string stack, string operation = null)
        {
            operation = operation ?? current;
            int from = thread != 0 ? thread : thread = Thread.CurrentThread.ManagedThreadId;
            try
            {
                if ((uint)level > (uint)HeedLevel.Fatal) level = HeedLevel.Unknown;
                int messageCut = 0, stackCut = 0;
                if (message != null && message.Length > MaxText) message = Cut(message, out messageCut);
                if (stack != null && stack.Length > MaxText) stack = Cut(stack, out stackCut);
                if (operation != null) operation = Frame.Clip(operation, Frame.MaxName);
                if (queue.Log((byte)level, from, message, stack, operation, messageCut, stackCut)) WakeNow();
            }
            catch (Exception e) { Fault(e); }
        }

        /// <summary>An operation of the game begins, such as a call of a tool, maybe as a part of a parent.</summary>
        public void OperationStarted(string id, string method, string parent = null) =>
            SendOperation(HeedStatus.Started, id, parent, method, null);

        /// <summary>An operation ended. Its verdict follows. A status that does not exist counts as TimedOut.</summary>
        public void OperationEnded(string id, HeedStatus status, string error = null) =>
            SendOperation(status, id, null, null, error);

        private void SendOperation(HeedStatus status, string id, string parent, string method, string error)
        {
            if (status < HeedStatus.Started || status > HeedStatus.TimedOut) status = HeedStatus.TimedOut;
            Frame f = Encode.Operation(new Frame(), queue.Tick(), status, id, parent, method, error);
            Send(Frame.Operation, f.ToArray(), Frame.Key(Frame.Clip(id, Frame.MaxName)), status != HeedStatus.Started);
        }

        /// <summary>Lines that this thread logs belong to the operation, until the scope is disposed.</summary>
        public HeedScope Enter(string id) { return new HeedScope(id); }

        /// <summary>The game is in another phase now, such as "menu" or "play".</summary>
        public void Phase(string name)
        {
            lock (table) phase = Frame.Clip(name, Frame.MaxName);
            SendState("phase", name);
        }

        /// <summary>The game does something that takes long, in which no Alive is expected.</summary>
        public void LongEventBegins(string what) { longEvent = SendState("long_event", what); }

        /// <summary>What took long is over.</summary>
        public void LongEventEnds() { longEvent = null; SendState("long_event_end", ""); }

        /// <summary>The game's loop runs. Call it each frame: it allocates nothing.</summary>
        public void Alive()
        {
            int now = Environment.TickCount;
            bool late = unchecked(now - aliveSent) > Math.Max(1000, options.StallAfterMilliseconds / 4);
            if (aliveCalls++ % Math.Max(1, options.aliveEveryFrames) != 0 && !late) return;
            aliveSent = now;
            Interlocked.Exchange(ref aliveTicks, DateTime.UtcNow.Ticks);
        }

        /// <summary>The game's state was read again, so that what was invalidated holds.</summary>
        public void StateRead() { SendState("state_read", ""); }

        private byte[] SendState(string what, string text)
        {
            byte[] payload = Encode.State(new Frame(), queue.Tick(), what, 0, text).ToArray();
            Send(Frame.State, payload);
            return payload;
        }

        // ---- What heed found

        /// <summary>The item that whoever acts on the game should see first, or null: from the client's own copy, a few
        /// milliseconds old. It counts as delivered to the consumer.</summary>
        public HeedItem Current()
        {
            HeedItem item;
            lock (table)
            {
                item = MostUrgent();
                if (item == null || item.Id == delivered?.Id && item.Latest == delivered.Latest) return item;
                delivered = item;
            }
            Query("delivered", About(item.Id, item.Latest));
            return item;
        }

        private Frame About(string id, ulong through) =>
            new Frame().Member("consumer", options.Consumer).Member("id", id).Member("through", through);

        // MostUrgent is the item that heed named last, unless this client acknowledged it since. table is held.
        private HeedItem MostUrgent()
        {
            if (items.TryGetValue(currentId, out var named) && named.Counts) return named.Item;
            HeedItem worst = null;
            foreach (var s in items.Values)
                if (s.Counts && (worst == null || Urgency(s.Item) > Urgency(worst) ||
                    Urgency(s.Item) == Urgency(worst) && s.Item.OpenedAt < worst.OpenedAt)) worst = s.Item;
            return worst;
        }

        private static int Urgency(HeedItem i) => (i.Blocks ? 64 : 0) + 8 * (int)i.Disposition + (int)i.Severity;

        /// <summary>The latest that is known of an operation, or null: nothing came yet, or no sidecar runs, so that
        /// more may be unseen. The last 1,024 are kept.</summary>
        public HeedVerdict Verdict(string id) => Verdict(id, out string why);

        /// <summary>The same, with its reason, or why it is null.</summary>
        public HeedVerdict Verdict(string id, out string why)
        {
            lock (table)
            {
                string away = Away(0);
                verdicts.TryGetValue(Frame.Key(id), out var v);
                if (away != null && v != null && !v.Final && Weight(v.Outcome) < Weight("advisory")) v = null;
                why = v != null ? v.Reason : away == null ? "heed has no verdict: it has not ended, or heed does not know it" :
                    "heed does not see the game's log: " + away;
                return v;
            }
        }

        /// <summary>Why no sidecar has run for so long, or taken lines for 3 s longer; null if one has.</summary>
        public string Away(int milliseconds)
        {
            lock (table)
            {
                if (!welcomed) return Now - awayAt < milliseconds ? null : state;
                bool hangs = InFlight && Now - heardAt >= milliseconds + HangMilliseconds;
                return hangs ? Hangs : null;
            }
        }

        // InFlight: lines were written that heed has not reported. table is held.
        private bool InFlight => queue.Taken > received + lost && queue.LastTaken != progressLine;

        /// <summary>Waits until the operation has ended and its verdict is known, and returns the latest; null where
        /// nothing came in time. With final, it waits until the verdict is final. For background threads.</summary>
        public HeedVerdict WaitVerdict(string id, int milliseconds, bool final = false)
        {
            WakeNow();
            for (long by = Now + milliseconds; ; )
            {
                HeedVerdict v = null;
                lock (table)
                    if (Await(() => (v = Verdict(id)) != null && v.Status != HeedStatus.Started && (v.Final || !final),
                        Math.Min(by, Now + VerdictMilliseconds)) || Now >= by || closing || off) return v;
                // Where very many operations end at once, heed does not report each change.
                Frame of = new Frame().Member("id", id);
                v = Ask("verdict", of, (int)(by - Now), a => HeedVerdict.Of(a.Object("result")));
                if (v != null && v.Known) lock (table) ReceiveVerdict(v);
            }
        }

        // Await waits until done, the time on clock, or the end of the client, and returns done. table is held.
        private bool Await(Func<bool> done, long by)
        {
            for (; !done(); )
            {
                long left = (closing ? Math.Min(by, closeBy) : by) - Now;
                if (left <= 0 || off) return false;
                Monitor.Wait(table, (int)Math.Min(left, int.MaxValue));
            }
            return true;
        }

        /// <summary>Acknowledges an item up to an entry (0: what was delivered). True if it was open by the client's
        /// own copy; heed learns it in the background, and Current does not return the item until it changes.</summary>
        public bool Ack(string id, ulong through)
        {
            if (id == null) return false;
            Frame f = About(id, through);
            lock (table)
            {
                if (!items.TryGetValue(id, out var s) || !s.Counts) return false;
                s.AckedThrough = through == 0 ? s.Item.Latest : through;
                Pose("ack", f, new Question { Acked = id });
            }
            Wake();
            return true;
        }

        /// <summary>Raises what changed since the last call, on this thread, and returns how many items that were. It
        /// also has the writer send what is queued. Call it each frame: without changes it costs some 10 ns.</summary>
        public int Poll()
        {
            if (!queue.IsEmpty) Wake();
            int n = 0;
            for (int left = pendingCount; left > 0; left--, n++)
            {
                HeedItem item;
                bool raised;
                lock (table)
                {
                    if (pending.Count == 0) break;
                    var s = pending.Dequeue();
                    pendingCount = pending.Count;
                    s.Pending = false;
                    raised = s.Raised;
                    item = s.Item;
                    s.Raised = item.Open;
                    if (!item.Open) items.Remove(item.Id);
                }
                // Between two polls, an item that opened and was cleared is raised as both.
                if (!raised) Invoke(Opened, item);
                else if (item.Open) Invoke(Updated, item);
                if (!item.Open) Invoke(Cleared, item);
            }
            return n;
        }

        private void Invoke(Action<HeedItem> handlers, HeedItem item)
        {
            try { handlers?.Invoke(item); }
            catch (Exception e) { Report("handler", "heed: a handler of an item threw: " + e); }
        }

        // ---- Questions for background threads

        /// <summary>True when all that was handed over before was ingested, false where that took longer.</summary>
        public bool Flush(int milliseconds) => Ask("flush", new Frame(), milliseconds, a => "") != null;

        private T Ask<T>(string kind, Frame fields, int milliseconds, Func<Fields, T> decode) where T : class
        {
            try
            {
                var question = new Question();
                lock (table) Pose(kind, fields, question);
                WakeNow();
                lock (table)
                {
                    Await(() => question.Done || closing, Now + milliseconds);
                    questions.Remove(question.Id);
                }
                return question.Answer == null ? null : decode(question.Answer);
            }
            catch (Exception e) { Fault(e); return null; }
        }

        // Pose queues a question whose answer is waited for, or has effects. table is held.
        private void Pose(string kind, Frame fields, Question q)
        {
            questions[q.Id = ++lastQuery] = q;
            queue.Control(Frame.Query, q.Payload = Encode.Query(q.Id, kind, fields));
        }

        // ---- Ways of the frames out

        private void Query(string kind, Frame fields)
        {
            ulong id;
            lock (table) id = ++lastQuery;
            Send(Frame.Query, Encode.Query(id, kind, fields));
        }

        private void Send(byte type, byte[] payload, string operation = null, bool ends = false)
        {
            try { queue.Control(type, payload, operation, ends); Wake(); }
            catch (Exception e) { Fault(e); }
        }

        // Wake has the writer look at the queue, if it would not soon. A wake costs the calling thread up to 0.1 ms, in
        // which the writer may also take its place: the game's thread is not to pay that in each frame.
        private void Wake() { if (waiting == 1) WakeNow(); }
        private void WakeNow() { if (waiting != 0 && Interlocked.Exchange(ref waiting, 0) != 0) wake.Set(); }

        private static string Cut(string s, out int cut)
        {
            string kept = Frame.Clip(s, MaxText);
            cut = s.Length - kept.Length;
            return kept;
        }

        // ---- The writer: a background thread that starts the sidecar, hands it the queue, and starts it again

        private readonly Frame frames = new Frame(); // frames that were not written yet
        private readonly ulong[] drops = new ulong[LineQueue.Levels];
        private long holeThrough = -1, holeTicks; // place in the queue up to which lines were dropped; since when
        private ulong lostUnreported, takenLine;
        private long closeBy; // on clock
        private volatile int writeBy; // Environment.TickCount by which the write that is under way must end; 0: none is

        private int ended; // sidecars in a row that were started and ended soon

        private void Run()
        {
            int failures = 0;
            bool everWelcome = false;
            try
            {
                while (!closing)
                {
                    long start = Now;
                    bool was = false;
                    string why;
                    try { why = Session(out was); }
                    catch (FileNotFoundException e) { why = e.Message; if (!everWelcome) failures = Attempts; }
                    if (closing) break;
                    everWelcome |= was;
                    failures = was && Now - start > SettledMilliseconds ? ended = 0 : failures + 1;
                    if (!everWelcome && failures >= Attempts) { Off(why); return; }
                    lock (table) state = "to be started again: " + why;
                    Report(why, (everWelcome ? "heed ended" : "heed did not start") + ", and is tried again: " + why);
                    int pause = failures <= 1 ? 100 : Math.Min(60, 1 << Math.Min(6, failures - 2)) * 1000;
                    lock (table) Await(() => closing, Now + pause);
                }
            }
            catch (Exception e) { Off("its writer failed: " + e); }
            finally { queue.Close(); }
        }

        // Session starts a sidecar and feeds it until it ends, and returns why it ended. was: a welcome came.
        private string Session(out bool was)
        {
            was = false;
            string why = Link.Open(options, out var l);
            if (why != null) return why;
            lock (table) link = l;
            var reader = new Thread(() => ReadFrames(l)) { IsBackground = true, Name = "heed reader" };
            try
            {
                reader.Start();
                WriteHello(l, ended++ >= 3); // the snapshot itself may be what ends it
                lock (table) was = Await(() => welcomed || l.Dead, Now + WelcomeMilliseconds) && welcomed;
                if (was) Feed(l);
                else if (!l.Dead) l.Kill("it did not answer within " + WelcomeMilliseconds / 1000 + " s");
            }
            catch (Exception e) when (e is IOException || e is ObjectDisposedException) { } // it ended: l knows why
            int grace = closing ? (int)Math.Max(0, closeBy - Now) : 1000; // it may have written why it ends
            if (!reader.Join(grace)) l.Kill(null);
            if (!reader.Join(2000)) Report("reader", "heed: the output of a sidecar did not end");
            l.Close();
            EndSession();
            return l.Why;
        }

        private void Feed(Link l)
        {
            if (sessions++ > 0) AddAfterRestart();
            lock (table) state = "running";
            for (int quiet = 0; !l.Dead && !(closing && (queue.IsEmpty || Now >= closeBy)); )
            {
                FillFrames();
                if (frames.Count > 0) { WriteFrames(l); quiet = 0; continue; }
                bool active = quiet++ < ActiveRounds;
                Interlocked.Exchange(ref waiting, active ? 2 : 1);
                if (queue.IsEmpty && !closing) wake.WaitOne(active ? ActiveMilliseconds : IdleMilliseconds, false);
                Interlocked.Exchange(ref waiting, 0);
            }
            if (l.Dead) return;
            // It ingests what was written, as far as time allows, and ends.
            var flush = new Question();
            lock (table) questions[AddQuery("flush")] = flush;
            WriteFrames(l);
            lock (table) Await(() => flush.Done || l.Dead, closeBy);
            l.CloseInput();
        }

        private void WriteFrames(Link l) { Write(l, frames.Buffer, 0, frames.Count); frames.Clear(); }

        private void Write(Link l, byte[] buffer, int offset, int count)
        {
            writeBy = unchecked(Environment.TickCount + WriteMilliseconds) | 1;
            try { l.Write(buffer, offset, count); }
            finally { writeBy = 0; }
        }

        private int silent; // ticks of Watch

        // Watch keeps the time of lines, and ends a sidecar that reads or answers nothing for long.
        private void Watch(object ignored)
        {
            queue.Tick();
            silent = Away(0) == Hangs ? silent + 1 : 0;
            if (silent > HangTicks) link?.Kill(Hangs);
            int by = writeBy;
            if (by != 0 && unchecked(Environment.TickCount - by) > 0) link?.Kill("it reads nothing");
        }

        // EndSession counts what was written and not ingested as lost, and wakes whoever waits for an answer.
        private void EndSession()
        {
            lock (table)
            {
                link = null;
                if (welcomed) awayAt = Now;
                welcomed = false;
                delivered = null;
                ulong taken = queue.Taken;
                lostUnreported += taken - received - lost;
                lost = taken - received;
                foreach (var q in questions.Values) q.Done = true;
                Monitor.PulseAll(table);
            }
        }

        private void WriteHello(Link l, bool withoutSnapshot)
        {
            var rules = new List<KeyValuePair<string, string>>();
            ReadRules(rules);
            frames.Clear();
            frames.Begin(Frame.Hello);
            ArraySegment<byte> last;
            lock (table)
            {
                if (withoutSnapshot) Forget();
                Encode.Hello(frames, "Heed.cs 2", (ulong)Process.GetCurrentProcess().Id, options.Rules, options.Family,
                    rules, phase, received, updates);
                snapshotAsked = false;
                last = snapshot;
            }
            frames.End(last.Count);
            WriteFrames(l);
            if (last.Count > 0) Write(l, last.Array, last.Offset, last.Count);
        }

        partial void ReadRules(List<KeyValuePair<string, string>> read); // in HeedMore.cs

        // Forget forgets what a sidecar is restored from. table is held.
        private void Forget() { snapshot = new ArraySegment<byte>(); updates.Clear(); updateBytes = 0; }

        // AddAfterRestart adds what the sidecar that ended may have known and its snapshot does not.
        private void AddAfterRestart()
        {
            lock (table)
            {
                long now = DateTime.UtcNow.Ticks;
                if (mods != null) frames.Add(Frame.Mods, mods);
                if (phase != "") Encode.State(frames.Begin(Frame.State), now, "phase", 0, phase).End();
                if (longEvent != null) frames.Add(Frame.State, longEvent);
                AddOperations(false);
                // Also where no line was lost: what came of an operation since the snapshot is.
                Encode.Dropped(frames.Begin(Frame.Dropped), now, "ended", new ulong[LineQueue.Levels], lostUnreported, 0).End();
                lostUnreported = 0;
                AddOperations(true); // after the gap, which is part of their time
                foreach (var q in questions.Values) if (q.Acked != null) frames.Add(Frame.Query, q.Payload);
                changed = new HashSet<string>();
                openQuery = AddQuery("open");
            }
        }

        private ulong AddQuery(string kind)
        {
            frames.Add(Frame.Query, Encode.Query(++lastQuery, kind, new Frame()));
            return lastQuery;
        }

        // AddOperations adds operations since the snapshot, except whole ones with a verdict. table is held.
        private void AddOperations(bool ended)
        {
            var begun = new HashSet<string>();
            foreach (Kept k in kept) if (!k.Ended) begun.Add(k.Id);
            foreach (Kept k in kept)
            {
                bool over = verdicts.TryGetValue(k.Id, out var v) && v.Final;
                if (k.Ended == ended && !(over && begun.Contains(k.Id))) frames.Add(Frame.Operation, k.Payload);
            }
        }

        // FillFrames puts a batch of the queue into frames. That lines were dropped comes before each operation's end
        // that is among them or next: they may have been part of it. From the second time on, it comes without numbers.
        private void FillFrames()
        {
            long alive = Interlocked.Exchange(ref aliveTicks, 0);
            lock (table) if (!InFlight) heardAt = Now;
            LineQueue.Batch batch = queue.Take(drops);
            if (batch.Drops) { holeThrough = batch.DropsThrough; holeTicks = batch.DropTicks; }
            for (int i = batch.Head; i >= 0; i = queue.Slots[i].Next)
            {
                bool past = queue.Slots[i].Order > holeThrough;
                if (holeThrough >= 0 && (past || queue.Slots[i].Ends)) AddHole(ref batch);
                if (past) holeThrough = -1;
                Add(ref queue.Slots[i]);
            }
            if (batch.Drops) AddHole(ref batch);
            queue.Release(batch);
            int due = Math.Max(0, options.StallAfterMilliseconds);
            if (alive != 0) Encode.State(frames.Begin(Frame.State), alive, "alive", due, "").End();
            lock (table)
            {
                if (snapshotAsked || updates.Count < SnapshotAfter && updateBytes < SnapshotAfterBytes) return;
                snapshotAsked = true;
                AddQuery("snapshot");
            }
        }

        private void AddHole(ref LineQueue.Batch batch)
        {
            Encode.Dropped(frames.Begin(Frame.Dropped), holeTicks, "full", drops, 0, batch.DropBytes).End();
            Array.Clear(drops, 0, drops.Length);
            batch.DropBytes = 0;
            batch.Drops = false;
        }

        private void Add(ref LineQueue.Slot s)
        {
            if (s.Payload == null)
            {
                takenLine = s.Line;
                Encode.Line(frames.Begin(Frame.Log), ref s).End();
                return;
            }
            frames.Add(s.Type, s.Payload);
            if (s.Type != Frame.Operation) return;
            lock (table)
            {
                kept.Enqueue(new Kept { Before = takenLine, Payload = s.Payload, Ended = s.Ends, Id = s.Operation });
                if (kept.Count > MaxKept) kept.Dequeue();
            }
        }

        // ---- The reader: a background thread of each sidecar. From ReceiveWelcome on, table is held

        private void ReadFrames(Link l)
        {
            try
            {
                var head = new byte[Frame.HeadBytes];
                var body = new byte[4096];
                while (l.ReadAll(ref head, head.Length))
                {
                    if (!Frame.ReadHead(head, out int length, out int type))
                    {
                        l.Kill("its output is no frame of version " + Frame.Version + ": it begins with "
                            + BitConverter.ToString(head));
                        return;
                    }
                    bool keeps = type == Frame.Snapshot;
                    if (!(keeps ? l.ReadAll(ref spare, length) : l.ReadAll(ref body, length))) return;
                    try { Receive(l, type, keeps ? spare : body, length); }
                    catch (FormatException) { Report("frame " + type, "heed: frame " + type + " could not be read"); }
                }
            }
            catch (Exception e) when (e is IOException || e is ObjectDisposedException) { } // it ended
            catch (Exception e) { l.Kill("its output could not be read: " + e.Message); }
            finally { l.Dead = true; lock (table) Monitor.PulseAll(table); WakeNow(); }
        }

        private void Receive(Link l, int type, byte[] body, int length)
        {
            if (type < Frame.Welcome || type > Frame.Error) return;
            int end = Array.IndexOf(body, (byte)'\n', 0, length); // of the JSON
            if (end < 0) throw new FormatException("no end of an object");
            var f = new Fields(body, 0, end);
            string trouble = "";
            lock (table)
            {
                heardAt = Now;
                switch (type)
                {
                    case Frame.Welcome: trouble = f.Text("reason"); ReceiveWelcome(f.Flag("restored")); break;
                    case Frame.Update: ReceiveUpdate(f, body, end); break;
                    case Frame.Verdict: ReceiveVerdict(HeedVerdict.Of(f)); break;
                    case Frame.Answer: trouble = f.Text("error"); ReceiveAnswer(f, trouble == ""); break;
                    case Frame.Progress: Ingested(f.Number("latest"), f.Number("lines")); break;
                    case Frame.Snapshot: ReceiveSnapshot(f, end + 1, length - end - 1); break;
                    case Frame.Error: trouble = f.Text("text"); break;
                }
                Monitor.PulseAll(table);
            }
            if (type == Frame.Error && f.Flag("fatal")) l.Kill(trouble);
            else if (trouble != "") Report(trouble, "heed: " + trouble);
        }

        private void ReceiveWelcome(bool restored)
        {
            welcomed = true;
            if (restored) return;
            Forget();
            currentId = "";
            CloseAll(new HashSet<string>(), "heed was restarted");
        }

        private void CloseAll(HashSet<string> but, string why)
        {
            foreach (var s in new List<ItemState>(items.Values))
                if (s.Item.Open && !but.Contains(s.Item.Id)) Put(s.Item.Without(why));
        }

        private void ReceiveUpdate(Fields f, byte[] body, int length)
        {
            var raw = new byte[length];
            Buffer.BlockCopy(body, 0, raw, 0, length);
            HeedItem item = HeedItem.Of(f.Object("attention")); // what happened is seen by what the client had
            item.Reason = f.Text("reason");
            updates.Add(raw);
            updateBytes += raw.Length;
            for (; updates.Count > MaxUpdates || updateBytes > 4 * SnapshotAfterBytes; updates.RemoveAt(0))
                updateBytes -= updates[0].Length;
            currentId = f.Text("current");
            if (changed != null) changed.Add(item.Id);
            Put(item);
        }

        // Put takes an item as it is now, and has Poll raise it.
        private void Put(HeedItem item)
        {
            if (!items.TryGetValue(item.Id, out var s))
            {
                if (items.Count >= MaxItems) { updatesDropped++; return; }
                items[item.Id] = s = new ItemState();
            }
            s.Item = item;
            if (s.Pending) return;
            s.Pending = true;
            pending.Enqueue(s);
            if (pending.Count > MaxUpdates) // nobody polls
            {
                s = pending.Dequeue();
                s.Pending = false;
                if (!s.Item.Open) items.Remove(s.Item.Id);
                updatesDropped++;
            }
            pendingCount = pending.Count;
        }

        private void ReceiveVerdict(HeedVerdict v)
        {
            v.Session = sessions;
            if (!verdicts.TryGetValue(v.Operation, out var old))
            {
                verdictOrder.Enqueue(v.Operation);
                if (verdictOrder.Count > MaxVerdicts) verdicts.Remove(verdictOrder.Dequeue());
            }
            // A sidecar that took over has not seen all that the one before it saw.
            else if (old.Session < sessions && Weight(v.Outcome) < Weight(old.Outcome)) return;
            verdicts[v.Operation] = v;
        }

        private static int Weight(string outcome) =>
            Array.IndexOf(new[] { "clean", "unknown", "advisory", "blocking" }, outcome);

        private void ReceiveAnswer(Fields f, bool ok)
        {
            ulong id = f.Number("number");
            if (id == openQuery && ok && changed != null) Compare(f.List("result", HeedItem.Of));
            if (!questions.TryGetValue(id, out var q)) return;
            q.Answer = ok ? f : null;
            q.Done = true;
            if (q.Acked == null) return;
            questions.Remove(id);
            bool acknowledged = ok && f.Object("result").Flag("acknowledged");
            if (!acknowledged && items.TryGetValue(q.Acked, out var s)) s.AckedThrough = 0;
        }

        // Compare corrects items by those open in a sidecar that took over. Of those in changed, updates may be newer.
        private void Compare(List<HeedItem> open)
        {
            if (changed.Count == 0) currentId = open.Count > 0 ? open[0].Id : "";
            foreach (var item in open)
            {
                bool same = items.TryGetValue(item.Id, out var s) && s.Item.Open && s.Item.Latest == item.Latest;
                if (changed.Add(item.Id) && !same) Put(item);
            }
            CloseAll(changed, "over when heed was restarted");
            changed = null;
        }

        // Ingested keeps how far heed has come.
        private void Ingested(ulong line, ulong lines)
        {
            progressLine = line;
            if (lines > received && lines + lost <= queue.Taken) received = lines;
        }

        private void ReceiveSnapshot(Fields f, int offset, int length)
        {
            ulong line = f.Number("latest");
            Ingested(Math.Max(line, progressLine), f.Number("lines"));
            byte[] old = snapshot.Array ?? new byte[0];
            Forget();
            snapshot = new ArraySegment<byte>(spare, offset, length);
            spare = old;
            snapshots++;
            snapshotAsked = false;
            while (kept.Count > 0 && kept.Peek().Before < line) kept.Dequeue();
        }

        private void Off(string why)
        {
            lock (table) { state = "off: " + why; off = true; Monitor.PulseAll(table); }
            queue.Close();
            Report(why, "heed is off: " + why);
        }

        private void OnExit(object sender, EventArgs e) { Dispose(); }
        private void Fault(Exception e) { Report("fault", "heed: a fault of the client: " + e); }

        // Report hands each reason over once, and few of them.
        internal void Report(string key, string text)
        {
            try
            {
                lock (table) if (reported.Count >= MaxReports || !reported.Add(key)) return;
                options.Report?.Invoke(text);
            }
            catch (Exception) { } // of the handler
        }

        /// <summary>Ends the client: what is queued is sent and read for at most DisposeMilliseconds, then the sidecar
        /// ends. Lines that come later count as dropped. It may be called often, from any thread.</summary>
        public void Dispose()
        {
            try
            {
                int bound = Math.Max(0, options.disposeMilliseconds);
                lock (table)
                {
                    if (closing) return;
                    closeBy = Now + bound;
                    closing = true;
                    Monitor.PulseAll(table);
                }
                queue.Close(false);
                AppDomain.CurrentDomain.ProcessExit -= OnExit;
                AppDomain.CurrentDomain.DomainUnload -= OnExit;
                watch?.Dispose();
                wake.Set();
                if (writer == null || writer == Thread.CurrentThread || writer.Join(bound)) return;
                link?.Kill("it did not end in time");
                writer.Join(500);
            }
            catch (Exception e) { Fault(e); }
            finally { queue.Close(); lock (table) state = "closed"; }
        }
    }

    /// <summary>What waits to be sent: lines in three classes of importance, and control frames, the highest.</summary>
    internal sealed partial class LineQueue
    {
        internal const int Levels = 6;
        private const int Classes = 4, ControlClass = 3;
        private const int BatchLines = 256, BatchBytes = 512 << 10, WakeAt = 256;

        internal struct Slot
        {
            public string Message, Stack, Operation;
            public byte[] Payload; // of a control frame; null for a line
            public long Order, Ticks;
            public ulong Line;
            public int Next, Thread, MessageCut, StackCut;
            public byte Level, Type;
            public bool Ends; // the operation

            internal long Bytes =>
                Payload != null ? Payload.Length : 2L * (Length(Message) + Length(Stack) + Length(Operation));
        }

        /// <summary>A part of the queue that the writer holds, as a chain of slots that ends with -1.</summary>
        internal struct Batch
        {
            public int Head, Tail, Slots;
            public long Bytes;
            public bool Drops; // lines were dropped since the last batch
            public ulong DropBytes;
            public long DropsThrough, DropTicks; // the latest place of a dropped line; the time of the first
        }

        internal readonly Slot[] Slots;
        private int gate; // 1 while a thread has the lock
        private long time = DateTime.UtcNow.Ticks; // of lines: some 50 ms old at most
        private readonly long maxBytes;
        private readonly int[] heads = new int[Classes], tails = new int[Classes];
        private readonly ulong[] dropped = new ulong[Levels], fresh = new ulong[Levels]; // in all; since the last batch
        private Batch next; // its drops
        private ulong lines, linesWaiting, taken, cut, controlDropped;
        internal ulong LastTaken; // number of the latest line that the writer took
        private int free;
        private volatile int count;
        private long order, held;
        private volatile bool closed;
        private readonly int[] late = new int[Levels]; // lines after closed, which take no lock

        internal LineQueue(int capacity, long maxBytes)
        {
            this.maxBytes = maxBytes;
            Slots = new Slot[capacity];
            for (int i = 0; i < capacity; i++) Slots[i].Next = i + 1 < capacity ? i + 1 : -1;
            for (int c = 0; c < Classes; c++) heads[c] = tails[c] = -1;
            next.Head = next.Tail = -1;
        }

        internal bool IsEmpty => count == 0 && !next.Drops;
        /// <summary>Lines that the writer took, whatever became of them.</summary>
        internal ulong Taken { get { Enter(); ulong n = taken; Exit(); return n; } }

        /// <summary>Adds a line. True where so many wait that the writer should be woken.</summary>
        internal bool Log(
            byte level, int thread, string message, string stack, string operation, int messageCut, int stackCut)
        {
            // Mono may hang at its exit where other threads fight for a lock.
            if (closed) { Interlocked.Increment(ref late[level]); return false; }
            Enter();
            try
            {
                lines++;
                if ((messageCut | stackCut) != 0) cut++;
                long bytes = 2L * (Length(message) + Length(stack) + Length(operation));
                int i = Append(ClassOf(level), bytes);
                if (i < 0) { Drop(level, bytes, order++, time); return false; }
                ref Slot s = ref Slots[i]; // field by field: a copy of all costs the game's thread 0.1 µs
                s.Message = message;
                s.Stack = stack;
                s.Operation = operation;
                s.Ticks = time;
                s.Line = lines;
                s.Thread = thread;
                s.MessageCut = messageCut;
                s.StackCut = stackCut;
                s.Level = level;
                linesWaiting++;
                return count >= WakeAt;
            }
            finally { Exit(); }
        }

        /// <summary>Adds a frame other than a line. Of an operation, it has the id.</summary>
        internal void Control(byte type, byte[] payload, string operation = null, bool ends = false)
        {
            Enter();
            int i = Append(ControlClass, payload.Length);
            if (i < 0) controlDropped++;
            else
            {
                ref Slot s = ref Slots[i];
                s.Payload = payload;
                s.Operation = operation;
                s.Type = type;
                s.Ends = ends;
            }
            Exit();
        }

        // Enter takes the lock, which is held for microseconds: to try for that long is cheaper than to sleep. A thread that
        // logs once a frame has no code in its caches: Monitor and the system's clock took it 8 µs of 12.
        private void Enter()
        {
            for (int i = 0; Interlocked.CompareExchange(ref gate, 1, 0) != 0; i++)
                if (i < 50) Thread.SpinWait(20); else Thread.Sleep(i < 60 ? 0 : 1);
        }

        private void Exit() { Interlocked.Exchange(ref gate, 0); }

        /// <summary>Reads the clock, and sets the time of the next lines.</summary>
        internal long Tick() { long now = DateTime.UtcNow.Ticks; Enter(); time = now; Exit(); return now; }

        // Append returns a slot for an entry of class c, for which the oldest of the lowest class goes; or -1.
        private int Append(int c, long bytes)
        {
            while (!closed && (free < 0 || held + bytes > maxBytes))
            {
                int lowest = 0;
                while (lowest <= c && heads[lowest] < 0) lowest++;
                if (lowest > c) return -1;
                DropOldest(lowest);
            }
            if (closed) return -1;
            int i = free;
            free = Slots[i].Next;
            Slots[i].Order = order++;
            Slots[i].Next = -1;
            if (heads[c] < 0) heads[c] = i;
            else Slots[tails[c]].Next = i;
            tails[c] = i;
            held += bytes;
            count++;
            return i;
        }

        private void DropOldest(int c)
        {
            int i = heads[c];
            heads[c] = Slots[i].Next;
            count--;
            held -= Slots[i].Bytes;
            if (c == ControlClass) controlDropped++;
            else { linesWaiting--; Drop(Slots[i].Level, Slots[i].Bytes, Slots[i].Order, Slots[i].Ticks); }
            Slots[i] = new Slot { Next = free };
            free = i;
        }

        private void Drop(byte level, long bytes, long place, long ticks)
        {
            dropped[level]++;
            if (closed) return;
            next.DropTicks = next.Drops ? Math.Min(next.DropTicks, ticks) : ticks;
            next.DropsThrough = Math.Max(next.DropsThrough, place);
            next.DropBytes += (ulong)bytes;
            next.Drops = true;
            fresh[level]++;
        }

        /// <summary>Takes the oldest entries for the writer, and counts into drops what was dropped before.</summary>
        internal Batch Take(ulong[] drops)
        {
            long now = DateTime.UtcNow.Ticks;
            Enter();
            time = now;
            Batch b = next;
            next = new Batch { Head = -1, Tail = -1, DropsThrough = b.DropsThrough };
            Array.Copy(fresh, drops, Levels);
            Array.Clear(fresh, 0, Levels);
            for (int c; b.Slots < BatchLines && b.Bytes < BatchBytes && (c = Oldest()) >= 0; b.Slots++)
            {
                int i = heads[c];
                heads[c] = Slots[i].Next;
                if (b.Head < 0) b.Head = i;
                else Slots[b.Tail].Next = i;
                b.Tail = i;
                b.Bytes += Slots[i].Bytes;
                if (c == ControlClass) continue;
                taken++;
                linesWaiting--;
                LastTaken = Slots[i].Line;
            }
            if (b.Tail >= 0) Slots[b.Tail].Next = -1;
            count -= b.Slots;
            Exit();
            return b;
        }

        private int Oldest()
        {
            int oldest = -1;
            for (int c = 0; c < Classes; c++)
                if (heads[c] >= 0 && (oldest < 0 || Slots[heads[c]].Order < Slots[heads[oldest]].Order)) oldest = c;
            return oldest;
        }

        /// <summary>Gives the slots of a batch back.</summary>
        internal void Release(Batch b)
        {
            if (b.Head < 0) return;
            for (int i = b.Head; i >= 0; i = Slots[i].Next) Slots[i] = new Slot { Next = Slots[i].Next };
            Enter();
            Slots[b.Tail].Next = free;
            free = b.Head;
            held -= b.Bytes;
            Exit();
        }

        /// <summary>Counts what comes later as dropped, unreported to heed; with drop, also what waits.</summary>
        internal void Close(bool drop = true)
        {
            Enter();
            closed = true;
            for (int c = 0; drop && c < Classes; c++) while (heads[c] >= 0) DropOldest(c);
            next.Drops &= !drop;
            Exit();
        }

        private static int ClassOf(byte level) =>
            level >= (byte)HeedLevel.Error ? 2 : level == (byte)HeedLevel.Warning ? 1 : 0;
        private static int Length(string s) => s == null ? 0 : s.Length;
    }

    /// <summary>Bytes of frames, as docs/embedding-unity.md has them; without Begin and End, of a payload.</summary>
    internal sealed class Frame
    {
        internal const byte Hello = 1, Log = 2, Operation = 3, State = 4, Dropped = 5, Mods = 6, Raise = 7, Query = 8;
        internal const byte Welcome = 65, Update = 66, Verdict = 67, Answer = 68, Progress = 69, Snapshot = 70;
        internal const byte Error = 71;
        private const int MaxId = 256; // bytes of an operation's id in a verdict
        internal const int HeadBytes = 8, Version = 2, MaxName = 1024, MaxPayload = 1 << 20, MaxSnapshot = 64 << 20;
        private const long Epoch = 621355968000000000; // ticks of 1970

        private static readonly Encoding utf8 = new UTF8Encoding(false, false);
        private static readonly Encoding utf16 = new UnicodeEncoding(false, false, false);

        internal byte[] Buffer = new byte[256];
        internal int Count;
        private int begin;

        internal void Clear() { Count = 0; }
        internal byte[] ToArray() { var b = Buffer; Array.Resize(ref b, Count); return b; }

        internal static bool ReadHead(byte[] head, out int length, out int type)
        {
            long n = BitConverter.ToUInt32(head, 0); // every system that runs games is little endian
            type = head[5];
            length = (int)Math.Min(n, int.MaxValue);
            return head[4] == Version && head[6] == 0 && head[7] == 0
                && n <= (type == Snapshot || type == Answer ? MaxSnapshot : MaxPayload);
        }

        internal Frame Begin(byte type) { begin = Count; return Fixed(0, 4).Fixed(Version, 1).Fixed(type, 3); }

        /// <summary>Ends a frame that has more bytes, which are written after it.</summary>
        internal void End(int more = 0)
        {
            int length = Count - begin - HeadBytes + more;
            for (int i = 0; i < 4; i++) Buffer[begin + i] = (byte)(length >> 8 * i);
        }

        internal void Add(byte type, byte[] payload) { Begin(type); Raw(payload, 0, payload.Length).End(); }

        internal Frame Number(ulong v)
        {
            Room(10);
            for (; v >= 0x80; v >>= 7) Buffer[Count++] = (byte)(v | 0x80);
            Buffer[Count++] = (byte)v;
            return this;
        }

        private Frame Fixed(ulong v, int bytes)
        {
            Room(bytes);
            for (int i = 0; i < bytes; i++) Buffer[Count++] = (byte)(v >> 8 * i);
            return this;
        }

        internal Frame Time(long ticks)
        {
            long since = ticks - Epoch, rest = since % TimeSpan.TicksPerSecond;
            if (rest < 0) rest += TimeSpan.TicksPerSecond;
            return Fixed((ulong)((since - rest) / TimeSpan.TicksPerSecond), 8).Number((ulong)rest * 100);
        }

        // Text writes a lone surrogate as U+FFFD.
        internal Frame Text(string s, bool wide = false)
        {
            if (string.IsNullOrEmpty(s)) return Number(0);
            Encoding e = wide ? utf16 : utf8;
            int n = e.GetByteCount(s);
            Number((ulong)n);
            Room(n);
            Count += e.GetBytes(s, 0, s.Length, Buffer, Count);
            return this;
        }

        // Member writes a member of a JSON object: a name of at most MaxName characters, which are at most 4 KiB.
        internal Frame Member(string name, string s) => Begin(name).Quote(Clip(s, MaxName));
        internal Frame Member(string name, ulong v) => Begin(name).Plain(v.ToString(CultureInfo.InvariantCulture));
        internal Frame Member(string name, bool v) => Begin(name).Plain(v ? "true" : "false");
        internal Frame Long(string name, string s) => Begin(name).Quote(s ?? "");
        internal Frame When(long ticks) => Member("time",
            new DateTime(ticks).ToString("yyyy-MM-dd'T'HH:mm:ss.FFFFFFF'Z'", CultureInfo.InvariantCulture));

        // List writes a member that is an array: each writes an element.
        internal Frame List<T>(string name, IEnumerable<T> elements, Action<T> each)
        {
            Begin(name).Plain("[");
            foreach (T e in elements) { Comma(); each(e); }
            return Plain("]");
        }

        private Frame Begin(string name) => Comma().Quote(name).Plain(":");
        private Frame Comma() =>
            Count > 0 && Buffer[Count - 1] != '{' && Buffer[Count - 1] != '[' ? Plain(",") : this;

        internal Frame Plain(string ascii)
        {
            Room(ascii.Length);
            foreach (char c in ascii) Buffer[Count++] = (byte)c;
            return this;
        }

        internal Frame Quote(string s)
        {
            var b = new StringBuilder(s.Length + 2).Append('"');
            foreach (char c in s)
                if (c == '\n') b.Append("\\n");
                else if (c < ' ') b.Append("\\u00").Append(((int)c).ToString("x2"));
                else if (c == '"' || c == '\\') b.Append('\\').Append(c);
                else b.Append(c);
            byte[] quoted = utf8.GetBytes(b.Append('"').ToString());
            return Raw(quoted, 0, quoted.Length);
        }

        internal static string Clip(string s, int max) => s == null || s.Length <= max ? s ?? "" :
            s.Substring(0, char.IsHighSurrogate(s[max - 1]) ? max - 1 : max);

        // Key returns an operation's id as it comes back in a verdict.
        internal static string Key(string id)
        {
            int i = 0;
            while (id != null && i < id.Length && i < MaxId / 3 && !char.IsSurrogate(id[i])) i++;
            if (id == null || i == id.Length) return id ?? "";
            byte[] b = utf8.GetBytes(Clip(id, MaxName));
            return Encoding.UTF8.GetString(b, 0, Math.Min(b.Length, MaxId));
        }

        internal Frame Raw(byte[] b, int offset, int count)
        {
            Room(count);
            System.Buffer.BlockCopy(b, offset, Buffer, Count, count);
            Count += count;
            return this;
        }

        private void Room(int n)
        {
            if (Buffer.Length - Count < n) Array.Resize(ref Buffer, Math.Max(Count + n, 2 * Buffer.Length));
        }
    }

    /// <summary>The names that heed gives values, by number.</summary>
    internal static partial class Names
    {
        internal static readonly string[] Severities = { "info", "warning", "error", "fatal" };
        internal static readonly string[] Dispositions = { "ignore", "advisory", "blocking" };
        internal static readonly string[] Statuses =
            { "none", "started", "completed", "failed", "cancelled", "timed_out" };
    }

    /// <summary>The members of a JSON object: empty, zero or false where there is none. Others throw.</summary>
    internal sealed partial class Fields
    {
        private readonly Dictionary<string, object> members;

        internal Fields(byte[] bytes, int offset, int count)
            : this(new Json(Encoding.UTF8.GetString(bytes, offset, count)).Whole()) { }

        private Fields(object value) =>
            members = value as Dictionary<string, object> ?? throw new FormatException("no object");

        private T Of<T>(string name, T absent)
        {
            if (!members.TryGetValue(name, out object v) || v == null) return absent;
            return v is T ? (T)v : throw new FormatException(name);
        }

        internal string Text(string name) => Of(name, "");
        internal ulong Number(string name) => Of(name, 0UL);
        internal bool Flag(string name) => Of(name, false);

        /// <summary>The number of a value's name: 0 for one that a later heed has.</summary>
        internal int Named(string name, string[] names) => Math.Max(0, Array.IndexOf(names, Text(name)));

        /// <summary>An object; one without members where there is none.</summary>
        internal Fields Object(string name) => new Fields(Of(name, new Dictionary<string, object>()));

        internal IList<string> Strings(string name) => Of(name, new List<object>())
            .ConvertAll(v => v as string ?? throw new FormatException(name)).AsReadOnly();

        internal List<T> List<T>(string name, Func<Fields, T> of) =>
            Of(name, new List<object>()).ConvertAll(v => of(new Fields(v)));
    }

    /// <summary>Reads JSON: objects as dictionaries, arrays as lists, whole numbers as ulong.</summary>
    internal sealed class Json
    {
        private const int MaxDepth = 32;
        private readonly string s;
        private int at, depth;

        internal Json(string text) { s = text; }
        internal object Whole() { object v = Value(); return Next() == '\0' && at == s.Length ? v : throw Bad(); }
        private FormatException Bad() => new FormatException("JSON at " + at);

        // Next returns the next character that is no space, without taking it, and 0 at the end.
        private char Next()
        {
            while (at < s.Length && (s[at] == ' ' || s[at] == '\t' || s[at] == '\r' || s[at] == '\n')) at++;
            return at < s.Length ? s[at] : '\0';
        }

        private void Take(char c) { if (Next() != c) throw Bad(); at++; }

        private object Value()
        {
            switch (Next())
            {
                case '{':
                    var members = new Dictionary<string, object>();
                    Each('}', () =>
                    {
                        string name = Text();
                        Take(':');
                        members[name] = Value();
                    });
                    return members;
                case '[':
                    var elements = new List<object>();
                    Each(']', () => elements.Add(Value()));
                    return elements;
                case '"': return Text();
                default: return Plain();
            }
        }

        private void Each(char end, Action read)
        {
            at++;
            if (++depth > MaxDepth) throw Bad();
            for (bool first = true; Next() != end; first = false) { if (!first) Take(','); read(); }
            at++;
            depth--;
        }

        private string Text()
        {
            Take('"');
            StringBuilder b = null;
            for (int start = at; at < s.Length; at++)
            {
                if (s[at] == '"')
                {
                    string rest = s.Substring(start, at++ - start);
                    return b == null ? rest : b.Append(rest).ToString();
                }
                if (s[at] != '\\') continue;
                b = (b ?? new StringBuilder()).Append(s, start, at - start);
                if (++at == s.Length) break;
                int i = "\"\\/bfnrt".IndexOf(s[at]), c = 0;
                if (i < 0 && (s[at] != 'u' || at + 4 >= s.Length || !int.TryParse(s.Substring(at + 1, 4),
                    NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out c))) throw Bad();
                b.Append(i < 0 ? (char)c : "\"\\/\b\f\n\r\t"[i]);
                if (i < 0) at += 4;
                start = at + 1;
            }
            throw Bad();
        }

        // Plain reads a number or a word.
        private object Plain()
        {
            int start = at;
            while (at < s.Length && (char.IsLetterOrDigit(s[at]) || "+-.".IndexOf(s[at]) >= 0)) at++;
            string word = s.Substring(start, at - start);
            var invariant = CultureInfo.InvariantCulture;
            if (word == "null") return null;
            if (word == "true" || word == "false") return word == "true";
            if (ulong.TryParse(word, NumberStyles.None, invariant, out ulong whole)) return whole;
            return double.TryParse(word, NumberStyles.Float, invariant, out double other) ? other : throw Bad();
        }
    }

    /// <summary>Payloads of frames to heed. Names and texts that are too long are cut.</summary>
    internal static partial class Encode
    {
        // Hello precedes the snapshot.
        internal static Frame Hello(Frame f, string client, ulong process, string rules, string family,
            IList<KeyValuePair<string, string>> files, string phase, ulong lines, IList<byte[]> seen) =>
            f.Plain("{").Member("client", client).Member("process", process).Member("rules", rules)
                .Member("family", family).List("files", files, file =>
                    f.Plain("{").Member("name", file.Key).Long("text", file.Value).Plain("}"))
                .Member("phase", phase).Member("lines", lines)
                .List("seen", seen, update => f.Raw(update, 0, update.Length)).Plain("}\n");

        internal static Frame Line(Frame f, ref LineQueue.Slot s)
        {
            bool wide = (s.MessageCut | s.StackCut) != 0; // then, what was cut counts as bytes without a look at it
            return f.Number(s.Line).Time(s.Ticks).Number(s.Level).Number(wide ? 1UL : 0)
                .Number((ulong)s.Thread).Text(s.Operation).Number(2 * (ulong)s.MessageCut).Number(2 * (ulong)s.StackCut)
                .Text(s.Message, wide).Text(s.Stack, wide);
        }

        internal static Frame Operation(
            Frame f, long ticks, HeedStatus status, string id, string parent, string method, string error) =>
            f.Plain("{").When(ticks).Member("status", Names.Statuses[(int)status]).Member("id", id)
                .Member("parent", parent).Member("method", method).Long("error", Frame.Clip(error, Heed.MaxText))
                .Member("byCaller", status == HeedStatus.Cancelled).Plain("}");

        internal static Frame State(Frame f, long ticks, string what, int due, string text) =>
            f.Plain("{").When(ticks).Member("what", what).Member("due", (ulong)due).Member("text", text).Plain("}");

        internal static Frame Dropped(Frame f, long ticks, string why, ulong[] byLevel, ulong unknown, ulong bytes) =>
            f.Plain("{").When(ticks).Member("why", why)
                .List("byLevel", byLevel, n => f.Plain(n.ToString(CultureInfo.InvariantCulture)))
                .Member("others", unknown).Member("bytes", bytes).Plain("}");

        internal static byte[] Query(ulong id, string kind, Frame fields)
        {
            Frame f = new Frame().Plain("{").Member("number", id).Member("kind", kind);
            if (fields.Count > 0) f.Plain(",").Raw(fields.Buffer, 0, fields.Count);
            return f.Plain("}").ToArray();
        }
    }

    /// <summary>A running heed: a process, with frames over its standard input and output.</summary>
    internal sealed partial class Link
    {
        internal volatile bool Dead; // nothing more comes of it
        private volatile string why;
        private readonly Process process;
        private readonly Thread errors;
        private readonly StringBuilder errorText = new StringBuilder(); // what it wrote first to standard error

        private static readonly bool windows = Path.DirectorySeparatorChar == '\\';
        private static readonly bool mac = !windows && Directory.Exists("/System/Library/CoreServices");
        private static readonly string[] folders = { "", "Sidecar", "Native", "../Sidecar", "../Native" };

        private Stream Input => process.StandardInput.BaseStream;
        private Stream Output => process.StandardOutput.BaseStream;

        private Link(Process p)
        {
            process = p;
            errors = new Thread(ReadErrors) { IsBackground = true, Name = "heed errors" };
            errors.Start();
        }

        /// <summary>Starts heed. Returns why that failed, or null; throws where there is no program.</summary>
        internal static string Open(HeedOptions options, out Link link)
        {
            link = null;
            string why = null;
            foreach (string path in Programs(options.SidecarPath))
                try
                {
                    why = null;
                    Check(path, options, ref why);
                    if (why == null) link = new Link(Begin(path));
                    if (why == null) break;
                }
                catch (Exception e) { why = path + " did not start: " + e.Message; }
            return why;
        }

        static partial void Check(string path, HeedOptions options, ref string why); // in HeedMore.cs

        // Programs returns at least one at path or in the usual folders, of the likelier architecture first.
        private static List<string> Programs(string path)
        {
            string os = windows ? "-windows-" : mac ? "-darwin-" : "-linux-", ending = windows ? ".exe" : "";
            bool arm = mac || Environment.GetEnvironmentVariable("PROCESSOR_ARCHITECTURE") == "ARM64";
            var found = new List<string>();
            bool given = !string.IsNullOrEmpty(path);
            string home = given ? Path.GetFullPath(path) : typeof(Link).Assembly.Location;
            if (given && File.Exists(home)) found.Add(home);
            else if (home != "") // as it is where the assembly was loaded from bytes
            {
                if (!given) home = Path.GetDirectoryName(home);
                foreach (string folder in given ? new[] { "" } : folders)
                    foreach (string of in new[] { os + (arm ? "arm64" : "amd64"), os + (arm ? "amd64" : "arm64"), "" })
                    {
                        string file = Path.Combine(Path.Combine(home, folder), "heed-sidecar" + of + ending);
                        if (File.Exists(file)) found.Add(Path.GetFullPath(file));
                    }
            }
            if (found.Count > 0) return found;
            throw new FileNotFoundException("no program heed-sidecar" + ending + " was found at " + home);
        }

        private static Process Begin(string path)
        {
            var info = new ProcessStartInfo(path)
            {
                UseShellExecute = false, CreateNoWindow = true, WorkingDirectory = Path.GetDirectoryName(path),
                RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
            };
            if (Path.GetFileNameWithoutExtension(path) == "heed") info.Arguments = "sidecar";
            try { return Process.Start(info); }
            catch (System.ComponentModel.Win32Exception)
            {
                if (windows || !Path.GetFileName(path).StartsWith("heed")) throw;
                if (chmod(path, 0x1ed) != 0) throw; // rwxr-xr-x, which a download may have lost
                return Process.Start(info);
            }
        }

        [DllImport("libc")]
        private static extern int chmod(string path, uint mode);

        /// <summary>Why it ended.</summary>
        internal string Why => why ?? Ending();

        /// <summary>Ends it, from any thread: Read and Write of others return.</summary>
        internal void Kill(string reason)
        {
            why = why ?? reason;
            Dead = true;
            try { if (!process.HasExited) process.Kill(); }
            catch (Exception) { } // it has ended
        }

        /// <summary>Fills the first n bytes of buffer, which grows as they come. False at the end.</summary>
        internal bool ReadAll(ref byte[] buffer, int n)
        {
            for (int have = 0; have < n; )
            {
                if (have == buffer.Length) Array.Resize(ref buffer, (int)Math.Min(n, 2L * have + 4096));
                int got = Output.Read(buffer, have, Math.Min(n, buffer.Length) - have);
                if (got <= 0) return false;
                have += got;
            }
            return true;
        }

        /// <summary>Writes whole frames; waits while heed has no room.</summary>
        internal void Write(byte[] bytes, int offset, int count) { Input.Write(bytes, offset, count); Input.Flush(); }
        /// <summary>Closes the input; heed ends when it has read all frames.</summary>
        internal void CloseInput() { Input.Close(); }

        private void ReadErrors()
        {
            try
            {
                Stream s = process.StandardError.BaseStream;
                var chunk = new byte[512];
                for (int n; (n = s.Read(chunk, 0, chunk.Length)) > 0; )
                    lock (errorText)
                        if (errorText.Length < 1024) errorText.Append(Encoding.UTF8.GetString(chunk, 0, n));
            }
            catch (Exception) { } // it has ended
        }

        private string Ending()
        {
            string text = "the program ended";
            try { text += " with status " + process.ExitCode; }
            catch (Exception) { }
            lock (errorText) return errorText.Length == 0 ? text : text + ": " + errorText.ToString().Trim();
        }

        /// <summary>Closes all handles. The reader has ended.</summary>
        internal void Close()
        {
            try
            {
                if (!process.WaitForExit(200)) Kill(null);
                process.WaitForExit(1000);
                errors.Join(200);
                Input.Close();
            }
            catch (Exception) { } // what was not written yet
            try { Output.Close(); }
            catch (Exception) { }
        }
    }
}
