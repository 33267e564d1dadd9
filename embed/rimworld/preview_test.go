package rimworld

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// letters are the pixels of the word on the picture.
var letters = []string{
	"#                 #",
	"#                 #",
	"# #   ##   ##   ###",
	"## # #  # #  # #  #",
	"#  # #### #### #  #",
	"#  # #    #    #  #",
	"#  #  ###  ###  ###",
}

// preview draws the picture in the game's list of mods: a log, in which one line stands out, under the word.
func preview() *image.Paletted {
	const width, height, dot, line = 640, 360, 16, 12
	colors := color.Palette{
		color.RGBA{0x16, 0x1b, 0x22, 0xff},
		color.RGBA{0x30, 0x38, 0x42, 0xff},
		color.RGBA{0xf0, 0xa0, 0x30, 0xff},
		color.RGBA{0xf0, 0xf0, 0xf0, 0xff},
	}
	p := image.NewPaletted(image.Rect(0, 0, width, height), colors)
	fill := func(x, y, w, h int, c uint8) {
		for row := y; row < min(y+h, height); row++ {
			for column := x; column < min(x+w, width); column++ {
				p.SetColorIndex(column, row, c)
			}
		}
	}
	for i := range height / (2 * line) {
		c := uint8(1)
		if i == 12 {
			c = 2
		}
		fill(24, 2*line*i+line/2, 160+(i*i*97+i*211)%400, line, c)
	}
	for y, row := range letters {
		for x, pixel := range row {
			if pixel == '#' {
				fill(168+dot*x, 84+dot*y, dot, dot, 3)
			}
		}
	}
	return p
}

// TestPreview holds the picture of the mod, of less than a megabyte as the game wants it, to its drawing. With -update
// it writes it.
func TestPreview(t *testing.T) {
	const file = "About/Preview.png"
	want := preview()
	if testkit.Updating() {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, want))
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	data := testkit.Must(os.ReadFile(file))
	require.Less(t, len(data), 1<<20)
	got := testkit.Must(png.Decode(bytes.NewReader(data)))
	require.Equal(t, want.Bounds(), got.Bounds())
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			require.Equal(t, want.At(x, y), got.At(x, y), "%d, %d", x, y)
		}
	}
}
