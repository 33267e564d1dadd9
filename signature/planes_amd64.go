//go:build !purego

package signature

// useAVX2 is variable for tests alone.
var useAVX2 = hasAVX2()

func hasAVX2() bool

//go:noescape
func planesAVX2(s string, t *planeTables) (n, x, y, z uint64)

// planesOf returns the planes of the 1 to 64 bytes of s, and anything above.
func planesOf(s string) (n, x, y, z uint64) {
	if useAVX2 {
		return planesAVX2(s, &planeRows)
	}
	return planesGo(s)
}

// planeTables are what planesAVX2 looks bytes up in, sixteen at a time.
type planeTables struct {
	// rows has for each plane and lower half of an ASCII byte a bit for each
	// upper half with which the byte is in the plane.
	rows [4][16]byte
	bit  [16]byte // for each upper half its bit in rows; any beyond ASCII
	half [16]byte // 0x0f
	wide [16]byte // 0xe0
}

var planeRows = func() (t planeTables) {
	for b := range 0x80 {
		for p := range t.rows {
			t.rows[p][b&15] |= byte(roles[b]>>(16*p)&1) << (b >> 4)
		}
	}
	for i := range 16 {
		t.bit[i], t.half[i], t.wide[i] = 1<<(i&7), 0x0f, 0xe0
	}
	return t
}()
