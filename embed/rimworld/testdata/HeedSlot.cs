// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System.Linq;
using System.Threading.Tasks;
using HeedLog;
using Lib.GAB.Attention;

internal sealed class HeedSlot : IAttentionSlot
{
    private readonly IAttentionManager manager;
    public HeedSlot(IAttentionManager manager) { this.manager = manager; }
    public bool IsEnabled { get { return manager.IsEnabled; } }
    public string CurrentId { get { return manager.GetCurrent()?.AttentionId; } }
    public Task Clear() { return manager.ClearAsync(); }
    public Task Publish(HeedItem i) { return manager.PublishAsync(new AttentionItem {
        AttentionId = i.Id, Blocking = i.Blocks, Severity = Name(i.Severity), StateInvalidated = i.StateInvalidated,
        Summary = i.Summary, CausalOperationId = i.CausalOperation, CausalMethod = i.CausalMethod,
        OpenedAtSequence = (long)i.OpenedAt, LatestSequence = (long)i.Latest, DiagnosticsCursor = (long)i.BeforeCause,
        TotalUrgentEntries = (int)i.Entries, Sample = i.Samples.Select(s => new AttentionSample { Level = Name(s.Severity),
            Message = s.Message, RepeatCount = (int)s.Repeats, LatestSequence = (long)s.Latest }).ToList() }); }
    private static string Name(HeedSeverity severity) { return severity.ToString().ToLowerInvariant(); }
}
