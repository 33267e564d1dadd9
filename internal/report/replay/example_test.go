package replay_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/rules"
)

func Example() {
	log := "[INFO] the map is loaded\n[ERROR] cannot save to slot 1\n[INFO] the day is over\n"
	set, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(`
version: 1
rules:
  - id: save.failed
    when: 'template startsWith "cannot save"'
    disposition: blocking
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := heed.New(replay.Config(set))
	if err != nil {
		fmt.Println(err)
		return
	}
	reader, err := capture.NewReader(strings.NewReader(log), capture.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	records := capture.NewAhead(reader)
	defer records.Close()
	r := replay.Replay{Engine: engine, Records: records}
	for {
		if err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		if r.Outcome.Decision.Disposition.Urgent() {
			fmt.Printf("line %d: %s: %s\n", r.Record.StartLine, r.Outcome.Decision.Disposition, r.Record.Message)
		}
	}
	fmt.Println(r.End(nil).Lines, "lines")
	// Output:
	// line 2: blocking: [ERROR] cannot save to slot 1
	// 3 lines
}
