// Package command holds the commands that read captured logs: replay, report, records, signatures, explain, diff,
// baseline, suspects, brief, rules and schema. [Main] is the program classify-replay. The commands for a running game
// are in package live, so that the offline program does not link their packages.
package command
