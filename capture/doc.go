// Package capture reads captured logs: it turns a file into log records, operation
// events, state events and notices, each with the lines it was read from.
//
// # Input
//
// Any io.Reader; gzip and zstd are recognized by their magic bytes, also nested, and
// UTF-16 by its mark. The layout is recognized by content (see [Layout]): Unity's
// Player.log in its three layouts, a copy of the game's console, an upload by HugsLib,
// a crash report, JSON lines, plain text. Plain text is read as a log of Unity's from
// the first line on that only one of those has: a banner, a footer with what sets it
// off, a stack reference, a crash, a line that the game prints in every log. Logs that
// were joined into one are each read in their own layout, from the banner or header with
// which another begins. Line ends may be \n, \r\n or \r\r\n, \r before the time or the
// level with which a logger begins a line, and any \r if the first 64 KiB
// have no \n; a \r elsewhere belongs to a message. A byte order mark is skipped, invalid
// UTF-8 passes through. A run of NUL bytes, as a crash leaves where pages of a file were
// never written, becomes a notice. No content is an error, only input that cannot be
// read to its end.
//
// # Records
//
// Logs of games have no separators. A [Reader] decides line by line whether a line
// belongs to the record above it, by named forms: footers, stack frames, indentation,
// known blocks, lists. If a record holds an exception and no trace, up to eight lines
// below it are held back until one shows whether they are the rest of its message. In plain text a line without
// the head of a logger continues the report of a fault above it, if nearly all records so far have heads. An
// exception would be classified by the first line of its record, so no
// list, section or message with a blank line claims one, unless it is listed below a
// trace, or an item marked as such. Where the input breaks off within a frame, a
// reference or a footer, the beginning of it belongs to the record above. Each record
// carries the evidence for its end and for its level, so that a wrong split can be
// traced. The header of an upload counts as one only with its list of mods, and ends, if
// not with its last line, where something of a log begins. Every line that is not blank
// belongs to exactly one record, in order; blank is a line of only CR, NUL, space and
// tab.
//
// Message is the head of a record and all lines below it that are no stack frames,
// joined by \n; Stack is the frames. An exception that the first line reports without saying
// which ("The exception was: …" below it) follows it on that line. Footers and stack references ("[Ref 5EED0003]")
// belong to the lines of a record but to neither text; the reference of a duplicate that
// cannot be resolved stays in the message.
//
// A level is given only on evidence: a footer (a warning at least, but not below the banner of another game than
// RimWorld), the logging frame of a console copy, the form of an exception, a crash, a field, a tag such as [ERR] or
// [main/WARN]; in plain text a word such as ERROR where loggers write it, also in a few other languages. In a log whose
// warnings and errors have such footers, a record without one is information, unless it opens
// as the engine opens reports of its own faults, which may lack one. A head without a text is information at most.
// Every other level is unknown, which is not the same as information. Times are given only where the input
// has them; capture reads no clock. The source of a record is its logger, by a field or in front of its text.
//
// # Crash reports
//
// Unity's error.log on Windows and the report of macOS (.crash, .ips) become a record of
// level fatal, and records with Context set for the text above and below it. The
// message is the text about the crash; the stack is the trace of the thread
// that crashed, of no other. Registers and memory belong to the lines of the record but to
// neither text. Source is the reason that the report gives: "crash-stack" (a stack
// overflow), "crash-memory" (by its own figures no memory was left), "crash-driver" (in a
// driver of the graphics card), "crash-library" (in another library that is neither the
// engine's nor the system's), else "crash". A report of Windows counts below a log, too.
//
// # Notices
//
// Notices report gaps in the log: [event.StatusHole] a run of NUL bytes, or the end of a line of more than 256 KiB;
// [event.StatusRunCut] a run of exactly 99 equal messages in the layout of Unity 2022.3, which stops writing there, or
// the number of messages that a logger reports as left out ("last message repeated 12 times", "Suppressed 7 messages");
// [event.StatusTruncated] a last line without an end that is visibly cut off (a footer, frame, reference, head,
// character or JSON object without its end; a missing line end alone is no evidence, since editors and uploads strip
// it: see [Position]), or an upload without its rest;
// [event.StatusRestarted] the banner of another run: of the engine, or the first banner of a family, but for its
// digits. A missing beginning shows in later records: see [Environment.Headless].
//
// # Mods
//
// [Record].Mods has the mods that a record lists, in load order, each once per capture:
// those in the header of an upload, with versions and assemblies; those below a line that
// announces that mods, plugins or packs are loaded, as RimWorld, SMAPI and Fabric write
// it; those that lines such as BepInEx's name one by one. A line of another form is
// skipped. It does not depend on how much of a record's text is kept.
//
// # Environment
//
// An [Environment] gathers from the records at the beginning of a capture where it was
// made: game, engine, loader, system, graphics. [Record].Machine has the part about it in the header of
// an upload has about the machine, however long the header is.
//
// # JSON lines
//
// One object per line. In a log of another layout, an object with a level and a message on a line of its own is a
// record as well. Lines that Docker and other runtimes of containers wrote around the lines of a log
// are read as those lines, so that a trace is one record. "kind" is "log" (the default), "operation", "state" or
// "notice".
//
//	all        time       RFC 3339, or a number of seconds, or of a thousandth, a millionth or a billionth of one,
//	                      since 1970; also ts, timestamp, @timestamp, @t, t, timeUnixNano
//	log        level      debug, info, warning, error, fatal, or what common loggers write; also severity, lvl, @l,
//	                      levelname, level_name, loglevel, log_level, log.level, severity_text; next to a message s
//	                      of MongoDB and L of zap; level in an object log, level or record; PRIORITY, as syslog
//	                      numbers, and level of GELF; severityNumber, as OpenTelemetry
//	           message    also msg, m, text, short_message, @m, @mt, @message, textPayload, body, event if
//	                      there is no other, and log: a line of another log; an array of numbers holds the bytes of
//	                      a text
//	           source     also logger, name, channel, component, SYSLOG_IDENTIFIER
//	           stack      also stacktrace, stack_trace, exception, @x, full_message of several lines; of an object
//	                      err, error or exception; throwable or another of these, as Logback gives it in parts
//	           operation  the operation that the record belongs to
//	           error      appended to the message; also err
//	operation  operation  its id; required
//	           parent, method, error
//	           status     started, completed, failed, cancelled, timed_out; required
//	           byCaller   true if the caller itself stopped it
//	state      status     phase, stall, recovered, disconnected, connected, exited, long_event, long_event_end; required
//	           phase      required with status phase
//	           detail
//	notice     status     hole, run_cut, truncated, restarted, no_log, log_found; required
//	           detail, count
//
// Other members of a log record are appended to its message as key=value, but for those that begin with "__". A
// line that is not a JSON object, or lacks what its kind requires, becomes a log
// record with the line as its message.
//
// An entry of the journal as journalctl -o export prints it is read as its object of JSON.
//
// # Bounds, cost, concurrency
//
// A Reader holds two buffers of 256 KiB for lines, three texts of at most
// 64 KiB, 4 KiB of lines held back, answers about 512 lines (20 KiB),
// and a bounded table of stack traces; nothing grows with the input, a line or a record. Text beyond these
// bounds is counted in [Record].Cut. Of lists it keeps at most 4,096 mods and 1 MiB of
// their lines, 16 KiB of one, and counts the others in [ModList].Omitted. zstd may need
// a window of up to 128 MiB more, as the stream requires. In a steady state reading allocates nothing, JSON strings
// with escapes, names with capital letters, and objects about exceptions and levels excepted. A Reader is for one
// goroutine and starts none; an [Ahead] runs one in a goroutine of its own.
package capture
