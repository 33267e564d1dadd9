// Package cohort tells which of many factors, such as mods and their versions, go with a fault over many sessions, and
// when that cannot be told. It imports nothing of the engine, and has no clock, no randomness and no state.
//
// # How
//
// Each factor divides the sessions into those with it and those without it. Factors that divide them alike cannot be
// told apart: they are one candidate. Of each candidate's table the chance of so many faults with it, if it had no
// effect, is that of Fisher's exact test, one-sided. A candidate that could not be significant whatever the faults
// (Tarone, "A modified Bonferroni method for discrete data", Biometrics 46, 1990) is no comparison; the chances are
// multiplied by the number of those that could, so that all answers about one fault together are wrong with
// [Config.Level] at most where no factor has an effect.
//
// The candidates that explain the faults as well as the best one are named with it: those whose likelihood, with a rate
// of faults of its own with and without the factor, is at least a twentieth of the best one's. Two mods that fail only
// together are taken for the cause where they explain the faults so much better than any one alone that it makes up
// for the number of pairs. More than [MaxAlike] factors alike are no answer.
//
// A mod that is updated in place is a factor from each of its versions on, in the order in which the sessions have
// them; so is the game.
//
// # What it cannot know
//
// Sessions of one player are not independent, and nobody drew lots for their mods: what began when a mod was added,
// such as a broken save, looks as if the mod had caused it. So the answer is evidence, with its numbers, and no proof.
//
// # How well
//
// Over 500 simulated players for each case, with 5 to 60 sessions and 10 to 250 mods, of seeds that nothing was
// developed with (go test ./cohort -run Planted -v): where the sessions can tell, the answer holds what was planted for
// 98 % of single mods, 96 % of updates in place and 77 % of pairs, among five factors in the median; where there is
// nothing to know, there is no answer for 99.6 %.
package cohort
