package hostlog_test

import (
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/embed/hostlog"
)

// The logs of a program stay where they are, and the engine has them too.
func ExampleSetDefault() {
	log.SetOutput(os.Stdout)
	log.SetFlags(0)

	engine, err := heed.New(heed.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	hostlog.SetDefault(engine, nil)

	slog.Info("autosave", "slot", 3)
	slog.Error("save failed", "slot", 3, "operation", "op-9")

	item, _ := engine.Current("")
	fmt.Println(item.CausalOperationID, item.Sample[0].Message)
	// Output:
	// INFO autosave slot=3
	// ERROR save failed slot=3 operation=op-9
	// op-9 save failed slot=3
}
