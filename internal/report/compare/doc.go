// Package compare finds the differences between logs: which groups of entries are
// new, gone, more or less frequent, which known noise is above its own rate, and
// which mods are suspects for new groups.
//
//	c := compare.NewCollector(compare.Config{Rules: set})
//	before := c.Run(compare.Old, "good.log", engine)
//	before.Observe(record, &outcome)
//	…
//	difference := c.Diff()
//
// # Groups
//
// Entries are compared by group. All texts of all logs, and of a baseline,
// are learned by one [signature.Grouper], in the order of their ids, once all
// logs are read; counts are then added up by the final groups. So the result
// depends neither on the order of the logs nor on the order of their lines. The
// decision about an entry is no part of its group: rules may ask for the phase
// of the game, which depends on the order. Groups that differ in the names of people alone are one.
//
// A log may end within a record: the game was killed, or is running. If the last entry of
// a log is the beginning of another text, it is counted as an entry of that text. It is
// left out if only a baseline has that text.
//
// # When a count means something
//
// A log has no fixed length, so a count alone means little, and each measure of
// length misleads in its own way: an entry that is written once a start is rarer per
// record of a long session, an entry that is written while playing is more frequent per
// start, and a flood makes everything else rare. Therefore a group is more (or
// less) frequent only if it is by every known measure: per run, per record, and
// per hour where all logs have a clock. Records of groups that are new, gone or
// changed themselves, and the group's own, are not counted as length.
//
// For counts a and b in logs of lengths A and B that come at constant rates, b is
// binomial, given a+b, with the chance p = rB/(A+rB), where r is the ratio of the
// rates (Przyborowski and Wilenski, "Homogeneity of results in testing samples
// from Poisson series", Biometrika 31, 1940). The bounds of p are those of Wilson's
// score interval ("Probable inference, the law of succession, and statistical
// inference", JASA 22, 1927), which holds its level for small counts where the
// usual p ± z·s does not (Brown, Cai, DasGupta, "Interval estimation for a
// binomial proportion", Statistical Science 16, 2001):
//
//	p̂ = b/n, n = a+b
//	(p̂ + z²/2n ± z·√(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n)
//
// and r = p/(1−p) · A/B. A group is more frequent if the lower bound is above 1 and
// the ratio itself is 2 at least. The confidence is for a whole
// comparison: each of m groups is asked with a chance of error of (1−confidence)/m
// (Bonferroni), since with 1 % for each, every other comparison of 70 groups at
// constant rates would find a difference. At 99 % and twice, 1 and
// 10 is a difference where there is one group; of a hundred groups 1 and 18 is one, 10 and
// 37, 100 and 200.
//
// A new group is new, however rare.
//
// Log lines come in bursts, which are no Poisson series: the bounds are too narrow
// for them. Every measure and the factor 2 make up for it.
//
// # Limits
//
// The package reads no file and no clock and renders nothing: others read captures and decide about
// records, [Baseline.Append] and [ParseBaseline] work on bytes, the date is an argument.
// Its results are scrubbed, by [Config].Scrub, and escaped; baselines have text as in the log.
//
// # Bounds, concurrency, cost
//
// A [Collector] keeps 16,384 signatures of each side with 8 MiB of templates and samples. Entries of later signatures
// are only counted. Nothing here is safe for concurrent use. Observing a known signature costs a look-up.
package compare
