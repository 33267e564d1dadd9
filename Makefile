.PHONY: check golden full
# Before each commit: format, vet and short tests of the packages that differ from BASE, and the map.
BASE = main
files = '*.go' 'rules/default/*.yaml' ':!tools' ':!fleet/beam' ':!bench/peers' ':!cmd/internal/interop' ':!**/testdata'
changed = $$( (git diff --name-only $(BASE) -- $(files); git ls-files -o --exclude-standard -- $(files)) | \
	sed 's|^rules/default/.*|rules/x|' | xargs -r -n1 dirname | sort -u | while read -r d; do [ -d "$$d" ] && echo "./$$d"; done)
check:
	@git rev-parse -q --verify $(BASE) >/dev/null || { echo "no branch $(BASE): run make check BASE=BRANCH"; exit 1; }
	go tool -modfile=tools/go.mod golangci-lint fmt
	go vet $(changed) ./internal/layout && go test -short -skip '^Test(Scripts|Long)$$' $(changed) ./internal/layout
golden: # After a change of output: golden files and generated pages. Read the difference.
	HEED_UPDATE=1 go test ./... && git diff --stat
full: # Before a pull request: everything that CI runs.
	bash .ci/run
