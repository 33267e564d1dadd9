package briefing

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

const templatesPage = "../../docs/briefing.md"

// TestDocs: the page about templates has every key of every stage with its default, every variable, and examples that
// are read.
func TestDocs(t *testing.T) {
	data := testkit.Must(os.ReadFile(templatesPage))
	page := string(data)

	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1) {
		_, err := Parse("mine.yaml", []byte(m[1]))
		require.NoError(t, err, m[1])
		_, err = Parse("mine.yaml", []byte(strings.Replace(m[1], "type: attention", "type: atention", 1)))
		require.ErrorContains(t, err, "unknown value")
		testkit.Shows(t, templatesPage, page, "\n"+strings.Split(err.Error(), "\n")[0]+"\n")
	}

	// rows returns the first and last cells of the table of a section, without quotes.
	rows := func(section string) (keys []string, defaults map[string]string) {
		_, text, found := strings.Cut(page, "\n"+section+"\n")
		require.True(t, found, section)
		text, _, _ = strings.Cut(text, "\n#")
		defaults = map[string]string{}
		for line := range strings.Lines(text) {
			if cells := strings.Split(line, " | "); len(cells) > 1 && strings.HasPrefix(line, "| `") {
				key := strings.Trim(cells[0], "|` ")
				keys = append(keys, key)
				defaults[key] = strings.Trim(cells[len(cells)-1], "|` \n")
			}
		}
		return keys, defaults
	}
	keys, _ := rows("## Stages")
	require.Equal(t, stageKeys, keys)
	for kind, config := range stageTypes {
		keys, defaults := rows("### " + kind)
		v := reflect.ValueOf(config)
		require.Equal(t, fieldsOf(v.Type()), keys, kind)
		for i, key := range keys {
			if f := v.Field(i); !f.IsZero() && f.Kind() != reflect.Map && f.Kind() != reflect.Slice {
				require.Equal(t, fmt.Sprint(f.Interface()), defaults[key], "%s.%s", kind, key)
			}
		}
	}

	var top []string
	v := reflect.TypeFor[Template]()
	for i, key := range fieldsOf(v) {
		if f := v.Field(i).Type; f == reflect.TypeFor[budget]() || f == reflect.TypeFor[fallback]() {
			for _, part := range fieldsOf(f) {
				top = append(top, key+"."+part)
			}
			continue
		}
		top = append(top, key)
	}
	// applies_to has a section of its own.
	keys, defaults := rows("## The file")
	require.Equal(t, slices.Sorted(slices.Values(top)), slices.Sorted(slices.Values(keys)))
	require.Equal(t, fmt.Sprint(DefaultCharsPerToken), defaults["chars_per_token"])
	require.Equal(t, fmt.Sprintf("%.0fs", DefaultCacheTTL.Seconds()), defaults["cache_ttl"])
	for _, name := range slices.Concat(fieldsOf(reflect.TypeFor[appliesTo]()), kindNames) {
		testkit.Shows(t, templatesPage, page, "`"+name+"`")
	}
	for _, name := range slices.Concat(tierStrategies, structurings, onTimeouts, onEmpties) {
		testkit.Shows(t, templatesPage, page, "`"+name+"`")
	}
	for name := range new(Request).variables() {
		testkit.Shows(t, templatesPage, page, "`$"+name+"`")
	}
}
