// Package intake makes summaries of the logs in a file: of one log, plain or compressed, or of all logs in an archive,
// one after another. Memory is bounded whatever the file holds, nothing in a file panics, and what cannot be read is an
// error that names it.
package intake
