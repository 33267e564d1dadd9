package blame_test

import (
	"fmt"

	"github.com/heedlog/heed/internal/blame"
)

func ExampleFinder_Find() {
	f := blame.New([]string{"Engine.", "System."})
	f.Learn(blame.Mod{Name: "Printing Press", PackageID: "acme.press", Assemblies: []string{"PressLib"}})

	suspects := f.Find(nil, "[Watchdog] caught System.NullReferenceException: x",
		"  at PressLib.Roller.Turn () [0x00012] in <0>:0\n"+
			"  at Engine.Loop.Tick () [0x00034] in <0>:0\n"+
			"    - PREFIX author.overclock: Boolean Overclock.Patches:Prefix()")
	for _, s := range suspects {
		fmt.Println(s.Score, s.Mod, s.Evidence)
	}
	fmt.Println(blame.Likely(suspects))
	// Output:
	// 60 Printing Press [{frame 2}]
	// 20 code: Watchdog [{tag 1}]
	// 8 code: Overclock [{patch 4}]
	// [Printing Press]
}
