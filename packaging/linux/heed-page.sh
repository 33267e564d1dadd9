#!/bin/sh
# Writes a page about a log and opens it in the browser: the log that is dropped on
# this file, or the newest of the game. Made for a double click.
page() { "$(dirname -- "$0")/heed" report --open -- "$@" 2>&1; }

if [ -t 0 ]; then
	page "$@"
	printf 'Press Enter to close this window. '
	read -r _
elif said=$(page "$@"); then
	printf '%s\n' "$said"
else # nobody sees what went wrong: show it
	note=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}/heed-page.txt
	printf '%s\n' "$said" >"$note" && xdg-open "$note"
	exit 1
fi
