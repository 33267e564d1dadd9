// Package interop tests heed with programs and libraries of others: an editor and an agent that speak the Agent Client
// Protocol, the official client and server of the Model Context Protocol, and tokenizers of language models. It is a
// module of its own, so that heed does not require theirs.
package interop
