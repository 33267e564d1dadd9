// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

// The few types of a bridge mod that the glue to heed touches, in the shape of RimBridgeServer. Written for heed: names
// and signatures are the mod's, nothing else is.

using System;
using System.Collections.Generic;
using System.Threading;

namespace RimBridgeServer.Contracts
{
    public enum OperationStatus { Pending, Running, Completed, Failed, TimedOut, Cancelled }
}

namespace RimBridgeServer.Core
{
    public sealed class OperationContextSnapshot
    {
        public string OperationId { get; set; }
    }

    public static class OperationContext
    {
        private static readonly AsyncLocal<OperationContextSnapshot> Slot = new AsyncLocal<OperationContextSnapshot>();

        public static OperationContextSnapshot Current
        {
            get { return Slot.Value; }
            set { Slot.Value = value; }
        }
    }

    public sealed class OperationEventRecord
    {
        public string OperationId { get; set; }
        public string CapabilityId { get; set; }
        public RimBridgeServer.Contracts.OperationStatus Status { get; set; }
        public string ErrorMessage { get; set; }
        public Dictionary<string, object> Metadata { get; set; }
    }

    public sealed class OperationJournal
    {
        public event Action<OperationEventRecord> EventPublished;

        public void Publish(OperationEventRecord record) { EventPublished(record); }
    }
}
