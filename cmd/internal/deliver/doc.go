// Package deliver runs one conversation of package steer: with a lock and a clock, and with its state kept before each
// action, so that it survives a kill. It reads the open items and the acknowledgements over the tools of a heed.
//
//	c := deliver.New(deliver.Config{Heed: client, Agent: "mcp-agent"})
//	…
//	text, err := c.Offer(ctx) // for the agent to read now
//
// All methods are safe for concurrent use. Every question to the heed is bounded by its context.
package deliver
