// Command heed-sidecar is an engine for a mod inside a game: entries come in on standard input, attention goes out on
// standard output, in the frames of docs/embedding-unity.md. It is "heed sidecar" without the rest of heed. The exit
// status is 0 at the end of the input, 1 if the input cannot be read further, and 2 for wrong usage.
package main

import (
	"os"

	"github.com/heedlog/heed/cmd/internal/sidecar"
)

func main() { os.Exit(sidecar.Run("heed-sidecar", os.Args[1:])) }
