// Gen writes the captures of testdata/captures: logs in the layouts that the
// game and the tools around it produce, byte for byte (line ends, NUL bytes,
// footers), with stories that a test or a reader can follow.
//
// The shapes are those of real logs, and so are the sentences that the engine
// and the game print for everybody. Mods, people, places, ids and addresses are
// invented. The same program writes the same bytes everywhere: nothing in it is
// random or depends on time.
//
// From the root of the module:
//
//	go run ./testdata/captures/gen
//	go test ./testdata/captures/gen
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"
)

// captures maps each file to what writes it.
var captures = []struct {
	name  string
	write func() *capture
}{
	{"advisory-1.4.log", advisory14},
	{"burst-1.4.log", burst14},
	{"cascade-1.6.log", cascade16},
	{"classic-1.2.log", classic12},
	{"colony-1.6.log", colony16},
	{"console-1.5.txt", console15},
	{"crash-1.4.log", crash14},
	{"crash-1.4-linux.log", crash14Linux},
	{"crash-1.5-macos.log", crash15Mac},
	{"crash-1.6-linux.log", crash16Linux},
	{"crash-report-1.4.log", crashReport14},
	{"healthy-1.6.log", healthy16},
	{"hole-1.4.log", hole14},
	{"operations.jsonl", operations},
	{"upload-1.4.txt", upload14},
}

func main() {
	dir := flag.String("dir", filepath.Join("testdata", "captures"), "the `folder` to write to")
	flag.Parse()
	for _, c := range captures {
		if err := os.WriteFile(filepath.Join(*dir, c.name), c.write().Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
