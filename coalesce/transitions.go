package coalesce

// itemState is what became of an item.
type itemState uint8

const (
	itemFree     itemState = iota
	itemOpen               // takes entries; blocks if its disposition does
	itemDeferred           // takes entries, and blocks after the load, or when play is seen
	itemPast               // open, of an earlier run of the game: blocks, and takes no more
	itemAcked              // cleared by an acknowledgement: covers repeats
	itemLapsed             // cleared by time, by a rule or for room: opens again
	itemOver               // cleared for good: covers nothing
)

// itemEvent changes the state of an item.
type itemEvent uint8

const (
	onOpen   itemEvent = iota // an entry opens it
	onDefer                   // an entry opens it in a load, before play is seen or after an acknowledgement
	onBlock                   // the load is over, play is seen, or an entry stops at once
	onRun                     // another run of the game begins
	onAck                     // a consumer acknowledges it
	onLapse                   // AdvisoryTTL passes, its rules are resolved, or another item needs its place
	onFinish                  // the host withdraws it, an arrival sums it up, or it ends with its run
	itemEvents
)

// transitions are the moves from each state by each event. An event that has none changes nothing.
var transitions = [...][itemEvents]itemState{
	itemFree:     {onOpen: itemOpen, onDefer: itemDeferred},
	itemOpen:     {onRun: itemPast, onAck: itemAcked, onLapse: itemLapsed, onFinish: itemOver},
	itemDeferred: {onBlock: itemOpen, onRun: itemPast, onAck: itemAcked, onLapse: itemLapsed, onFinish: itemOver},
	itemPast:     {onAck: itemOver, onLapse: itemOver, onFinish: itemOver},
	itemAcked:    {onRun: itemOver},
	itemLapsed:   {onOpen: itemOpen, onRun: itemOver},
	itemOver:     {},
}

// on moves the item by an event.
func (it *item) on(e itemEvent) {
	if next := transitions[it.State][e]; next != itemFree {
		it.State = next
	}
}

// open reports whether the item is open.
func (it *item) open() bool { return it.State >= itemOpen && it.State <= itemPast }

// takes reports whether the item takes entries.
func (it *item) takes() bool { return it.State == itemOpen || it.State == itemDeferred }
