// Package intake makes summaries of the logs in a file: of one log, plain or compressed, or of all logs in an archive,
// one after another. Memory is bounded, no content of a file panics, and an error names the unreadable file.
package intake
