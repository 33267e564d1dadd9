// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// The optional part of Heed.cs, compiled with it or left out: pages of the entries that heed keeps, explanations,
// counters, reports of the mod itself, the list of mods, own rule files, hashes of the program, details of items.

#pragma warning disable 1591 // members whose names need no explanation have none

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Security.Cryptography;

namespace HeedLog
{
    public sealed partial class HeedOptions
    {
        /// <summary>SHA-256 of the program in hexadecimal, or several of them, separated by spaces. Another program is
        /// not started. By default nothing is checked.</summary>
        public string Sha256 { get; set; }

        /// <summary>Paths of own rule files, which come before the default rules.</summary>
        public IList<string> RuleFiles { get; set; }

        /// <summary>How many lines wait at most, by default 8,192; of more, the lowest level is dropped and
        /// counted.</summary>
        public int Capacity { get { return capacity; } set { capacity = value; } }

        /// <summary>How many bytes of text the waiting lines hold at most, by default 16 MiB.</summary>
        public int MaxBytes { get { return maxBytes; } set { maxBytes = value; } }

        /// <summary>Of how many calls of Alive one is sent, by default 60. One is sent sooner where frames take
        /// long.</summary>
        public int AliveEveryFrames { get { return aliveEveryFrames; } set { aliveEveryFrames = value; } }

        /// <summary>For how many milliseconds Dispose waits at most for what is queued to be sent and read, by default
        /// 500.</summary>
        public int DisposeMilliseconds { get { return disposeMilliseconds; } set { disposeMilliseconds = value; } }
    }

    /// <summary>A mod that the game has loaded.</summary>
    public sealed class HeedMod
    {
        public string Name { get; set; }
        public string PackageId { get; set; }
        /// <summary>Number in the Steam Workshop, or empty.</summary>
        public string WorkshopId { get; set; }
        /// <summary>Names of its assemblies, as they stand in stack traces.</summary>
        public IList<string> Assemblies { get; set; }
    }

    /// <summary>What one variant of a group of entries has counted.</summary>
    public sealed class HeedVariant
    {
        /// <summary>The words by which it differs from the others, or empty.</summary>
        public string Value { get; internal set; }
        /// <summary>All further variants together; they have no value.</summary>
        public bool Others { get; internal set; }
        public ulong Count { get; internal set; }
    }

    /// <summary>The first of the most urgent entries of an item.</summary>
    public sealed class HeedCause
    {
        public ulong Sequence { get; internal set; }
        public ulong Line { get; internal set; }
        public ulong Thread { get; internal set; }
        public string Rule { get; internal set; }
        /// <summary>Id of its text without variable parts.</summary>
        public string Signature { get; internal set; }
        /// <summary>The game's phase at that time, or empty.</summary>
        public string Phase { get; internal set; }
    }

    /// <summary>An entry that heed keeps.</summary>
    public sealed class HeedRecord
    {
        public ulong Sequence { get; internal set; }
        public DateTime Time { get; internal set; }
        /// <summary>"log", "operation", "state", "notice" or "host".</summary>
        public string Kind { get; internal set; }
        public HeedLevel Level { get; internal set; }
        /// <summary>What happened, such as "completed"; "none" for a line of the log.</summary>
        public string Status { get; internal set; }
        public string Source { get; internal set; }
        public string Message { get; internal set; }
        public string Stack { get; internal set; }
        public string Operation { get; internal set; }
        public string Rule { get; internal set; }
        public HeedDisposition Disposition { get; internal set; }
        public HeedSeverity Severity { get; internal set; }
        public ulong Line { get; internal set; }
        public ulong Thread { get; internal set; }
        /// <summary>The text is not whole.</summary>
        public bool Cut { get; internal set; }
    }

    /// <summary>A part of what heed keeps. Read goes on after Next.</summary>
    public sealed class HeedPage
    {
        public string Epoch { get; internal set; }
        public ulong Next { get; internal set; }
        /// <summary>How many entries before these are no longer kept.</summary>
        public ulong Lost { get; internal set; }
        public bool More { get; internal set; }
        public IList<HeedRecord> Records { get; internal set; }
    }

    /// <summary>Something that the mod itself found. Raise of the same key updates it, Clear ends it.</summary>
    public sealed class HeedReport
    {
        /// <summary>What makes it the same report: one item for each key.</summary>
        public string Key { get; set; }
        public HeedDisposition Disposition { get; set; } = HeedDisposition.Advisory;
        public HeedSeverity Severity { get; set; } = HeedSeverity.Error;
        /// <summary>What was read of the game's state before may no longer hold.</summary>
        public bool Invalidates { get; set; }
        public string Summary { get; set; }
        public string Message { get; set; }
        /// <summary>The operation that caused it; by default the one that this thread is in.</summary>
        public string Operation { get; set; }
    }

