// Package deliver runs one conversation of package steer: with a lock, a clock, and what must survive a kill kept
// before it is acted on. It reads what is open of a heed, and who acknowledged it, over the tools of that heed.
//
//	c, err := deliver.New(deliver.Config{Heed: client, Agent: "mcp-agent"})
//	…
//	text, err := c.Offer(ctx, "", "") // for the agent to read now
//
// All methods are safe for concurrent use. Every question to the heed is bounded by its context.
package deliver
