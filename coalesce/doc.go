// Package coalesce folds urgent entries into attention.
//
// A [Coalescer] receives every entry with the decision about it, and the calls to the game as operations. It folds
// urgent entries into items ([Item]), which a bridge shows to agents. Here a call of build throws twice, and its agent
// acknowledges once:
//
//	10:00:00  build starts
//	10:00:01  exception A, blocking       item 1 opens: it stops calls
//	10:00:02  build completes             its verdict is blocking, by item 1
//	10:00:09  item 1 is acknowledged      item 1 is cleared, and covers A
//	10:00:09  exception B, the same rule  counted in item 1 (rule 2): the next call is unknown
//	10:00:20  build starts
//	10:00:21  exception A                 item 2 opens (rule 4): it continues item 1
//	10:01:20  exception A, no call runs   counted in item 2, which is open
//
// # States of an item
//
// An item is open, waits for the end of a load (deferred), or is cleared. transitions in transitions.go is this table;
// an event without a row changes nothing:
//
//	state           event                                     state     update   stops
//	free            an entry opens it                         open      opened   if it blocks
//	free            the same, in a load (see below)           deferred  opened   no
//	open            it becomes worse, or passes a number      open      updated  if it blocks from then on
//	deferred        the load ends, or play is seen first, or  open      updated  if it blocks
//	                an entry stops at once
//	open            another run begins, and it blocks agents  past      -        yes
//	open, deferred  an acknowledgement                        acked     cleared  no
//	open, deferred  time, a rule, or room                     lapsed    cleared  no
//	lapsed          its group returns                         open      opened   if it blocks
//	past            an acknowledgement, or any end            over      cleared  no
//	any open        withdrawn, summed up, end of its run      over      cleared  no
//	acked, lapsed   another run begins                        over      -        no
//
// The numbers are 2, 5, 10, 20, 50 and so on, of its entries and of its groups; see "Verdicts and updates" for the
// bound of all updates.
//
// An open item takes entries. An acked item covers repeats of its groups, and counts them. A lapsed item opens again
// under its id, for an entry that no acked item covers; an id that was acknowledged never does. An item that is over
// covers nothing.
//
// # When an acknowledged fault stops again
//
// An entry that no open item holds is looked for in acked items: by its variant; else its group; else its innermost
// frame; else, in the QuietTime after an acknowledgement, its rule, if the rule is of an entry before that. By its
// frame after the QuietTime, and by its rule, only groups cover it that point at one of its mods, if it points at any.
// While the game starts, the QuietTime is loadMax. If no item covers the entry, it is new and opens an item. Else one
// function, reopens, decides. The first row that applies counts:
//
//	1  worse      a higher disposition or severity, or the first to invalidate state    opens
//	2  new        its group or variant is in no acked item, and no group with its       opens
//	              frame covers it; but in the QuietTime, outside of calls that began
//	              since the acknowledgement                                             joins
//	3  returned   it stayed away for AckMemory; or a load began since the               opens
//	              acknowledgement, of which nothing was acknowledged; or the host
//	              raises it again
//	4  in a call  that began since the acknowledgement, unless row 5 applies, or it     opens
//	              comes by itself (aloneAfter)
//	5  standing   the same, after standingAfter such stops, until a load, or more       joins
//	              than forgetAfter calls without it
//
// All other entries join: each is counted in the acked item, which covers its group from then on. An entry that opens
// goes to the open item of its burst, if there is one: this item takes the disposition of the entry, and names no
// predecessor for it. Else an item opens. Its predecessor is the acked item that covers the entry, if there is one.
//
// A blocking entry that joins makes the verdicts of the calls unknown in whose window it came. If no call runs, the
// verdict of the next call is unknown. A fault that comes by itself leaves the next call alone.
//
// Defaults: QuietTime 1 s, AckMemory 10 min, Linger 2 s, AmbientQuiet 30 s, AdvisoryTTL 5 min; runGap 250 ms,
// aloneAfter 2, standingAfter 3, forgetAfter 20 calls; loadCalls 2, loadCall 5 s, loadPlay 1 min, loadMax 5 min.
//
// Entries of a group that follow each other within runGap are one occurrence: those after the first join. A rule that
// was resolved covers nothing. A fault comes by itself if it came outside of calls aloneAfter times with no call since
// it came before. A call counts from its start to Linger after its end.
//
// # Where an entry belongs
//
// An entry that names an operation belongs to the burst of its root. An entry without a name belongs to the only
// running root, or, with none running, to the only root that ended within Linger. It is charged to that call; since
// this is inferred, the item names the call as the one it came after, not as the cause. In all other cases, and if it
// repeats a group of the ambient episode, it is ambient. A phase change or AmbientQuiet ends an episode; its items
// stay. Blindness has a burst of its own, and so has each key under which the host raises entries.
//
// Entries that are ambient at one time need not be one fault. Outside of loads, a blocking entry joins an item of its
// episode that blocks only if a blocking group of the item points at one of its mods; or if neither points at a mod and
// they have one rule; or if it comes at most faultEntries after the cause of the item without a gap, one of them points
// at no mod, and one has no stack. If eight items of the episode are open, another fault joins the latest.
//
// An incident is wider than a burst. An entry whose group an open item holds joins that item, in whichever burst it
// came. Advisory entries share one open item.
//
// The load of a game is one incident, whichever operations its entries name. It lasts from [Input].Fresh to the next
// phase, the exit of the process, loadPlay after the first evidence of play, or loadMax. A call that began in the load
// and completed is evidence, too: loadCalls of them end it, and loadCall after the first. An item that opens in a load
// is deferred before the first evidence of play in the log, and after an item of the load was acknowledged. A blocking
// entry stops at once if it is fatal or of kind state.
//
// No item takes entries of two runs of the game ([Input].NewRun), and a fault that was acknowledged in one run is new
// in the next.
//
// Of a group under a rule all counts are kept for each variant ([Input].Variant): a code, a state. All items together
// distinguish maxVariants; later variants count as one, others. [Coalescer.Merge] may leave more.
//
// # What an acknowledgement covers
//
// An acknowledgement has a watermark: the latest entry that was delivered to the consumer. It clears the item. News
// after the watermark opens a successor: a new group or variant moves to it whole; a group that became worse, or
// returned after its rule was resolved, moves from the entry where it last did. Of blocking groups that are counted
// together, the severest after the watermark represents all. The other items that the acknowledged view named are
// cleared as far as they were delivered.
//
// # Verdicts and updates
//
// A [Verdict] is blocking or advisory only by an entry that is charged to the call. Urgent entries in the window of the
// call that are not charged to it make it unknown (background), and so does an item that blocked or was deferred when
// the call began. An acknowledgement does not change it. It is clean only if evidence was complete as well.
//
// Updates are few. For any n urgent entries in k groups with s stops there are at most
//
//	6 + 3 log10 n + 3 log10 k + 3 s
//
// and two for each acknowledgement of an item that stopped no call. Acts of the host, such as a raise, a stall or an
// arrival, count as stops. Updates that stop no call take from one allowance; an item without an allowance is opened
// without an update.
//
// # The name of an item
//
// The members of an item are the rules that decided its entries. [Member.Compare] orders them by weight: blocking
// first, the worst harm, the highest severity, the most entries, the earliest. The first is dominant: title, advice,
// rule, mods, variants, recurrence and the first sample of the item are of its entries, the latter three of its
// severest group, or of the largest of these. Open items have the order of their dominant members, but what explains a
// crash comes before it: a lack of memory, or the fault that came once, directly before it. The cause stays the first
// entry at the highest disposition, for the cursor, the operation and the prelude; it is the second sample.
//
// [Input].Blame names the mods that an entry points at. They are counted for each group. At least half of the dominant
// entries point at the mods in [Item].Blame, and a quarter at those in [Item].Perhaps. A crash also has
// the mods of the fault directly before it.
//
// # Bounds
//
// Everything has a capacity, and tables grow up to it. A default Coalescer holds 96 items of 128 groups or variants, at
// most 4 MB without texts, and 1,024 operations. Further groups of an item are counted together, and its number of
// groups is then "at least". Evictions are counted in [Stats], which proves at any time that every entry received is
// ignored, or counted in exactly one item. Only changes that wait for [Coalescer.Retention] have no bound of their own.
//
// # Clocks and cost
//
// There is no clock: time comes with the entries and with [Coalescer.Advance]. The engine's time is the latest it has
// seen, and windows run on it: an entry that comes late, or has no time, counts from its arrival. A time further back
// than MaxSkew sets the engine's time back; windows that were running then continue in entries. The same calls give the
// same updates, byte for byte.
//
// An ignored entry costs a few comparisons; a repeat of an urgent one, one table look-up and no allocation (go test
// -bench Fold). The start and the end of a call cost passes over the operations known (-bench Call).
// Text is rendered only by [Coalescer.NextUpdate], [Coalescer.Current] and [Coalescer.Item].
//
// A Coalescer is not safe for concurrent use; the engine at the module's root holds the lock. It never fails on an
// entry.
package coalesce
