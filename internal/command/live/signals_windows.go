package live

import "os"

// forwarded are the signals that tell heed to end the game.
var forwarded = []os.Signal{os.Interrupt}
