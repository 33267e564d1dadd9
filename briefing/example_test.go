package briefing_test

import (
	"fmt"

	"github.com/heedlog/heed/briefing"
)

func Example() {
	f := briefing.Fragment{Source: briefing.SourceAttention, Title: "Something broke"}
	fmt.Println(f.Source)
	// Output: attention
}
