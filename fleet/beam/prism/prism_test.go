package prism

import (
	"os"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
)

func TestMain(m *testing.M) {
	log.LogLevel = "error"
	beam.Init()
	os.Exit(m.Run())
}

// foreign is the codec of another process.
func foreign() grpc.CallOption {
	return grpc.ForceCodecV2(encoding.GetCodecV2(proto.Name).(*codec).CodecV2)
}

// TestForeignJobsAreRefused holds that jobs of this process run, and that those of others, and their workers, do not.
func TestForeignJobsAreRefused(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // Beam leaves a file behind
	_, err := Start(t.Context())
	require.NoError(t, err)
	defer func() { *jobopts.Endpoint = ""; alone.Store(false) }()
	p, s := beam.NewPipelineWithRoot()
	beam.Create(s, 1)
	require.NoError(t, beamx.Run(t.Context(), p))

	conn, err := grpc.NewClient(*jobopts.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	jobs := jobpb.NewJobServiceClient(conn)
	_, err = jobs.Prepare(t.Context(), &jobpb.PrepareJobRequest{Pipeline: &pipepb.Pipeline{}, JobName: "x"}, foreign())
	require.ErrorContains(t, err, "of another process is refused")
	_, err = jobs.GetPipeline(t.Context(), &jobpb.GetJobPipelineRequest{JobId: "job-001"}, foreign())
	require.ErrorContains(t, err, "of another process is refused")

	c := encoding.GetCodecV2(proto.Name).(*codec)
	data, err := c.CodecV2.Marshal(&fnpb.StartWorkerRequest{WorkerId: "x"})
	require.NoError(t, err)
	require.ErrorContains(t, c.Unmarshal(data, &fnpb.StartWorkerRequest{}), "is refused")
	_, err = c.Marshal(&fnpb.StartWorkerRequest{WorkerId: "x"})
	require.NoError(t, err)
	require.NoError(t, c.Unmarshal(data, &fnpb.StartWorkerRequest{}))
}
