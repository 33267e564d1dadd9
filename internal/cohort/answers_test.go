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

func Example() {
	var sessions []cohort.Session
	for n := range 13 {
		s := cohort.Session{Mods: []cohort.Mod{{Key: "core"}}}
		if n >= 9 {
			s.Mods = append(s.Mods, cohort.Mod{Key: "example.mod", Name: "ExampleMod"})
			s.Fault = true
		}
		sessions = append(sessions, s)
	}
	fmt.Println(strings.ReplaceAll(cohort.Suspects(sessions).Text, ". ", ".\n"))
	removed := append(sessions, sessions[0])
	fmt.Println(cohort.Suspects(removed).Text)
	fmt.Println(cohort.Suspects(sessions[8:11]).Text)
	// Output:
	// ExampleMod: 4 of 4 sessions with it, 0 of 9 without (p = 0.0014, corrected for 1 comparison).
	// That changed once only: anything else that changed then looks the same.
	// ExampleMod: 4 of 4 sessions with it, 0 of 10 without (p = 0.001, corrected for 1 comparison).
	// 2 with it and 1 without are too few, or too much alike, to know.
}