    /// <summary>Counters of a client. At any time Pushed is the sum of Received, Dropped, Lost, Queued and
    /// InFlight.</summary>
    public sealed class HeedStats
    {
        public ulong Pushed { get; internal set; }
        /// <summary>Ingested by heed, as it reported; at most a quarter of a second old.</summary>
        public ulong Received { get; internal set; }
        public ulong Dropped { get; internal set; }
        /// <summary>Dropped, by the number of the level.</summary>
        public ulong[] DroppedByLevel { get; internal set; }
        /// <summary>Written to a sidecar that ended before it reported them.</summary>
        public ulong Lost { get; internal set; }
        public ulong Queued { get; internal set; }
        /// <summary>Handed to a sidecar: Received, Lost and InFlight.</summary>
        public ulong Written { get; internal set; }
        /// <summary>Written and not reported yet.</summary>
        public ulong InFlight { get; internal set; }
        /// <summary>Lines whose message or stack was cut.</summary>
        public ulong Cut { get; internal set; }
        /// <summary>Frames other than lines that were dropped, and updates that no Poll fetched.</summary>
        public ulong ControlDropped { get; internal set; }
        public ulong UpdatesDropped { get; internal set; }
        /// <summary>How often a sidecar took over from one that ended, and how many snapshots came.</summary>
        public int Restarts { get; internal set; }
        public ulong Snapshots { get; internal set; }
        public bool Running { get; internal set; }
        /// <summary>The state in words for people: "running", "starting", "off: ...", "closed".</summary>
        public string State { get; internal set; }
    }

    public sealed partial class HeedSample
    {
        public string Rule { get; internal set; }
        /// <summary>Id of its text without variable parts.</summary>
        public string Signature { get; internal set; }
        public IList<HeedVariant> Variants { get; internal set; }
        /// <summary>Lines of this client: the first and the latest such entry.</summary>
        public ulong FirstLine { get; internal set; }
        public ulong LatestLine { get; internal set; }
        /// <summary>Mods that the first such entry points at.</summary>
        public IList<string> Mods { get; internal set; }

        partial void More(Fields f)
        {
            Rule = f.Text("rule");
            Signature = f.Text("signature");
            Variants = Decode.Variants(f);
            FirstLine = f.Line("firstLine");
            LatestLine = f.Line("latestLine");
            Mods = f.Strings("blame");
        }
    }

    public sealed partial class HeedItem
    {
        /// <summary>The nature of its dominant entries, in heed's own words, and the advice of their rule.</summary>
        public string Title { get; internal set; }
        public string Advice { get; internal set; }
        /// <summary>The operation after which it came, or empty; that is no cause.</summary>
        public string AfterOperation { get; internal set; }
        public string AfterMethod { get; internal set; }
        public string Rule { get; internal set; }
        public IList<HeedVariant> Variants { get; internal set; }
        public HeedCause Cause { get; internal set; }
        public ulong Groups { get; internal set; }
        public ulong Prelude { get; internal set; }
        /// <summary>False: it holds more groups.</summary>
        public bool GroupsExact { get; internal set; }
        /// <summary>Line of this client at which it opened, the thread that logged it, and the latest line.</summary>
        public ulong Line { get; internal set; }
        public ulong Thread { get; internal set; }
        public ulong LatestLine { get; internal set; }
        public IList<string> Perhaps { get; internal set; }
        /// <summary>How often its dominant entries came, and what earlier sessions show, or empty.</summary>
        public string Recurrence { get; internal set; }
        public string History { get; internal set; }
        /// <summary>The acknowledged item that this one follows, or empty.</summary>
        public string Predecessor { get; internal set; }

        partial void More(Fields f)
        {
            Fields cause = f.Object("cause");
            Title = f.Text("title");
            Advice = f.Text("advice");
            AfterOperation = f.Text("afterOperation");
            AfterMethod = f.Text("afterMethod");
            Rule = f.Text("rule");
            Variants = Decode.Variants(f);
            Cause = new HeedCause
            {
                Sequence = cause.Number("seq"), Line = cause.Line("line"), Thread = cause.Thread("line"),
                Rule = cause.Text("rule"), Signature = cause.Text("signature"), Phase = cause.Text("phase"),
            };
            Groups = f.Number("groups");
            GroupsExact = f.Flag("groupsExact");
            Prelude = f.Number("preludeEntries");
            Line = f.Line("openedLine");
            Thread = f.Thread("openedLine");
            LatestLine = f.Line("latestLine");
            Perhaps = f.Strings("perhaps");
            Recurrence = f.Text("recurrence");
            History = f.Text("history");
            Predecessor = f.Text("predecessor");
        }
    }

