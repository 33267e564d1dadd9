package prism

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// alone is set while requests of other processes are refused.
var alone atomic.Bool

func init() { encoding.RegisterCodecV2(&codec{CodecV2: encoding.GetCodecV2(proto.Name)}) }

// codec is the codec of gRPC. A request for a job, its pipeline or a worker is an error unless this process encoded the
// same bytes before: the bytes of a job have its name and the time, which no other process knows.
type codec struct {
	encoding.CodecV2
	made sync.Map // sums of such requests
}

func guarded(v any) bool {
	switch v.(type) {
	case *jobpb.PrepareJobRequest, *jobpb.GetJobPipelineRequest, *fnpb.StartWorkerRequest:
		return true
	}
	return false
}

func (c *codec) Marshal(v any) (mem.BufferSlice, error) {
	data, err := c.CodecV2.Marshal(v)
	if err == nil && guarded(v) {
		c.made.Store(sha256.Sum256(data.Materialize()), true)
	}
	return data, err
}

func (c *codec) Unmarshal(data mem.BufferSlice, v any) error {
	if guarded(v) && alone.Load() {
		if _, ok := c.made.Load(sha256.Sum256(data.Materialize())); !ok {
			return fmt.Errorf("prism: %T of another process is refused", v)
		}
	}
	return c.CodecV2.Unmarshal(data, v)
}
