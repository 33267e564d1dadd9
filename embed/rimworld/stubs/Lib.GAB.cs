// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for a GABP mod library, in the shape of Lib.GAB, as far as the glue to heed and its tests go. Written for
// heed: names, signatures and habits are the library's, nothing else is. Its habits on the wire: the header and the
// body of a message are two writes, which no lock holds together; answers and events share one connection; an event is
// written on the thread that emits it.

using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using Lib.GAB.Attention;
using Lib.GAB.Events;
using Lib.GAB.Tools;

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
        public string AttentionId { get; set; }
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

    /// <summary>Holds one item, which an acknowledgement removes, and emits an event of each change.</summary>
    public class AttentionManager : IAttentionManager
    {
        private readonly object gate = new object();
        private readonly IEventManager events;
        private AttentionItem current;

        public AttentionManager(IEventManager eventManager, bool isEnabled)
        {
            events = eventManager;
            IsEnabled = isEnabled;
        }

        public bool IsEnabled { get; private set; }

        public AttentionItem GetCurrent()
        {
            lock (gate)
                return current;
        }

        public async Task<AttentionItem> PublishAsync(AttentionItem attention, DateTimeOffset? timestamp = null)
        {
            MustBeEnabled();
            string channel;
            lock (gate)
            {
                channel = current != null && current.AttentionId == attention.AttentionId ? "updated" : "opened";
                attention.State = "open";
                current = attention;
            }
            await events.EmitEventAsync("attention/" + channel, attention, timestamp);
            return attention;
        }

        public async Task<AttentionItem> ClearAsync(
            AttentionItem clearedAttention = null, DateTimeOffset? timestamp = null)
        {
            MustBeEnabled();
            var cleared = Take(null);
            if (cleared != null)
                await events.EmitEventAsync("attention/cleared", cleared, timestamp);
            return cleared;
        }

        public async Task<AttentionAckResult> AcknowledgeAsync(string attentionId, DateTimeOffset? timestamp = null)
        {
            MustBeEnabled();
            var cleared = Take(attentionId);
            if (cleared != null)
                await events.EmitEventAsync("attention/cleared", cleared, timestamp);
            return new AttentionAckResult
            {
                Acknowledged = cleared != null, AttentionId = attentionId, CurrentAttention = GetCurrent(),
            };
        }

        private AttentionItem Take(string id)
        {
            lock (gate)
            {
                var taken = id == null || current != null && current.AttentionId == id ? current : null;
                if (taken != null)
                    current = null;
                return taken;
            }
        }

        private void MustBeEnabled()
        {
            if (!IsEnabled)
                throw new InvalidOperationException("Attention support is not enabled for this server.");
        }
    }
}

namespace Lib.GAB.Events
{
    public interface IEventManager
    {
        void RegisterChannel(string channel, string description = null);
        Task EmitEventAsync(string channel, object payload, DateTimeOffset? timestamp = null);
    }
}

namespace Lib.GAB.Tools
{
    public class ToolInfo
    {
        public string Name { get; set; }
    }

    public interface IToolRegistry
    {
        void RegisterTool(string name, Func<object, Task<object>> handler, ToolInfo info = null);
    }
}

namespace Lib.GAB.Server
{
    public class GabpServerConfig
    {
        public int Port { get; set; }
        public string Token { get; set; }
        public bool EnableAttentionSupport { get; set; }
    }

    /// <summary>Serves the connection that was made last.</summary>
    public class GabpServer : IEventManager, IToolRegistry, IDisposable
    {
        private readonly TcpListener listener;
        private readonly Dictionary<string, Func<object, Task<object>>> tools =
            new Dictionary<string, Func<object, Task<object>>>();
        private NetworkStream stream;
        private int sequence;

        public GabpServer(GabpServerConfig config = null)
        {
            config = config ?? new GabpServerConfig();
            Attention = new AttentionManager(this, config.EnableAttentionSupport);
            Token = config.Token;
            listener = new TcpListener(IPAddress.Loopback, config.Port);
        }

        public int Port { get { return ((IPEndPoint)listener.LocalEndpoint).Port; } }
        public string Token { get; private set; }
        public IAttentionManager Attention { get; private set; }
        public IEventManager Events { get { return this; } }
        public IToolRegistry Tools { get { return this; } }

        public void RegisterChannel(string channel, string description = null) { }

