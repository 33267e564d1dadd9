package lint

// Checks are the checks of findings, as the reference lists them.
var Checks = []string{
	checkCompile, checkShadowed, checkTests, checkMasked,
	checkPhase, checkUnused, checkBreaks, checkBlindness,
}