    public sealed partial class Heed
    {
        /// <summary>The mods that the game has loaded, in their order.</summary>
        public void Mods(IList<HeedMod> loaded)
        {
            if (loaded == null) return;
            try
            {
                Frame f = Encode.Mods(new Frame(), loaded);
                if (f.Count > Frame.MaxPayload) { Report("mods", "heed: the list of mods is too long"); return; }
                mods = f.ToArray();
                Send(Frame.Mods, mods);
            }
            catch (Exception e) { Fault(e); }
        }

        partial void ReadRules(List<KeyValuePair<string, string>> read)
        {
            foreach (string path in options.RuleFiles ?? new string[0])
            {
                try { read.Add(new KeyValuePair<string, string>(Path.GetFileName(path), File.ReadAllText(path))); }
                catch (Exception e) { Report(path, "heed runs without the rules in " + path + ": " + e.Message); }
            }
        }

        /// <summary>Opens or updates an item for which the mod itself wants attention. One that is under way while a
        /// sidecar is killed is lost, as is a Clear.</summary>
        public void Raise(HeedReport r)
        {
            if (r == null) return;
            Frame f = Encode.Raise(new Frame(), DateTime.UtcNow.Ticks, r, r.Operation ?? current);
            Send(Frame.Raise, f.ToArray());
        }

        /// <summary>Clears an item because what it is about is over.</summary>
        public void Clear(string id) { Query("clear", new Frame().Member("id", id)); }

        /// <summary>Counters, and the state in words. It allocates.</summary>
        public HeedStats Stats()
        {
            var s = new HeedStats();
            lock (table)
            {
                ulong lastTaken, taken;
                queue.Count(s, out taken, out lastTaken);
                s.Received = received;
                s.Lost = lost;
                s.Written = taken;
                s.Snapshots = snapshots;
                s.InFlight = taken - received - lost;
                if (welcomed && lastTaken == progressLine) // heed has seen them all: it could not read some
                {
                    s.Lost += s.InFlight;
                    s.InFlight = 0;
                }
                s.Restarts = Math.Max(0, sessions - 1);
                s.Running = welcomed;
                s.State = state;
                s.UpdatesDropped = updatesDropped;
            }
            return s;
        }

        /// <summary>A page of what heed keeps, after an entry, of at least a disposition; operation may be empty. Epoch
        /// is that of the page before, or empty. Null where no answer came in time. For background threads, as all
        /// below.</summary>
        public HeedPage Read(
            string epoch, ulong after, int limit, HeedDisposition least, string operation, int milliseconds)
        {
            Frame f = new Frame().Member("epoch", epoch).Member("after", after).Member("id", operation);
            f.Member("limit", (ulong)Math.Max(1, Math.Min(limit, 1000)));
            f.Member("least", Encode.Named(Names.Dispositions, (int)least));
            return Ask("read", f, milliseconds, a => Decode.Page(a.Object("result")));
        }

        /// <summary>Why an item is what it is, as names and texts; null where no answer came in time or it is not
        /// known.</summary>
        public IDictionary<string, string> Explain(string id, int milliseconds)
        {
            return Ask("explain", new Frame().Member("id", id), milliseconds, Decode.Texts);
        }

        /// <summary>Heed's own counters and texts by name; null where no answer came in time.</summary>
        public IDictionary<string, string> EngineStats(int milliseconds)
        {
            return Ask("stats", new Frame(), milliseconds, Decode.Texts);
        }

        /// <summary>All open items, the most urgent first; null where no answer came in time.</summary>
        public IList<HeedItem> OpenItems(int milliseconds) =>
            Ask("open", new Frame(), milliseconds, a => a.List("result", HeedItem.Of));

        /// <summary>Attaches the consumer: what was open before is summed up in one item, whose id is returned, or
        /// empty. Null where no answer came in time.</summary>
        public string Attach(int milliseconds)
        {
            return Ask("attach", new Frame().Member("consumer", options.Consumer), milliseconds, a => a.Text("result"));
        }
    }

    internal sealed partial class Link
    {
        static partial void Check(string path, HeedOptions options, ref string why)
        {
            string hashes = options.Sha256;
            if (string.IsNullOrEmpty(hashes)) return;
            using (var sha = SHA256.Create())
            using (var file = File.OpenRead(path))
            {
                string hash = BitConverter.ToString(sha.ComputeHash(file)).Replace("-", "").ToLowerInvariant();
                if (Array.IndexOf(hashes.ToLowerInvariant().Split(' ', ',', '\n', '\t'), hash) < 0)
                    why = path + " is not the program that this mod expects";
            }
        }
    }

