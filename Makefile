.PHONY: check golden full
# Before each commit: format, vet and short tests of the packages that differ from BASE, and the map.
BASE = main
changed = $$(git diff --name-only $(BASE) -- '*.go' ':!tools' ':!fleet/beam' ':!bench/peers' ':!cmd/internal/interop' \
	':!**/testdata' | xargs -r -n1 dirname | sort -u | while read -r d; do [ -d "$$d" ] && echo "./$$d"; done)
check:
	go tool -modfile=tools/go.mod golangci-lint fmt
	go vet $(changed) ./internal/layout && go test -short -skip 'Scripts|Long' $(changed) ./internal/layout
golden: # After a change of output: golden files and generated pages. Read the difference.
	HEED_UPDATE=1 go test ./... && git diff --stat
full: # Before a pull request: everything that CI runs.
	bash .ci/run
