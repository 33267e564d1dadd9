package gate_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/rules"
)

// testRules know three kinds of trouble.
const testRules = `version: 1
rules:
  - {id: broken, when: 'template startsWith "Broken"', disposition: blocking, invalidates: true, summary: something broke}
  - {id: worse, when: 'template startsWith "Worse"', disposition: blocking, severity: fatal}
  - {id: odd, when: 'template startsWith "Odd"', disposition: advisory}
  - {id: failed, when: 'kind == "operation" and status == "failed"', disposition: advisory}
`

func newEngine(t testing.TB) *heed.Engine {
	t.Helper()
	set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(testRules)})
	require.NoError(t, err)
	e, err := heed.New(heed.Config{Rules: set, Epoch: "e1"})
	require.NoError(t, err)
	return e
}

// peer answers over GABP as a test says.
type peer struct {
	mu     sync.Mutex
	answer func(ctx context.Context, method string, params any) (string, error)
	asked  []string
}

func (p *peer) Call(ctx context.Context, method string, params, result any) error {
	p.mu.Lock()
	p.asked = append(p.asked, method)
	p.mu.Unlock()
	text, err := p.answer(ctx, method, params)
	if err != nil {
		return err
	}
	return decodeStrictly(text, result)
}

var both = []string{"attention/current", "attention/ack"}

var errGone = errors.New("connection reset by peer")

func newGate(t testing.TB, c gate.Config) *gate.Gate {
	t.Helper()
	g, err := gate.New(c)
	require.NoError(t, err)
	return g
}

func broken(n string) event.Log { return event.Log{Message: "Broken thing " + n} }

const second = time.Second
