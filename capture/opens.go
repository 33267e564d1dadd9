package capture

// opens tells by its first byte what a line may be. Most lines are asked for dozens of
// beginnings, and one look at a table answers most of them: where a bit is not set, the
// predicate that it stands for is false, which a fuzz test holds it to.
var opens = func() (t [256]uint8) {
	for _, o := range []struct {
		may   uint8
		bytes string
	}{
		{mayFooter, "("},
		{mayBanner, bannerPath[:1] + bannerVersion[:1] + contextStart[:1]},
		{mayNative, "#0"},
		{mayRef, "["},
		{mayCrash, "ACDGRN \t=*"},
		{mayDetail, "PAFOC-<="},
		{mayFault, "CFUIEAGWXPMdV"},
		{mayGoOnForm, "fSTAMCDYXw[" + "FRW" + "NS"},
	} {
		for _, c := range []byte(o.bytes) {
			t[c] |= o.may
		}
	}
	return t
}()

// What a line may be.
const (
	mayFooter   = 1 << iota // isFooter
	mayBanner               // isBanner
	mayNative               // isEngineFrame
	mayRef                  // parseRef
	mayCrash                // isCrashStart
	mayDetail               // isExceptionDetail
	mayFault                // opensFaultWord
	mayGoOnForm             // isKnownContinuation, isXMLSection, isShaderNote
)
