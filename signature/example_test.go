package signature_test

import (
	"fmt"

	"github.com/heedlog/heed/signature"
)

func Example() {
	n, err := signature.New(signature.Config{})
	if err != nil {
		panic(err)
	}
	for _, text := range []string{
		"Harvester31415 could not reach (166, 0, 143)",
		"Harvester77 could not reach (12, 0, 7)",
		"Harvester77 answered with status 404",
		"Harvester12 answered with status 500",
	} {
		template := n.AppendTemplate(nil, text, "")
		fmt.Printf("%v %s\n", signature.Of(template).ID, template)
	}
	// Output:
	// fdaf94f7489ce986 <*> could not reach (<*>)
	// fdaf94f7489ce986 <*> could not reach (<*>)
	// 61d1cca3930d8666 <*> answered with status 404
	// 829a48bea4d6a58c <*> answered with status 500
}

func ExampleNormalizer_AppendTemplate() {
	n, err := signature.New(signature.Config{LoggerFrames: append(signature.DefaultLoggerFrames(), "Acme.Log.")})
	if err != nil {
		panic(err)
	}
	message := "Exception ticking Press7 (at (12, 0, 5)): System.NullReferenceException: Object reference not set"
	stack := `Acme.Log:Error (string)
  at Acme.Works.Press.Tick () [0x00012] in <5a0c7e11d2f34b6899aabbccddeeff01>:0
  at (wrapper dynamic-method) Acme.Works.Floor.Acme.Works.Floor.Tick_Patch3(Acme.Works.Floor)
   --- End of inner exception stack trace ---
  at Acme.Works.Plan+<>c__DisplayClass82_0.<Make>b__1 () [0x00001] in <5a0c7e11d2f34b6899aabbccddeeff01>:0`
	fmt.Printf("%s\n", n.AppendTemplate(nil, message, stack))
	// Output:
	// Exception ticking <*> (at (<*>)): System.NullReferenceException: Object reference not set
	// at Acme.Works.Press.Tick
	// at Acme.Works.Floor.Tick
	// at Acme.Works.Plan/<>c__DisplayClass.<Make>b
}

func ExampleNormalizer_AppendSpans() {
	n, err := signature.New(signature.Config{})
	if err != nil {
		panic(err)
	}
	text := "Could not load C:/Games/My Game 1.4/Data/x.dll (0x7ffe1234) for Thing_Press5550123 at (1, 0, 5): took 12.5 ms"
	fmt.Printf("%s\n", n.AppendTemplate(nil, text, ""))
	spans, head := n.AppendSpans(nil, text)
	for _, s := range spans {
		fmt.Println(s.Mask, head[s.From:s.To])
	}
	// Output:
	// Could not load <*> (<*>) for <*> at (<*>): took <*>
	// <path> C:/Games/My Game 1.4/Data/x.dll
	// <hex> 0x7ffe1234
	// <id> Thing_Press5550123
	// <vec> 1, 0, 5
	// <num> 12.5 ms
}

// The hot path looks up what it knows by the Key, and builds the template only
// of what is new. The check of a hit catches collisions.
func ExampleNormalizer_Key() {
	n, err := signature.New(signature.Config{})
	if err != nil {
		panic(err)
	}
	type known struct {
		check uint32
		count int
	}
	table := map[uint64]*known{}
	for _, text := range []string{"Job_1 failed", "Job_2 failed", "Job_3 done", "Job_4 failed"} {
		key := n.Key(text, "")
		k := table[key.Hash]
		if k == nil {
			k = &known{check: key.Check}
			table[key.Hash] = k
			fmt.Printf("new: %s\n", n.AppendTemplate(nil, text, ""))
		}
		if k.check != key.Check {
			panic("a collision: look the template up by its text instead")
		}
		k.count++
	}
	fmt.Println("shapes:", len(table))
	// Output:
	// new: <*> failed
	// new: <*> done
	// shapes: 2
}
