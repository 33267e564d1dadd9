#!/bin/bash
# Copyright 2026 The heed authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: build.sh DIRECTORY [GOOS/GOARCH...]
# Builds the library for each platform, or all, below the directory, beside heed.h: DIRECTORY/linux_amd64/libheed.so,
# and so on. A platform without a C compiler is named, and fails only if it was asked for.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
cd "$(dirname "$0")"
asked=("$@")
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 windows/amd64 darwin/amd64 darwin/arm64

# Threads of Go are not preempted by signals, which the host may use for something else.
ldflags='-s -w -X=runtime.godebugDefault=asyncpreemptoff=1'
host=$(go env GOHOSTOS)/$(go env GOHOSTARCH)

for platform in "$@"; do
	export GOOS=${platform%/*} GOARCH=${platform#*/}
	file=libheed.so flags=$ldflags
	case $platform in
	linux/amd64) cc=x86_64-linux-gnu-gcc flags="$flags -extldflags=-Wl,-soname,libheed.so" ;;
	linux/arm64) cc=aarch64-linux-gnu-gcc flags="$flags -extldflags=-Wl,-soname,libheed.so" ;;
	windows/amd64) cc=x86_64-w64-mingw32-gcc file=heed.dll flags="$flags -extldflags=-static" ;;
	darwin/*) cc=o64-clang file=libheed.dylib ;;
	*) echo "$platform: not a platform of this library" >&2; exit 1 ;;
	esac
	if [ "$platform" = "$host" ] || { [ "$GOOS" = darwin ] && [ "${host%/*}" = darwin ]; }; then cc=${CC:-cc}; fi
	if ! command -v "$cc" >/dev/null; then
		echo "$platform: not built, there is no $cc" >&2
		[ ${#asked[@]} -eq 0 ] || exit 1
		continue
	fi
	dir=$out/${GOOS}_$GOARCH
	mkdir -p "$dir"
	CGO_ENABLED=1 CC=$cc go build -trimpath -buildvcs=false -buildmode=c-shared ${TAGS:+-tags="$TAGS"} -ldflags="$flags" \
		-o "$dir/$file" .
	cp heed.h "$dir"
	echo "$platform: $dir/$file, $(($(wc -c <"$dir/$file") / 1024)) KiB"
done
