package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestCases compares the small logs of public bug reports with the values that were expected of them. A case that is
// known to miss states why; it fails here as soon as it passes.
func TestCases(t *testing.T) {
	dir := testkit.Dir(t, "cases")
	for name, test := range map[string]struct {
		levels, dispositions, severities map[int]string // by line
		signatures, records, groups      int
		begins                           string // the first sentence of the first screen
		misses                           string
	}{
		"bom-utf8": {levels: map[int]string{1: "error", 2: "error"}},
		"comma-separated": {
			levels: map[int]string{1: "error", 2: "error", 3: "error"}, signatures: 3, begins: "Broken since",
		},
		"compact-json": {signatures: 2},
		"cr-only":      {records: 3},
		"fatal-of-another-program": {
			severities:   map[int]string{1: "error", 2: "error", 3: "fatal", 4: "fatal", 5: "fatal", 6: "fatal", 7: "fatal"},
			dispositions: map[int]string{3: "blocking", 4: "blocking", 5: "blocking", 6: "blocking", 7: "blocking"},
		},
		"goods-and-places":       {groups: 1},
		"names-of-several-words": {groups: 1},
		"fraction-or-none":       {levels: map[int]string{2: "error", 3: "error", 5: "error"}},
		"pipe-separated":         {levels: map[int]string{1: "error", 6: "error"}, signatures: 1},
		"smapi-alert": {
			levels: map[int]string{18: "info"}, dispositions: map[int]string{13: "blocking", 18: "ignore"},
		},
		"smapi-updates": {
			levels: map[int]string{7: "info", 8: "info", 9: "info", 10: "info"}, begins: "Healthy.",
		},
		"unpadded-time":     {levels: map[int]string{1: "error", 2: "error", 3: "error", 4: "warning"}},
		"utf16":             {records: 3, levels: map[int]string{1: "error", 2: "error"}},
		"docker-json-trace": {records: 2},
		"json-among-plain":  {levels: map[int]string{6: "error"}},
		"json-in-unity":     {levels: map[int]string{6: "error"}},
		"mixed-ends":        {records: 4, levels: map[int]string{1: "error", 2: "error", 3: "error", 5: "error"}},
		"upload-of-the-log-fails": {
			dispositions: map[int]string{18: "advisory"}, misses: "an exception while a log is uploaded blocks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name+".log")
			var differs []string
			signatures, byLine := map[string]bool{}, map[int]record{}
			all := records(t, path)
			for _, rec := range all {
				signatures[rec.Signature], byLine[rec.StartLine] = true, rec
			}
			compare := func(want map[int]string, field func(record) string) {
				for line, w := range want {
					if got := field(byLine[line]); got != w {
						differs = append(differs, got+", not "+w)
					}
				}
			}
			compare(test.levels, func(r record) string { return r.Level })
			compare(test.dispositions, func(r record) string { return r.Disposition })
			compare(test.severities, func(r record) string { return r.Severity })
			if test.records > 0 && test.records != len(all) || test.signatures > 0 && test.signatures != len(signatures) {
				differs = append(differs, "other records or signatures")
			}
			if test.groups > 0 {
				groups := map[string]bool{}
				for line := range strings.Lines(ok(t, "signatures", "--group", path)) {
					id, _, _ := strings.Cut(line, "\t")
					groups[id] = true
				}
				if len(groups) != test.groups {
					differs = append(differs, "other groups")
				}
			}
			if test.begins != "" && !strings.Contains(runArgs(t, path).stdout, "\n  "+test.begins) {
				differs = append(differs, "another first sentence")
			}
			if test.misses == "" {
				require.Empty(t, differs)
			} else {
				require.NotEmpty(t, differs, "passes now: %s", test.misses)
				t.Skipf("known to miss: %s", test.misses)
			}
		})
	}
}
