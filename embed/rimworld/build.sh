#!/usr/bin/env bash
# Builds the mod: build.sh FOLDER [GAME]. FOLDER is made, and is what goes into the game's folder Mods. GAME is the
# folder of the game, whose own assemblies are compiled against; without it stubs of the few types that the mod touches
# are. Needs mcs (of Mono) and Go. PLATFORMS has the systems that the mod shall run on, as in "linux/amd64
# windows/amd64".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?"usage: build.sh FOLDER [GAME]"}
game=${2:-}
mkdir -p "$out/About" "$out/Assemblies" "$out/Native"
out=$(cd "$out" && pwd)
cp "$here"/About/* "$out/About/"
cp "$here/README.md" "$here/../../LICENSE" "$out/"

references=()
if [ -n "$game" ]; then
	managed=$(find "$game" -type f -name Assembly-CSharp.dll -path '*Managed*' -exec dirname {} \; | head -n 1)
	[ -n "$managed" ] || { echo "build.sh: $game has no Managed/Assembly-CSharp.dll" >&2; exit 1; }
	references+=(-nostdlib -noconfig) # the game brings its own
	for library in mscorlib System System.Core netstandard; do
		[ ! -f "$managed/$library.dll" ] || references+=("-reference:$managed/$library.dll")
	done
else
	managed=$(mktemp -d)
	trap 'rm -rf "$managed"' EXIT
	mcs -target:library -out:"$managed/UnityEngine.CoreModule.dll" "$here/stubs/UnityEngine.CoreModule.cs"
	mcs -target:library -out:"$managed/Assembly-CSharp.dll" -reference:"$managed/UnityEngine.CoreModule.dll" \
		"$here/stubs/Assembly-CSharp.cs"
fi
references+=("-reference:$managed/UnityEngine.CoreModule.dll" "-reference:$managed/Assembly-CSharp.dll")
mcs -target:library -langversion:7.2 -optimize+ -warnaserror+ -out:"$out/Assemblies/HeedForRimWorld.dll" \
	"${references[@]}" "$here"/Source/*.cs "$here"/../csharp/*.cs

for platform in ${PLATFORMS:-windows/amd64 linux/amd64 darwin/amd64 darwin/arm64}; do
	system=${platform%/*} arch=${platform#*/} exe=
	[ "$system" != windows ] || exe=.exe
	(cd "$here/../.." && CGO_ENABLED=0 GOOS=$system GOARCH=$arch go build -trimpath -ldflags='-s -w' \
		-o "$out/Native/heed-sidecar-$system-$arch$exe" ./cmd/heed-sidecar)
done
(cd "$out" && find . -type f | sort)
