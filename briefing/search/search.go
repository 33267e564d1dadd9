// Package search finds what resembles a text, by BM25, among documents in memory: a searcher of package briefing.
package search
