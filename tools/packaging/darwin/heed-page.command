#!/bin/sh
# Writes a page about the newest log of the game and opens it in the browser. Made
# for a double click in the Finder, which opens a Terminal.
exec "$(dirname -- "$0")/heed" report --open -- "$@"
