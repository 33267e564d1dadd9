// Package snapshotv1 reads what outlives an update of a snapshot whose ids are of version 1 of signatures: numbers and
// counts, phase and blindness, and the items that were open. It knows the snapshots of format 5 as they were, and does
// not change with those that are written today.
package snapshotv1
