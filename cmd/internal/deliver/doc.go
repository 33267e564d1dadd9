// Package deliver runs one conversation of package steer: with a lock, a clock, and what must survive a kill kept
// before it is acted on. It reads what is open of a heed, and who acknowledged it, over the tools of that heed.
//
//	c, err := deliver.New(deliver.Config{Heed: client, Agent: "mcp-agent"})
//	…
//	err = c.Look(ctx) // what is open now
//	c.Do(func(m *steer.Machine, now time.Time) steer.Action {
//		batch = m.Ride()
//		return steer.Action{}
//	})
//
// All methods are safe for concurrent use. Every question to the heed is bounded by its context.
package deliver
