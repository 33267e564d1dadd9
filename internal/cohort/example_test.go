package cohort_test

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/internal/cohort"
)

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
