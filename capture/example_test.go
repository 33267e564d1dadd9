package capture_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heedlog/heed/capture"
)

func ExampleReader() {
	log := `Mono path[0] = 'C:/games/RimWorld/RimWorldWin64_Data/Managed'
Initialize engine version: 2022.3.35f1 (011206c7a712)
Exception while ticking lord with job RimWorld.LordJob_Ritual: 
System.NullReferenceException: Object reference not set to an instance of an object
[Ref 5EED0001]
  at Gadgets.Ritual.Tick () [0x00011] in <0123456789abcdef0123456789abcdef>:0 
Мира doing ThinkNode_Duty with no duty.
`
	r, err := capture.NewReader(strings.NewReader(log), capture.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.At().Layout)
	for {
		var rec capture.Record
		err := r.Next(&rec)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			break
		}
		head, _, _ := strings.Cut(rec.Message, ": \n")
		fmt.Printf("%d-%d %-7s %-5s %s\n", rec.StartLine, rec.EndLine, rec.Level, rec.Split, head)
	}
	// Output:
	// unity-2022.3
	// 1-1 unknown line  Mono path[0] = 'C:/games/RimWorld/RimWorldWin64_Data/Managed'
	// 2-2 unknown line  Initialize engine version: 2022.3.35f1 (011206c7a712)
	// 3-6 error   frame Exception while ticking lord with job RimWorld.LordJob_Ritual
	// 7-7 unknown line  Мира doing ThinkNode_Duty with no duty.
}
