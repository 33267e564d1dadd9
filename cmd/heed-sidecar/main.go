// Command heed-sidecar runs beside a game for a mod inside it: entries come in on standard input, attention goes out on
// standard output, in the frames of docs/embedding-unity.md. It is "heed sidecar" without the rest of heed. The exit
// status is 0 when the input has ended, 1 where it cannot be read further, and 2 for wrong usage.
package main

import (
	"os"

	"github.com/heedlog/heed/cmd/internal/sidecar"
)

func main() { os.Exit(sidecar.Run("heed-sidecar", os.Args[1:])) }
