package workload

import (
	"errors"
	"io"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
)

// Feed gives an engine the records of a capture, in their order, to the end of r or to
// the error that ends reading it. It asks for no updates.
func Feed(engine *heed.Engine, r io.Reader) error {
	in, err := capture.NewReader(r, capture.Options{})
	if err != nil {
		return err
	}
	var rec capture.Record
	var o heed.Outcome
	for {
		if err := in.Next(&rec); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		engine.ObserveInto(&o, &rec.Entry)
	}
}
