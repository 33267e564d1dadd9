// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;

namespace HeedLog
{
    /// <summary>
    /// The one current item that a mod shows to its bridge, as GABP mods have it. Whoever acknowledges the item empties
    /// the slot. All members are called on the thread that polls.
    /// </summary>
    public interface IAttentionSlot
    {
        /// <summary>The id of the item in the slot; null or empty where there is none.</summary>
        string CurrentId { get; }

        /// <summary>Puts an item into the slot, or its latest state where its id is there.</summary>
        void Publish(HeedItem item);

        /// <summary>Empties the slot: what was in it is over.</summary>
        void Clear();
    }

    /// <summary>
    /// Keeps the slot of a bridge mod equal to heed's current item, passes acknowledgements on to heed, and reports
    /// tool calls. <see cref="Poll"/> belongs to one thread, that of the game; all else may be called on any.
    /// </summary>
    public sealed class HeedAttentionAdapter
    {
        private readonly Heed heed;
        private readonly IAttentionSlot slot;
        private readonly Action<string> report;
        private HeedItem shown; // in the slot, as far as was seen
        private string acknowledged; // in the slot; what is new since then comes as another item
        private bool failed;

        /// <summary>Report receives the first exception of the slot, and may be null.</summary>
        public HeedAttentionAdapter(Heed heed, IAttentionSlot slot, Action<string> report = null)
        {
            if (heed == null)
                throw new ArgumentNullException("heed");
            if (slot == null)
                throw new ArgumentNullException("slot");
            this.heed = heed;
            this.slot = slot;
            this.report = report;
        }

        /// <summary>
        /// A tool call begins. Until the scope is disposed of, what this thread logs belongs to the call; other
        /// threads, and work that runs later, enter by <see cref="Heed.Enter"/> with the same id.
        /// </summary>
        public HeedScope BeginToolCall(string id, string tool, string parent = null)
        {
            heed.OperationStarted(id, tool, parent);
            return heed.Enter(id);
        }

        /// <summary>A tool call has ended, with an answer or with an error that its caller receives.</summary>
        public void EndToolCall(string id, bool ok, string error = null)
        {
            heed.OperationEnded(id, ok ? HeedStatus.Completed : HeedStatus.Failed, error);
        }

        /// <summary>
        /// Call it in each frame, in the place of <see cref="Heed.Poll"/>, whose result it returns. An exception of the
        /// slot does not leave it; the next frame tries again.
        /// </summary>
        public int Poll()
        {
            var updates = heed.Poll();
            try
            {
                Synchronize();
            }
            catch (Exception e)
            {
                if (!failed && report != null)
                    report("heed: the bridge's attention failed: " + e.Message);
                failed = true;
            }
            return updates;
        }

        private void Synchronize()
        {
            var held = slot.CurrentId;
            if (shown != null && held != shown.Id)
            {
                if (string.IsNullOrEmpty(held))
                {
                    heed.Ack(shown.Id, shown.Latest); // up to what was in the slot
                    acknowledged = shown.Id;
                }
                shown = null;
            }
            var current = heed.Current();
            if (current == null || current.Id == acknowledged)
            {
                if (shown != null)
                    slot.Clear();
                shown = null;
            }
            else if (shown == null || shown.Id != current.Id || shown.Latest != current.Latest
                || shown.Blocks != current.Blocks)
            {
                slot.Publish(current);
                shown = current;
            }
        }
    }
}
