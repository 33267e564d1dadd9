// Package cli has the common parts of the programs' command lines: messages and exit statuses ([Program]), color,
// versions, the likely word or flag, completion. Package settings, which builds on this
// package, has the configuration.
//
// It knows nothing of logs. It writes only to the given writers. Functions are pure except for reads of the given
// terminals. A Program is for one goroutine, but for its messages.
package cli
