package capture

import "bytes"

// patchLists open, in a line of the header's list of Harmony patches, what patches
// a method:
//
//	Pawn.Tick: PRE: SomeMod.Patches.Prefix post: [800]OtherMod.Late.Postfix TRANS: SomeMod.Patches.Rewrite
var patchLists = [][]byte{[]byte(": PRE: "), []byte(": post: "), []byte(": TRANS: "), []byte(": FINAL: "), []byte(": (no patches)")}

// isPatched reports whether b is a line of that list. The classes in it may be called
// anything, such as exceptions; the method has no blank in its name.
func isPatched(b []byte) bool {
	b = bytes.TrimLeft(b, " \t")
	for _, list := range patchLists {
		if i := bytes.Index(b, list); i > 0 && bytes.IndexByte(b[:i], '.') > 0 && bytes.IndexByte(b[:i], ' ') < 0 {
			return true
		}
	}
	return false
}
