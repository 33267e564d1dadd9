// Package prism starts Beam's runner Prism in this process, for this process. Prism listens on all interfaces and runs
// the program that a job names, as the user. So jobs, and workers, that other processes ask for are refused; and on
// Linux its port is bound to the loopback device a moment after it is open, which keeps other machines from its other
// services. Other users of the machine can still connect to those, and see the counts on their way between stages.
package prism

import (
	"context"
	"fmt"
	"net"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

// Start starts Prism, and makes it the endpoint of the pipelines that are run from here on. Call it once. The warning
// is nil where other machines cannot connect.
func Start(ctx context.Context) (warning, err error) {
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("prism: %w", err)
	}
	alone.Store(true)
	if _, err := prism.CreateJobServer(ctx, prism.Options{Port: port}); err != nil {
		return nil, fmt.Errorf("prism: %w", err)
	}
	*jobopts.Endpoint = fmt.Sprintf("localhost:%d", port)
	if *jobopts.EnvironmentType == "" {
		*jobopts.EnvironmentType = "loopback"
	}
	if err := bindToLoopback(port); err != nil {
		warning = fmt.Errorf("prism: other machines can connect to port %d while this runs: %w", port, err)
	}
	return warning, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
