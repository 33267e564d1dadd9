.PHONY: check golden full
# Before each commit: format, lint and short tests of the packages that differ from main, and the map.
changed = $$(git diff --name-only main -- '*.go' | xargs -r -n1 dirname | grep -v 'testdata\|interop\|/beam\|peers\|^tools' | sort -u | sed 's|^|./|')
check:
	go tool -modfile=tools/go.mod golangci-lint fmt
	go build ./... && go vet $(changed) ./internal/layout && go test -short $(changed) ./internal/layout
# After a change of output: writes golden files, generated pages and output blocks. Read the difference.
golden:
	HEED_UPDATE=1 go test ./... && git diff --stat
# Before a pull request: everything that CI runs.
full:
	bash .ci/run