        public void RegisterTool(string name, Func<object, Task<object>> handler, ToolInfo info = null)
        {
            tools[name] = handler;
        }

        public Task StartAsync(CancellationToken cancellationToken = default(CancellationToken))
        {
            listener.Start();
            new Thread(Serve) { IsBackground = true, Name = "bridge" }.Start();
            return Task.FromResult(0);
        }

        public Task EmitEventAsync(string channel, object payload, DateTimeOffset? timestamp = null)
        {
            if (stream == null)
                return Task.FromResult(0);
            var number = Interlocked.Increment(ref sequence);
            return Send("event", Guid.NewGuid().ToString(), "channel", channel, "seq", number, "payload", payload);
        }

        public void Dispose() { listener.Stop(); }

        private void Serve()
        {
            try
            {
                for (;;)
                {
                    var client = listener.AcceptTcpClient();
                    client.NoDelay = true;
                    stream = client.GetStream();
                    var reader = new StreamReader(stream); // no request has a character beyond ASCII
                    for (string line; (line = reader.ReadLine()) != null; )
                    {
                        var length = int.Parse(line.Substring("Content-Length:".Length));
                        while (reader.ReadLine() != "")
                            continue;
                        var body = new char[length];
                        reader.ReadBlock(body, 0, length);
                        Handle(new string(body));
                    }
                }
            }
            catch (SocketException)
            {
            }
            catch (IOException)
            {
            }
        }

        private async void Handle(string request)
        {
            object result;
            try
            {
                switch (Member(request, "method"))
                {
                    case "tools/call":
                        result = await tools[Member(request, "name")](null);
                        break;
                    case "attention/current":
                        result = new { attention = Attention.GetCurrent() };
                        break;
                    case "attention/ack":
                        result = await Attention.AcknowledgeAsync(Member(request, "attentionId"));
                        break;
                    default:
                        result = new { };
                        break;
                }
                await Send("response", Member(request, "id"), "result", result);
            }
            catch (Exception e)
            {
                Console.Error.WriteLine("stand-in: " + e.Message);
            }
        }

        private static string Member(string json, string name)
        {
            return Regex.Match(json, "\"" + name + "\":\"([^\"]*)\"").Groups[1].Value;
        }

        /// <summary>The habit: between the two writes, another message may be written.</summary>
        private async Task Send(string type, string id, params object[] members)
        {
            var to = stream;
            var json = new StringBuilder("{\"v\":\"gabp/1\",\"id\":\"" + id + "\",\"type\":\"" + type + "\"");
            for (var i = 0; i < members.Length; i += 2)
                Write(json.Append(",\"" + members[i] + "\":"), members[i + 1]);
            var body = Encoding.UTF8.GetBytes(json.Append('}').ToString());
            var text = "Content-Length: " + body.Length + "\r\nContent-Type: application/json\r\n\r\n";
            var header = Encoding.UTF8.GetBytes(text);
            to.Write(header, 0, header.Length);
            Thread.Sleep(1); // longer than in the library, so that a test sees it; a task might wait for a thread
            to.Write(body, 0, body.Length);
            await to.FlushAsync();
        }

        private static void Write(StringBuilder json, object value)
        {
            var list = value as IEnumerable;
            if (value == null)
                json.Append("null");
            else if (value is string)
                json.Append('"').Append(Regex.Replace((string)value, "[\"\\\\\0-\x1f]", Escape)).Append('"');
            else if (value is bool)
                json.Append((bool)value ? "true" : "false");
            else if (value is int || value is long)
                json.Append(Convert.ToString(value, CultureInfo.InvariantCulture));
            else if (list != null)
                Write(json, "[", list.Cast<object>(), "]", v => Write(json, v));
            else
                Write(json, "{", value.GetType().GetProperties(), "}", p =>
                {
                    json.Append('"').Append(char.ToLowerInvariant(p.Name[0])).Append(p.Name.Substring(1)).Append("\":");
                    Write(json, p.GetValue(value));
                });
        }

        private static string Escape(Match m) { return "\\u" + ((int)m.Value[0]).ToString("x4"); }

        private static void Write<T>(
            StringBuilder json, string before, IEnumerable<T> values, string after, Action<T> each)
        {
            json.Append(before);
            var first = true;
            foreach (var v in values)
            {
                if (!first)
                    json.Append(',');
                first = false;
                each(v);
            }
            json.Append(after);
        }
    }
}
