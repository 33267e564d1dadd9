// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

// The few types of a GABP mod library that the glue to heed touches, in the shape of Lib.GAB. Written for heed: names and
// signatures are the library's, nothing else is.

using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Lib.GAB.Attention
{
    public class AttentionSample
    {
        public string Level { get; set; }
        public string Message { get; set; }
        public int RepeatCount { get; set; }
        public long LatestSequence { get; set; }
    }

    public class AttentionItem
    {
        public string AttentionId { get; set; }
        public string State { get; set; }
        public string Severity { get; set; }
        public bool Blocking { get; set; }
        public bool StateInvalidated { get; set; }
        public string Summary { get; set; }
        public string CausalOperationId { get; set; }
        public string CausalMethod { get; set; }
        public long OpenedAtSequence { get; set; }
        public long LatestSequence { get; set; }
        public long? DiagnosticsCursor { get; set; }
        public int TotalUrgentEntries { get; set; }
        public List<AttentionSample> Sample { get; set; }
    }

    public class AttentionAckResult
    {
        public bool Acknowledged { get; set; }
        public AttentionItem CurrentAttention { get; set; }
    }

    public interface IAttentionManager
    {
        bool IsEnabled { get; }
        AttentionItem GetCurrent();
        Task<AttentionItem> PublishAsync(AttentionItem attention, DateTimeOffset? timestamp = null);
        Task<AttentionItem> ClearAsync(AttentionItem clearedAttention = null, DateTimeOffset? timestamp = null);
        Task<AttentionAckResult> AcknowledgeAsync(string attentionId, DateTimeOffset? timestamp = null);
    }

    /// <summary>Holds one item, which an acknowledgement removes.</summary>
    public class AttentionManager : IAttentionManager
    {
        private readonly object gate = new object();
        private AttentionItem current;

        public bool IsEnabled { get { return true; } }

        public AttentionItem GetCurrent()
        {
            lock (gate)
                return current;
        }

        public Task<AttentionItem> PublishAsync(AttentionItem attention, DateTimeOffset? timestamp = null)
        {
            lock (gate)
                current = attention;
            return Task.FromResult(attention);
        }

        public Task<AttentionItem> ClearAsync(AttentionItem clearedAttention = null, DateTimeOffset? timestamp = null)
        {
            lock (gate)
            {
                var cleared = current;
                current = null;
                return Task.FromResult(cleared);
            }
        }

        public Task<AttentionAckResult> AcknowledgeAsync(string attentionId, DateTimeOffset? timestamp = null)
        {
            lock (gate)
            {
                var result = new AttentionAckResult { Acknowledged = current != null && current.AttentionId == attentionId };
                if (result.Acknowledged)
                    current = null;
                result.CurrentAttention = current;
                return Task.FromResult(result);
            }
        }
    }
}
