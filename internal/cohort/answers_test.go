package cohort_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/heedlog/heed/internal/cohort"
	"github.com/heedlog/heed/internal/testkit"
)

// TestAnswers holds the answer to each list of sessions of a file, whole and in short, below the list. A line has a
// number of equal sessions: "3 fault game:1.2 mod mod:2.0".
func TestAnswers(t *testing.T) {
	var out strings.Builder
	for name, script := range testkit.Scripts(t, "testdata/answers.txt") {
		fmt.Fprintf(&out, "== %s\n", name)
		var sessions []cohort.Session
		for line := range strings.Lines(script) {
			words := strings.Fields(line)
			if line[0] < '0' || line[0] > '9' {
				continue
			}
			fmt.Fprintln(&out, strings.Join(words, " "))
			var s cohort.Session
			for _, word := range words[1:] {
				key, version, _ := strings.Cut(word, ":")
				switch key {
				case "fault":
					s.Fault = true
				case "game":
					s.Game = version
				default:
					s.Mods = append(s.Mods, cohort.Mod{Key: key, Name: strings.ToUpper(key), Version: version})
				}
			}
			for range testkit.Must(strconv.Atoi(words[0])) {
				sessions = append(sessions, s)
			}
		}
		r := cohort.Suspects(sessions)
		r.P = float64(int(r.P*1e6)) / 1e6
		fmt.Fprintf(&out, "%s\n> %s\n", testkit.Must(json.Marshal(&r)), r.InShort(fmt.Sprintf))
	}
	testkit.Golden(t, "testdata/answers.txt", out.String())
}