    internal sealed partial class LineQueue
    {
        internal void Count(HeedStats s, out ulong takenLines, out ulong last)
        {
            s.DroppedByLevel = new ulong[Levels];
            Enter();
            s.Pushed = lines;
            s.Queued = linesWaiting;
            s.Cut = cut;
            s.ControlDropped = controlDropped;
            takenLines = taken;
            last = LastTaken;
            for (int i = 0; i < Levels; i++)
            {
                ulong after = (uint)late[i];
                s.DroppedByLevel[i] = dropped[i] + after;
                s.Dropped += dropped[i] + after;
                s.Pushed += after;
            }
            Exit();
        }
    }

    internal static partial class Names
    {
        internal static readonly string[] Levels = { "unknown", "debug", "info", "warning", "error", "fatal" };
    }

    internal sealed partial class Fields
    {
        private const int LineBits = 40; // of a position; the thread is above them

        internal ulong Line(string name) => Number(name) & (1UL << LineBits) - 1;
        internal ulong Thread(string name) => Number(name) >> LineBits;
        internal bool Has(string name) { return Of<object>(name, null) != null; }

        internal DateTime Time(string name)
        {
            string s = Text(name);
            if (s == "") return DateTime.MinValue;
            int dot = s.IndexOf('.'), end = dot + 1;
            while (dot > 0 && end < s.Length && s[end] >= '0' && s[end] <= '9') end++;
            if (dot > 0 && end - dot > 8) s = s.Remove(dot + 8, end - dot - 8); // seven digits are a tick
            DateTimeOffset t;
            if (DateTimeOffset.TryParse(s, System.Globalization.CultureInfo.InvariantCulture,
                System.Globalization.DateTimeStyles.None, out t)) return t.UtcDateTime;
            throw new FormatException(name);
        }
        internal IEnumerable<KeyValuePair<string, object>> All { get { return members; } }
    }

    internal static partial class Encode
    {
        // Named keeps a value of an enumeration that does not exist off the wire.
        internal static string Named(string[] names, int value) =>
            names[Math.Max(0, Math.Min(value, names.Length - 1))];

        internal static Frame Mods(Frame f, IList<HeedMod> mods)
        {
            f.Plain("{").List("mods", mods, mod =>
            {
                HeedMod m = mod ?? new HeedMod();
                f.Plain("{").Member("name", m.Name).Member("packageId", m.PackageId).Member("workshopId", m.WorkshopId);
                var assemblies = m.Assemblies ?? new string[0];
                f.List("assemblies", assemblies, a => f.Quote(Frame.Clip(a, Frame.MaxName))).Plain("}");
            });
            return f.Plain("}");
        }

        internal static Frame Raise(Frame f, long ticks, HeedReport r, string operation)
        {
            f.Plain("{").When(ticks).Member("key", r.Key);
            f.Member("disposition", Named(Names.Dispositions, (int)r.Disposition));
            f.Member("severity", Named(Names.Severities, (int)r.Severity)).Member("invalidates", r.Invalidates);
            f.Member("summary", r.Summary).Long("message", Frame.Clip(r.Message, Heed.MaxText));
            return f.Member("operationId", operation).Plain("}");
        }
    }

    internal static class Decode
    {
        internal static IList<HeedVariant> Variants(Fields f)
        {
            return f.List("variants", v => new HeedVariant
            {
                Value = v.Text("value"), Others = v.Flag("others"), Count = v.Number("count"),
            }).AsReadOnly();
        }

        internal static HeedPage Page(Fields f)
        {
            return new HeedPage
            {
                Epoch = f.Text("epoch"), Next = f.Number("next"), Lost = f.Number("lost"), More = f.Flag("more"),
                Records = f.List("records", r => new HeedRecord
                {
                    Sequence = r.Number("seq"), Time = r.Time("time"), Kind = r.Text("kind"),
                    Level = (HeedLevel)r.Named("level", Names.Levels), Status = r.Text("status"),
                    Source = r.Text("source"), Message = r.Text("message"), Stack = r.Text("stack"),
                    Operation = r.Text("operation"), Rule = r.Text("rule"),
                    Disposition = (HeedDisposition)r.Named("disposition", Names.Dispositions),
                    Severity = (HeedSeverity)r.Named("severity", Names.Severities),
                    Line = r.Line("line"), Thread = r.Thread("line"), Cut = r.Flag("truncated"),
                }).AsReadOnly(),
            };
        }

        /// <summary>The members of the object in an answer as text; null where there is none.</summary>
        internal static IDictionary<string, string> Texts(Fields answer)
        {
            if (!answer.Has("result")) return null;
            var d = new Dictionary<string, string>();
            foreach (var m in answer.Object("result").All)
                d[m.Key] = Convert.ToString(m.Value, System.Globalization.CultureInfo.InvariantCulture);
            return d;
        }
    }
}
