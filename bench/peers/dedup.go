package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/logdedupprocessor"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
)

// dedupPeer is the collector's log deduplication processor with its defaults.
// Making its records out of lines is not timed. It is never started, so that it
// exports only when it is shut down.
type dedupPeer struct {
	processor processor.Logs
	batch     plog.Logs
	exported  tally
	err       error
}

func startDedup(bool) (peer, error) {
	p := &dedupPeer{}
	sink, err := consumer.NewLogs(p.export)
	if err != nil {
		return nil, err
	}
	factory := logdedupprocessor.NewFactory()
	p.processor, err = factory.CreateLogs(context.Background(), processor.Settings{
		ID:                component.NewID(factory.Type()),
		TelemetrySettings: componenttest.NewNopTelemetrySettings(),
		BuildInfo:         component.NewDefaultBuildInfo(),
	}, factory.CreateDefaultConfig(), sink)
	return p, err
}

func (p *dedupPeer) prepare(lines []line) {
	p.batch = plog.NewLogs()
	records := p.batch.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	records.EnsureCapacity(len(lines))
	for i := range lines {
		r := records.AppendEmpty()
		r.SetSeverityNumber(plog.SeverityNumberError)
		r.Body().SetStr(lines[i].text)
	}
}

func (p *dedupPeer) feed([]line) {
	p.err = errors.Join(p.err, p.processor.ConsumeLogs(context.Background(), p.batch))
}

// export takes the output of the processor.
func (p *dedupPeer) export(_ context.Context, logs plog.Logs) error {
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				count, ok := r.Attributes().Get("log_count")
				if !ok {
					return fmt.Errorf("logdedup: a record without log_count: %s", r.Body().AsString())
				}
				p.exported.Groups++
				p.exported.Counted += int(count.Int())
			}
		}
	}
	return nil
}

func (p *dedupPeer) tally() (tally, error) {
	ctx := context.Background()
	err := errors.Join(p.err, p.processor.Start(ctx, componenttest.NewNopHost()), p.processor.Shutdown(ctx))
	return p.exported, err
}
