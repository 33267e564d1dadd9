// Package cli has the common parts of the programs' command lines: messages and exit statuses ([Program]), color, a
// progress bar on a terminal, versions, the likely word or flag, completion. Package settings, which builds on this
// package, has the configuration.
//
// It knows nothing of logs. It writes only to the given writers. Functions are pure except for reads of the given
// terminals. [Screen] and its writers may be used by several goroutines; everything else is for one.
package cli
