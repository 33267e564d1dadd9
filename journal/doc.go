// Package journal keeps the most recent entries of an engine in memory of fixed size, and reports exactly the entries
// that it no longer has. Here the tail has room for three entries:
//
//	Append 1, 2, 3               the tail holds 1 to 3
//	Pin 2, no neighbors          2 is pinned
//	Append 4, 5                  the tail evicts 1 and 2; 2 stays, pinned
//	Scan after cursor 0          2, 3, 4, 5; lost 1; next is cursor 5
//	Append 6                     the tail evicts 3
//	Scan after cursor 2          4, 5, 6; lost 1
//	Unpin 2                      2 is gone
//	Scan after cursor 0          4, 5, 6; lost 3
//
// A [Journal] numbers nothing and decides nothing: it is handed every [event.Entry] in the order of its sequence
// number, together with the signature and the decision, and copies the parts that it keeps. Three budgets hold the
// copies, and each evicts only itself:
//
//   - The tail holds all entries, newest kept. A new entry evicts the oldest.
//   - The firsts hold the entries that [Journal.KeepFirst] chose, oldest kept, with a quota for each burst. If the
//     budget is full, a new entry takes the place of the first of a released burst, in the order in which
//     [Journal.Release] released them, and is refused if there is none. So a storm cannot evict the firsts of a burst
//     that still matters, and bursts long closed cannot starve new ones.
//   - The pinned entries are those that [Journal.Pin] chose, with their neighbors. They stay until [Journal.Unpin]; a
//     full budget refuses new pins.
//
// Evictions and refusals are counted in [Stats].
//
// # Reading
//
// A [Scan] returns a [Page]: entries oldest first after a [Cursor], merged from the three budgets, each sequence number
// once, with the number of entries between the cursor and the page's end that are no longer held. A reader that starts
// at the zero Cursor and follows [Page.Next] meets every held entry once, in order; its entries and its losses add up
// to the entries written, for any page size and any writes in between. A cursor that the journal cannot have given out
// is refused, with [ErrCursorEpoch] or [ErrCursorBeyond], and never answered from another place.
//
// For any a and b, the entries held in (a, b] plus the entries lost in (a, b] are b-a. An entry in several budgets is
// held once.
//
// # Limits
//
// It has no clock, starts no goroutine, and does no I/O: its content ends with the process. It does not sort, group or
// fold, and it does not neutralize untrusted text: text comes back as it came in, and its printer escapes it.
//
// # Bounds
//
// The tail grows up to its bounds in [Config]: 72 bytes for each entry, and its text bytes. Firsts and pinned entries
// are copied when the tail evicts them, up to their bounds in [Config]: a header and the text. By default all take at
// most 7.3 MiB. Text beyond [Config.MaxText] is cut, at the boundary of a UTF-8 character, and the record is marked so.
// One Scan examines a bounded number of entries and of bytes ([Config.ReadEntries], [Config.ReadBytes]).
//
// # Concurrency and cost
//
// A Journal is not safe for concurrent use; its owner has the lock. Records in a page are copies and belong to the
// caller. A [Scan] reads a page in steps of some ten microseconds, between which the owner can let writers continue.
//
// Append is one copy of the text into a ring of bytes and one write of a header without pointers, so that the garbage
// collector skips the entries held. It costs the same however long the journal has run (go test -bench Append). Pin and
// KeepFirst mark the entry; Append allocates a copy of a marked entry when the tail evicts it. The copies are in a
// sorted index of at most Firsts+Pinned rows, in which a removal moves the rows before it. [Journal.Since] is two
// binary searches.
package journal
